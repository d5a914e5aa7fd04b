#include "runtime/check/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "dsl/text/parser.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/check/trial.h"
#include "runtime/data/resolve.h"
#include "runtime/support/random.h"

namespace segfold::regress {
namespace {

/// Lengths of the segments whose trees are compared.
constexpr std::array<std::int64_t, 10> kWatched = {1, 2, 31, 33, 100, 257, 700, 1025, 2049, 5000};
constexpr std::int64_t kUniformLength = 100;
constexpr int kMultiprocessors = 3;
constexpr int kOtherMultiprocessors = 7;
/// Number of elements after the last compared segment. It is so large that the grids of some stages depend on
/// the device.
constexpr std::int64_t kBehind = 60000;
/// Number of elements after the last compared segment in the larger input.
constexpr std::int64_t kMore = 90000;

/// Lengths of all segments, and which of them are compared.
struct Arrangement {
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> watched;  ///< indices of the compared segments in `lengths`
};

/// Arranges the compared segments. Before each of them lie other segments of random length, drawn from
/// `stream`. After the last lie `behind` more elements.
Arrangement arrange(SegmentForm form, std::uint64_t seed, std::uint64_t stream, std::int64_t behind)
{
    Arrangement all;
    if (form == SegmentForm::whole) {
        all = {{kBehind * 2}, {0}};
    } else if (form == SegmentForm::uniform) {
        all.lengths.assign(static_cast<std::size_t>(60 + behind / kUniformLength), kUniformLength);
        for (std::int64_t i = 0; i < 60; ++i)
            all.watched.push_back(i);
    } else {
        RandomSequence sequence(RandomSequence::derive_seed(seed, stream));
        for (const auto length : kWatched) {
            for (int i = 0; i < 6; ++i)
                all.lengths.push_back(1 + static_cast<std::int64_t>(sequence() % 97));
            all.watched.push_back(std::ssize(all.lengths));
            all.lengths.push_back(length);
        }
        for (; behind > 0; behind -= 40)
            all.lengths.push_back(40);
    }
    return all;
}

Segments segments_of_arrangement(SegmentForm form, const Arrangement& arrangement)
{
    const auto n = std::accumulate(arrangement.lengths.begin(), arrangement.lengths.end(), std::int64_t{0});
    if (form == SegmentForm::whole)
        return whole_segments(n);
    return form == SegmentForm::uniform ? uniform_segments(n, kUniformLength)
                                        : segments_of(form, arrangement.lengths);
}

/// Makes a workload in which a value of a compared segment depends only on the segment and the position in
/// it.
Workload workload_of_arrangement(const Operator& bracket, SegmentForm form, const Arrangement& arrangement)
{
    Workload workload;
    workload.op = bracket;
    workload.segments = segments_of_arrangement(form, arrangement);
    const auto n = workload.segments.num_elements;
    for (const auto& parameter : bracket.parameters) {
        auto values = generate_values(parameter.type, n, 3, ValueRange::small_integers);
        const auto width = static_cast<std::int64_t>(size_bytes(parameter.type));
        std::uint64_t stream = 10;
        for (const auto segment : arrangement.watched) {
            const auto begin = workload.segments.begin(segment), length = workload.segments.length(segment);
            const auto own = generate_values(parameter.type, length, stream++, ValueRange::small_integers);
            std::copy_n(own.data(), length * width, values.data() + begin * width);
        }
        workload.arrays.push_back(std::move(values));
    }
    return workload;
}

using Hashes = std::vector<std::uint64_t>;

/// A plan of one stage for one form.
struct TreePlan {
    const Operator& bracket;
    SegmentForm form;
    const Emitted& emitted;
    std::uint64_t seed;

