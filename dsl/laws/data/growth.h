#pragma once
// Distinguishes laws that fail only by overflow from laws that are wrong, by bounds on an operator's states.
#include <cstdint>

#include "dsl/laws/data/fold_growth.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// Returns the ranges of the integer columns that have a range in `ranges`.
[[nodiscard]] KnownValues known_values(const Operator& op, const DataRanges& ranges);

/// True if no fold of this size overflows where overflow matters, for any order of combining. False if this
/// is unknown.
[[nodiscard]] bool overflows_nowhere(const Operator& op, const KnownValues& known, FoldLength length);

/// How overflow may break a law.
enum class Overflow : std::uint8_t {
    none,     ///< nothing overflows
    tried,    ///< something may overflow, but every search of laws has tried such an overflow
    untried,  ///< something may overflow in a fold that is too long for a search to have tried it
};

/// The overflows that are possible in a fold.
struct BrokenByOverflow {
    Overflow combine = Overflow::none, identity = Overflow::none, append = Overflow::none;
    /// True if combine or append overflows only with the identity as an operand. Such an identity usually
    /// stands for "none" and is not meant for arithmetic.
    bool by_identity = false, by_append_to_identity = false;
};

[[nodiscard]] BrokenByOverflow broken_by_overflow(const Operator& op, const KnownValues& known,
                                                  FoldLength length);

/// Returns the laws of `report` that only overflow refutes. For such a law, the elements of the
/// counter-example may overflow, and a search with `options` among smaller elements finds no counter-example.
/// Empty if no range of smaller elements is known.
[[nodiscard]] std::vector<Law> refuted_by_overflow_alone(const Operator& op, const LawReport& report,
                                                         const LawOptions& options);

/// Folds of up to this length are part of every search, so their overflows have been tried.
inline constexpr std::int64_t kTriedElements = 4;

/// Upper bound on the number of elements in a case of check_laws().
inline constexpr std::int64_t kFoldOfSearch = 4096;

}  // namespace segfold
