#pragma once
// Small inputs with which a kernel shows the consequence of a refuted law.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/laws/operator_laws.h"
#include "runtime/session/session.h"

namespace segfold::regress {

/// An input on which a stage that relies on a refuted law gives another result than the reference.
///
///     segfold run OP --assume LAW... --stage STAGE --set ... --input NAME=ARRAY... --layout offsets=OFFSETS
///
/// shows it: arrays are texts that read_array_as() reads.
struct FaultInput {
    Law law = Law::associative;
    std::vector<Law> assumed;  ///< laws that the stage must be told to rely on
    std::string stage;
    std::map<std::string, int> settings;  ///< tunables that are not as the stage prefers
    std::vector<std::string> columns;     ///< "[1, 2, 3]", one for each parameter
    std::string offsets;                  ///< "[0, 3]"
    std::int64_t num_elements = 0;
    std::int64_t segment = 0;     ///< stage whose results differ
    std::string given, expected;  ///< the stage's results and the reference's: "2.5", "(1, 2)"
    bool fails_check = false;     ///< the comparison with the reference fails; else bounds allow it
};

/// Makes inputs of the elements that refute `law`, and runs stages over them until one gives another result
/// than the reference, for `most_seconds` at most.
///
/// Nothing if no stage does, if none relies on the law (idempotence), and for operators with tables.
[[nodiscard]] std::optional<FaultInput> find_fault_input(Session& session, const Operator& op,
                                                         const LawReport& report, Law law,
                                                         double most_seconds = 20);

}  // namespace segfold::regress
