// SPDX-License-Identifier: MIT
#include "r/values/packed_list.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

namespace nodelay {
namespace {

constexpr R_xlen_t kLongestElement = 4096;
constexpr int kMostElements = std::numeric_limits<int>::max();

// What a packed list consists of: three integers for each run of elements of one type and length,
// and what all these elements consist of, one vector for each type.
enum Part : R_xlen_t { runs, logicals, integers, doubles, strings, num_parts };

constexpr std::size_t kRunSize = 3;

}  // namespace

// The elements of a list that are still to be gathered.
class ListPacking::Elements {
 public:
  explicit Elements(SEXP list)
      : next_(static_cast<const SEXP*>(DATAPTR_RO(list))), num_left_(Rf_xlength(list)) {}

  R_xlen_t num_left() const { return num_left_; }
  SEXP first() const { return *next_; }

  // Gives those at the front that can be packed and are of this type and length to `put`, and
  // returns how many there were.
  template <typename Put>
  R_xlen_t take_run(SEXPTYPE type, R_xlen_t length, Put put) {
    R_xlen_t num_taken = 0;
    for (; num_taken < num_left_; ++num_taken) {
      __builtin_prefetch(next_[std::min(num_taken + kLookAhead, num_left_ - 1)]);
      const SEXP element = next_[num_taken];
      if (TYPEOF(element) != type || ALTREP(element) || Rf_xlength(element) != length ||
          ATTRIB(element) != R_NilValue) {
        break;
      }
      put(element);
    }
    next_ += num_taken;
    num_left_ -= num_taken;
    return num_taken;
  }

 private:
  static constexpr R_xlen_t kLookAhead = 16;  // fetched while others are looked at

  const SEXP* next_;
  R_xlen_t num_left_;
};

namespace {

template <typename Elements, typename Value>
R_xlen_t append_run(Elements& rest, SEXPTYPE type, R_xlen_t length, const Value* (*data)(SEXP),
                    std::vector<Value>& to) {
  if (length == 1) return rest.take_run(type, 1, [&](SEXP each) { to.push_back(*data(each)); });
  return rest.take_run(type, length, [&](SEXP each) {
    const Value* values = data(each);
    to.insert(to.end(), values, values + length);
  });
}

template <typename Element>
SEXP vector_of(SEXPTYPE type, const std::vector<Element>& from, Element* (*data)(SEXP)) {
  SEXP to = Rf_allocVector(type, static_cast<R_xlen_t>(from.size()));
  std::copy(from.begin(), from.end(), data(to));
  return to;
}

bool is_packed_list(SEXP packed) {
  constexpr std::array<SEXPTYPE, num_parts> kTypes{INTSXP, LGLSXP, INTSXP, REALSXP, STRSXP};
  if (TYPEOF(packed) != VECSXP || Rf_xlength(packed) != num_parts) return false;
  for (R_xlen_t part = 0; part < num_parts; ++part) {
    if (TYPEOF(VECTOR_ELT(packed, part)) != kTypes[static_cast<std::size_t>(part)]) return false;
  }
  return Rf_xlength(VECTOR_ELT(packed, runs)) % static_cast<R_xlen_t>(kRunSize) == 0;
}

// Elements of one type and length that follow each other.
struct Run {
  int type;
  int length;
  int num_elements;
};

// Hands out what elements of one type consist of.
template <typename Value>
class Rest {
 public:
  Rest(const Value* (*data)(SEXP), SEXP values)
      : next_(data(values)), num_left_(Rf_xlength(values)) {}

  // What the elements of a run consist of; null where there is less.
  const Value* take(const Run& run) {
    const R_xlen_t num_values = static_cast<R_xlen_t>(run.num_elements) * run.length;
    if (num_values > num_left_) return nullptr;
    num_left_ -= num_values;
    return std::exchange(next_, next_ + num_values);
  }

 private:
  const Value* next_;
  R_xlen_t num_left_;
};

template <typename Value>
bool add_vectors(SEXP list, R_xlen_t first, const Run& run, Rest<Value>& rest,
                 Value* (*data)(SEXP)) {
  const Value* from = rest.take(run);
  if (from == nullptr) return false;
  for (R_xlen_t i = first; i < first + run.num_elements; ++i, from += run.length) {
    SEXP element = Rf_allocVector(static_cast<SEXPTYPE>(run.type), run.length);
    std::copy_n(from, run.length, data(element));
    SET_VECTOR_ELT(list, i, element);
  }
  return true;
}

bool add_strings(SEXP list, R_xlen_t first, const Run& run, Rest<SEXP>& rest) {
  const SEXP* from = rest.take(run);
  if (from == nullptr) return false;
  for (R_xlen_t i = first; i < first + run.num_elements; ++i) {
    SEXP element = Rf_allocVector(STRSXP, run.length);
    SET_VECTOR_ELT(list, i, element);
    for (int k = 0; k < run.length; ++k) SET_STRING_ELT(element, k, *from++);
  }
  return true;
}

// Builds a list of what it consists of. An R error may leave it behind at any place.
class Unpacking {
 public:
  explicit Unpacking(SEXP packed)
      : runs_(VECTOR_ELT(packed, runs)),
        logicals_(LOGICAL_RO, VECTOR_ELT(packed, logicals)),
        integers_(INTEGER_RO, VECTOR_ELT(packed, integers)),
        doubles_(REAL_RO, VECTOR_ELT(packed, doubles)),
        strings_(STRING_PTR_RO, VECTOR_ELT(packed, strings)) {}

