#include "runtime/measure/bench/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dsl/check/rows.h"
#include "dsl/evaluation/evaluator.h"
#include "runtime/judge/reference.h"
#include "runtime/session/grouped/grouped_inputs.h"

namespace segfold::bench {
namespace {

/// Completes the results of a peer that takes keys and therefore skips empty segments. Moves each result to
/// the index of its segment, and takes the missing results from the reference.
Results put_in_place(Results results, const Results& reference, const Filled& filled)
{
    if (filled.places == 0)
        return results;
    const auto places = filled.places_on_host();
    Results all;
    for (std::size_t f = 0; f < results.size(); ++f) {
        auto array = reference[f].array.copy();
        const auto size = size_bytes(array.type());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto segment = static_cast<std::size_t>(places[i]);
            std::memcpy(array.data() + segment * size,
                        results[f].array.data() + (filled.is_compacted ? i : segment) * size, size);
        }
        all.push_back({results[f].name, std::move(array)});
    }
    return all;
}

/// True if the values at index `i` differ by more than the tolerance times the larger of 1 and both
/// magnitudes.
bool is_beyond(const Array& actual, const Array& first, std::int64_t i, bool is_exact)
{
    if (same_bits(actual, first, i))
        return false;
    if (is_exact || !is_float(actual.type()))
        return true;
    WideValue value, expected;
    Machine<long double>::load(value, actual.type(), actual.data(), i);
    Machine<long double>::load(expected, first.type(), first.data(), i);
    const auto scale = std::max({1.0L, std::fabs(value.real), std::fabs(expected.real)});
    return !(std::fabs(value.real - expected.real) <= tolerance(actual.type()) * scale);
}

/// Returns the values of every field at the indices `chosen`.
Results places_of(const Results& results, const std::vector<std::int64_t>& chosen)
{
    Results some;
    for (const auto& [name, array] : results) {
        const auto size = size_bytes(array.type());
        Array own(array.type(), chosen.size());
        for (std::size_t i = 0; i < chosen.size(); ++i)
            std::memcpy(own.data() + i * size, array.data() + static_cast<std::size_t>(chosen[i]) * size,
                        size);
        some.push_back({name, std::move(own)});
    }
    return some;
}

/// True if a segment's result may depend on the segment's index or on the indices of its elements.
bool knows_its_place(const Operator& op)
{
    const auto uses = [](const std::optional<Block>& block, const char* place) {
        return block && uses_name(*block, place);
    };
    return uses_name(op.lift, "index") || uses_name(op.lift, "segment") || uses(op.finish, "segment") ||
           uses(op.empty, "segment");
}

}  // namespace

double tolerance(Type type)
{
    switch (type) {
        case Type::f64: return 1e-9;
        case Type::f16: return 0.05;
        case Type::bf16: return 0.2;
        default: return 1e-3;
    }
}

Agreements::Agreements(const Workload& workload, PlacedWorkload& placed,
                       std::vector<const std::byte*> columns, bool is_associative)
    : workload_(workload),
      placed_(placed),
      columns_(std::move(columns)),
      options_{.is_associative = is_associative},
      is_exact_(is_exact(workload.op))
{
    if (columns_.empty())
        for (const auto& array : workload.arrays)
            columns_.push_back(array.data());
    if (workload.segments.num_elements * workload.num_features > kMostJudged)
        return;
    if (workload.segments.form == SegmentForm::groups)  // the reference takes sorted elements
        sorted_ = std::make_unique<Workload>(sorted_by_group(workload));
    judge_ = std::make_unique<Judge>(sorted_ ? *sorted_ : workload, options_);
}

Agreements::~Agreements() = default;

Agreement Agreements::check(const std::string& name, const Filled& filled)
{
    if (judge_)
        return against_reference(filled);
    if (!first_name_.empty())
        return against_first(filled);
    if (filled.is_by_key && filled.places != 0)
        return {false, true, "nothing to compare with"};
    first_name_ = name;
    placed_.keep_results();
    return {false, true, "the first, others are compared with it"};
}

Agreement Agreements::against_reference(const Filled& filled)
{
    auto results = placed_.results();
    if (filled.is_by_key)
        results = put_in_place(std::move(results), judge_->reference(), filled);
    const auto comparison = judge_->compare(results);
    const auto unsaid = unsaid_in_brief(comparison);
    return {true, comparison.agrees(),
            !comparison.agrees() ? print(comparison)
            : unsaid.empty()     ? "reference"
                                 : "reference; " + unsaid};
}

