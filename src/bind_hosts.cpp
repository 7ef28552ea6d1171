// SPDX-License-Identifier: MIT
#include <cpp11.hpp>

#include "hosts/cpu_load.h"
#include "hosts/methods.h"
#include "r/base/conditions.h"

using namespace nodelay;
using namespace cpp11::literals;

// list(cores, warnings) by a method that the core knows, cores being NA where it has no value;
// NULL where it does not know the method.
[[cpp11::register]] SEXP core_count(std::string method) {
  return entry([&]() -> SEXP {
    const auto found = cores_by_method(method, this_machine());
    if (!found) return R_NilValue;
    return cpp11::writable::list({"cores"_nm = found->cores.value_or(NA_INTEGER),
                                  "warnings"_nm = cpp11::as_sexp(found->warnings)});
  });
}

// list(hosts, warnings) by a job scheduler that the core knows, hosts being NULL where it names
// none; NULL where it does not know the method.
[[cpp11::register]] SEXP job_hosts(std::string method) {
  return entry([&]() -> SEXP {
    const auto found = hosts_by_method(method, this_machine());
    if (!found) return R_NilValue;
    const cpp11::sexp hosts = found->hosts ? cpp11::as_sexp(*found->hosts) : R_NilValue;
    return cpp11::writable::list(
        {"hosts"_nm = hosts, "warnings"_nm = cpp11::as_sexp(found->warnings)});
  });
}

// The load averages over 1, 5 and 15 minutes; NA where they are unknown.
[[cpp11::register]] cpp11::doubles load_averages() {
  return entry([]() -> cpp11::doubles {
    const auto load = cpu_load(this_machine());
    if (!load) return cpp11::writable::doubles({NA_REAL, NA_REAL, NA_REAL});
    return cpp11::writable::doubles({(*load)[0], (*load)[1], (*load)[2]});
  });
}
