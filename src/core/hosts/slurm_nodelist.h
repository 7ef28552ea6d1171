// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodelay {

/// The hosts of a node list as Slurm compresses it, in its order: "n[08-10,13],m5" is n08,
/// n09, n10, n13 and m5; "a[1-2]b[3-4]" is a1b3, a1b4, a2b3 and a2b4. A number is padded
/// with zeros to the width of the first one of its range, blanks in front of that included.
/// Nothing where `text` is no such list, or has more than 2^20 hosts.
std::optional<std::vector<std::string>> expand_node_list(std::string_view text);

/// The numbers of a list of counts, one for each node: "2(x3),4" is 2, 2, 2 and 4. Nothing
/// where `text` is no such list, or has more than 2^20 numbers.
std::optional<std::vector<int>> expand_node_counts(std::string_view text);

}  // namespace nodelay
