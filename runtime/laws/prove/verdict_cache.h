#pragma once
// Stores verdicts of proofs beside the compiled kernels. The key is the operator's text.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/laws/laws.h"

namespace segfold::prove {

/// Stores a report that has a proof or a refutation; does nothing for other reports. The report's other
/// verdicts are stored too, because its search was longer than a run's.
///
/// Keeps earlier proofs of the operator that the report does not refute. If no file can be written, keeps the
/// report in memory until the process exits.
void remember(const Operator& op, const LawReport& report);

/// Returns the report that remember() stored for an operator with the same text; nothing if there is none.
///
/// Evaluates each stored counter-example again. Returns nothing if one of them no longer breaks its law, or
/// if the file is damaged.
std::optional<LawReport> remembered(const Operator& op);

/// Returns how often remember() has stored a report in this process. If the number has changed, verdicts on
/// operators judged before may be out of date.
[[nodiscard]] std::uint64_t num_remembered();

/// Kind under which the cache lists files of verdicts.
inline constexpr std::string_view kVerdictKind = "laws";

/// The operator and the prover of stored verdicts.
struct StoredVerdicts {
    std::string name;    ///< name of the operator
    std::string prover;  ///< "Z3 4.8.12"
};

/// Parses the bytes of a file of verdicts. Throws InputError if they are damaged.
StoredVerdicts decode_verdicts(std::string_view bytes);

}  // namespace segfold::prove
