// SPDX-License-Identifier: MIT
#pragma once

namespace nodelay {

/// Every environment variable with this prefix is between a main process and one worker: it
/// is not handed on, and the worker removes it as soon as it has read it.
inline constexpr char kVariablePrefix[] = "NODELAY_";

inline constexpr char kStreamVariable[] = "NODELAY_STREAM";  ///< number of an inherited descriptor
inline constexpr char kPortVariable[] = "NODELAY_PORT";      ///< loopback port to connect to
inline constexpr char kTokenVariable[] = "NODELAY_TOKEN";    ///< see Token; base-R workers, too
inline constexpr char kNoDelayVariable[] = "NODELAY_NO_DELAY";   ///< "1": set TCP_NODELAY
inline constexpr char kTimeoutVariable[] = "NODELAY_TIMEOUT";    ///< seconds of silence, a number
inline constexpr char kLogVariable[] = "NODELAY_LOG";            ///< "memory": trim standard error
inline constexpr char kTemplateVariable[] = "NODELAY_TEMPLATE";  ///< descriptor: fork workers
inline constexpr char kMainVariable[] = "NODELAY_MAIN";          ///< process id of the main process

inline constexpr char kHeapGrowthVariable[] = "R_GC_MEM_GROW";  ///< R's own

/// "1": that one is nodelay's, see Template, and not for what the workers start.
inline constexpr char kOwnHeapGrowthVariable[] = "NODELAY_HEAP_GROWTH";

}  // namespace nodelay
