# SPDX-License-Identifier: MIT
library(testthat)
library(nodelay)

test_check("nodelay")
