# SPDX-License-Identifier: MIT
# Package parallel's own functions, unchanged, on nodelay's clusters.

use_cluster_functions_of("parallel")
source(test_path("same-as-parallel.R"), local = TRUE)
source(test_path("interrupts.R"), local = TRUE)
