# The one list of the core's sources, read by src/Makevars and CMakeLists.txt.
# Paths are relative to src/core. One file a line, in the order of the layers.
NODELAY_CORE = \
  base/descriptor.cpp \
  base/error.cpp \
  base/random.cpp \
  wire/buffer.cpp \
  wire/frame.cpp \
  wire/value_scanner.cpp \
  net/free_port.cpp \
  net/poll.cpp \
  net/rendezvous.cpp \
  net/socket_options.cpp \
  net/spin_budget.cpp \
  net/splitter.cpp \
  net/stream.cpp \
  net/token.cpp \
  launch/command_line.cpp \
  launch/departure.cpp \
  launch/environment.cpp \
  launch/exit_status.cpp \
  launch/output_log_linux.cpp \
  launch/process_linux.cpp \
  launch/temporary_folder.cpp \
  launch/worker_code.cpp \
  launch/worker_command.cpp \
  hosts/allotment.cpp \
  hosts/cgroups.cpp \
  hosts/cpu_list.cpp \
  hosts/cpu_load.cpp \
  hosts/lsf.cpp \
  hosts/machine.cpp \
  hosts/methods.cpp \
  hosts/package_checks.cpp \
  hosts/pbs.cpp \
  hosts/pjm.cpp \
  hosts/sge.cpp \
  hosts/slurm.cpp \
  hosts/slurm_nodelist.cpp \
  hosts/text.cpp \
  hosts/usable_cpus.cpp \
  cluster/node.cpp \
  cluster/session.cpp \
  cluster/startup.cpp \
  worker/link.cpp \
  worker/watch.cpp
