#include "runtime/judge/mapped.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "runtime/judge/running_state.h"
#include "runtime/judge/value_text.h"
#include "runtime/support/processes/segment_blocks.h"

namespace segfold {
namespace {

constexpr int kMapFolds = 6;  ///< number of folds in working precision, and again of folds with random errors

Results borrowed(const Results& returned, std::size_t first, std::size_t last)
{
    Results some;
    for (std::size_t i = first; i < last; ++i) {
        const auto& array = returned[i].array;
        some.push_back({returned[i].name, array.lend()});
    }
    return some;
}

WideValue wide_at(const Array& array, std::int64_t i)
{
    WideValue value{};
    Machine<long double>::load(value, array.type(), array.data(), i);
    return value;
}

/// Rounds a wide value to its type. Returns it in the representation of the working-precision evaluator.
Slot<double> rounded(Type type, const WideValue& value)
{
    alignas(16) std::byte bytes[16];
    Machine<long double>::store(value, type, bytes, 0);
    Slot<double> slot{};
    Machine<double>::load(slot, type, bytes, 0);
    return slot;
}

WideValue widened(Type type, const Slot<double>& slot)
{
    WideValue value{};
    if (is_float(type))
        value.real = Machine<double>::get_real(slot, type);
    else
        value.bits = slot.bits;
    return value;
}

/// The verdicts on one output for all elements of a segment.
struct OutputVerdict {
    /// `worst` is the verdict with the largest ratio among judged values. `unjudged` is the first verdict on
    /// a value that cannot be judged.
    ValueVerdict worst, unjudged;
    std::int64_t worst_at = -1, overflowed_at = -1, unjudged_at = -1;

    void note(const ValueVerdict& verdict, std::int64_t element)
    {
        if (verdict.unjudged) {
            if (unjudged_at < 0) {
                unjudged = verdict;
                unjudged_at = element;
            }
            return;
        }
        if (worst_at < 0 || verdict.ratio() > worst.ratio()) {
            worst = verdict;
            worst_at = element;
        }
        if (verdict.overflowed && overflowed_at < 0)
            overflowed_at = element;
    }
};

/// Returns the size of the output's largest value in the segment. A bound is compared with this size. The
/// size of the element itself would not do: it may be tiny because terms cancel, although the bound is small
/// beside the other elements.
long double largest_size(const WideField& output, std::int64_t begin, std::int64_t end)
{
    long double largest = 0;
    for (auto i = begin; i < end; ++i)
        largest = std::max(largest, size_of(output.type, output.values[static_cast<std::size_t>(i)]));
    return largest;
}

}  // namespace

/// Verdicts on segments, collected by several threads.
struct MappedJudge::Found {
    std::int64_t num_wrong = 0, num_overflowed = 0, num_unjudged = 0;
    std::optional<ComparedSegment> first_wrong, worst, first_overflowed, first_unjudged;

    static void keep_first(std::optional<ComparedSegment>& first, std::optional<ComparedSegment> segment)
    {
        if (segment && (!first || segment->segment < first->segment))
            first = std::move(segment);
    }
    void note(ComparedSegment segment, bool is_wrong)
    {
        if (is_wrong) {
            ++num_wrong;
            if (!first_wrong || segment.segment < first_wrong->segment)
                first_wrong = segment;
        }
        if (segment.ratio > 0 && (!worst || segment.ratio > worst->ratio ||
                                  (segment.ratio == worst->ratio && segment.segment < worst->segment)))
            worst = std::move(segment);
    }
    void merge(Found other)
    {
        if (other.first_wrong && (!first_wrong || other.first_wrong->segment < first_wrong->segment))
            first_wrong = std::move(other.first_wrong);
        if (other.worst)
            note(std::move(*other.worst), false);
        num_wrong += other.num_wrong;
        num_overflowed += other.num_overflowed;
        keep_first(first_overflowed, std::move(other.first_overflowed));
        num_unjudged += other.num_unjudged;
        keep_first(first_unjudged, std::move(other.first_unjudged));
    }
};

/// Recomputes the outputs of one segment's elements with other folds and scans, in working precision and with
/// random errors. Elements must be visited in the order of the scan.
class MappedJudge::Again {
public:
    Again(const MappedJudge& judge, std::int64_t segment)
        : judge_(judge),
          bytecode_(judge.bytecode_),
          segment_(segment),
          begin_(judge.workload_.segments.begin(segment)),
          length_(judge.workload_.segments.length(segment)),
          evaluator_(bytecode_, judge.inputs_.tables),
          working_(bytecode_.outputs.size()),
          disturbed_(bytecode_.outputs.size())
    {
        for (int k = 0; k < kMapFolds; ++k)
            evaluators_.emplace_back(bytecode_, judge.inputs_,
                                     judge.options_.seed + static_cast<unsigned>(k));
        if (bytecode_.has_map)
            sample_results();
        if (bytecode_.has_scan)
            start_scans();
    }

