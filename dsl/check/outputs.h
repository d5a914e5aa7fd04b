#pragma once
// Checks which part sets which output, and that `map` and `scan` can tell all names apart.
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

/// Finds outputs that are set by no part or by two parts, parts without outputs, and names that are ambiguous
/// in `map` or `scan`. Reports nothing that the unread parts may explain.
[[nodiscard]] std::vector<OutputFault> output_faults(const Operator& op, const Unread& unread);

/// Returns the outputs that the part "map" or "scan" of `op` may set. If `op` has only this part, these are
/// all outputs. If `op` has both parts, they are the outputs that this part names. If the part gives one
/// value without a name or sets an unknown name, they include all outputs that the other part does not name.
/// A part that could not be read counts as present.
[[nodiscard]] std::vector<ResultField> settable_outputs(const Operator& op, std::string_view part,
                                                        const Unread& unread);

}  // namespace segfold
