#include "runtime/judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/judge/bounded.h"
#include "runtime/judge/mapped.h"
#include "runtime/judge/value_text.h"
#include "runtime/support/processes/segment_blocks.h"

namespace segfold {
namespace {

constexpr std::int64_t kShownElements = 8;  // most elements shown at each end of a segment

void check_shape(const Operator& op, const Workload& workload, const Results& results,
                 const std::string& name)
{
    const auto fields = returned_fields(op);
    bool fits = results.size() == fields.size();
    for (std::size_t f = 0; fits && f < fields.size(); ++f)
        fits = results[f].name == fields[f].name && results[f].array.type() == fields[f].type &&
               static_cast<std::int64_t>(results[f].array.length()) ==
                   workload.num_features * (f + op.outputs.size() >= fields.size()
                                                ? workload.segments.num_elements
                                                : workload.segments.num_segments);
    if (!fits)
        throw InternalError(name + " do not have the fields, types and lengths of operator " + op.name +
                            "'s results");
    const auto& keys = workload.segments.keys;
    if (results.keys &&
        (!keys || results.keys->bytes() != keys->bytes() ||
         (keys->bytes() != 0 && std::memcmp(results.keys->data(), keys->data(), keys->bytes()) != 0)))
        throw InternalError(name + " do not have the key of each run");
}

bool same_bits(const Results& left, const Results& right, std::int64_t segment)
{
    for (std::size_t f = 0; f < left.size(); ++f)
        if (!same_bits(left[f].array, right[f].array, segment))
            return false;
    return true;
}

ComparedSegment describe_bits(const Workload& workload, const Results& actual, const Results& expected,
                              std::int64_t segment)
{
    auto described = describe_segment(workload, segment);
    described.ratio = std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < actual.size(); ++f)
        described.fields.push_back({actual[f].name, value_text(actual[f].array, segment),
                                    value_text(expected[f].array, segment), "", std::nullopt, std::nullopt,
                                    !same_bits(actual[f].array, expected[f].array, segment)});
    return described;
}

Comparison compare_bits(const Workload& workload, const Results& actual, const Results& expected, int threads)
{
    Comparison comparison;
    comparison.bit_for_bit = true;
    comparison.num_segments = workload.segments.num_segments;
    std::int64_t first = comparison.num_segments;
    std::mutex mutex;
    for_blocks(comparison.num_segments, threads, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t num_wrong = 0;
        std::int64_t first_here = end;
        for (std::int64_t segment = begin; segment < end; ++segment)
            if (!same_bits(actual, expected, segment)) {
                ++num_wrong;
                first_here = std::min(first_here, segment);
            }
        const std::lock_guard lock(mutex);
        comparison.num_wrong += num_wrong;
        if (num_wrong != 0)
            first = std::min(first, first_here);
    });
    if (comparison.num_wrong != 0)
        comparison.first_wrong = describe_bits(workload, actual, expected, first);
    return comparison;
}

/// Adds the values of `other` to `described`, a description of the actual results.
void add_other(std::optional<ComparedSegment>& described, const Results& other)
{
    if (!described)
        return;
    for (std::size_t f = 0; f < other.size(); ++f)
        described->fields[f].other = value_text(other[f].array, described->segment);
}

/// `described` describes the other results. Changes it to describe the actual results, with the other values
/// as `ComparedField::other`.
void turn_around(std::optional<ComparedSegment>& described, const Results& actual)
{
    if (!described)
        return;
    for (std::size_t f = 0; f < actual.size(); ++f) {
        auto& field = described->fields[f];
        field.other = std::move(field.actual);
        field.actual = value_text(actual[f].array, described->segment);
    }
}

}  // namespace

bool same_bits(const Array& left, const Array& right, std::int64_t i)
{
    Slot<double> a{};
    Slot<double> b{};
    Machine<double>::load(a, left.type(), left.data(), i);
    Machine<double>::load(b, right.type(), right.data(), i);
    if (!is_float(left.type()))
        return a.bits == b.bits;
    const double x = Machine<double>::get_real(a, left.type());
    const double y = Machine<double>::get_real(b, left.type());
    return (x == y && std::signbit(x) == std::signbit(y)) || (std::isnan(x) && std::isnan(y));
}