    /// Computes the outputs of the next element in scan order.
    void compute(std::int64_t element)
    {
        for (std::size_t f = 0; f < working_.size(); ++f) {
            working_[f].clear();
            disturbed_[f].clear();
        }
        std::vector<Slot<double>> out(working_.size());
        std::vector<WideValue> wide_out(working_.size());
        const auto add_working = [&](const std::vector<std::size_t>& places) {
            for (const auto f : places)
                working_[f].push_back(widened(bytecode_.outputs[f], out[f]));
        };
        const auto add_disturbed = [&](const std::vector<std::size_t>& places) {
            for (const auto f : places)
                disturbed_[f].push_back(wide_out[f]);
        };
        const auto& columns = judge_.inputs_.columns;
        const auto position = element - begin_;
        for (const auto& results : results_) {
            evaluator_.map(columns, element, position, segment_, length_, results.data(), out.data());
            add_working(bytecode_.mapped);
        }
        for (std::size_t k = 0; k < disturbed_results_.size(); ++k) {
            evaluators_[k].map(element, position, segment_, length_, disturbed_results_[k].data(),
                               wide_out.data());
            add_disturbed(bytecode_.mapped);
        }
        if (scans_.empty())
            return;
        std::vector<Slot<double>> lifted(bytecode_.state.size());
        evaluator_.lift(columns, element, position, segment_, lifted.data());
        for (auto& scan : scans_) {
            scan.take(lifted, [&](const auto* earlier, const auto* later, auto* to) {
                evaluator_.combine(earlier, later, to);
            });
            evaluator_.scan(columns, element, position, segment_, scan.before(), scan.through(), out.data());
            add_working(bytecode_.scanned);
        }
        std::vector<WideValue> wide_lifted(bytecode_.state.size());
        for (std::size_t k = 0; k < disturbed_scans_.size(); ++k) {
            auto& evaluator = evaluators_[k];
            evaluator.lift(element, position, segment_, wide_lifted.data());
            disturbed_scans_[k].take(wide_lifted, [&](const auto* earlier, const auto* later, auto* to) {
                evaluator.combine(earlier, later, ++node_, to);
            });
            evaluator.scan(element, position, segment_, disturbed_scans_[k].before(),
                           disturbed_scans_[k].through(), wide_out.data());
            add_disturbed(bytecode_.scanned);
        }
    }

    [[nodiscard]] const std::vector<WideValue>& working(std::size_t output) const { return working_[output]; }
    [[nodiscard]] const std::vector<WideValue>& disturbed(std::size_t output) const
    {
        return disturbed_[output];
    }

private:
    void sample_results()
    {
        const auto& options = judge_.options_;
        const Tolerance tolerance(judge_.workload_, bytecode_, judge_.inputs_, options.seed,
                                  options.is_associative);
        for (const auto& sample : tolerance.sample_results(segment_, kMapFolds, false)) {
            auto& slots = results_.emplace_back();
            for (std::size_t r = 0; r < bytecode_.results.size(); ++r)
                slots.push_back(rounded(bytecode_.results[r], sample[r]));
        }
        disturbed_results_ = tolerance.sample_results(segment_, kMapFolds, true);
    }

    /// Starts scans with several chunk lengths, because kernels scan by tiles.
    void start_scans()
    {
        constexpr std::int64_t kChunks[kMapFolds] = {RunningState<WideValue>::kEndless, 2, 8, 32, 256, 4096};
        for (auto chunk : kChunks) {
            if (!judge_.options_.is_associative)
                chunk = RunningState<WideValue>::kEndless;
            scans_.emplace_back(state_before_first<double>(bytecode_), bytecode_.scans_reversely, chunk);
            disturbed_scans_.emplace_back(state_before_first<long double>(bytecode_),
                                          bytecode_.scans_reversely, chunk);
        }
    }

