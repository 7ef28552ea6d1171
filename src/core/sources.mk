# The one list of the core's sources, read by src/Makevars and CMakeLists.txt.
# Paths are relative to src/core. One file a line, in the order of the layers.
NODELAY_CORE = \
  base/descriptor.cpp \
  base/error.cpp \
  wire/buffer.cpp \
  wire/frame.cpp \
  wire/value_scanner.cpp
