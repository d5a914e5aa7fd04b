#pragma once
// Verdicts of proofs, stored beside the compiled kernels under the operator's text.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/laws/laws.h"

namespace segfold::prove {

/// Stores a report if it holds a proof or a refutation; otherwise does nothing. The report's other verdicts
/// are stored too: they come from a longer search than a run makes.
///
/// Earlier proofs of the operator stay unless the report refutes them. If no file can be written, the report
/// is kept in memory until the process ends.
void remember(const Operator& op, const LawReport& report);

/// Returns the report that remember() stored for an operator of the same text.
///
/// A stored counter-example counts only if it still breaks its law when evaluated again. A damaged file
/// counts as missing.
std::optional<LawReport> remembered(const Operator& op);

/// Returns how often remember() has stored a report in this process. If the number changes, verdicts on
/// operators judged before may be out of date.
[[nodiscard]] std::uint64_t num_remembered();

/// Kind of the cache's files that hold verdicts.
inline constexpr std::string_view kVerdictKind = "laws";

/// The operator and the prover of stored verdicts.
struct StoredVerdicts {
    std::string name;    ///< name of the operator
    std::string prover;  ///< "Z3 4.8.12"
};

/// Reads the bytes of a file of verdicts. Throws InputError if they are damaged.
StoredVerdicts decode_verdicts(std::string_view bytes);

}  // namespace segfold::prove