ComparedSegment describe_segment(const Workload& workload, std::int64_t segment)
{
    ComparedSegment described;
    described.segment = segment;
    described.begin = workload.segments.begin(segment);
    described.end = workload.segments.end(segment);
    const std::int64_t length = described.end - described.begin;
    for (std::size_t p = 0; p < workload.arrays.size() && length != 0; ++p) {
        if (workload.op.parameters[p].table)
            continue;
        ComparedElements elements{workload.op.parameters[p].name, {}, {}};
        const bool all = length <= 2 * kShownElements;
        for (std::int64_t i = 0; i < (all ? length : kShownElements); ++i)
            elements.first.push_back(value_text(workload.arrays[p], described.begin + i));
        for (std::int64_t i = all ? 0 : kShownElements; i > 0; --i)
            elements.last.push_back(value_text(workload.arrays[p], described.end - i));
        described.elements.push_back(std::move(elements));
    }
    return described;
}

void Comparison::take_unsaid(Comparison& other)
{
    if (other.num_overflowed > num_overflowed) {
        num_overflowed = other.num_overflowed;
        first_overflowed = std::move(other.first_overflowed);
    }
    if (other.num_unjudged > num_unjudged) {
        num_unjudged = other.num_unjudged;
        first_unjudged = std::move(other.first_unjudged);
    }
}

struct Judge::Feature {
    Feature(Workload taken, const JudgeOptions& options)
        : workload(std::move(taken)), judge(workload, options)
    {}

    Workload workload;
    Judge judge;
};

Judge::Judge(const Workload& workload, JudgeOptions options)
    : fold_(!workload.op.outputs.empty() && !has_rows(workload.op)
                ? std::make_unique<const Workload>(fold_of(workload))
                : nullptr),
      mapped_(!workload.op.outputs.empty() && !has_rows(workload.op)
                  ? std::make_unique<const MappedJudge>(workload, options)
                  : nullptr),
      op_(workload.op),
      workload_(fold_ ? *fold_ : workload),
      options_(options),
      bytecode_(compile_bytecode(workload_.op)),
      inputs_(inputs_of(workload_)),
      bit_for_bit_(options.bit_for_bit || is_exact(workload_.op))
{
    if (has_rows(op_)) {
        check_workload(workload);
        for (std::int64_t feature = 0; feature < workload.num_features; ++feature)
            features_.push_back(std::make_unique<const Feature>(feature_of(workload, feature), options));
        return;
    }
    if (!op_.keeps_results)
        return;
    if (bit_for_bit_)
        exact_ = reduce_sequentially(workload_, Precision::working, options.threads);
    else
        wide_ = reduce_widely(workload_, options.threads, options.is_associative);
}

Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;

Comparison Judge::over_features(
    const std::function<Comparison(const Judge& judge, std::int64_t feature)>& compare) const
{
    Comparison said;
    for (std::size_t feature = 0; feature < features_.size(); ++feature) {
        auto found = compare(features_[feature]->judge, static_cast<std::int64_t>(feature));
        for (auto* described :
             {&found.first_wrong, &found.worst, &found.first_overflowed, &found.first_unjudged})
            if (*described)
                for (auto& field : (*described)->fields)
                    field.name += fmt::format(" of feature {}", feature);
        const bool is_worse = found.worst && (!said.worst || found.worst->ratio > said.worst->ratio);
        if (feature == 0 || !found.agrees() || is_worse)
            std::swap(said, found);
        said.take_unsaid(found);
        if (!said.agrees())
            break;
    }
    return said;
}

bool Judge::bit_for_bit() const
{
    if (!features_.empty())
        return features_.front()->judge.bit_for_bit();
    return (bit_for_bit_ || !op_.keeps_results) && (!mapped_ || mapped_->bit_for_bit());
}

