#include "runtime/judge/bounded.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "runtime/judge/tolerance.h"
#include "runtime/judge/value_text.h"
#include "runtime/support/processes/segment_blocks.h"

namespace segfold {
namespace {

// Segments with at least this many elements are judged one at a time. All threads share each of them.
constexpr std::int64_t kJudgedAlone = std::int64_t{1} << 20;

class BoundedComparison {
public:
    BoundedComparison(const Workload& workload, const Bytecode& bytecode, const OperatorInputs& inputs,
                      const WideResults& wide, const Results& actual, const JudgeOptions& options)
        : workload_(workload),
          wide_(wide),
          actual_(actual),
          options_(options),
          tolerance_(workload, bytecode, inputs, options.seed, options.is_associative)
    {}

    Comparison run()
    {
        const std::int64_t num_segments = workload_.segments.num_segments;
        // Most segments agree within 4 ulp. The others are judged afterwards, long segments first. All
        // threads share each long segment.
        std::vector<std::int64_t> open;
        for_blocks(num_segments, options_.threads, [&](std::int64_t begin, std::int64_t end) {
            std::vector<std::int64_t> open_here;
            Values values(actual_.size(), wide_.size());
            for (std::int64_t segment = begin; segment < end; ++segment) {
                read(segment, values);
                if (!tolerance_.agrees_at_once(values.actual, values.wide))
                    open_here.push_back(segment);
            }
            const std::lock_guard lock(mutex_);
            open.insert(open.end(), open_here.begin(), open_here.end());
        });
        std::ranges::sort(open);
        for (const std::int64_t segment : open)
            if (is_long(segment))
                judge(segment, thread_count(options_.threads));
        for_blocks(static_cast<std::int64_t>(open.size()), options_.threads,
                   [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t i = begin; i < end; ++i)
                           if (!is_long(open[static_cast<std::size_t>(i)]))
                               judge(open[static_cast<std::size_t>(i)], 1);
                   });
        // If few segments are refused, each is judged once more with folds by runs, in which every lane of a
        // kernel folds a run of neighbouring elements.
        const bool are_few = refused_.size() <= kFewSegments;
        for (auto& [segment, verdict] : refused_) {
            if (are_few && workload_.segments.length(segment) <= Tolerance::kMostRunElements) {
                Values values(actual_.size(), wide_.size());
                read(segment, values);
                verdict = tolerance_.judge_by_runs(segment, values.actual, values.wide);
                known_verdicts_[segment] = verdict;
            }
            note(segment, verdict);
        }
        return summary();
    }

private:
    static constexpr std::size_t kFewSegments = 4096;

    struct Values {
        Values(std::size_t actual_fields, std::size_t wide_fields) : actual(actual_fields), wide(wide_fields)
        {}
        std::vector<WideValue> actual, wide;
    };

    void read(std::int64_t segment, Values& values) const
    {
        read_wide(actual_, segment, values.actual);
        for (std::size_t f = 0; f < wide_.size(); ++f)
            values.wide[f] = wide_[f].values[static_cast<std::size_t>(segment)];
    }

    void judge(std::int64_t segment, int threads)
    {
        Values values(actual_.size(), wide_.size());
        read(segment, values);
        const auto verdict = tolerance_.judge(segment, values.actual, values.wide, threads);
        const std::lock_guard lock(mutex_);
        if (is_long(segment))
            known_verdicts_[segment] = verdict;
        if (verdict.agrees)
            note(segment, verdict);
        else
            refused_[segment] = verdict;
    }

    void note(std::int64_t segment, const SegmentVerdict& verdict)
    {
        if (verdict.agrees && std::ranges::count(verdict.overflowed, true) != 0) {
            ++num_overflowed_;
            first_overflowed_ = std::min(first_overflowed_, segment);
            if (verdict.ratio == 0)
                return;
        } else if (verdict.agrees && std::ranges::count(verdict.unjudged, true) != 0) {
            ++num_unjudged_;
            first_unjudged_ = std::min(first_unjudged_, segment);
            return;
        }
        if (!verdict.agrees) {
            ++num_wrong_;
            first_wrong_ = std::min(first_wrong_, segment);
        }
        // If ratios are equal, the lowest segment is kept, so that the number of threads does not matter.
        if (worst_ < 0 || verdict.ratio > worst_ratio_ ||
            (verdict.ratio == worst_ratio_ && segment < worst_)) {
            worst_ratio_ = verdict.ratio;
            worst_ = segment;
        }
    }

    [[nodiscard]] bool is_long(std::int64_t segment) const
    {
        return workload_.segments.length(segment) >= kJudgedAlone;
    }

    /// Describes a segment. If no verdict is known, makes all folds, so that the bound shown does not depend
    /// on the results.
    [[nodiscard]] ComparedSegment describe(std::int64_t segment)
    {
        Values values(actual_.size(), wide_.size());
        read(segment, values);
        const auto known = known_verdicts_.find(segment);
        const auto verdict =
            known != known_verdicts_.end()
                ? known->second
                : tolerance_.judge(segment, values.actual, values.wide, thread_count(options_.threads), true);
        auto described = describe_segment(workload_, segment);
        described.ratio = static_cast<double>(verdict.ratio);
        for (std::size_t f = 0; f < actual_.size(); ++f)
            described.fields.push_back(
                {actual_[f].name, value_text(actual_[f].array, segment),
                 value_text(wide_[f].type, values.wide[f]), "", static_cast<double>(verdict.errors[f]),
                 static_cast<double>(verdict.bounds[f]), verdict.wrong[f], verdict.overflowed[f],
                 verdict.unjudged[f]
                     ? std::optional(digits_left(verdict.bounds[f], size_of(wide_[f].type, values.wide[f])))
                     : std::nullopt});
        return described;
    }

    Comparison summary()
    {
        Comparison comparison;
        comparison.num_segments = workload_.segments.num_segments;
        comparison.num_wrong = num_wrong_;
        if (num_wrong_ != 0)
            comparison.first_wrong = describe(first_wrong_);
        if (worst_ >= 0)
            comparison.worst = worst_ == first_wrong_ ? comparison.first_wrong : describe(worst_);
        comparison.num_overflowed = num_overflowed_;
        if (num_overflowed_ != 0)
            comparison.first_overflowed = describe(first_overflowed_);
        comparison.num_unjudged = num_unjudged_;
        if (num_unjudged_ != 0)
            comparison.first_unjudged = describe(first_unjudged_);
        return comparison;
    }

    const Workload& workload_;
    const WideResults& wide_;
    const Results& actual_;
    const JudgeOptions& options_;
    Tolerance tolerance_;
    std::mutex mutex_;
    std::map<std::int64_t, SegmentVerdict> known_verdicts_;
    std::map<std::int64_t, SegmentVerdict> refused_;
    std::int64_t num_wrong_ = 0;
    std::int64_t first_wrong_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t num_overflowed_ = 0;
    std::int64_t first_overflowed_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t num_unjudged_ = 0;
    std::int64_t first_unjudged_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t worst_ = -1;
    long double worst_ratio_ = 0;
};

}  // namespace

Comparison compare_within_bounds(const Workload& workload, const Bytecode& bytecode,
                                 const OperatorInputs& inputs, const WideResults& wide, const Results& actual,
                                 const JudgeOptions& options)
{
    return BoundedComparison(workload, bytecode, inputs, wide, actual, options).run();
}

}  // namespace segfold
