// A check as it is by default finds the bugs that are planted into stages, and says where a fault is.
#include <gtest/gtest.h>

#include <set>

#include "dsl/text/standard_operators.h"
#include "runtime/backends/backend.h"
#include "runtime/check/check_operator.h"
#include "runtime/check/operators/stage_operators.h"
#include "runtime/session/core.h"
#include "tests/cli/cli_program.h"
#include "tests/common/kernel_folder.h"

namespace segfold::test::check_bugs_test {
namespace {

/// A change of a stage or part, and the operator of which a check shows it.
struct CheckedBug {
    std::string name, stage, file, from, to, op;
};

void PrintTo(const CheckedBug& bug, std::ostream* out) { *out << bug.name; }

const std::string kStrided = "parts/elements/fold_strided.cuh";
const std::string kRows = "stages/row_groups.cu";

// Each kind once where its loop is, and once more where it is reached another way.
const std::vector<CheckedBug> kBugs = {
    {"LastWholeVectorSkipped", "block_per_segment", kStrided,
     "const int stride = kStepItems * num_threads;\n",
     "const int stride = kStepItems * num_threads;\n    if (length % kStepItems == 0) length -= "
     "kStepItems;\n",
     "sum_i32"},
    {"LastWholeVectorLeftOut", "block_per_segment", kStrided,
     "for (; position < length; position += stride) {",
     "for (; position + kStepItems < length; position += stride) {", "sum_i32"},
    {"LastVectorOfAGridSkipped", "grid_reduce", kStrided,
     "for (; aligned && position + kStepItems <= length; position += stride) {",
     "for (; aligned && position + kStepItems <= length; position += length) {", "sum_i32"},
    {"VectorThatEndsASegmentSkipped", "grid_reduce", kStrided,
     "for (; aligned && position + kStepItems <= length; position += stride) {",
     "if (aligned && position + kStepItems == length) position = length;\n"
     "    for (; aligned && position + kStepItems <= length; position += stride) {",
     "sum_i32"},
    {"CarryDroppedOverATile", "warp_stream", "stages/warp_stream.cu", "carry = warp_reduce(run);",
     "carry = warp_reduce(run); if (tile_begin > begin + kTileItems) carry = identity();", "trace_i32"},
    {"CarryOfATileWithoutEndsDropped", "warp_stream", "stages/warp_stream.cu", "carry = warp_reduce(run);",
     "carry = identity();", "sum_i32"},
    {"CarryDroppedOverASecondTileWithoutEnds", "lean_stream", "stages/lean_stream.cu", "carry = rotated;",
     "carry = next == ended ? identity() : rotated;", "sum_i32"},
    {"CarryOfGroupsOfTilesLost", "tile_scan", "stages/tile_scan.cu", "carry = join(earlier, run);",
     "carry = run;", "sum_i32"},
    {"LastSegmentNotStoredWhereItIsEmpty", "tile_scan", "stages/tile_scan.cu",
     "if (segment < segments.num_segments && segment_begin",
     "if (segment + 1 < segments.num_segments && segment_begin", "sum_i32"},
    {"NumbersBehindTheEndRead", "row_groups", kRows,
     "load_numbers(rows[k][u], inputs, begins[k] + min(begin + u * stride, lengths[k] - 1));",
     "load_numbers(rows[k][u], inputs, begins[k] + begin + u * stride);", "row_hash"},
    {"RowBehindTheEndRead", "row_groups", kRows,
     "if (begin + u * stride < lengths[k])\n                    load_rows",
     "if (begin + u * stride <= lengths[k])\n                    load_rows", "row_sum"},
    {"RowBehindTheEndTaken", "row_groups", kRows,
     "if (begin + u * stride < lengths[k])\n                        part",
     "if (begin + u * stride <= lengths[k])\n                        part", "row_hash"},
    {"LanesLeaveWhileOthersShuffle", "row_groups", kRows, "__any_sync(kFullMask, first < longest);",
     "first < longest;", "row_hash"},
    {"TicketWrapsOneLate", "grid_reduce", "stages/grid_reduce.cu",
     "atomicInc(tickets + segment, num_blocks - 1)", "atomicInc(tickets + segment, num_blocks)", "sum_i32"},
    {"TicketWrapsOneLateInOrder", "grid_reduce", "stages/grid_reduce.cu",
     "atomicInc(tickets + segment, num_blocks - 1)", "atomicInc(tickets + segment, num_blocks)",
     "affine_u32"},
    {"PlacedItemsNotLoaded", "grid_reduce", kStrided,
     "items[k] = load_item(inputs, first + place, place, segment);", ";", "placed_sum"},
    {"TiesRoundedToOdd", "thread_per_segment", "parts/bf16.cuh", "bits >> 16 & 1u", "bits >> 16 & 2u",
     "placed_sum"},
    {"HeadSoughtBeforeTheFirstKey", "run_stream", "parts/segments/slice_heads.cuh",
     "return item == 0 || segments.keys[item]", "return item == 1 || segments.keys[item]", "sum_i32"},
    {"BeginOfACopiedSegmentForgotten", "run_tiles", "stages/run_tiles.cu",
     "if (slice_heads > 0)\n                opener = slice_begin + places[slice_heads - 1];\n"
     "            //% end\n            //% if keys && copies",
     "//% end\n            //% if keys && copies", "counted_last"},
    {"RunsOfGatheringLanesCut", "lean_stream", "stages/lean_stream.cu", "Bits(lane != 0)), desk.states",
     "Bits(lane == 0)), desk.states", "counted_hash"},
    {"CrowdWalkedAtOnce", "warp_stream", "stages/warp_stream.cu", "lane >= turn_begin && lane < turn_end",
     "lane >= turn_begin || lane < turn_end", "sum_i32"},
    {"RowsThatFillNoVectorLeftOut", "row_stream", "stages/row_stream.cu",
     "fold_share(inputs, segments, shares, heads, tails, results, false);", ";", "row_hash"},
    {"BlocksOfRangesOneLate", "row_groups", "parts/map_rows.cuh", "(256 / kFeatureLanes)",
     "(257 / kFeatureLanes)", "told_rows"},
    {"PlaceOfACheckedRowNotFound", "fused_row_groups", "stages/fused_row_groups.cu",
     "for (int k = 0; k < kRowsPerStep; ++k) {\n            const Index its_position",
     "for (int k = 1; k < kRowsPerStep; ++k) {\n            const Index its_position", "told_rows"},
};

/// The operator of a bug: a standard one, or one of those that check a stage.
Operator operator_of(const CheckedBug& bug, Session& session)
{
    for (const auto& op :
         regress::stage_operators(core(session).catalogue().stage(bug.stage), core(session).catalogue(), {}))
        if (op.name == bug.op)
            return op;
    return standard_operator(bug.op);
}

/// What a check of one operator and stage says, given nothing else.
regress::Check checked(Session& session, const CheckedBug& bug)
{
    const auto op = operator_of(bug, session);
    regress::CheckRequest request;
    request.stages = {&core(session).catalogue().stage(bug.stage)};
    regress::take_standard_data(request, op, core(session).catalogue(), core(session).backend());
    request.proof.seconds = 0;
    request.until_failure = true;
    return regress::check_operator(session, op, request);
}

class CheckedBugs : public testing::TestWithParam<CheckedBug> {
protected:
    void SetUp() override
    {
        if (!has_compiler())
            GTEST_SKIP() << "there is no C++ compiler for simt";
    }
    TemporaryFolder folder_;
};

TEST_P(CheckedBugs, AreFoundByDefault)
{
    const auto& bug = GetParam();
    const auto kernels = copy_kernels(folder_, "edited");
    plant(kernels, bug.file, bug.from, bug.to);
    SessionOptions options;
    options.kernels = kernels;
    Session session(make_backend("simt"), options);
    EXPECT_TRUE(checked(session, bug).matrix.any_failed()) << "a check does not see " << bug.name;
}

INSTANTIATE_TEST_SUITE_P(Each, CheckedBugs, testing::ValuesIn(kBugs),
                         [](const auto& info) { return info.param.name; });

/// The same checks find nothing where nothing is wrong.
TEST(CheckedBugsControl, NothingIsFoundWithoutABug)
{
    if (!has_compiler())
        GTEST_SKIP() << "there is no C++ compiler for simt";
    Session session(make_backend("simt"), {});
    std::set<std::string> done;
    for (const auto& bug : kBugs)
        if (done.insert(bug.stage + bug.op).second) {
            EXPECT_FALSE(checked(session, bug).matrix.any_failed()) << bug.stage << ", " << bug.op;
        }
}

}  // namespace
}  // namespace segfold::test::check_bugs_test
