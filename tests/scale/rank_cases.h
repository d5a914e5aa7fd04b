#pragma once
// Workloads folded by ranks, whatever connects them, and their results gathered.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "runtime/session/scale/ranks/distributed.h"
#include "tests/scale/stream_cases.h"

namespace segfold::test {

/// The results that rank 0 has in the end: as bytes of each field, then those of the keys. None at others.
///
/// What the ranks say of their lengths is held against the workload's segments.
inline std::vector<std::vector<std::byte>> folded_by(Communicator& ranks, Session& session,
                                                     const Workload& workload, const StreamOptions& options,
                                                     const Array* lengths = nullptr)
{
    Stream stream(session, workload.op, input_of(workload, lengths), options);
    std::vector<std::vector<std::byte>> fields;
    std::vector<std::int64_t> all_lengths;
    gather_at_first(ranks, workload.op, fold_share(ranks, stream, {1 << 20, 1 << 20}),
                    [&](RankResults&& one) {
                        EXPECT_EQ(one.num_segments, one.num_kept);
                        EXPECT_EQ(one.num_segments, std::ssize(one.lengths));
                        all_lengths.insert(all_lengths.end(), one.lengths.begin(), one.lengths.end());
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

/// A workload that streams take: every exact operator over every border in every layout but ranges.
struct RankCase {
    std::string name;
    Workload workload;
    std::optional<Array> lengths;  ///< the same segments said by their lengths
};

inline void for_each_rank_case(const std::function<void(const RankCase&)>& visit)
{
    for (const auto& op : slice_operators())
        for (const auto& [name, lengths] : border_cases()) {
            auto cases = slice_segments(name, lengths);
            cases.push_back({name + ", lengths",
                             segments_from_offsets(index_array(offsets_of(lengths)), total(lengths))});
            for (auto& [layout, segments] : cases) {
                if (segments.form == SegmentForm::ranges ||
                    (!op.allows_empty() && segments.num_segments > 0 && length_range(segments).shortest == 0))
                    continue;
                RankCase one{op.name + " over " + layout, slice_workload(op, std::move(segments)), {}};
                if (layout.ends_with(", lengths"))
                    one.lengths = index_array(lengths);
                visit(one);
            }
        }
}

/// The segments of all ranks together as fold_distributed() takes them; nothing for other layouts.
inline std::optional<SegmentsView> distributed_segments(const RankCase& one)
{
    const auto view = [](const Array& array) {
        return ArrayView(array.type(), array.data(), static_cast<std::int64_t>(array.length()));
    };
    const auto& segments = one.workload.segments;
    if (one.lengths)
        return lengths(view(*one.lengths));
    if (segments.form == SegmentForm::whole)
        return whole();
    if (segments.form == SegmentForm::uniform)
        return uniform(segments.uniform_length);
    return segments.form == SegmentForm::offsets ? std::optional(offsets(view(segments.offsets)))
                                                 : std::nullopt;
}

/// What rank 0 has in the end of a case whose elements the ranks hold in parts of uneven length, some empty.
inline std::vector<std::vector<std::byte>> distributed_by(Communicator& ranks, Session& session,
                                                          const RankCase& one, const SegmentsView& segments)
{
    const auto& op = one.workload.op;
    const auto n = one.workload.segments.num_elements;
    const auto cut = [&](std::int64_t rank) {
        const auto size = static_cast<std::int64_t>(ranks.size());
        return rank == size ? n : n * rank * rank / (size * size);
    };
    const auto begin = cut(ranks.rank()), end = cut(ranks.rank() + 1);
    std::vector<ArrayView> inputs;
    std::vector<Array> own;  // of this rank alone: memory outside of a part is another rank's
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& array = one.workload.arrays[i];
        own.push_back(op.parameters[i].table ? array.copy() : part_of(array, begin, end - begin).copy());
        inputs.emplace_back(array.type(), own.back().data(), static_cast<std::int64_t>(own.back().length()));
    }
    std::vector<std::vector<std::byte>> fields;
    gather_at_first(ranks, op, fold_distributed(ranks, session, op, inputs, segments),
                    [&](RankResults&& part) {
                        fields.resize(part.results.size());
                        for (std::size_t f = 0; f < fields.size(); ++f) {
                            const auto& array = part.results[f].array;
                            fields[f].insert(fields[f].end(), array.data(), array.data() + array.bytes());
                        }
                    });
    if (ranks.rank() != 0 || one.workload.segments.num_segments == 0)
        fields.clear();
    return fields;
}

/// Segments shorter and longer than a block, one over many blocks; values of which every sum rounds.
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