    [[nodiscard]] Hashes run(const Arrangement& arrangement, int multiprocessors, int shift) const
    {
        const auto results = simt::run(workload_of_arrangement(bracket, form, arrangement), emitted,
                                       simt::options_from_seed(seed), {}, multiprocessors, 1, shift);
        const auto all = results.front().array.as<std::uint64_t>();
        Hashes hashes;
        for (const auto segment : arrangement.watched)
            hashes.push_back(all[static_cast<std::size_t>(segment)]);
        return hashes;
    }
};

std::int64_t differences(const Hashes& left, const Hashes& right)
{
    std::int64_t count = 0;
    for (std::size_t i = 0; i < left.size(); ++i)
        count += left[i] != right[i] ? 1 : 0;
    return count;
}

/// Counts, for each cause, the segments whose trees change, and stores the counts in `row`. Returns the
/// hashes of the run that applies no cause.
Hashes fill(TreeRow& row, const TreePlan& plan)
{
    const auto form = plan.form;
    const bool has_others = form != SegmentForm::whole;
    const auto usual = arrange(form, plan.seed, 1, kBehind);
    const auto hashes = plan.run(usual, kMultiprocessors, 0);
    const auto set = [&](TreeCause cause, const Hashes& changed) {
        row.changed[static_cast<std::size_t>(cause)] = differences(hashes, changed);
    };
    if (has_others && form != SegmentForm::uniform)
        set(TreeCause::neighbours, plan.run(arrange(form, plan.seed, 2, kBehind), kMultiprocessors, 0));
    if (form != SegmentForm::flags && form != SegmentForm::keys)
        set(TreeCause::alignment, plan.run(usual, kMultiprocessors, 1));
    if (has_others)
        set(TreeCause::size, plan.run(arrange(form, plan.seed, 1, kMore), kMultiprocessors, 0));
    set(TreeCause::device, plan.run(usual, kOtherMultiprocessors, 0));
    return hashes;
}

}  // namespace

Operator bracket_operator(const Operator& op)
{
    std::string parameters, value = "7";
    std::uint64_t weight = 3;
    for (const auto& parameter : op.parameters) {
        if (parameter.table)
            continue;
        parameters +=
            fmt::format("{}{}: {}", parameters.empty() ? "" : ", ", parameter.name, name(parameter.type));
        value += fmt::format(" + u64(i64({})) * {}", parameter.name, weight);
        weight += 2;
    }
    auto bracket = parse_operator("bracket", fmt::format(R"(operator bracket({}) -> (hash: u64) {{
            state {{ hash: u64 = 0 }}
            lift {{ hash = ({}) * 0x9e3779b97f4a7c15 | 1 }}
            combine(a, b) {{
                let mixed = (a.hash ^ a.hash >> 31) * 0xbf58476d1ce4e5b9 + (b.hash ^ b.hash >> 27) * 0x94d049bb133111eb;
                hash = a.hash == 0 ? b.hash : b.hash == 0 ? a.hash : mixed ^ mixed >> 29 | 1;
            }}
        }})",
                                                         parameters, value));
    bracket.laws = op.laws;
    return bracket;
}

std::vector<TreeRow> compare_trees(const Operator& op, const TreeRequest& request,
                                   const std::function<void(const std::string&)>& progress)
{
    const auto bracket = bracket_operator(op);
    std::vector<TreeRow> rows;
    std::map<SegmentForm, std::vector<Hashes>> trees;
    for (const auto* stage : request.stages)
        for (const auto form :
             {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets, SegmentForm::flags}) {
            const Problem problem(bracket, form);
            if (std::ranges::find(stage->forms, form) == stage->forms.end() ||
                request.catalogue.unmet(*stage, problem) ||
                request.catalogue.unmet(*stage, Problem(op, form)))
                continue;
            if (progress)
                progress(fmt::format("{} over {}", stage->name, name(form)));
            const auto usual = segments_of_arrangement(form, arrange(form, request.seed, 1, kBehind));
            const auto facts =
                plan_facts(Problem(op, form), {usual.num_elements, usual.num_segments, kWatched.back()});
            TreeRow row{stage->name, form, default_configuration(*stage, facts), {}, 0, {}};
            try {
                auto emitted = emit(problem, *stage, row.configuration, request.catalogue);
                emitted.is_reproducible = request.is_reproducible;
                auto hashes = fill(row, TreePlan{bracket, form, emitted, request.seed});
                auto& known = trees[form];
                const auto same = std::ranges::find(known, hashes);
                row.tree = static_cast<int>(same - known.begin());
                if (same == known.end())
                    known.push_back(std::move(hashes));
            } catch (const simt::SimtError& error) {
                row.fault = error.what();
            }
            rows.push_back(std::move(row));
        }
    return rows;
}

}  // namespace segfold::regress
