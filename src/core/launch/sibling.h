// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace nodelay {

/// Makes ready for fork_sibling(): libraries that would do so at a fork end their threads now.
/// Returns errno where this process must not fork siblings, since it has other threads or the
/// kernel cannot tell what is needed; else 0.
int prepare_to_fork_siblings();

/// Forks this process as fork(2) does, but for three things: the child is one of this process's
/// own parent, which alone can wait for it; it leads a process group; handlers of
/// pthread_atfork(3) do not run. Only after prepare_to_fork_siblings(). Returns 0 in the child, in
/// this process the child's id, or -1 with errno set.
pid_t fork_sibling();

}  // namespace nodelay
