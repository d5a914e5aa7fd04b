#pragma once
// Verdicts of proofs, kept beside the compiled kernels by the operator's text.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/laws/laws.h"

namespace segfold::prove {

/// Keeps a report in which the prover has proved or refuted something, or a search has refuted something; the
/// other verdicts are those of a search longer than a run's. What was proved of an operator before stays
/// where the report refutes it not. What no file can be written of
/// the process alone remembers.
void remember(const Operator& op, const LawReport& report);

/// The report that remember() kept for an operator of the same text. A counter-example is evaluated once more
/// and counts only if it still breaks its law; a damaged file counts as none.
std::optional<LawReport> remembered(const Operator& op);

/// How often remember() has kept something in this process: laws that were judged before may be known better.
[[nodiscard]] std::uint64_t num_remembered();

/// What kind of file of the cache's folder holds verdicts.
inline constexpr std::string_view kVerdictKind = "laws";

/// Whose verdicts a file holds.
struct StoredVerdicts {
    std::string name;    ///< of the operator
    std::string prover;  ///< "Z3 4.8.12"
};

/// Reads the bytes of a file of that kind. Throws InputError where they are damaged.
StoredVerdicts decode_verdicts(std::string_view bytes);

}  // namespace segfold::prove
