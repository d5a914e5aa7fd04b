#pragma once
// Folds workloads by ranks of any communicator, and gathers the results.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "runtime/scale/ranks/ranks.h"
#include "tests/scale/scan_cases.h"
#include "tests/scale/stream_cases.h"

namespace segfold::test {

/// Returns the results on rank 0: the bytes of each field, then those of the keys. Other ranks get none.
///
/// Compares the lengths that ranks report with the workload's segments.
inline std::vector<std::vector<std::byte>> folded_by(Communicator& ranks, Session& session,
                                                     const Workload& workload, const StreamOptions& options,
                                                     const Array* lengths = nullptr)
{
    Stream stream(session, workload.op, input_of(workload, lengths), options);
    std::vector<std::vector<std::byte>> fields;
    std::vector<std::int64_t> all_lengths;
    gather_at_first(ranks, workload.op, fold_share(ranks, stream, {1 << 20, 1 << 20, 1 << 20}),
                    [&](RankResults&& one) {
                        EXPECT_EQ(one.num_segments, one.num_kept);
                        EXPECT_EQ(one.num_segments, std::ssize(one.lengths));
                        all_lengths.insert(all_lengths.end(), one.lengths.begin(), one.lengths.end());
                        for (auto& output : one.running)
                            one.results.push_back(std::move(output));
                        if (one.results.keys)
                            one.results.push_back({"keys", std::move(*one.results.keys)});
                        fields.resize(std::max(fields.size(), one.results.size()));
                        for (std::size_t f = 0; f < one.results.size(); ++f) {
                            const auto& array = one.results[f].array;
                            fields[f].insert(fields[f].end(), array.data(), array.data() + array.bytes());
                        }
                    });
    if (ranks.rank() != 0)
        return {};
    const auto& segments = workload.segments;
    EXPECT_EQ(std::ssize(all_lengths), segments.num_segments);
    for (std::int64_t s = 0; s < std::min(std::ssize(all_lengths), segments.num_segments); ++s)
        EXPECT_EQ(all_lengths[static_cast<std::size_t>(s)], segments.length(s)) << s;
    if (segments.num_segments == 0)
        fields.clear();
    return fields;
}

/// A workload for streams. Cases combine every exact operator, every border and every layout except ranges.
struct RankCase {
    std::string name;
    Workload workload;
    std::optional<Array> lengths;  ///< the same segments given by lengths
};

inline void for_each_rank_case(const std::function<void(const RankCase&)>& visit)
{
    auto operators = slice_operators();
    for (const std::size_t i : {2, 4, 5})  // exclusive, without identity, with results of segments
        operators.push_back(forward_scans().at(i));
    for (const auto& op : streamed_scans())
        if (op.scan->reverse && op.name.starts_with("affine"))
            operators.push_back(op);
    for (const auto& op : operators)
        for (const auto& [name, lengths] : border_cases()) {
            auto cases = slice_segments(name, lengths);
            cases.push_back({name + ", lengths",
                             segments_from_offsets(index_array(offsets_of(lengths)), total(lengths))});
            for (auto& [layout, segments] : cases) {
                if (segments.form == SegmentForm::ranges ||
                    (!op.takes_empty_segments() && segments.num_segments > 0 &&
                     length_range(segments).shortest == 0))
                    continue;
                RankCase one{op.name + " over " + layout, slice_workload(op, std::move(segments)), {}};
                if (layout.ends_with(", lengths"))
                    one.lengths = index_array(lengths);
                visit(one);
            }
        }
}

/// Segments shorter and longer than a block, and one over many blocks, with values whose sums round.
inline void for_each_rounding_case(
    const std::function<void(const std::string& op, const Workload& workload)>& visit)
{
    const std::vector<std::int64_t> lengths = {5, 4096, 4097, 300, 40000, 1, 8192, 31, 2, 20000};
    const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
    for (const auto* name : {"sum_f32", "mean_variance_f32", "log_sum_exp_f32"})
        for (const auto form : {SegmentForm::offsets, SegmentForm::flags})
            visit(name,
                  slice_workload(standard_operator(name),
                                 form == SegmentForm::offsets ? offsets.copy() : given_as(form, offsets),
                                 ValueRange::uniform));
}

}  // namespace segfold::test
