// SPDX-License-Identifier: MIT
#pragma once

namespace nodelay {

/// Sends small segments at once instead of waiting for the acknowledgement of the
/// one before (TCP_NODELAY, RFC 896 and RFC 1122 section 4.2.3.4). Throws
/// Error(system) where `descriptor` is no TCP socket.
void set_no_delay(int descriptor);

/// Makes an established TCP connection notice a peer that is gone: keepalive probes
/// after 60 s of silence, then every 20 s, lost after three. Throws Error(system).
void set_keepalive(int descriptor);

}  // namespace nodelay
