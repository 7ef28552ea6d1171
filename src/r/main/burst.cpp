// SPDX-License-Identifier: MIT
#include "r/main/burst.h"

#include <nodelay/error.h>

#include <algorithm>
#include <exception>

#include "r/base/lists.h"
#include "r/base/r_interface.h"
#include "r/main/loss.h"

namespace nodelay {
namespace {

constexpr std::chrono::microseconds kLongestUnsent{200};

SEXP named_list(std::initializer_list<std::pair<const char*, SEXP>> elements) {
  const auto num_elements = static_cast<R_xlen_t>(elements.size());
  SEXP list = PROTECT(Rf_allocVector(VECSXP, num_elements));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, num_elements));
  R_xlen_t i = 0;
  for (const auto& [name, value] : elements) {
    SET_VECTOR_ELT(list, i, value);
    SET_STRING_ELT(names, i++, Rf_mkChar(name));
  }
  Rf_setAttrib(list, R_NamesSymbol, names);
  UNPROTECT(2);
  return list;
}

// The message by which package parallel asks for a call.
SEXP parallel_message(SEXP function, SEXP arguments) {
  SEXP yes = PROTECT(Rf_ScalarLogical(TRUE));
  SEXP data = PROTECT(
      named_list({{"fun", function}, {"args", arguments}, {"return", yes}, {"tag", R_NilValue}}));
  SEXP type = PROTECT(Rf_mkString("EXEC"));
  SEXP message = named_list({{"type", type}, {"data", data}, {"tag", R_NilValue}});
  UNPROTECT(3);
  return message;
}

// The same for a worker of nodelay's: docs/protocol.md, "Plain calls".
SEXP plain_call(SEXP function, SEXP arguments) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(list, 0, function);
  SET_VECTOR_ELT(list, 1, arguments);
  UNPROTECT(1);
  return list;
}

// Whether code has no part that could change: no environment, say, that bquote() put there.
bool is_plain_code(SEXP code) {
  switch (TYPEOF(code)) {
    case NILSXP:
    case SYMSXP:
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case CPLXSXP:
    case STRSXP:
    case RAWSXP:
      return true;
    case LANGSXP:
    case LISTSXP:
      for (; code != R_NilValue; code = CDR(code)) {
        if (!is_plain_code(CAR(code))) return false;
      }
      return true;
    default:
      return false;
  }
}

// Whether calls of one copy of `function` cannot see what the calls before did. Others get a copy
// each, with its enclosing environment, as from package parallel.
bool is_immutable(SEXP function) {
  static const SEXP kSrcref = Rf_install("srcref");
  if (TYPEOF(function) == STRSXP) return true;
  if (TYPEOF(function) != CLOSXP) return false;
  const bool is_bare =
      for_each_attribute(function, [](SEXP tag, SEXP /*value*/) { return tag == kSrcref; });
  const SEXP environment = closure_environment(function);
  const bool is_well_known =
      environment == R_GlobalEnv || environment == R_BaseEnv || R_IsNamespaceEnv(environment);
  return is_bare && is_well_known && is_plain_code(closure_formals(function)) &&
         is_plain_code(R_ClosureExpr(function));
}

// Whether both are one function: a literal in a loop makes a new closure each time, of the same
// parts. None of them is ever changed in place.
bool is_same_function(SEXP one, SEXP other) {
  if (one == other) return one != R_NilValue;
  return TYPEOF(one) == CLOSXP && TYPEOF(other) == CLOSXP &&
         closure_environment(one) == closure_environment(other) &&
         closure_formals(one) == closure_formals(other) && closure_body(one) == closure_body(other);
}

}  // namespace

Payload& CallBody::slot(const NodeHandle& handle, Form form) {
  const auto encoding = static_cast<std::size_t>(handle.encoding);
  const auto reader = static_cast<std::size_t>(reader_at(*handle.node));
  return payloads_[(encoding * kNumReaders + reader) * num_forms + form];
}

const Payload& CallBody::whole(const NodeHandle& handle) {
  Payload& payload = slot(handle, whole_form);
  if (!payload.body) {
    const Reader reader = reader_at(*handle.node);
    const cpp11::sexp message = cpp11::unwind_protect([&] {
      return reader == Reader::base_r ? parallel_message(function_, arguments_)
                                      : plain_call(function_, arguments_);
    });
    payload = make_payload(message, handle.encoding, reader);
  }
  return payload;
}

const Payload& CallBody::arguments_only(const NodeHandle& handle) {
  Payload& payload = slot(handle, arguments_form);
  if (!payload.body) {
    payload = make_payload(arguments_, handle.encoding, reader_at(*handle.node));
  }
  return payload;
}

Burst::Burst(const std::vector<NodeHandle*>& handles, SEXP function)
    : function_(function),
      may_be_kept_(is_same_function(handles.front()->kept_function, function) ||
                   is_immutable(function)) {
  for (NodeHandle* handle : handles) {
    if (const auto member = find(*handle)) {
      node_of_position_.push_back(*member);
      continue;
    }
    ensure_free(*handle);
    node_of_position_.push_back(members_.size());
    members_.push_back({handle, Claim(*handle, *this), {}});
    members_.back().has_function =
        may_be_kept_ && is_same_function(handle->kept_function, function);
    if (handle->node->loss()) raise_loss(*handle->node);
    ensure_running(*handle);
    if (handle->node->num_calls() > 0) handle->node->give_up_calls();
  }
}

