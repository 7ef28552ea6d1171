// SPDX-License-Identifier: MIT
// The architecture as rules over the text of the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
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

// The side that knows R: the same of its rooms, but main and worker know nothing of each other.
const fs::path kRSide = kSource / "src/r";
const std::vector<std::string> kRooms = {"base", "values", "main", "worker"};

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
  std::vector<std::string> includes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_of("<\"");
    const std::size_t end = line.find_last_of(">\"");
    if (!line.starts_with("#include") || begin >= end) continue;
    includes.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return includes;
}

std::string first_folder(const fs::path& path) {
  return path.has_parent_path() ? path.begin()->string() : "";
}

std::size_t rank_of(const std::string& layer, const std::vector<std::string>& layers = kLayers) {
  return static_cast<std::size_t>(std::find(layers.begin(), layers.end(), layer) - layers.begin());
}

bool may_include(const std::string& layer, const std::string& other) {
  if (layer == "worker" && other == "cluster") return false;
  return rank_of(other) <= rank_of(layer);
}

bool may_room_include(const std::string& room, const std::string& other) {
  if (room == "worker" && other == "main") return false;
  return rank_of(other, kRooms) <= rank_of(room, kRooms);
}

std::set<std::string> folders_in(const fs::path& place) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(place)) {
    if (entry.is_directory()) folders.insert(entry.path().filename());
  }
  return folders;
}

TEST(Layers, EveryFolderOfTheCoreIsALayer) {
  EXPECT_EQ(folders_in(kCore), std::set<std::string>(kLayers.begin(), kLayers.end()));
}

TEST(Layers, EveryFolderOfTheSideThatKnowsRIsARoom) {
  EXPECT_EQ(folders_in(kRSide), std::set<std::string>(kRooms.begin(), kRooms.end()));
}

TEST(Layers, ARoomIncludesOnlyItselfThoseBeforeItAndTheCore) {
  std::size_t num_inner = 0;
  for (const auto& file : files_below(kRSide)) {
    const auto room = first_folder(fs::relative(file, kRSide));
    for (const auto& include : includes_of(text_of_file(file))) {
      EXPECT_FALSE(include.starts_with("bind_")) << file << " includes " << include;
      if (!include.starts_with("r/")) continue;
      ++num_inner;
      EXPECT_TRUE(fs::exists(kSource / "src" / include)) << file << " includes " << include;
      const auto other = first_folder(fs::relative(include, "r"));
      EXPECT_TRUE(may_room_include(room, other)) << file << " includes " << include;
    }
  }
  EXPECT_GT(num_inner, 20u);
}

TEST(Layers, OnlyEntryPointsStandAtTheTop) {
  for (const auto& entry : fs::directory_iterator(kSource / "src")) {
    const auto name = entry.path().filename().string();
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    EXPECT_TRUE(name.starts_with("bind_") || name == "cpp11.cpp") << name;
  }
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

bool is_of_r(const std::string& include) {
  static const std::set<std::string> kHeaders = {"R.h",     "Rinternals.h", "Rdefines.h",
                                                 "Rmath.h", "Rinterface.h", "Rembedded.h"};
  return kHeaders.contains(include) || include.starts_with("R_ext/") ||
         include.starts_with("Rcpp") || include.starts_with("cpp11") ||
         include.starts_with("bind_") || include.starts_with("r/");
}

TEST(Layers, TheCoreKnowsNothingOfR) {
  auto files = files_below(kCore);
  for (const auto& file : files_below(kSource / "inst/include")) files.push_back(file);
  for (const auto& file : files) {
    for (const auto& include : includes_of(text_of_file(file))) {
      EXPECT_FALSE(is_of_r(include)) << file << " includes " << include;
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
  std::set<std::string> listed;
  std::istringstream words(text_of_file(kCore / "sources.mk"));
  for (std::string word; words >> word;) {
    if (word.ends_with(".cpp")) listed.insert(word);
  }
  std::set<std::string> present;
  for (const auto& file : files_below(kCore)) {
    if (file.extension() == ".cpp") present.insert(fs::relative(file, kCore));
  }
  EXPECT_EQ(listed, present);
}

TEST(Layers, NoFileHasANameThatSaysNothing) {
  for (const auto* folder : {"src", "inst/include", "tests/cpp", "fuzz"}) {
    for (const auto& file : files_below(kSource / folder)) {
      for (const auto* word : {"util", "helper", "common", "misc", "manager"}) {
        EXPECT_EQ(file.stem().string().find(word), std::string::npos) << file;
      }
    }
  }
}

TEST(Layers, EveryHeaderIsIncludedOnceAndEveryFileSaysItsLicense) {
  for (const auto* folder : {"src/core", "src/r", "inst/include", "tests/cpp"}) {
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
