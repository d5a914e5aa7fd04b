#pragma once
// How large the states of an operator can become, so that what overflow refutes is told from what is wrong.
#include <cstdint>

#include "dsl/laws/laws.h"

namespace segfold {

/// True where a fold of `num_elements` elements of `ranges` overflows in no order of combining.
///
/// Known of operators whose combine adds, subtracts, compares and chooses integers: no field of a state is
/// larger than the sum of what lift gives for its elements. False of others, and where it is not known.
[[nodiscard]] bool overflows_nowhere(const Operator& op, const DataRanges& ranges, std::int64_t num_elements);

/// The laws of `report` that are refuted by elements whose fold may overflow, and by none so small that
/// nothing overflows in a fold of kFoldOfSearch of them; `options` are those of the search for these. Empty
/// where overflows_nowhere() knows nothing.
[[nodiscard]] std::vector<Law> refuted_by_overflow_alone(const Operator& op, const LawReport& report,
                                                         const LawOptions& options);

/// More elements than check_laws() combines in a case.
inline constexpr std::int64_t kFoldOfSearch = 4096;

}  // namespace segfold
