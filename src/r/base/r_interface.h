// SPDX-License-Identifier: MIT
#pragma once

#include <Rversion.h>

#include <exception>
#include <type_traits>

#include <cpp11.hpp>

namespace nodelay {

// Names for what versions of R call differently: each calls what R CMD check of that version takes
// for R's documented interface. tests/imports holds the built package against the list of it. All
// may end as R errors do, and none protects what it returns.

inline SEXP closure_formals(SEXP closure) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_ClosureFormals(closure);
#else
  return FORMALS(closure);
#endif
}

/// The body as it is: byte code where it was compiled. R_ClosureExpr() gives what that stands for.
inline SEXP closure_body(SEXP closure) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_ClosureBody(closure);
#else
  return BODY(closure);
#endif
}

inline SEXP closure_environment(SEXP closure) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_ClosureEnv(closure);
#else
  return CLOENV(closure);
#endif
}

/// Makes a closure without attributes. The caller protects the three parts meanwhile.
inline SEXP make_closure(SEXP formals, SEXP body, SEXP environment) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_mkClosure(formals, body, environment);
#else
  const SEXP closure = Rf_allocSExp(CLOSXP);
  SET_FORMALS(closure, formals);
  SET_BODY(closure, body);
  SET_CLOENV(closure, environment);
  return closure;
#endif
}

inline SEXP parent_environment(SEXP environment) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_ParentEnv(environment);
#else
  return ENCLOS(environment);
#endif
}

inline bool has_attributes(SEXP value) {
#if R_VERSION >= R_Version(4, 5, 0)
  return ANY_ATTRIB(value) != 0;
#else
  return ATTRIB(value) != R_NilValue;
#endif
}

/// Calls `visit(tag, value)` for each attribute as it is stored (row.names may be compact), in
/// their order, for as long as it returns true; a visit may also return nothing. Returns false
/// where one returned false. A visit may throw; it must not change the attributes of `value`.
template <typename Visit>
bool for_each_attribute(SEXP value, Visit&& visit) {
  const auto go_on = [&](SEXP tag, SEXP attribute) {
    if constexpr (std::is_void_v<decltype(visit(tag, attribute))>) {
      visit(tag, attribute);
      return true;
    } else {
      return static_cast<bool>(visit(tag, attribute));
    }
  };
#if R_VERSION >= R_Version(4, 6, 0)
  struct State {
    decltype(go_on)& step;
    std::exception_ptr thrown;  // null: nothing. It cannot pass through R's own code.
  } state{go_on, nullptr};
  const auto caught_step = [](SEXP tag, SEXP attribute, void* data) -> SEXP {
    State& state = *static_cast<State*>(data);
    try {
      return state.step(tag, attribute) ? nullptr : R_NilValue;  // null: go on
    } catch (...) {
      state.thrown = std::current_exception();
      return R_NilValue;
    }
  };
  const bool is_complete = R_mapAttrib(value, caught_step, &state) == nullptr;
  if (state.thrown) std::rethrow_exception(state.thrown);
  return is_complete;
#else
  for (SEXP cell = ATTRIB(value); cell != R_NilValue; cell = CDR(cell)) {
    if (!go_on(TAG(cell), CAR(cell))) return false;
  }
  return true;
#endif
}

/// Whether R looks for methods for it. (OBJECT() of old.)
inline bool is_object(SEXP value) {
  return Rf_isObject(value) != FALSE;
}

inline bool is_s4(SEXP value) {
  return Rf_isS4(value) != FALSE;
}

/// The elements of a logical, integer, double, complex or raw vector, to be written by the caller;
/// null for values of other types. (DATAPTR() of old.) Expands ALTREP vectors.
inline void* writable_data(SEXP vector) {
  switch (TYPEOF(vector)) {
    case LGLSXP:
      return LOGICAL(vector);
    case INTSXP:
      return INTEGER(vector);
    case REALSXP:
      return REAL(vector);
    case CPLXSXP:
      return COMPLEX(vector);
    case RAWSXP:
      return RAW(vector);
    default:
      return nullptr;
  }
}

