#pragma once
// Finds small inputs on which a refuted law makes a kernel's results wrong.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/laws/operator_laws.h"
#include "runtime/session/session.h"

namespace segfold::regress {

/// An input on which a stage that relies on a refuted law gives a result different from the reference. This
/// command shows the difference:
///
///     segfold run OP --assume LAW... --stage STAGE --set ... --input NAME=ARRAY... --layout offsets=OFFSETS
///
/// The arrays are texts in the format of read_array_as().
struct FaultInput {
    Law law = Law::associative;
    std::vector<Law> assumed;  ///< laws that a run must assume with --assume
    std::string stage;
    std::map<std::string, int> settings;  ///< tunables whose values differ from the stage's default
    std::vector<std::string> columns;     ///< one per parameter: "[1, 2, 3]"
    std::string offsets;                  ///< "[0, 3]"
    std::int64_t num_elements = 0;
    std::int64_t segment = 0;     ///< a segment whose results differ
    std::string given, expected;  ///< results of the stage and the reference: "2.5", "(1, 2)"
    bool fails_check = false;     ///< true if the difference is large enough to fail a check
};

/// Searches for an input on which the refuted `law` makes a result wrong. Runs stages on inputs built from
/// the elements of the law's counter-example until a result differs from the reference. Returns nothing if no
/// result differs within `most_seconds`.
[[nodiscard]] std::optional<FaultInput> find_fault_input(Session& session, const Operator& op,
                                                         const LawReport& report, Law law,
                                                         double most_seconds = 20);

}  // namespace segfold::regress
