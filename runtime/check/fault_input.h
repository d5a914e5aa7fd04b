#pragma once
// Finds small inputs on which a kernel shows the effect of a refuted law.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/laws/operator_laws.h"
#include "runtime/session/session.h"

namespace segfold::regress {

/// An input on which a stage that relies on a refuted law gives a result different from the reference.
///
///     segfold run OP --assume LAW... --stage STAGE --set ... --input NAME=ARRAY... --layout offsets=OFFSETS
///
/// shows the difference. The arrays are texts for read_array_as().
struct FaultInput {
    Law law = Law::associative;
    std::vector<Law> assumed;  ///< laws that a run must assume with --assume
    std::string stage;
    std::map<std::string, int> settings;  ///< tunables that differ from the stage's preferences
    std::vector<std::string> columns;     ///< one per parameter: "[1, 2, 3]"
    std::string offsets;                  ///< "[0, 3]"
    std::int64_t num_elements = 0;
    std::int64_t segment = 0;     ///< a segment whose results differ
    std::string given, expected;  ///< results of the stage and the reference: "2.5", "(1, 2)"
    bool fails_check = false;     ///< the difference exceeds the bounds of a check
};

/// Finds an input that shows the effect of the refuted `law`. Runs stages on inputs built from the elements
/// of its counter-example, until a result differs from the reference. Returns nothing if no result differs
/// within `most_seconds`.
[[nodiscard]] std::optional<FaultInput> find_fault_input(Session& session, const Operator& op,
                                                         const LawReport& report, Law law,
                                                         double most_seconds = 20);

}  // namespace segfold::regress
