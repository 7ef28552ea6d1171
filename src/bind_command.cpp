// SPDX-License-Identifier: MIT
#include "r/base/conditions.h"
#include "r/main/command_plan.h"

using namespace nodelay;
using namespace cpp11::literals;

// The texts of a worker's command, as parallelly shows them: worker, remote_shell, whole.
[[cpp11::register]] cpp11::list node_command(cpp11::list plan, int port) {
  return entry([&]() -> cpp11::list {
    const CommandTexts texts = command_texts(plan, static_cast<std::uint16_t>(port));
    return cpp11::writable::list({"worker"_nm = texts.worker,
                                  "remote_shell"_nm = texts.remote_shell,
                                  "whole"_nm = texts.whole});
  });
}
