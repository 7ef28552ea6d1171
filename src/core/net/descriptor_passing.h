// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/descriptor.h"

namespace nodelay {

/// Room for the descriptors, at most `most`, that go with one message over a Unix socket
/// (cmsg(3)). Outlives the call that the message is for.
template <std::size_t most>
struct ControlSpace {
  alignas(cmsghdr) char bytes[CMSG_SPACE(most * sizeof(int))] = {};
};

/// Lets `descriptors`, which are borrowed and not empty, go with `message`; `space` has room
/// for them.
void attach_descriptors(msghdr& message, std::span<char> space, std::span<const int> descriptors);

/// Takes over the descriptors that came with `message`, received into a ControlSpace.
std::vector<Descriptor> take_descriptors(msghdr& message);

}  // namespace nodelay
