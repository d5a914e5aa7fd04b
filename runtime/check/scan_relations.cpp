#include "runtime/check/scan_relations.h"

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "runtime/check/operators/derived_operators.h"
#include "runtime/judge/reference.h"

namespace segfold::regress {
namespace {

using enum SegmentForm;

void copy_entry(const Array& from, std::int64_t at, Array& into, std::int64_t to)
{
    const auto width = size_bytes(from.type());
    std::memcpy(into.data() + static_cast<std::size_t>(to) * width,
                from.data() + static_cast<std::size_t>(at) * width, width);
}

/// Copies half of the arrays that scan_states_operator() returns: the running states if `is_second` is true,
/// otherwise the states of segments.
Results half_of(const Results& results, bool is_second)
{
    const auto num_fields = results.size() / 2;
    Results half;
    for (std::size_t f = 0; f < num_fields; ++f) {
        const auto& [name, array] = results[is_second ? num_fields + f : f];
        half.push_back({name, array.copy()});
    }
    return half;
}

/// An element, and the indices of two states whose combination is the element's running state.
struct Pair {
    std::int64_t element, earlier, later;
};

/// Cut segments are scanned in two parts. Returns a pair for each element of the part that is scanned second.
/// `cuts` holds the index at which each segment is cut, or the segment's end if it is not cut.
std::vector<Pair> pairs_of(std::span<const std::int64_t> offsets, std::span<const std::int64_t> cuts,
                           bool is_reverse)
{
    std::vector<Pair> pairs;
    for (std::size_t s = 0; s < cuts.size(); ++s) {
        const auto begin = offsets[s], middle = cuts[s], end = offsets[s + 1];
        if (middle == end)
            continue;
        for (auto i = is_reverse ? begin : middle; i < (is_reverse ? middle : end); ++i)
            pairs.push_back(is_reverse ? Pair{i, i, middle} : Pair{i, middle - 1, i});
    }
    return pairs;
}

/// Combines the two states of each pair and stores the result in `states` at the pair's element.
void join_pairs(const Operator& op, const std::vector<Pair>& pairs, Results& states)
{
    const auto count = static_cast<std::int64_t>(pairs.size());
    Workload workload{joining_operator(op), {}, uniform_segments(2 * count, 2)};
    for (const auto& [name, array] : states) {
        auto& column = workload.arrays.emplace_back(array.type(), 2 * pairs.size());
        for (std::int64_t p = 0; p < count; ++p) {
            copy_entry(array, pairs[static_cast<std::size_t>(p)].earlier, column, 2 * p);
            copy_entry(array, pairs[static_cast<std::size_t>(p)].later, column, 2 * p + 1);
        }
    }
    const auto joined = right_results(workload);
    for (std::size_t f = 0; f < states.size(); ++f)
        for (std::int64_t p = 0; p < count; ++p)
            copy_entry(joined[f].array, p, states[f].array, pairs[static_cast<std::size_t>(p)].element);
}

}  // namespace

std::optional<Breach> attempt_last_of_scan(Trial& trial)
{
    const auto& op = trial.setting().op;
    const auto states = scan_states_operator(op);
    for (const auto form : trial.forms({whole, uniform, offsets, ranges, flags, keys})) {
        const auto segments = trial.usual_segments(form, states);
        const auto& fold = trial.material(state_operator(op), segments.copy(), "states folded");
        const auto results = trial.run(trial.material(states, segments.copy(), "states scanned").workload);
        const auto totals = half_of(results, false), running = half_of(results, true);
        auto lasts = half_of(results, false);  // an empty segment has no last element and keeps its fold
        for (std::int64_t s = 0; s < segments.num_segments; ++s)
            for (std::size_t f = 0; f < lasts.size() && segments.length(s) != 0; ++f)
                copy_entry(running[f].array, op.scan->reverse ? segments.begin(s) : segments.end(s) - 1,
                           lasts[f].array, s);
        auto breach = trial.breach(fold.judge->compare(lasts));
        if (!breach)
            breach = trial.breach(fold.judge->compare(lasts, totals, "the fold"));
        if (breach) {
            breach->text = "the last states of a scan, " + breach->text;
            return breach;
        }
    }
    return std::nullopt;
}

std::optional<Breach> attempt_cut_scan(Trial& trial)
{
    const auto& op = trial.setting().op;
    const auto states = scan_states_operator(op);
    for (const auto form : trial.forms({offsets, ranges, flags, keys})) {
        const auto lengths = trial.lengths(false);
        if (lengths.empty())
            continue;
        std::vector<std::int64_t> begins = {0}, cuts, parts;
        for (std::size_t s = 0; s < lengths.size(); ++s) {
            const auto length = lengths[s];
            const auto first = length > 1 ? 1 + trial.lot(2000 + s, length - 1) : length;
            cuts.push_back(begins.back() + first);
            begins.push_back(begins.back() + length);
            parts.push_back(first);
            if (first < length)
                parts.push_back(length - first);
        }
        const auto& data = trial.material(states, segments_of(form, lengths), "uncut scans");
        const auto uncut = trial.run(data.workload);
        auto running =
            half_of(trial.run(trial.material(states, segments_of(form, parts), "cut scans").workload), true);
        const auto pairs = pairs_of(begins, cuts, op.scan->reverse);
        if (!pairs.empty())
            join_pairs(op, pairs, running);
        auto all = half_of(uncut, false);
        for (auto& field : running)
            all.push_back(std::move(field));
        if (auto breach = trial.breach(data.judge->compare(all, uncut, "the scan of the whole"))) {
            breach->text = "scans of segments cut in two, with the carry, " + breach->text;
            return breach;
        }
    }
    return std::nullopt;
}

std::string no_running_results(const Operator& op)
{
    return op.scan ? "" : "operator " + op.name + " gives no running results";
}

std::string no_scan_to_cut(const Operator& op)
{
    if (auto reason = no_running_results(op); !reason.empty())
        return reason;
    return lift_knows_segments(op) ? "lift reads where in its segment an element lies" : "";
}

std::string running_results(const Operator& op)
{
    return op.scan ? "is about results of segments; last_of_scan and cut_scan are about running results" : "";
}

}  // namespace segfold::regress