Agreement Agreements::against_first(const Filled& filled)
{
    const auto count =
        filled.is_by_key ? filled.num_runs : workload_.segments.num_segments * workload_.num_features;
    const auto* values = has_rows(workload_.op) ? "numbers" : "segments";
    bool same_bits = true;
    const auto fields = returned_fields(workload_.op);
    for (std::size_t f = 0; f < fields.size(); ++f) {
        const auto& field = fields[f];
        const auto difference = placed_.difference(f, is_exact_ ? 0.0 : tolerance(field.type), filled);
        same_bits = same_bits && difference.bits == 0;
        // If elements are rows, `first` is an index of numbers, of which each segment or element has
        // num_features.
        const auto first = difference.first / static_cast<unsigned long long>(workload_.num_features);
        if (difference.beyond != 0 && !filled.is_by_key && can_judge_segments())
            if (auto judged = judge_doubtful())
                return *judged;
        if (difference.beyond != 0)
            return {true, false,
                    f + workload_.op.outputs.size() < fields.size()
                        ? fmt::format("{} of {} {} differ from {} in field {}, the first is segment {}",
                                      difference.beyond, count, values, first_name_, field.name, first)
                        : fmt::format("{} from {} in output {}, the first is element {}",
                                      difference.beyond == 1
                                          ? "1 element differs"
                                          : fmt::format("{} elements differ", difference.beyond),
                                      first_name_, field.name, first)};
    }
    return {true, true, first_name_ + (same_bits ? ", bit for bit" : ", within rounding")};
}

bool Agreements::can_judge_segments() const
{
    const auto& op = workload_.op;
    return workload_.segments.form != SegmentForm::groups && !is_exact_ &&
           columns_.size() == op.parameters.size() && op.outputs.empty() &&
           std::ranges::none_of(op.parameters,
                                [](const auto& parameter) {
                                    return (parameter.table && !parameter.scalar) || parameter.row;
                                }) &&
           !knows_its_place(op);
}

/// Returns a workload with only the segments `chosen`. Their elements are copied.
Workload Agreements::only(const std::vector<std::int64_t>& chosen) const
{
    std::vector<std::int64_t> offsets{0};
    for (const auto segment : chosen)
        offsets.push_back(offsets.back() + workload_.segments.length(segment));
    Workload some{workload_.op, {}, {}};
    for (std::size_t p = 0; p < columns_.size(); ++p) {
        const auto type = workload_.op.parameters[p].type;
        const auto size = static_cast<std::int64_t>(size_bytes(type));
        if (workload_.op.parameters[p].scalar) {
            Array number(type, 1);
            std::memcpy(number.data(), columns_[p], static_cast<std::size_t>(size));
            some.arrays.push_back(std::move(number));
            continue;
        }
        Array own(type, static_cast<std::size_t>(offsets.back()));
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (const auto length = offsets[i + 1] - offsets[i]; length > 0)
                std::memcpy(own.data() + offsets[i] * size,
                            columns_[p] + workload_.segments.begin(chosen[i]) * size,
                            static_cast<std::size_t>(length * size));
        some.arrays.push_back(std::move(own));
    }
    some.segments = segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), offsets.back());
    return some;
}

/// Finds the segments whose results differ from the first results by more than the tolerance. Compares them
/// with the reference, within the limits kMostDoubtful and kMostDoubtfulElements. Returns nothing if there
/// are none.
std::optional<Agreement> Agreements::judge_doubtful() const
{
    const auto actual = placed_.results();
    const auto first = placed_.kept_results();
    std::vector<std::int64_t> doubtful, chosen;
    for (std::int64_t i = 0; i < workload_.segments.num_segments; ++i)
        for (std::size_t f = 0; f < actual.size(); ++f)
            if (is_beyond(actual[f].array, first[f].array, i, is_exact_)) {
                doubtful.push_back(i);
                break;
            }
    if (doubtful.empty())
        return std::nullopt;
    std::int64_t elements = 0;
    const auto count = std::min(doubtful.size(), kMostDoubtful);
    for (std::size_t i = 0; i < count; ++i) {
        const auto segment = doubtful[i * doubtful.size() / count];
        elements += workload_.segments.length(segment);
        if (chosen.empty() || elements <= kMostDoubtfulElements)
            chosen.push_back(segment);
    }
    const auto workload = only(chosen);
    const auto comparison =
        Judge(workload, options_).compare(places_of(actual, chosen), places_of(first, chosen), first_name_);
    if (comparison.agrees())
        return Agreement{
            true, true,
            fmt::format("{}, within rounding; {} of {} segments that differ by more are within "
                        "their bounds of the reference{}{}",
                        first_name_, chosen.size(), doubtful.size(),
                        comparison.is_judged() ? "" : ", of which ", unsaid_in_brief(comparison))};
    const auto wrong = comparison.first_wrong ? comparison.first_wrong->segment : 0;
    return Agreement{true, false,
                     fmt::format("{} of {} segments that differ from {} are out of their bounds of the "
                                 "reference{}, the first is segment {}",
                                 comparison.num_wrong, chosen.size(), first_name_,
                                 comparison.culprit.empty() ? "" : " by what " + comparison.culprit + " gave",
                                 chosen[static_cast<std::size_t>(wrong)])};
}

}  // namespace segfold::bench
