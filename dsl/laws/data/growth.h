#pragma once
// Bounds the states of an operator, to tell laws that only overflow refutes from laws that are wrong.
#include <cstdint>

#include "dsl/laws/data/fold_growth.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// Returns the known ranges of the integers in the data.
[[nodiscard]] KnownValues known_values(const Operator& op, const DataRanges& ranges);

/// True if no order of combining elements with these values overflows where overflow matters. False if
/// unknown.
[[nodiscard]] bool overflows_nowhere(const Operator& op, const KnownValues& known, FoldLength length);

/// The degree to which overflow may break laws.
enum class Overflow : std::uint8_t {
    none,     ///< nothing overflows
    tried,    ///< something may overflow, even in a fold so short that every search has tried it
    untried,  ///< something may overflow, but only in a fold that no search has tried
};

/// The overflows that a fold may have.
struct BrokenByOverflow {
    Overflow combine = Overflow::none, identity = Overflow::none, append = Overflow::none;
    /// True if combine or append overflows only with the identity. This is typical of identities that stand
    /// for "none" and are not meant for arithmetic.
    bool by_identity = false, by_append_to_identity = false;
};

[[nodiscard]] BrokenByOverflow broken_by_overflow(const Operator& op, const KnownValues& known,
                                                  FoldLength length);

/// Returns the laws of `report` that only overflow refutes: the elements of the counter-example may overflow,
/// and a search with `options` among elements too small to overflow finds no counter-example. Empty if it is
/// not known which elements are small enough.
[[nodiscard]] std::vector<Law> refuted_by_overflow_alone(const Operator& op, const LawReport& report,
                                                         const LawOptions& options);

/// Number of elements for which every search has tried whether they overflow.
inline constexpr std::int64_t kTriedElements = 4;

/// An upper bound for the elements that check_laws() combines in a case.
inline constexpr std::int64_t kFoldOfSearch = 4096;

}  // namespace segfold
