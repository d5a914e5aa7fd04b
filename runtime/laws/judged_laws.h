#pragma once
// The verdicts on an operator's laws, and the laws on which a run may rely.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dsl/laws/laws.h"

namespace segfold {

/// The outcome of a search for counter-examples, and the laws on which stages may rely.
///
/// Many floating-point operators obey their laws except for NaN. For example, max(-inf, nan) is -inf, so -inf
/// is not neutral. If the data are unknown, stages still rely on associativity and on an identity that only
/// NaN refutes, and the user gets a warning; otherwise such operators could not run at all. Data known to
/// have NaN are folded from left to right.
struct OperatorLaws {
    LawReport report;
    UsableLaws usable;
    bool has_sound_identity = true;     ///< false if the identity is refuted and stages must not rely on it
    bool has_sound_append = true;       ///< false if append is refuted; lift and combine then replace it
    std::vector<Law> refuted_by_nan;    ///< laws on which stages rely although NaN refutes them
    bool is_neutral_on_finite = false;  ///< true if the identity is refuted, but not by finite elements
    /// Set if stages do not rely on associativity because these data have NaN. A text such as "'x' has NaN".
    std::optional<std::string> with_nan = {};
    /// Laws that only overflow refutes and on which no stage relies; see while_nothing_overflows().
    std::vector<Law> refuted_by_overflow;
    /// Laws that only overflow refutes and on which stages rely, thanks to while_nothing_overflows().
    std::vector<Law> spared_overflow = {};
    /// Largest number of elements for which overflow breaks no law, whatever the data are. In a longer fold,
    /// stages rely only on laws whose verdict covers overflow.
    std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
    /// Laws on which no stage relies because these data may overflow; see broken_by_overflow().
    std::vector<Law> broken_by_overflow = {};
    std::vector<Law> assumed;          ///< refuted laws on which stages rely at the user's request
    bool assumes_identity = false;     ///< true if the user vouches for the identity
    bool assumes_associative = false;  ///< true if the user vouches for associativity
    bool is_remembered = false;        ///< true if the report comes from an earlier proof
    /// True if stages rely on commutativity that is proved but not declared.
    bool takes_undeclared = false;
    /// True if no search refutes the identity other than by NaN, but untried elements may. A fold then tries
    /// the identity on some of its elements.
    bool doubts_identity = false;
    bool spares_data = false;  ///< true if the identity is refuted, but not by values of these data
    /// If `spares_data` is true: the number of elements in the data, and the number on which the identity was
    /// tried (0 if it was not tried on elements).
    std::int64_t num_tried = 0, num_elements = 0;
    /// Reason why runs do not use the identity, such as infinities in the data. Absent if they use it.
    std::optional<std::string> without_identity = {};
    /// False if the data are unknown, as for a plan or a stream. The identity is then left out to be safe.
    bool knows_data = true;
    /// Sentence for error messages if the data are unknown. It says that a fold in one piece checks its data.
    /// Empty if the data are known.
    std::string unseen_data = {};
    /// The user's option for relying on a refuted law, such as "--assume LAW". LAW stands for the law's name.
    /// Empty if the caller offers no such option.
    std::string assume_option = {};

    /// Returns `assume_option` with the law's name in place of LAW, such as "--assume identity".
    [[nodiscard]] std::string how_to_assume(Law law) const;

    /// False if associativity is refuted, even if the user lets stages rely on it. Only a fold from left to
    /// right is then right.
    [[nodiscard]] bool is_associative() const;

    /// Returns the refuted laws on which stages rely nevertheless. law_warnings() shows their
    /// counter-examples.
    [[nodiscard]] std::vector<Law> relied_on_in_doubt() const;
};

}  // namespace segfold
