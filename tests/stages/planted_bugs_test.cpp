// Plants bugs that such stages have had, one at a time, and expects tests to find each. Bugs that a rule of
// tests/mutants makes are tried there.
#include <gtest/gtest.h>

#include <set>

#include "dsl/error.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/bugs/bug_schedules.h"
#include "tests/stages/bugs/run_bugs.h"
#include "tests/stages/bugs/stream_bugs.h"

namespace segfold::test::planted_bugs_test {
namespace {

const std::vector<Bug> kStageBugs = {
    {"VectorsOfAStrideMixedUp", "block_per_segment", "sum_i32", LayoutKind::offsets, "position + k * stride",
     "position + k * kStepItems"},
    {"FirstElementsTakenTwice", "block_per_segment", "sum_i32", LayoutKind::offsets,
     "position = before + thread", "position = thread"},
    {"LastElementsForgotten", "block_per_segment", "sum_i32", LayoutKind::offsets, "position < length;",
     "position + kStepItems < length;"},
    {"VectorsReadBeyondTheLastElement", "grid_reduce", "affine_u32", LayoutKind::whole,
     "items_there - k * kStepItems", "kStepItems"},
    {"OneMaskForAllOfAGroup", "group_per_segment", "affine_u32", LayoutKind::offsets,
     "items_inside(parts[k], index)", "items_inside(parts[0], index)"},
    {"MaskShiftedByOne", "group_per_segment", "sum_i32", LayoutKind::offsets, "inside >> i & 1",
     "inside >> (i + 1) & 1"},
    {"ElementsBeforeTheSegmentFolded", "group_per_segment", "sum_i32", LayoutKind::offsets,
     "(1u << high) - (1u << low)", "(1u << high) - 1u"},
    {"ElementsBehindTheSegmentFolded", "group_per_segment", "affine_u32", LayoutKind::offsets,
     "max(min(part.end - index, Index(kStepItems)), Index(0))", "kStepItems"},
    {"TotalOfALaneForgotten", "group_per_segment", "sum_i32", LayoutKind::offsets,
     "inside[k], parts[k].total)", "inside[k], identity())"},
    {"LengthOfARowFromTheSegmentsBegin", "group_per_segment", "sum_i32", LayoutKind::offsets,
     "end - parts[k].first", "end - begin"},
    {"VectorOfARangeReadToTheEndOfAllItems", "group_per_segment", "sum_i32", LayoutKind::ranges,
     "part.end - from", "segments.num_items - from"},
    {"LongestOfTheFirstSegmentAlone", "thread_per_segment", "sum_i32", LayoutKind::offsets,
     "longest = max(longest, lengths[k]);", "longest = lengths[0];"},
    {"ReadsGoOnBehindAShorterSegment", "thread_per_segment", "sum_i32", LayoutKind::offsets,
     "min(position, lengths[k] - 1)", "position"},
    {"LastElementFoldedAgain", "thread_per_segment", "affine_u32", LayoutKind::ranges,
     "if (position < lengths[k])\n", "\n"},
    {"SharesTakenTwice", "warp_stream", "sum_i32", LayoutKind::offsets, "blockIdx.x % 2 * half",
     "blockIdx.x % 2 * (half - 1)"},
    {"NobodyWaitsForReadersOfPairs", "pairs_sequential", "affine_u32", LayoutKind::offsets,
     "__syncthreads();  // all threads have read", ""},
    {"PartialsOfALevelOverwritten", "pairs_cascade", "affine_u32", LayoutKind::whole,
     "partials + size, total", "partials, total"},
    {"ThreadsTakeWhatIsNotTheirs", "pairs_first_add", "affine_u32", LayoutKind::offsets,
     "Index(threadIdx.x) * kItemsPerThread + k", "Index(k) * kBlockThreads + threadIdx.x"},
    {"LanesWithoutAWarpCounted", "tree_redux", "sum_i32", LayoutKind::offsets,
     "threadIdx.x < kWarps ? totals[threadIdx.x] : identity()", "totals[threadIdx.x % kWarps]"},
    {"VectorOfAThreadTakenTwice", "tree_vector", "affine_u32", LayoutKind::offsets,
     "threadIdx.x * kVectors + k", "threadIdx.x * kVectors"},
    {"PartialsOfASegmentOverAnothers", "tree_last_block", "sum_i32", LayoutKind::offsets,
     "partials + (long long)segment * kBlocksPerSegment", "partials"},
    {"PartsThatLeaveTilesOut", "tree_last_block", "sum_i32", LayoutKind::offsets,
     " + min(part, count % num_parts)", ""},
    {"CopyOverTheTileThatIsFolded", "tree_async", "sum_i32", LayoutKind::offsets,
     "copy_tile(mine.at[turn ^ 1],", "copy_tile(mine.at[turn],"},
    {"ElementsBeforeTheShareCounted", "tree_async", "sum_i32", LayoutKind::offsets,
     "begin <= index && index < end", "index < end"},
    {"ElementsBehindTheShareCounted", "tree_async", "sum_i32", LayoutKind::offsets,
     "begin <= index && index < end", "begin <= index"},
    {"BlocksOfAClusterInDisorder", "tree_cluster", "affine_u32", LayoutKind::offsets,
     "in_block(&of_block, threadIdx.x)", "in_block(&of_block, threadIdx.x ^ 1)"},
    {"EveryBlockOfAClusterStores", "tree_cluster", "sum_i32", LayoutKind::offsets,
     "threadIdx.x == 0 && rank == 0", "threadIdx.x == 0"},
    {"AtomicTotalsPutByOneAfterTheOther", "tree_cascade", "sum_i32", LayoutKind::whole,
     "atomic_combine(all, total);", "*all = combine(*all, total);"},
    {"FenceDroppedBeforeTicket", "grid_reduce", "sum_i32", LayoutKind::whole, "__threadfence();", ";", 0},
    {"TileOneItemShort", "tile_scan", "sum_i32", LayoutKind::offsets, "min(tile_begin + tile_items,",
     "min(tile_begin + tile_items - 1,"},
    {"ThreadsShiftedByOne", "tile_scan", "trace_u64", LayoutKind::offsets,
     "tile_begin + threadIdx.x * items_per_thread;",
     "tile_begin + threadIdx.x * items_per_thread + (threadIdx.x > 0 ? 1 : 0);"},
    {"HeadBorderOffByOne", "tile_scan", "sum_i32", LayoutKind::offsets, "head_begin < tile_begin",
     "head_begin < tile_begin - 1"},
    {"CarryLostInFixUp", "tile_scan", "sum_i32", LayoutKind::offsets,
     "combine(before.total, tile_heads[tile])", "tile_heads[tile]"},
    {"CarryLostAmongGroups", "tile_scan", "sum_i32", LayoutKind::whole, "join(carry, inside)", "inside"},
    {"LoopOneTooFar", "warp_per_segment", "sum_i32", LayoutKind::offsets,
     "position < length; position +=", "position <= length; position +="},
    {"EmptyStoreForgotten", "tile_scan", "sum_i32", LayoutKind::offsets,
     "segment_begin(segments, segment) == segment_end(segments, segment)", "false"},
    {"LastElementForgotten", "grid_reduce", "sum_i32", LayoutKind::whole, "position + k < length",
     "position + k < length - 1"},
    {"TicketsOfSegmentsShared", "grid_reduce", "sum_i32", LayoutKind::uniform, "tickets + segment",
     "tickets"},
    {"PartsOfSegmentsShared", "grid_reduce", "trace_u64", LayoutKind::uniform,
     "partials + i64(segment) * num_blocks", "partials"},
    {"BlocksOfTheNextSegment", "grid_reduce", "sum_i32", LayoutKind::uniform, "first + position + k * stride",
     "position + k * stride"},
    {"StreamScanReachesBeyondAnEnd", "warp_stream", "sum_i32", LayoutKind::offsets,
     "if (lane - delta >= reach)", "if (lane >= delta)"},
    {"StreamCarryLostBetweenTiles", "warp_stream", "sum_i32", LayoutKind::offsets,
     "State run = lane == 0 ? carry : identity();", "State run = identity();"},
    {"StreamCarryTakenByEveryLane", "warp_stream", "sum_i32", LayoutKind::offsets,
     "State run = lane == 0 ? carry : identity();", "State run = carry;"},
    {"StreamCarryLostBehindWarpReduce", "warp_stream", "sum_i32", LayoutKind::offsets,
     "carry = warp_reduce(run);", "warp_reduce(run);"},
    {"StreamTailKeepsWhatEndedWithTheShare", "warp_stream", "sum_i32", LayoutKind::uniform,
     "begin < end && !(closing >> last % kItemsPerThread & 1)", "begin < end"},
    {"StreamHeadKeptInsteadOfStored", "warp_stream", "sum_i32", LayoutKind::offsets,
     "first_segment + (began_before ? 1 : 0)", "first_segment + 1"},
    {"StreamHeadForgotten", "warp_stream", "sum_i32", LayoutKind::offsets, "head = here[0];", ""},
    {"StreamHeadOfALaterTile", "warp_stream", "sum_i32", LayoutKind::offsets,
     "began_before && ended == first_segment && next > ended", "began_before && next > ended"},
    {"StreamNoEndTakenForNoneWaits", "warp_stream", "sum_i32", LayoutKind::offsets,
     "next == first_segment ? kNoEnd : ", ""},
    {"StreamHeadsOneTooFar", "warp_stream", "sum_i32", LayoutKind::offsets,
     "1u << unsigned(places[k]) % kItemsPerThread", "1u << (unsigned(places[k]) + 1) % kItemsPerThread"},
    {"StreamShareBeginIsNoEnd", "warp_stream", "sum_i32", LayoutKind::offsets,
     "heads |= 1u << skipped;\n                rank = -1;", ";"},
    {"SparseTurnsForgetTheCarry", "warp_stream", "sum_i32", LayoutKind::offsets,
     "run = lane == turn_begin ? carry : identity();", "run = identity();"},
    {"SparseTurnsShifted", "warp_stream", "sum_i32", LayoutKind::offsets,
     "const int turn_place = rank - turn_rank;", "const int turn_place = rank;"},
    {"SparseTurnsHaveNoEnd", "warp_stream", "sum_i32", LayoutKind::offsets, "if (num_totals > room)",
     "if (num_totals > 2 * room)"},
    {"SparseLanesOutOfTurnJoin", "warp_stream", "sum_i32", LayoutKind::offsets,
     "join_rows(run, is_on ? heads : 0, here, turn_place)", "join_rows(run, heads, here, turn_place)"},
    {"SparseTurnsNotStored", "warp_stream", "sum_i32", LayoutKind::offsets,
     "crowd = store_crowd(segments, results, here, crowd, next, first_stored, num_here);",
     "crowd += num_here;"},
    {"SparseLastTurnKept", "warp_stream", "sum_i32", LayoutKind::uniform, " || crowd != ended", ""},
    {"SparseHeadOfALaterTurn", "warp_stream", "sum_i32", LayoutKind::offsets,
     "began_before && crowd == first_segment && next > crowd", "began_before && next > crowd"},
    {"StreamTotalsOfOneTooMany", "warp_stream", "sum_i32", LayoutKind::offsets,
     "totals, base, max(base, first_stored), next);", "totals, base, max(base, first_stored), next + 1);"},
    {"StreamTotalsLeftBehind", "warp_stream", "sum_i32", LayoutKind::offsets,
     "totals, base, max(base, first_stored), ended);", "totals, base, max(base, first_stored), ended - 1);"},
    {"StreamCutBehindTheSegmentsEnd", "warp_stream", "sum_i32", LayoutKind::offsets,
     "Index(min((long long)segments.offsets[low + 1], item))", "Index(item)"},
    {"StreamRingCopiedToTheWrongPlace", "warp_stream", "sum_i32", LayoutKind::offsets,
     "unsigned(mine) & (ring_offsets - 1)", "unsigned(mine) & (ring_offsets / 2 - 1)"},
    {"StreamOverflowCopiesTooMuch", "warp_stream", "sum_i32", LayoutKind::offsets, "most = copied;",
     "most = copied + ring_offsets;"},
    {"StreamRingFilledTooEarly", "warp_stream", "sum_i32", LayoutKind::offsets,
     "min(ended + ring_offsets - kChunkOffsets, next + ring_offsets / 2)", "ended + ring_offsets"},
    {"StreamShareInAnotherDesk", "warp_stream", "sum_i32", LayoutKind::offsets, "own + k * desk_bytes",
     "own + (k - 1) * desk_bytes"},
    {"StreamEmptySegmentsGetWhatIsBeforeThem", "warp_stream", "sum_i32", LayoutKind::offsets,
     "is_filled ? here[num_totals - 1 - later] : identity()", "here[num_totals - 1 - later]"},
    {"StreamCrowdStoredTwice", "warp_stream", "sum_i32", LayoutKind::offsets, "base = next;", ";"},
    {"StreamCrowdShifted", "warp_stream", "sum_i32", LayoutKind::offsets,
     "num_stored + __popc(filled & ((1u << lane) - 1))", "__popc(filled & ((1u << lane) - 1))"},
    {"StreamCrowdsEmptiesTakeTheNextTotal", "warp_stream", "sum_i32", LayoutKind::offsets,
     "length > 0 ? here[rank] : identity()", "here[rank]"},
    {"StreamCrowdStopsShort", "warp_stream", "sum_i32", LayoutKind::offsets, "goes_on = stored == kFullMask;",
     "goes_on = false;"},
    {"StreamNextTileOverThisOne", "warp_stream", "costly_trace", LayoutKind::offsets,
     "copy_tile(desk.tiles[turn ^ 1],", "copy_tile(desk.tiles[turn],"},
    {"StreamItemsOfAnotherLane", "warp_stream", "trace_u64", LayoutKind::offsets, "tile_place(lane, step *",
     "tile_place(lane ^ 1, step *"},
};

const std::vector<Bug> kBugs = [] {
    auto all = kStageBugs;
    all.insert(all.end(), kStreamBugs.begin(), kStreamBugs.end());
    all.insert(all.end(), kRunBugs.begin(), kRunBugs.end());
    return all;
}();

std::string planted(std::string text, const Bug& bug)
{
    std::size_t at = text.find(bug.from);
    for (int i = 0; i < bug.occurrence && at != std::string::npos; ++i)
        at = text.find(bug.from, at + 1);
    if (at == std::string::npos)
        return {};
    return text.replace(at, bug.from.size(), bug.to);
}

/// Returns the shapes on which a bug is tried: those of the matrix, and special shapes for some bugs.
std::vector<SegmentCase> shapes_for(const Bug& bug, std::int64_t block, std::int64_t tile, bool empties)
{
    auto shapes = segment_cases(bug.kind, block, tile, empties);
    if (bug.stage == "gather_tiles") {  // the last warp of a block folds no items
        const auto folded = tile / block * (block - 32);
        auto lists = crowded_cases(folded);
        lists.push_back({"a segment through many tiles", {3, 40 * tile, 2}});
        lists.push_back({"one that begins in the last tile of a group", {folded + 3, 33 * folded, 2}});
        // A join that goes back too far reads tiles of the segment before, which another block is joining.
        lists.push_back({"segments through a few tiles each", std::vector<std::int64_t>(60, 2 * tile + 3)});
        for (const auto& [name, lengths] : lists)
            shapes.push_back({name, segments_from_offsets(index_array(offsets_of(lengths)), total(lengths))});
    }
    if (Catalogue::standard().stage(bug.stage).is_rung)
        shapes = rung_shapes(form_of(bug.kind), tile);
    if (bug.name == "CarryLostAmongGroups") {
        shapes.clear();
        shapes.push_back({"several tiles for each thread of a block", whole_segments(tile * block * 2 + 1)});
    }
    const bool is_run = bug.stage == "run_stream" || bug.stage == "run_tiles";
    if (is_run)  // segments that begin in one warp's share and end in the second share after it
        for (const std::int64_t length : {tile * 11 / 15, tile * 11 / 30, tile * 11 / 60})
            shapes.push_back({"long ones of one length",
                              segments_in_form(form_of(bug.kind), std::vector<std::int64_t>(9, length))});
    if (bug.stage == "run_tiles") {  // tried first, because many bugs show only there
        std::vector<SegmentCase> through;
        for (const auto& lengths : through_whole_tiles(tile))
            through.push_back({"segments through whole tiles", segments_in_form(form_of(bug.kind), lengths)});
        shapes.insert(shapes.begin(), std::move_iterator(through.begin()), std::move_iterator(through.end()));
    }
    if (bug.name.find("GroupsOfBorders") != std::string::npos)
        shapes.push_back({"one through more tiles than a warp looks at at once",
                          segments_in_form(form_of(bug.kind), {5, 300 * tile, 3})});
    if ((bug.stage == "warp_stream" || bug.stage == "lean_stream") && bug.kind == LayoutKind::offsets)
        for (const auto& [name, lengths] : crowded_cases(tile * 32 / block))
            shapes.push_back({name, segments_from_offsets(index_array(offsets_of(lengths)), total(lengths))});
    if (bug.name.starts_with("Found")) {  // several units of a warp, several warps, several blocks
        std::vector<std::int64_t> lengths(900, 70);
        lengths.insert(lengths.begin() + 40, {1, 2047, 2, 1});
        lengths.insert(lengths.end(), {3000, 1, 800});
        shapes.push_back({"many units", segments_in_form(form_of(bug.kind), lengths)});
    }
    return shapes;
}

/// With few multiprocessors a block takes several segments; with many, each thread of the last block takes
/// several partials.
constexpr int kFewMultiprocessors = 1;
constexpr int kManyMultiprocessors = 256;

class PlantedBugs : public testing::TestWithParam<Bug> {};

/// Returns a configuration in which the bug shows.
Configuration configuration_for(const Bug& bug, const Problem& problem)
{
    auto configuration = smallest_configuration(Catalogue::standard().stage(bug.stage), problem);
    if (bug.stage == "group_per_segment") {
        configuration["lanes_per_segment"] = 4;
        configuration["segments_per_group"] = 2;
    }
    if (bug.stage == "thread_per_segment")
        configuration["segments_per_thread"] = 2;
    if (bug.stage == "tree_vector")
        configuration["items_per_thread"] = 8;
    if (bug.name.starts_with("Atomic"))
        configuration["atomic_totals"] = 1;
    if (bug.stage == "block_per_segment" || bug.stage == "warp_per_segment")
        configuration["items_per_thread"] = 8;  // two vectors
    if (bug.stage == "run_stream" || bug.stage == "run_tiles")
        configuration["items_per_thread"] = 16;  // the keys of a lane are then several vectors
    if (bug.stage == "run_tiles" && bug.op.starts_with("sum_i64"))
        configuration["copies"] = 1;
    if (bug.stage == "run_stream" || bug.name.starts_with("TilesCopied"))
        configuration["slices_per_warp"] = 2;
    if (bug.stage == "warp_stream" || bug.stage == "lean_stream") {
        configuration["block_threads"] = 64;  // shares are then joined within blocks and among blocks
        configuration["blocks_per_multiprocessor"] = 3;
    }
    if (bug.name.starts_with("Sparse"))
        configuration["sparse_ends"] = 1;
    if (bug.name.starts_with("LeanRoom"))
        configuration["ring_offsets"] = 1024;  // a tile then has more ends than room for totals
    if (bug.name.starts_with("LeanByte")) {
        configuration["byte_marks"] = 1;
        configuration["items_per_thread"] = 16;
    }
    return configuration;
}

/// Emits the text with the bug; the source is empty if the place of the bug is not found.
Emitted text_with(const Bug& bug)
{
    const Problem problem(matrix_operator(bug.op), form_of(bug.kind));
    auto emitted = emit(problem, Catalogue::standard().stage(bug.stage), configuration_for(bug, problem));
    emitted.source = planted(emitted.source, bug);
    return emitted;
}

/// True if a check of the executor or a wrong result shows the bug. Most bugs show in the first shapes, so
/// the text is compiled without optimisation. With `is_control`, the text is right and runs on all shapes,
/// each under one schedule.
bool is_found(const Bug& bug, const Emitted& emitted, bool is_control = false)
{
    const Problem problem(matrix_operator(bug.op), form_of(bug.kind));
    const auto [block, tile] =
        block_and_tile(Catalogue::standard().stage(bug.stage), problem, configuration_for(bug, problem));
    simt::CompileOptions compile_options;
    compile_options.optimisation = is_control ? 1 : 0;
    // The bug shows only if another block runs in between.
    const bool needs_chance = bug.name.find("Pieces") != std::string::npos;
    const std::uint64_t last_seed = needs_chance ? kManySeeds : kSeeds;
    const auto shapes = shapes_for(bug, block, tile, problem.op.allows_empty());
    /// True if one of these schedules of a shape shows the bug.
    const auto tells = [&](const SegmentCase& shape, std::uint64_t first_seed, std::uint64_t end_seed) {
        const auto workload = make_workload(bug.op, shape.segments.copy(), 11);
        const Judge judge(workload);
        // Segments of earlier launches, which leave other states in scratch memory.
        std::optional<Segments> earlier;
        if (needs_chance)
            earlier = backwards(shape.segments);
        const int multiprocessors = bug.stage == "grid_reduce" ? kManyMultiprocessors : kFewMultiprocessors;
        for (std::uint64_t seed = first_seed; seed < end_seed; ++seed) {
            try {
                // Wall-clock time on a machine that does other work too.
                const TimeLimit limit(std::chrono::seconds(is_control ? 120 : 10));
                const auto results =
                    simt::run(workload, emitted, schedule_of_seed(seed), compile_options, multiprocessors, 2,
                              0, {}, nullptr, earlier ? &*earlier : nullptr);
                if (!judge.compare(results).agrees())
                    return true;
            } catch (const simt::SimtError&) {
                return true;
            } catch (const InternalError&) {  // an impossible number of segments, or a wrong key
                return true;
            } catch (const Stopped&) {
                return true;
            }
        }
        return false;
    };
    if (is_control)
        return std::ranges::any_of(shapes, [&, turn = std::uint64_t{0}](const SegmentCase& shape) mutable {
            const auto seed = turn++ % last_seed + 1;
            return tells(shape, seed, seed + 1);
        });
    // Most bugs show in one shape under any schedule, so all shapes are tried before further schedules.
    const auto one_tells = [&](std::uint64_t first, std::uint64_t end) {
        return std::ranges::any_of(shapes, [&](const auto& shape) { return tells(shape, first, end); });
    };
    return one_tells(1, kSeedsOnAllCores + 1) || one_tells(kSeedsOnAllCores + 1, last_seed + 1);
}

TEST_P(PlantedBugs, AreFound)
{
    // Every run checks that each bug can still be planted, even if it does not try the bug.
    const auto emitted = text_with(GetParam());
    ASSERT_FALSE(emitted.source.empty())
        << "the stage's text has changed: '" << GetParam().from << "' is not in it";
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    EXPECT_TRUE(is_found(GetParam(), emitted))
        << "nothing tells that " << GetParam().stage << " has the bug " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedBugs, testing::ValuesIn(kBugs),
                         [](const auto& info) { return info.param.name; });

/// The same shapes find nothing in right texts, with every operator and form that has bugs.
TEST(PlantedBugsControl, NothingIsFoundWithoutABug)
{
    std::set<std::string> done;
    Draw draw;
    for (auto bug : kBugs) {
        bug.to = bug.from;
        const auto what = bug.stage + ", " + bug.op + ", " + std::string(name(bug.kind));
        if (done.insert(what).second && draw.takes(what)) {
            const auto emitted = text_with(bug);
            ASSERT_FALSE(emitted.source.empty()) << bug.name;
            EXPECT_FALSE(is_found(bug, emitted, true)) << what;
        }
    }
}

}  // namespace
}  // namespace segfold::test::planted_bugs_test
