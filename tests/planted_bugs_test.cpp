// Plants the bugs that stages of this kind have had, one at a time, and asks that each is found.
#include <gtest/gtest.h>

#include "dsl/error.h"
#include "runtime/compare.h"
#include "runtime/simt/simt_backend.h"
#include "tests/stage_cases.h"

namespace segfold::test {
namespace {

/// A change of the emitted text that makes it wrong.
struct Bug {
    std::string name;
    std::string stage;
    std::string op;
    LayoutKind kind;
    std::string from, to;
    int occurrence = 0;  ///< which appearance of `from` is changed
};

const std::vector<Bug> kBugs = {
    {"OperandsSwappedInWarpReduce", "warp_per_segment", "affine_u32", LayoutKind::offsets,
     "combine(state, shuffle_down(state, delta))", "combine(shuffle_down(state, delta), state)"},
    {"OperandsSwappedInJoin", "tile_scan", "affine_u32", LayoutKind::offsets,
     "combine(earlier.total, later.total)", "combine(later.total, earlier.total)"},
    {"OperandsSwappedInThread", "thread_per_segment", "affine_u32", LayoutKind::offsets,
     "combine(total, load_item(inputs, first + position, position, segment))",
     "combine(load_item(inputs, first + position, position, segment), total)"},
    {"OperandsSwappedInFixUp", "tile_scan", "trace_u64", LayoutKind::offsets,
     "combine(before.total, tile_heads[tile])", "combine(tile_heads[tile], before.total)"},
    {"OperandsSwappedAmongBlocks", "grid_reduce", "trace_u64", LayoutKind::whole,
     "combine(total, partials[block])", "combine(partials[block], total)"},
    {"MiddleBarrierDroppedInBlockReduce", "block_per_segment", "sum_i32", LayoutKind::offsets,
     "__syncthreads();", ";", 0},
    {"TrailingBarrierDroppedBetweenSegments", "block_per_segment", "sum_i32", LayoutKind::offsets,
     "__syncthreads();", ";", 1},
    {"MiddleBarrierDroppedInBlockScan", "tile_scan", "sum_i32", LayoutKind::offsets, "__syncthreads();", ";",
     0},
    {"TrailingBarrierDroppedInBlockScan", "tile_scan", "sum_i32", LayoutKind::offsets, "__syncthreads();",
     ";", 1},
    {"BoundsBarrierDropped", "tile_scan", "sum_i32", LayoutKind::offsets, "__syncthreads();", ";", 2},
    {"FenceDroppedBeforeTicket", "grid_reduce", "sum_i32", LayoutKind::whole, "__threadfence();", ";", 0},
    {"TileOneItemShort", "tile_scan", "sum_i32", LayoutKind::offsets, "min(tile_begin + kTileItems,",
     "min(tile_begin + kTileItems - 1,"},
    {"ThreadsShiftedByOne", "tile_scan", "trace_u64", LayoutKind::offsets, "tile_begin + threadIdx.x * kItemsPerThread;",
     "tile_begin + threadIdx.x * kItemsPerThread + (threadIdx.x > 0 ? 1 : 0);"},
    {"HeadBorderOffByOne", "tile_scan", "sum_i32", LayoutKind::offsets, "head_begin < tile_begin",
     "head_begin < tile_begin - 1"},
    {"CarryLostInFixUp", "tile_scan", "sum_i32", LayoutKind::offsets, "combine(before.total, tile_heads[tile])",
     "tile_heads[tile]"},
    {"CarryLostInBlock", "tile_scan", "sum_i32", LayoutKind::offsets, "head = combine(before.total, head);", ""},
    {"CarryLostAmongGroups", "tile_scan", "sum_i32", LayoutKind::whole, "join(carry, inside)", "inside"},
    {"SearchOffByOne", "tile_scan", "sum_i32", LayoutKind::offsets, "segments.offsets[middle] <= item",
     "segments.offsets[middle] < item"},
    {"LoopOneTooFar", "warp_per_segment", "sum_i32", LayoutKind::offsets, "position < length; position +=",
     "position <= length; position +="},
    {"EmptyStoreForgotten", "tile_scan", "sum_i32", LayoutKind::offsets,
     "segment_begin(segments, segment) == segment_end(segments, segment)", "false"},
    {"PartTileForgotten", "grid_reduce", "sum_i32", LayoutKind::whole, "index < length; index += kBlockThreads",
     "index < length - 1; index += kBlockThreads"},
    {"OperandsSwappedAmongItems", "run_stream", "affine_u32", LayoutKind::keys, "combine(tail, items[k])",
     "combine(items[k], tail)"},
    {"OperandsSwappedAmongLanes", "run_stream", "affine_u32", LayoutKind::keys, "combine(earlier, total)",
     "combine(total, earlier)"},
    {"OperandsSwappedAtLanesHead", "run_stream", "affine_u32", LayoutKind::keys, "combine(before, total)",
     "combine(total, before)"},
    {"OperandsSwappedAmongSlices", "run_stream", "affine_u32", LayoutKind::keys,
     "combine(earlier.total, total)", "combine(total, earlier.total)"},
    {"OperandsSwappedInTree", "run_stream", "affine_u32", LayoutKind::flags, "combine(before, head)",
     "combine(head, before)"},
    {"CarryLostAmongLanes", "run_stream", "sum_i32", LayoutKind::keys, "combine(before, total)",
     "combine(identity(), total)"},
    {"CarryLostAmongSlices", "run_stream", "sum_i32", LayoutKind::keys,
     "total = combine(earlier.total, total);", "total = combine(identity(), total);"},
    {"CarryLostInTileHead", "run_stream", "sum_i32", LayoutKind::keys,
     "combine(run.total, slices.heads[warp])", "slices.heads[warp]"},
    {"CarryLostInTree", "run_stream", "sum_i32", LayoutKind::flags, "combine(before, head)",
     "combine(identity(), head)"},
    {"LastSegmentForgotten", "run_stream", "sum_i32", LayoutKind::keys,
     "store(results, partial.last_segment, length, partial.tail);",
     "store(results, partial.last_segment, length, identity());"},
    {"CountBarrierDropped", "run_stream", "sum_i32", LayoutKind::keys, "__syncthreads();", ";", 1},
    {"RunBarrierDropped", "run_stream", "sum_i32", LayoutKind::keys, "__syncthreads();", ";", 2},
    {"StagedItemsOverwrittenTooEarly", "run_stream", "sum_i32", LayoutKind::keys,
     "__syncwarp();  // all lanes have", ";  //"},
    {"NextSliceLoadedTooEarly", "run_stream", "sum_i32", LayoutKind::keys,
     "__syncwarp();  // all lanes are done", ";  //"},
    {"FenceDroppedBeforeArrival", "run_stream", "sum_i32", LayoutKind::keys, "__threadfence();", ";", 0},
    {"WarpBarrierDroppedAfterArrival", "run_stream", "sum_i32", LayoutKind::keys, "__syncwarp();     // by",
     ";  //"},
    {"HeadsShiftedByOneItem", "run_stream", "sum_i32", LayoutKind::keys, "bit % kWarpThreads) &",
     "bit % kWarpThreads + 1) &"},
    {"FlagsOfTheNextItems", "run_stream", "sum_i32", LayoutKind::flags, "segments.flags + begin + lane * kItems",
     "segments.flags + begin + lane * kItems - (begin > 0 ? 1 : 0)"},
    {"HeadsOfAnotherLane", "run_stream", "sum_i32", LayoutKind::keys, "exchange[lane * kKeyRows + k]",
     "exchange[lane ^ 1]"},
    {"ExchangeBarrierDropped", "run_stream", "sum_i32", LayoutKind::keys, "__syncwarp();  // all lanes' bits",
     ";  //"},
    {"KeyOfTheRowBeforeForgotten", "run_stream", "sum_i32", LayoutKind::keys, "before_row = turned;", ""},
    {"KeyBeforeTheSliceForgotten", "run_stream", "sum_i32", LayoutKind::keys,
     "segments.keys[begin > 0 ? begin - 1 : 0]", "0"},
    {"FirstItemIsNoHead", "run_stream", "sum_i32", LayoutKind::keys, "return heads | first;", "return heads;"},
    {"KeyOfTheNextRun", "run_stream", "sum_i32", LayoutKind::keys,
     "segments.keys[begin + places[place + k * kWarpThreads]]",
     "segments.keys[begin + places[place + k * kWarpThreads] - 1]"},
    {"NumberOfSegmentsForgotten", "run_stream", "sum_i32", LayoutKind::keys,
     "*segments.num_found = partial.last_segment + 1;", ""},
    {"SegmentsShiftedByOne", "run_stream", "sum_i32", LayoutKind::flags, "first + place - 1",
     "first + place"},
    {"TicketsNotReset", "run_stream", "sum_i32", LayoutKind::flags, "gridDim.x - 1u;", "gridDim.x;"},
    {"ArrivalsNotReset", "run_stream", "sum_i32", LayoutKind::keys, "unsigned(members) - 1u;",
     "unsigned(members);"},
    {"TicketsOutOfOrder", "run_stream", "sum_i32", LayoutKind::flags, "next_tile = Index(taken);",
     "next_tile = num_tiles - Index(taken);"},
};

std::string planted(std::string text, const Bug& bug)
{
    std::size_t at = text.find(bug.from);
    for (int i = 0; i < bug.occurrence && at != std::string::npos; ++i)
        at = text.find(bug.from, at + 1);
    if (at == std::string::npos)
        return {};
    return text.replace(at, bug.from.size(), bug.to);
}

/// The shapes of the matrix, and for lost carries among groups one that has several groups of tiles.
std::vector<SegmentCase> shapes_for(const Bug& bug, std::int64_t block, std::int64_t tile, bool empties)
{
    auto shapes = segment_cases(bug.kind, block, tile, empties);
    if (bug.name == "CarryLostAmongGroups" || bug.name == "OperandsSwappedAmongBlocks") {
        shapes.clear();
        shapes.push_back({"several tiles for each thread of a block", whole_segments(tile * block * 2 + 1)});
    }
    return shapes;
}

/// So that blocks take several segments, and the last block several partials a thread.
constexpr int kFewMultiprocessors = 1;
constexpr int kManyMultiprocessors = 256;

[[maybe_unused]] void PrintTo(const Bug& bug, std::ostream* out)
{
    *out << bug.name;
}

class PlantedBugs : public testing::TestWithParam<Bug> {};

TEST_P(PlantedBugs, AreFound)
{
    const auto& bug = GetParam();
    const auto& stage = Catalogue::standard().stage(bug.stage);
    const Problem problem(standard_operator(bug.op), form_of(bug.kind));
    auto configuration = smallest_configuration(stage, problem);
    if (bug.stage == "run_stream")
        configuration["items_per_thread"] = 16;  // so that a lane's keys are several vectors
    auto emitted = emit(problem, stage, configuration);
    emitted.source = planted(emitted.source, bug);
    ASSERT_FALSE(emitted.source.empty()) << "the stage's text has changed: '" << bug.from << "' is not in it";

    const auto [block, tile] = block_and_tile(configuration);
    for (const auto& shape : shapes_for(bug, block, tile, problem.op.allows_empty())) {
        const auto workload = make_workload(bug.op, shape.segments.copy(), 11);
        const Judge judge(workload);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            try {
                const auto results =
                    simt::run(workload, emitted, simt::options_from_seed(seed), {},
                              bug.stage == "grid_reduce" ? kManyMultiprocessors : kFewMultiprocessors, 2);
                if (!judge.compare(results).agrees())
                    return;
            } catch (const simt::SimtError&) {
                return;
            } catch (const InternalError&) {  // the number of segments, or a key
                return;
            }
        }
    }
    FAIL() << "nothing tells that " << bug.stage << " has the bug " << bug.name;
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedBugs, testing::ValuesIn(kBugs), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace segfold::test