/// What a symbol is bound to in one environment.
enum class BindingType {
  unbound,
  value,
  missing,  // R_MissingArg
  delayed,  // a promise that nobody asked for yet
  forced,   // a promise that has its value
  active,   // a function, see makeActiveBinding()
  promise,  // R 4.5 only, which lets nobody tell delayed and forced ones apart
};

/// Members that a type does not have are R_NilValue.
struct Binding {
  BindingType type = BindingType::unbound;
  SEXP value = R_NilValue;        // of value and forced; active: the function; promise: itself
  SEXP expression = R_NilValue;   // of delayed and forced
  SEXP environment = R_NilValue;  // of delayed
};

/// Whether `symbol` is bound in `environment` itself. Runs no active binding.
inline bool is_bound(SEXP symbol, SEXP environment) {
#if R_VERSION >= R_Version(4, 2, 0)
  return R_existsVarInFrame(environment, symbol) != FALSE;
#else
  // R 4.1 exports nothing else that leaves active bindings alone.
  const SEXP name = PROTECT(Rf_ScalarString(PRINTNAME(symbol)));
  const SEXP no = PROTECT(Rf_ScalarLogical(FALSE));
  const SEXP call = PROTECT(Rf_lang4(Rf_install("exists"), name, environment, no));
  SET_TAG(CDDR(call), Rf_install("envir"));
  SET_TAG(CDDDR(call), Rf_install("inherits"));
  const bool result = Rf_asLogical(Rf_eval(call, R_BaseEnv)) != FALSE;
  UNPROTECT(3);
  return result;
#endif
}

/// Looks into `environment` itself; forces no promise and runs no active binding.
inline Binding binding_of(SEXP symbol, SEXP environment) {
  Binding binding;
#if R_VERSION >= R_Version(4, 6, 0)
  switch (R_GetBindingType(symbol, environment)) {
    case R_BindingTypeUnbound:
      return binding;
    case R_BindingTypeValue:
      binding.type = BindingType::value;
      binding.value = R_getVar(symbol, environment, FALSE);
      return binding;
    case R_BindingTypeMissing:
      binding.type = BindingType::missing;
      return binding;
    case R_BindingTypeDelayed:
      binding.type = BindingType::delayed;
      binding.expression = R_DelayedBindingExpression(symbol, environment);
      binding.environment = R_DelayedBindingEnvironment(symbol, environment);
      return binding;
    case R_BindingTypeForced:
      binding.type = BindingType::forced;
      binding.value = R_getVar(symbol, environment, FALSE);
      binding.expression = R_ForcedBindingExpression(symbol, environment);
      return binding;
    case R_BindingTypeActive:
      binding.type = BindingType::active;
      binding.value = R_ActiveBindingFunction(symbol, environment);
      return binding;
  }
#else
  if (!is_bound(symbol, environment)) return binding;
  if (R_BindingIsActive(symbol, environment)) {
    binding.type = BindingType::active;
    binding.value = R_ActiveBindingFunction(symbol, environment);
    return binding;
  }
  const SEXP found = Rf_findVarInFrame(environment, symbol);
  if (found == R_MissingArg) {
    binding.type = BindingType::missing;
  } else if (TYPEOF(found) != PROMSXP) {
    binding.type = BindingType::value;
    binding.value = found;
  } else {
#if R_VERSION >= R_Version(4, 5, 0)
    binding.type = BindingType::promise;
    binding.value = found;
#else
    binding.expression = R_PromiseExpr(found);
    if (PRVALUE(found) == R_UnboundValue) {
      binding.type = BindingType::delayed;
      binding.environment = PRENV(found);
    } else {
      binding.type = BindingType::forced;
      binding.value = PRVALUE(found);
    }
#endif
  }
#endif
  return binding;
}

}  // namespace nodelay
