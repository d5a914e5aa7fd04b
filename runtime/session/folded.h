#pragma once
// The result of a fold.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/laws/laws.h"
#include "runtime/data/array_view.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The results of a fold in host memory, with the plan, warnings and findings of checks.
class Folded {
public:
    Folded(Results results, std::int64_t num_segments)
        : results_(std::move(results)), num_segments_(num_segments)
    {}

    /// The number of segments. Throws InputError after the results were moved from.
    [[nodiscard]] std::int64_t num_segments() const;

    /// The values of a result field, one for each segment. The name may be omitted if there is one field.
    ///
    /// Values of f16 and bf16 are read as their C++ types (HalfElement), or their bits as std::uint16_t.
    /// Throws InputError for an unknown field, for a T that is not the field's type, and after the results
    /// were moved from.
    template <class T>
    [[nodiscard]] std::span<const T> values(std::string_view field = "") const&
    {
        const auto& array = find(field);
        require_type(field, array.type(), type_of_element<T>());
        return array.template as<T>();
    }
    /// Returns a copy of the values, because this object is a temporary, as in
    /// `session.fold(...).values<float>()`.
    template <class T>
    [[nodiscard]] std::vector<T> values(std::string_view field = "") const&&
    {
        const auto lent = values<T>(field);
        return {lent.begin(), lent.end()};
    }
    /// The key of each segment, if segments were given by keys.
    template <class T>
    [[nodiscard]] std::span<const T> keys() const&
    {
        require_type("keys", keys_array().type(), type_of_element<T>());
        return keys_array().template as<T>();
    }
    template <class T>
    [[nodiscard]] std::vector<T> keys() const&&
    {
        const auto lent = keys<T>();
        return {lent.begin(), lent.end()};
    }

    [[nodiscard]] const Results& results() const { return results_; }
    /// The stage, its configuration and the source of the choice, such as "warp_stream ring_offsets=256 ...
    /// (tuning record)"; empty for a back end without stages.
    [[nodiscard]] const std::string& plan() const { return plan_; }
    /// Doubts about the results, such as a law that only NaN refutes.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    /// Refuted laws on which a checked fold still relies; warnings() have their counter-examples. Empty if
    /// the fold was not checked.
    [[nodiscard]] const std::vector<Law>& doubtful_laws() const { return doubtful_laws_; }
    /// The findings of FoldOptions::check: one text for the reference and one for Thrust. Empty if the fold
    /// was not checked.
    [[nodiscard]] const std::vector<std::string>& check() const { return check_; }
    /// False if a check found a difference. Segments in num_overflowed() or num_unjudged() do not count as
    /// differences.
    [[nodiscard]] bool agrees() const { return agrees_; }
    /// The number of segments that a check cannot compare, because only one of the two results is finite. In
    /// one of the two orders of combination, intermediate values overflow or are undefined. 0 without a
    /// check.
    [[nodiscard]] std::int64_t num_overflowed() const { return num_overflowed_; }
    /// Describes the first overflowed segment: its number, its result and the reference's result. check()
    /// includes this text. Empty if there is no such segment.
    [[nodiscard]] const std::string& overflow() const { return overflow_; }
    /// The number of segments that a check cannot judge, because rounding may change a value by more than a
    /// quarter. 0 without a check.
    [[nodiscard]] std::int64_t num_unjudged() const { return num_unjudged_; }
    /// Describes the first unjudged segment, and the number of digits that its data determine. check()
    /// includes this text. Empty if there is no such segment.
    [[nodiscard]] const std::string& unjudged() const { return unjudged_; }

private:
    friend class SessionCore;
    [[nodiscard]] const Array& find(std::string_view field) const;
    [[nodiscard]] const Array& keys_array() const;
    static void require_type(std::string_view field, Type type, Type asked);

    Results results_;
    std::int64_t num_segments_ = 0;
    std::string plan_;
    std::vector<std::string> warnings_, check_;
    std::vector<Law> doubtful_laws_;
    bool agrees_ = true;
    std::int64_t num_overflowed_ = 0, num_unjudged_ = 0;
    std::string overflow_, unjudged_;
};

}  // namespace segfold
