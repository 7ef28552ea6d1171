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

bool cannot_change(SEXP function) {
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

FunctionBody::FunctionBody(SEXP function, bool is_kept)
    : function_(function), is_immutable_(is_kept || cannot_change(function)) {}

const Payload& FunctionBody::payload(Reader reader) {
  Payload& payload = payloads_[static_cast<std::size_t>(reader)];
  if (!payload.body) {
    References known;
    payload = make_payload(function_, reader, known);
    known_ = std::move(known);  // the same for every reader
  }
  return payload;
}

bool FunctionBody::is_large() const {
  return std::any_of(payloads_.begin(), payloads_.end(), [](const Payload& each) {
    return each.memory || (each.body && each.body->size() > kLargestSpare);
  });
}

Payload FunctionBody::make_arguments(SEXP arguments, Reader reader) {
  if (is_immutable_) return make_payload(arguments, Encoding::native, reader);
  payload(reader);
  const std::size_t num_known = known_.size();
  try {
    Payload result = make_payload(arguments, reader, known_);
    known_.truncate(num_known);
    return result;
  } catch (...) {
    known_.truncate(num_known);
    throw;
  }
}

const Payload& CallBody::payload(const NodeHandle& handle) {
  const Reader reader = reader_at(*handle.node);
  const bool is_whole = reader == Reader::base_r;
  Payload& payload = is_whole ? whole_[static_cast<std::size_t>(handle.encoding)]
                              : arguments_only_[static_cast<std::size_t>(reader)];
  if (payload.body) return payload;
  if (!is_whole) return payload = function_.make_arguments(arguments_, reader);
  const cpp11::sexp message =
      cpp11::unwind_protect([&] { return parallel_message(function_.function(), arguments_); });
  return payload = serialize(message, handle.encoding);
}

Burst::Burst(const std::vector<NodeHandle*>& handles, SEXP function)
    : function_(function, is_same_function(handles.front()->kept_function, function)) {
  for (NodeHandle* handle : handles) {
    if (const auto member = find(*handle)) {
      node_of_position_.push_back(*member);
      continue;
    }
    ensure_free(*handle);
    node_of_position_.push_back(members_.size());
    members_.push_back({handle, Claim(*handle, *this), {}});
    members_.back().has_function = is_same_function(handle->kept_function, function);
    if (handle->node->loss()) raise_loss(*handle->node);
    ensure_running(*handle);
    if (handle->node->num_calls() > 0) handle->node->give_up_calls();
  }
}

Burst::~Burst() {
  if (!function_.is_immutable() && function_.is_large()) take_function_back();
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
  const Payload& payload = call.payload(handle);
  const bool is_framed = handle.node->protocol() == Protocol::framed;
  if (is_framed && !std::exchange(member.has_function, true)) post_function(member);
  handle.node->post(payload, true, is_framed ? kPlain : 0);
  member.tasks.push_back(task);
  ++num_under_way_;
  const TimePoint now = Clock::now();
  if (to_flush_.empty()) unsent_since_ = now;
  if (!std::exchange(member.is_to_flush, true)) to_flush_.push_back(node);
  if (now - unsent_since_ > kLongestUnsent) flush();
}

// A function that cannot change stays with its worker for the bursts to come.
void Burst::post_function(Member& member) {
  NodeHandle& handle = *member.handle;
  const bool stays = function_.is_immutable();
  handle.node->post_function(function_.payload(reader_at(*handle.node)), stays ? kOneForAll : 0);
  handle.kept_function = stays ? function_.function() : R_NilValue;
}

// Workers keep the last function: one that no later burst will use should not hold much memory.
void Burst::take_function_back() noexcept {
  for (const Member& member : members_) {
    Node& node = *member.handle->node;
    if (!member.has_function || node.protocol() != Protocol::framed || node.is_stopped() ||
        node.loss())
      continue;
    try {
      node.post_function({}, 0);
      node.send(Clock::now());
    } catch (const std::exception&) {  // it is there a while longer
    }
  }
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
      return {node, task, *value};
    }
    flush();
    if (with_news_.empty()) wait();
  }
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
