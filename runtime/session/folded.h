#pragma once
// What a fold gives back.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/laws/laws.h"
#include "runtime/data/array_view.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The results of a fold on the host, and what was said about them.
class Folded {
public:
    Folded(Results results, std::int64_t num_segments)
        : results_(std::move(results)), num_segments_(num_segments)
    {}

    /// How many segments were folded. Throws InputError after the results were moved from.
    [[nodiscard]] std::int64_t num_segments() const;

    /// The values of a result field, one for each segment; without a name those of the only one.
    ///
    /// Those of f16 and bf16 are read as the C++ type that stands for it (HalfElement), or as std::uint16_t:
    /// their bits. Throws InputError for a field that is none, for a T that is not the field's type, and
    /// after the results were moved from.
    template <class T>
    [[nodiscard]] std::span<const T> values(std::string_view field = "") const&
    {
        const auto& array = find(field);
        require_type(field, array.type(), type_of_element<T>());
        return array.template as<T>();
    }
    /// The same of a fold that is about to go, as in `session.fold(...).values<float>()`: a copy.
    template <class T>
    [[nodiscard]] std::vector<T> values(std::string_view field = "") const&&
    {
        const auto lent = values<T>(field);
        return {lent.begin(), lent.end()};
    }
    /// The key of each run, where segments were given by keys.
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
    /// "warp_stream ring_offsets=256 ... (tuning record)"; empty for a back end without stages.
    [[nodiscard]] const std::string& plan() const { return plan_; }
    /// What should be known before relying on results, such as a law that NaN alone refutes.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    /// Laws that are refuted and on which the fold relies all the same, as warnings() say with
    /// counter-examples. Of a fold with a check; empty without.
    [[nodiscard]] const std::vector<Law>& doubtful_laws() const { return doubtful_laws_; }
    /// What FoldOptions::check has found, one line for each judge; empty without.
    [[nodiscard]] const std::vector<std::string>& check() const { return check_; }
    /// False where a check has found a difference. Segments of which it can say nothing, or that it cannot
    /// judge, are none.
    [[nodiscard]] bool agrees() const { return agrees_; }
    /// Segments of which a check can say nothing: a result is finite on one side alone, as values on the way
    /// overflow, or are undefined, in some order of combining. 0 without a check.
    [[nodiscard]] std::int64_t num_overflowed() const { return num_overflowed_; }
    /// What check() says of the first of them: its place, the result and the reference's. Empty without any.
    [[nodiscard]] const std::string& overflow() const { return overflow_; }
    /// Segments with a value that a check cannot judge: roundings alone may change it by more than a quarter.
    /// 0 without a check.
    [[nodiscard]] std::int64_t num_unjudged() const { return num_unjudged_; }
    /// What check() says of the first of them, with the digits that the data leave. Empty without any.
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
