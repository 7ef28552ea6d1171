// SPDX-License-Identifier: MIT
// The architecture as rules over the text of the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace nodelay {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = NODELAY_SOURCE_DIR;
const fs::path kCore = kSource / "src/core";

// Each may include those before it.
const std::vector<std::string> kLayers = {"base",  "wire",    "net",   "launch",
                                          "hosts", "cluster", "worker"};

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".h" || extension == ".cpp") files.push_back(entry.path());
  }
  EXPECT_GT(files.size(), 1u) << folder;
  return files;
}

// What stands between the quotes or angle brackets of every #include.
std::vector<std::string> includes_of(const std::string& text) {
  static const std::regex kInclude("(?:^|\n)[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]");
  std::vector<std::string> includes;
  for (std::sregex_iterator match(text.begin(), text.end(), kInclude), end; match != end; ++match) {
    includes.push_back((*match)[1]);
  }
  return includes;
}

std::string first_folder(const fs::path& path) {
  return path.has_parent_path() ? path.begin()->string() : "";
}

std::size_t rank_of(const std::string& layer) {
  return static_cast<std::size_t>(std::find(kLayers.begin(), kLayers.end(), layer) -
                                  kLayers.begin());
}

bool may_include(const std::string& layer, const std::string& other) {
  if (layer == "worker" && other == "cluster") return false;
  return rank_of(other) <= rank_of(layer);
}

TEST(Layers, EveryFolderOfTheCoreIsALayer) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kCore)) {
    if (entry.is_directory()) folders.insert(entry.path().filename());
  }
  EXPECT_EQ(folders, std::set<std::string>(kLayers.begin(), kLayers.end()));
}

TEST(Layers, ALayerIncludesOnlyItselfAndThoseBeforeIt) {
  std::size_t num_inner = 0;
  for (const auto& file : files_below(kCore)) {
    const auto layer = first_folder(fs::relative(file, kCore));
    for (const auto& include : includes_of(text_of_file(file))) {
      const auto folder = first_folder(include);
      if (!fs::exists(kCore / include)) {
        EXPECT_EQ(rank_of(folder), kLayers.size()) << file << " includes the missing " << include;
        continue;
      }
      ++num_inner;
      EXPECT_TRUE(may_include(layer, folder)) << file << " includes " << include;
    }
  }
  EXPECT_GT(num_inner, 50u);
}

TEST(Layers, TheCoreKnowsNothingOfR) {
  const std::regex r_header(
      "(R|Rinternals|Rdefines|Rmath|Rinterface|Rembedded)\\.h|R_ext/.*|Rcpp.*|"
      "cpp11.*|bind_.*");
  auto files = files_below(kCore);
  for (const auto& file : files_below(kSource / "inst/include")) files.push_back(file);
  for (const auto& file : files) {
    for (const auto& include : includes_of(text_of_file(file))) {
      EXPECT_FALSE(std::regex_match(include, r_header)) << file << " includes " << include;
    }
  }
}

TEST(Layers, ThePublicHeadersIncludeNoneOfTheCore) {
  for (const auto& file : files_below(kSource / "inst/include")) {
    for (const auto& include : includes_of(text_of_file(file))) {
      EXPECT_FALSE(fs::exists(kCore / include)) << file << " includes " << include;
    }
  }
}

TEST(Layers, TheListOfSourcesIsComplete) {
  const auto list = text_of_file(kCore / "sources.mk");
  const std::regex entry("[a-z0-9_/]+\\.cpp");
  const std::set<std::string> listed(std::sregex_token_iterator(list.begin(), list.end(), entry),
                                     {});
  std::set<std::string> present;
  for (const auto& file : files_below(kCore)) {
    if (file.extension() == ".cpp") present.insert(fs::relative(file, kCore));
  }
  EXPECT_EQ(listed, present);
}

TEST(Layers, NoFileHasANameThatSaysNothing) {
  const std::regex empty_name(".*(util|helper|common|misc|manager).*");
  for (const auto* folder : {"src", "inst/include", "tests/cpp", "fuzz"}) {
    for (const auto& file : files_below(kSource / folder)) {
      EXPECT_FALSE(std::regex_match(file.stem().string(), empty_name)) << file;
    }
  }
}

TEST(Layers, EveryHeaderIsIncludedOnceAndEveryFileSaysItsLicense) {
  for (const auto* folder : {"src/core", "inst/include", "tests/cpp"}) {
    for (const auto& file : files_below(kSource / folder)) {
      const auto text = text_of_file(file);
      EXPECT_TRUE(text.starts_with("// SPDX-License-Identifier: MIT\n")) << file;
      if (file.extension() == ".h") {
        EXPECT_NE(text.find("\n#pragma once\n"), std::string::npos) << file;
      }
    }
  }
}

}  // namespace
}  // namespace nodelay
