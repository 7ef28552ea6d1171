# The one list of the core's sources, read by src/Makevars and CMakeLists.txt.
# Paths are relative to src/core. One file a line, in the order of the layers.
NODELAY_CORE = \
  base/descriptor.cpp \
  base/error.cpp \
  base/random.cpp \
  wire/buffer.cpp \
  wire/frame.cpp \
  wire/value_scanner.cpp \
  net/beacon_linux.cpp \
  net/loopback.cpp \
  net/poll.cpp \
  net/rendezvous.cpp \
  net/socket_options.cpp \
  net/spin_budget.cpp \
  net/splitter.cpp \
  net/stream.cpp \
  net/substitution_linux.cpp \
  net/token.cpp \
  launch/command_line.cpp \
  launch/departure.cpp \
  launch/environment.cpp \
  launch/exit_status.cpp \
  launch/output_log_linux.cpp \
  launch/process_linux.cpp \
  hosts/usable_cpus.cpp \
  cluster/node.cpp \
  cluster/session.cpp \
  cluster/startup.cpp \
  worker/link.cpp \
  worker/watch.cpp
