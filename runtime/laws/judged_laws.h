#pragma once
// What is known of an operator's laws, and which of them a run may rely on.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dsl/laws/laws.h"

namespace segfold {

/// The outcome of a search for counter-examples, and the laws that stages may rely on.
///
/// Many operators on floats obey their laws except for NaN: max(-inf, nan) is -inf, so -inf is not neutral.
/// If the data are unknown, stages still rely on associativity and on an identity that only NaN refutes, and
/// the user gets a warning; otherwise nothing could run. Data that are known to have NaN are folded from left
/// to right.
struct OperatorLaws {
    LawReport report;
    UsableLaws usable;
    bool has_sound_identity = true;     ///< false if the identity is refuted and cannot be relied on
    bool has_sound_append = true;       ///< false if append is refuted; lift and combine then take its place
    std::vector<Law> refuted_by_nan;    ///< laws relied on although NaN refutes them
    bool is_neutral_on_finite = false;  ///< the identity is refuted, but not among finite elements
    /// A text such as "'x' has NaN" if stages do not rely on associativity because these data have NaN;
    /// absent otherwise.
    std::optional<std::string> with_nan = {};
    /// Laws that only overflow refutes, and on which no stage relies: see while_nothing_overflows().
    std::vector<Law> refuted_by_overflow;
    /// Laws that only overflow refutes, and on which stages rely by while_nothing_overflows().
    std::vector<Law> spared_overflow = {};
    /// A fold of at most this many elements breaks no law by overflow, whatever its data are. For a longer
    /// fold, each law's verdict must cover overflow.
    std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
    /// Laws on which no stage relies because these data may overflow: see broken_by_overflow().
    std::vector<Law> broken_by_overflow = {};
    std::vector<Law> assumed;          ///< refuted, but relied on at the user's request
    bool assumes_identity = false;     ///< the user vouches for the identity
    bool assumes_associative = false;  ///< the user vouches for associativity
    bool is_remembered = false;        ///< the report comes from an earlier proof
    bool takes_undeclared = false;     ///< commutativity is relied on as proved, though not declared
    /// True if a search refutes the identity at most by NaN, but elements of the data may still refute it. A
    /// fold then tries the identity on some of its elements.
    bool doubts_identity = false;
    bool spares_data = false;  ///< the identity is refuted, but not by values in the data
    /// If `spares_data` is set, the identity was tried on `num_tried` of the data's `num_elements` elements.
    /// If `num_tried` is 0, no element was tried.
    std::int64_t num_tried = 0, num_elements = 0;
    /// Reason to run without the identity, such as infinities in the data; absent if the run uses the
    /// identity.
    std::optional<std::string> without_identity = {};
    /// False if the data are unknown, as for a plan or a stream. `without_identity` is then only a
    /// precaution.
    bool knows_data = true;
    /// If the data are unknown: sentence for error messages, which tells that a fold in one piece looks at
    /// its data. Empty if the data are known.
    std::string unseen_data = {};
    /// The user's option for relying on a refuted law, such as "--assume LAW", where LAW stands for the law's
    /// name. Empty if the caller offers no such option.
    std::string assume_option = {};

    /// Returns `assume_option` with a law's name in place of LAW: "--assume identity".
    [[nodiscard]] std::string how_to_assume(Law law) const;

    /// False if associativity is refuted, even if the user lets stages rely on it. Only a fold from left to
    /// right then gives right results.
    [[nodiscard]] bool is_associative() const;

    /// Returns the laws that stages rely on although they are refuted. law_warnings() shows the
    /// counter-examples.
    [[nodiscard]] std::vector<Law> relied_on_in_doubt() const;
};

}  // namespace segfold