    const MappedJudge& judge_;
    const Bytecode& bytecode_;
    std::int64_t segment_, begin_, length_;
    Evaluator<double> evaluator_;
    std::vector<DisturbedEvaluator> evaluators_;
    /// Results of the segment: [fold][field].
    std::vector<std::vector<Slot<double>>> results_;
    std::vector<std::vector<WideValue>> disturbed_results_;
    std::vector<RunningState<Slot<double>>> scans_;
    std::vector<RunningState<WideValue>> disturbed_scans_;
    /// Number of combinations with random errors so far.
    std::int64_t node_ = 0;
    /// Values of the current element: [output][sample].
    std::vector<std::vector<WideValue>> working_, disturbed_;
};

Results outputs_of(const Operator& op, const Results& returned)
{
    return borrowed(returned, returned.size() - op.outputs.size(), returned.size());
}

Results segment_results_of(const Operator& op, const Results& returned)
{
    auto results = borrowed(returned, 0, returned.size() - op.outputs.size());
    if (returned.keys)
        results.keys = returned.keys->copy();
    return results;
}

MappedJudge::MappedJudge(const Workload& workload, JudgeOptions options)
    : workload_(workload),
      options_(options),
      bytecode_(compile_bytecode(workload.op)),
      inputs_(inputs_of(workload)),
      bit_for_bit_(options.bit_for_bit || is_exact(workload.op))
{
    if (bit_for_bit_) {
        auto all = reduce_sequentially(workload, Precision::working, options.threads);
        const auto first = all.size() - workload.op.outputs.size();
        for (std::size_t i = first; i < all.size(); ++i)
            exact_.push_back(std::move(all[i]));
    } else {
        wide_ = reduce_widely(workload, options.threads, options.is_associative);
    }
}

Results MappedJudge::reference() const
{
    if (bit_for_bit_)
        return borrowed(exact_, 0, exact_.size());
    Results results;
    for (std::size_t f = bytecode_.results.size(); f < wide_.size(); ++f) {
        Array array(wide_[f].type, wide_[f].values.size());
        for (std::size_t i = 0; i < wide_[f].values.size(); ++i)
            Machine<long double>::store(wide_[f].values[i], array.type(), array.data(),
                                        static_cast<std::int64_t>(i));
        results.push_back({wide_[f].name, std::move(array)});
    }
    return results;
}

template <class Judge>
Comparison MappedJudge::over_segments(const Judge& judge) const
{
    Found found;
    std::mutex mutex;
    for_blocks(workload_.segments.num_segments, options_.threads, [&](std::int64_t begin, std::int64_t end) {
        Found here;
        for (std::int64_t segment = begin; segment < end; ++segment)
            judge(segment, here);
        const std::lock_guard lock(mutex);
        found.merge(std::move(here));
    });
    Comparison comparison;
    comparison.bit_for_bit = bit_for_bit_;
    comparison.num_segments = workload_.segments.num_segments;
    comparison.num_wrong = found.num_wrong;
    comparison.first_wrong = std::move(found.first_wrong);
    if (!bit_for_bit_)
        comparison.worst = std::move(found.worst);
    comparison.num_overflowed = found.num_overflowed;
    comparison.first_overflowed = std::move(found.first_overflowed);
    comparison.num_unjudged = found.num_unjudged;
    comparison.first_unjudged = std::move(found.first_unjudged);
    comparison.against = "the reference";
    return comparison;
}

Comparison MappedJudge::compare_bits(const Results& outputs, const Results& others) const
{
    return over_segments([&](std::int64_t segment, Found& found) {
        ComparedSegment described;
        bool is_wrong = false;
        for (std::size_t f = 0; f < outputs.size(); ++f)
            for (auto i = workload_.segments.begin(segment); i < workload_.segments.end(segment); ++i) {
                if (same_bits(outputs[f].array, others[f].array, i))
                    continue;
                if (!is_wrong)
                    described = describe_segment(workload_, segment);
                described.fields.push_back({fmt::format("{} of element {}", outputs[f].name, i),
                                            value_text(outputs[f].array, i), value_text(others[f].array, i),
                                            "", std::nullopt, std::nullopt, true});
                described.ratio = std::numeric_limits<double>::infinity();
                is_wrong = true;
                break;
            }
        if (is_wrong)
            found.note(std::move(described), true);
    });
}

void MappedJudge::judge_segment(std::int64_t segment, const Results& outputs, Found& found) const
{
    const auto begin = workload_.segments.begin(segment), end = workload_.segments.end(segment);
    const auto num_results = bytecode_.results.size(), num_outputs = outputs.size();
    const auto is_at_once = [&](std::int64_t i) {
        for (std::size_t f = 0; f < num_outputs; ++f) {
            const auto& wide = wide_[num_results + f];
            if (!agrees_at_once(wide.type, wide_at(outputs[f].array, i),
                                wide.values[static_cast<std::size_t>(i)]))
                return false;
        }
        return true;
    };
    auto first = begin;
    while (first < end && is_at_once(first))
        ++first;
    if (first == end)
        return;
    Again again(*this, segment);
    ComparedSegment described;
    std::vector<OutputVerdict> verdicts(num_outputs);
    std::vector<long double> sizes(num_outputs);
    for (std::size_t f = 0; f < num_outputs; ++f)
        sizes[f] = largest_size(wide_[num_results + f], begin, end);
    bool is_wrong = false;
    visit_in_order(begin, end, bytecode_.scans_reversely, [&](std::int64_t i) {
        const bool agrees = is_at_once(i);
        if (agrees && !bytecode_.has_scan)
            return;
        again.compute(i);
        for (std::size_t f = 0; !agrees && f < num_outputs; ++f) {
            const auto& wide = wide_[num_results + f];
            const auto verdict =
                weigh_value(wide.type, wide_at(outputs[f].array, i), wide.values[static_cast<std::size_t>(i)],
                            again.working(f), again.disturbed(f), false, sizes[f]);
            verdicts[f].note(verdict, i);
            is_wrong = is_wrong || verdict.wrong;
        }
    });
    described = describe_segment(workload_, segment);
    auto overflowed = described, unjudged = described;
    const auto field = [&](std::size_t f, std::int64_t i) -> ComparedField {
        const auto& wide = wide_[num_results + f];
        return {fmt::format("{} of element {}", outputs[f].name, i),
                value_text(outputs[f].array, i),
                value_text(wide.type, wide.values[static_cast<std::size_t>(i)]),
                "",
                std::nullopt,
                std::nullopt};
    };
    const auto weighed = [&](std::size_t f, std::int64_t i, const ValueVerdict& verdict) {
        auto said = field(f, i);
        said.error = static_cast<double>(verdict.error);
        said.bound = static_cast<double>(verdict.bound);
        said.wrong = verdict.wrong;
        return said;
    };
    for (std::size_t f = 0; f < num_outputs; ++f) {
        const auto& found_here = verdicts[f];
        if (found_here.worst_at >= 0) {
            described.fields.push_back(weighed(f, found_here.worst_at, found_here.worst));
            described.ratio = std::max(described.ratio, static_cast<double>(found_here.worst.ratio()));
        }
        if (found_here.overflowed_at >= 0)
            overflowed.fields.emplace_back(field(f, found_here.overflowed_at)).overflowed = true;
        if (found_here.unjudged_at >= 0)
            unjudged.fields.emplace_back(weighed(f, found_here.unjudged_at, found_here.unjudged))
                .digits_left = digits_left(found_here.unjudged.bound, sizes[f]);
    }
    if (!is_wrong && !overflowed.fields.empty()) {
        ++found.num_overflowed;
        Found::keep_first(found.first_overflowed, std::move(overflowed));
    } else if (!is_wrong && !unjudged.fields.empty()) {
        ++found.num_unjudged;
        Found::keep_first(found.first_unjudged, std::move(unjudged));
    }
    if (!described.fields.empty())
        found.note(std::move(described), is_wrong);
}

Comparison MappedJudge::compare(const Results& outputs) const
{
    if (bit_for_bit_)
        return compare_bits(outputs, exact_);
    return over_segments([&](std::int64_t segment, Found& found) { judge_segment(segment, outputs, found); });
}

}  // namespace segfold