Burst::~Burst() {
  if (num_under_way_ == 0) return;
  for (const Member& member : members_) {
    if (member.tasks.empty() || member.handle->node->is_stopped()) continue;
    try {
      member.handle->node->give_up_calls();
    } catch (const std::exception&) {  // another error is on its way
    }
  }
}

// Where a node is that is there already. A claim alone does not tell: it may be that of a burst
// whose destructor did not run, at the same place of the stack.
std::optional<std::size_t> Burst::find(const NodeHandle& handle) const {
  if (handle.burst != this) return std::nullopt;
  const auto member = std::find_if(members_.begin(), members_.end(),
                                   [&](const Member& each) { return each.handle == &handle; });
  if (member == members_.end()) return std::nullopt;
  return static_cast<std::size_t>(member - members_.begin());
}

void Burst::post(std::size_t node, std::size_t task, CallBody& call) {
  Member& member = members_[node];
  NodeHandle& handle = *member.handle;
  if (handle.node->loss()) raise_loss(*handle.node);
  ensure_running(handle);
  const bool may_keep = may_be_kept_ && handle.node->protocol() == Protocol::framed;
  if (may_keep && std::exchange(member.has_function, true)) {
    handle.node->post(call.arguments_only(handle), true, kPlain | kKeptFunction);
  } else {
    const Payload& payload = call.whole(handle);
    if (may_keep) handle.kept_function = R_NilValue;  // until take_note()
    handle.node->post(payload, true, may_keep ? kPlain | kKeepFunction : kPlain);
  }
  member.tasks.push_back(task);
  ++num_under_way_;
  const TimePoint now = Clock::now();
  if (to_flush_.empty()) unsent_since_ = now;
  if (!std::exchange(member.is_to_flush, true)) to_flush_.push_back(node);
  if (now - unsent_since_ > kLongestUnsent) flush();
}

void Burst::flush() {
  for (const std::size_t node : to_flush_) {
    Member& member = members_[node];
    member.is_to_flush = false;
    member.handle->node->send(Clock::now());
    if (member.handle->node->loss()) with_news_.push_back(node);
  }
  to_flush_.clear();
}

Burst::Result Burst::next() {
  last_news_ = Clock::now();
  for (;;) {
    while (!with_news_.empty()) {
      const std::size_t node = with_news_.back();
      Member& member = members_[node];
      const auto value = take_value(member);
      if (!value) {
        ensure_answerable(member);
        with_news_.pop_back();
        continue;
      }
      const std::size_t task = member.tasks.front();
      member.tasks.erase(member.tasks.begin());
      --num_under_way_;
      take_note(member, *value);
      return {node, task, *value};
    }
    flush();
    if (with_news_.empty()) wait();
  }
}

// A worker keeps the function of a call that has succeeded; where one failed it may not even have
// been able to read it.
void Burst::take_note(Member& member, SEXP value) {
  NodeHandle& handle = *member.handle;
  if (!member.has_function || is_same_function(handle.kept_function, function_)) return;
  if (Rf_inherits(value, "try-error")) return;
  const cpp11::sexp protected_value(value);
  handle.kept_function = function_;
}

void Burst::wait() {
  if (!set_) begin_waiting();
  const auto news = set_->wait(Clock::now() + kSlice);
  with_news_.assign(news.rbegin(), news.rend());
  if (!with_news_.empty()) {
    last_news_ = Clock::now();
    if (members_.size() > 1) cpp11::check_user_interrupt();
    return;
  }
  cpp11::check_user_interrupt();
  for (const Member& member : members_) {
    const NodeHandle& handle = *member.handle;
    if (member.tasks.empty()) continue;
    ensure_answerable(member);
    if (Clock::now() >= seconds_from(last_news_, handle.timeout)) raise_timeout(handle);
  }
}

// What can be done while the workers work.
void Burst::begin_waiting() {
  std::vector<Node*> nodes;
  for (const Member& member : members_) nodes.push_back(member.handle->node.get());
  Session& session = *members_.front().handle->session;
  set_.emplace(std::move(nodes), session);
  session.advance_departures();
}

// Nothing where none has come.
std::optional<SEXP> Burst::take_value(const Member& member) {
  Node& node = *member.handle->node;
  if (member.tasks.empty()) {
    if (node.protocol() == Protocol::framed) node.take_reply();  // which is an offence
    return std::nullopt;
  }
  if (node.protocol() == Protocol::bare) {
    const auto message = next_value(node);
    return message ? std::optional(list_element(*message, "value")) : std::nullopt;
  }
  while (auto reply = node.take_reply()) {
    if (!*reply->ends_call) {  // an event: nobody listens to a call of this kind
      node.release_reply();
      continue;
    }
    return read_out(node, *reply);
  }
  return std::nullopt;
}

void Burst::ensure_answerable(const Member& member) const {
  const Node& node = *member.handle->node;
  if (node.loss()) raise_loss(node);
  ensure_running(*member.handle);
  if (node.num_calls() >= member.tasks.size()) return;
  throw Error(ErrorKind::argument, "The calls of worker " + std::to_string(node.identity().rank) +
                                       " were given up by another use of its cluster meanwhile.");
}

}  // namespace nodelay