  SEXP list() {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, num_elements()));
    R_xlen_t num_added = 0;
    for (R_xlen_t i = 0; i < num_runs(); ++i) {
      const Run run = run_at(i);
      if (!add(list, num_added, run)) Rf_error("a packed list has fewer elements than it says");
      num_added += run.num_elements;
    }
    UNPROTECT(1);
    return list;
  }

 private:
  R_xlen_t num_runs() const { return Rf_xlength(runs_) / static_cast<R_xlen_t>(kRunSize); }

  Run run_at(R_xlen_t i) const {
    const int* numbers = INTEGER_RO(runs_) + i * static_cast<R_xlen_t>(kRunSize);
    return {numbers[0], numbers[1], numbers[2]};
  }

  R_xlen_t num_elements() const {
    R_xlen_t sum = 0;
    for (R_xlen_t i = 0; i < num_runs(); ++i) {
      const Run run = run_at(i);
      if (run.length < 0 || run.num_elements < 0) Rf_error("this is not a packed list");
      sum += run.num_elements;
    }
    return sum;
  }

  // Builds the elements of a run, from the one at `first` of the list on. False where there is
  // nothing to make them of.
  bool add(SEXP list, R_xlen_t first, const Run& run) {
    switch (run.type) {
      case NILSXP:
        return true;
      case LGLSXP:
        return add_vectors(list, first, run, logicals_, LOGICAL);
      case INTSXP:
        return add_vectors(list, first, run, integers_, INTEGER);
      case REALSXP:
        return add_vectors(list, first, run, doubles_, REAL);
      case STRSXP:
        return add_strings(list, first, run, strings_);
      default:
        return false;
    }
  }

  SEXP runs_;
  Rest<int> logicals_;
  Rest<int> integers_;
  Rest<double> doubles_;
  Rest<SEXP> strings_;
};

}  // namespace

SEXP ListPacking::pack(SEXP list) {
  clear();
  bool is_gathered = false;
  try {
    is_gathered = gather(list);
  } catch (const std::bad_alloc&) {  // it must not pass through R: the list stays as it is
  }
  return is_gathered ? packed() : R_NilValue;
}

void ListPacking::clear() {
  runs_.clear();
  logicals_.clear();
  integers_.clear();
  doubles_.clear();
  strings_.clear();
}

// In one walk: to visit many small objects is what costs. Runs no R code. False where the list
// cannot be packed.
bool ListPacking::gather(SEXP list) {
  Elements rest(list);
  if (rest.num_left() > kMostElements) return false;
  while (rest.num_left() > 0) {
    const SEXPTYPE type = TYPEOF(rest.first());
    const R_xlen_t length = Rf_xlength(rest.first());
    const auto num_elements = gather_run(rest, type, length);
    if (num_elements == 0) return false;
    runs_.insert(runs_.end(), {static_cast<int>(type), static_cast<int>(length),
                               static_cast<int>(num_elements)});
  }
  constexpr std::size_t kMost = kMostElements;
  return std::max({runs_.size(), logicals_.size(), integers_.size(), doubles_.size(),
                   strings_.size()}) <= kMost;
}

R_xlen_t ListPacking::gather_run(Elements& rest, SEXPTYPE type, R_xlen_t length) {
  if (length > kLongestElement) return 0;
  switch (type) {
    case NILSXP:
      return rest.take_run(type, length, [](SEXP) {});
    case LGLSXP:
      return append_run(rest, type, length, LOGICAL_RO, logicals_);
    case INTSXP:
      return append_run(rest, type, length, INTEGER_RO, integers_);
    case REALSXP:
      return append_run(rest, type, length, REAL_RO, doubles_);
    case STRSXP:
      return append_run(rest, type, length, STRING_PTR_RO, strings_);
    default:
      return 0;
  }
}

SEXP ListPacking::packed() const {
  SEXP result = PROTECT(Rf_allocVector(VECSXP, num_parts));
  SET_VECTOR_ELT(result, runs, vector_of(INTSXP, runs_, INTEGER));
  SET_VECTOR_ELT(result, logicals, vector_of(LGLSXP, logicals_, LOGICAL));
  SET_VECTOR_ELT(result, integers, vector_of(INTSXP, integers_, INTEGER));
  SET_VECTOR_ELT(result, doubles, vector_of(REALSXP, doubles_, REAL));
  SEXP texts = Rf_allocVector(STRSXP, static_cast<R_xlen_t>(strings_.size()));
  SET_VECTOR_ELT(result, strings, texts);
  for (std::size_t i = 0; i < strings_.size(); ++i) {
    SET_STRING_ELT(texts, static_cast<R_xlen_t>(i), strings_[i]);
  }
  UNPROTECT(1);
  return result;
}

SEXP unpack_list(SEXP packed) {
  if (!is_packed_list(packed)) Rf_error("this is not a packed list");
  return Unpacking(packed).list();
}

}  // namespace nodelay
