#pragma once
// Which part sets which output of an element, and which names `map` and `scan` can tell apart.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/check/check.h"

namespace segfold {

/// A fault of an operator's outputs: its place and the remedy.
struct OutputFault {
    Position position;
    std::string message, hint;
};

/// Finds outputs that no part or two parts set, parts without outputs, and names that `map` or `scan` cannot
/// tell apart. Reports nothing that the unread parts may explain.
[[nodiscard]] std::vector<OutputFault> output_faults(const Operator& op, const Unread& unread);

/// The outputs that the part "map" or "scan" of `op` may set: all, unless the other part stands beside it,
/// read or not. Then those that it names and, if it gives one value or names something else, those that the
/// other does not name.
[[nodiscard]] std::vector<ResultField> settable_outputs(const Operator& op, std::string_view part,
                                                        const Unread& unread);

}  // namespace segfold
