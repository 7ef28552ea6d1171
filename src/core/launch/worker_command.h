// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/command_line.h"

namespace nodelay {

/// A piece of a command line. `is_raw`: text that a shell shall read as it stands, written by the
/// user, who is in charge of quoting it.
struct Word {
  std::string text;
  bool is_raw = false;
};

/// What the command line of a worker is made of.
struct WorkerCommand {
  std::vector<Word> program;                    ///< Rscript, with what stands in front of it
  bool is_rscript = true;                       ///< the program takes --default-packages
  std::optional<std::string> default_packages;  ///< joined by commas; none: R's own
  std::vector<std::string> arguments_before;    ///< the user's, raw, in front of ours
  std::vector<std::string> arguments_after;     ///< the user's, raw, behind ours
  std::vector<std::string> code;                ///< R expressions, each for one -e
  std::vector<std::string> settings;            ///< NAME=value, at the very end
  int niceness = 0;                             ///< > 0: started at that much lower priority
};

/// The command as text for `shell`.
std::string command_text(const WorkerCommand& command, Shell shell);

/// True where the text begins with NAME=value, which only a shell takes for what it is.
bool begins_with_assignment(const WorkerCommand& command);

/// The command as an argument vector for exec(3); nothing where only a shell can read it.
std::optional<std::vector<std::string>> command_argv(const WorkerCommand& command);

/// The program that runs a command on another machine, such as ssh, and its options.
struct RemoteShell {
  std::vector<Word> program;
  std::string log_path;  ///< where it writes about itself; empty: its standard error
  std::string log_option = "-E";
  struct Tunnel {
    std::uint16_t remote_port;
    std::string master;  ///< as seen from here
  };
  std::optional<Tunnel> tunnel;      ///< option -R
  std::string user;                  ///< option -l; empty: none
  std::vector<std::string> options;  ///< the user's, raw
};

/// All of its options, as text for a POSIX shell; `port` is the local end of the tunnel.
std::string remote_options_text(const RemoteShell& shell, std::uint16_t port);

/// The program and these options: what a command for another machine begins with.
std::string remote_shell_text(const RemoteShell& shell, std::uint16_t port);

}  // namespace nodelay