Results Judge::reference() const
{
    if (!features_.empty()) {
        std::size_t feature = 0;
        return fold_features(workload_,
                             [&](const Workload&) { return features_[feature++]->judge.reference(); });
    }
    Results results;
    if (op_.keeps_results)
        results = allocate_results(workload_);
    for (std::size_t f = 0; f < results.size(); ++f) {
        auto& array = results[f].array;
        if (bit_for_bit_)
            array = exact_[f].array.copy();
        else
            for (std::size_t i = 0; i < array.length(); ++i)
                Machine<long double>::store(wide_[f].values[i], array.type(), array.data(),
                                            static_cast<std::int64_t>(i));
    }
    if (mapped_)
        for (auto& [name, array] : mapped_->reference())
            results.push_back({name, array.copy()});
    return results;
}

Comparison Judge::compare_segments(const Results& actual) const
{
    auto comparison = bit_for_bit_
                          ? compare_bits(workload_, actual, exact_, options_.threads)
                          : compare_within_bounds(workload_, bytecode_, inputs_, wide_, actual, options_);
    comparison.against = "the reference";
    return comparison;
}

/// Reports the results of segments even if outputs of elements are wrong too.
Comparison Judge::compare(const Results& actual) const
{
    check_shape(op_, workload_, actual, "the results");
    if (!features_.empty())
        return over_features([&](const Judge& judge, std::int64_t feature) {
            return judge.compare(feature_of(actual, feature, workload_.num_features));
        });
    if (!mapped_)
        return compare_segments(actual);
    auto of_elements = mapped_->compare(outputs_of(op_, actual));
    if (!op_.keeps_results)
        return of_elements;
    auto of_segments = compare_segments(segment_results_of(op_, actual));
    const bool is_worse =
        of_elements.worst && (!of_segments.worst || of_elements.worst->ratio > of_segments.worst->ratio);
    const bool are_segments = !of_segments.agrees() || (of_elements.agrees() && !is_worse);
    auto& said = are_segments ? of_segments : of_elements;
    said.take_unsaid(are_segments ? of_elements : of_segments);
    said.bit_for_bit = of_segments.bit_for_bit && of_elements.bit_for_bit;
    return std::move(said);
}

Comparison Judge::compare_segments(const Results& actual, const Results& other, const std::string& name) const
{
    if (bit_for_bit_) {
        auto comparison = compare_bits(workload_, actual, other, options_.threads);
        comparison.against = name;
        return comparison;
    }
    auto comparison = compare_segments(actual);
    if (comparison.agrees()) {
        auto of_other = compare_segments(other);
        if (!of_other.agrees()) {
            comparison = std::move(of_other);
            comparison.culprit = name;
        } else {
            for (auto* described : {&comparison.first_overflowed, &comparison.first_unjudged})
                add_other(*described, other);
            for (auto* described : {&of_other.first_overflowed, &of_other.first_unjudged})
                turn_around(*described, actual);
            comparison.take_unsaid(of_other);
        }
    }
    if (comparison.culprit.empty()) {
        add_other(comparison.first_wrong, other);
        add_other(comparison.worst, other);
    }
    comparison.against = name;
    return comparison;
}

Comparison Judge::compare(const Results& actual, const Results& other, const std::string& name) const
{
    check_shape(op_, workload_, actual, "the results");
    check_shape(op_, workload_, other, "the results of " + name);
    if (!features_.empty())
        return over_features([&](const Judge& judge, std::int64_t feature) {
            return judge.compare(feature_of(actual, feature, workload_.num_features),
                                 feature_of(other, feature, workload_.num_features), name);
        });
    if (!mapped_)
        return compare_segments(actual, other, name);
    Comparison of_segments;
    if (op_.keeps_results) {
        of_segments = compare_segments(segment_results_of(op_, actual), segment_results_of(op_, other), name);
        if (!of_segments.agrees())
            return of_segments;
    }
    const auto outputs = outputs_of(op_, actual), others = outputs_of(op_, other);
    auto comparison =
        mapped_->bit_for_bit() ? mapped_->compare_bits(outputs, others) : mapped_->compare(outputs);
    if (comparison.agrees() && !mapped_->bit_for_bit())
        if (auto of_other = mapped_->compare(others); !of_other.agrees()) {
            comparison = std::move(of_other);
            comparison.culprit = name;
        }
    comparison.take_unsaid(of_segments);
    comparison.against = name;
    return comparison;
}

Comparison compare(const Workload& workload, const Results& actual, JudgeOptions options)
{
    return Judge(workload, options).compare(actual);
}

}  // namespace segfold
