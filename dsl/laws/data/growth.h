#pragma once
// Bounds of an operator's states, to tell laws that overflow alone refutes from wrong ones.
#include <cstdint>

#include "dsl/laws/data/fold_growth.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// Known ranges of the integers among data.
[[nodiscard]] KnownValues known_values(const Operator& op, const DataRanges& ranges);

/// True if a fold of such elements overflows in no order of combining, as far as that matters. False if it is
/// not known.
[[nodiscard]] bool overflows_nowhere(const Operator& op, const KnownValues& known, FoldLength length);

/// How far overflow may break laws.
enum class Overflow : std::uint8_t {
    none,     ///< nothing overflows
    tried,    ///< something may, and may among a few elements of any values, which every search has tried
    untried,  ///< something may that no search has tried
};

/// Operations that may overflow in a fold.
struct BrokenByOverflow {
    Overflow combine = Overflow::none, identity = Overflow::none, append = Overflow::none;
    /// Of the identity alone, where it does not among states of elements: what stands for "none" is no number
    /// to count from.
    bool by_identity = false, by_append_to_identity = false;
};

[[nodiscard]] BrokenByOverflow broken_by_overflow(const Operator& op, const KnownValues& known,
                                                  FoldLength length);

/// The laws of `report` that are refuted by elements whose fold may overflow, and by none so small that
/// nothing overflows in a fold of kFoldOfSearch of them; `options` are those of the search for these. Empty
/// where overflows_nowhere() knows of none that are small enough.
[[nodiscard]] std::vector<Law> refuted_by_overflow_alone(const Operator& op, const LawReport& report,
                                                         const LawOptions& options);

/// Elements whose overflow every search has tried.
inline constexpr std::int64_t kTriedElements = 4;

/// More elements than check_laws() combines in a case.
inline constexpr std::int64_t kFoldOfSearch = 4096;

}  // namespace segfold
