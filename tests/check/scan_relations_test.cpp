// Relations of running results hold for the stages that give them, and planted bugs break them.
#include <gtest/gtest.h>

#include <set>

#include "dsl/derived.h"
#include "dsl/text/standard_operators.h"
#include "runtime/check/operators/derived_operators.h"
#include "runtime/check/relations.h"
#include "runtime/check/scan_relations.h"
#include "tests/cli/cli_program.h"
#include "tests/common/kernel_folder.h"

namespace segfold::test::scan_relations_test {
namespace {

/// The relations that running_tiles of a catalogue breaks, and those that were tried.
struct Tried {
    std::set<std::string> broken, held;
};

Tried tried(const Catalogue& catalogue, const Operator& op, std::int64_t num_elements = 700)
{
    const auto backend = make_backend("simt");
    std::vector<const regress::Relation*> relations;
    for (const auto& relation : regress::relations())
        relations.push_back(&relation);
    const regress::NamedOperator named{op.name, op, quick_laws(op).usable};
    const regress::RelationRequest request{
        relations, {&catalogue.stage("running_tiles")}, {regress::Tiles::smallest}, catalogue, num_elements};
    Tried all;
    for (const auto& outcome : regress::hold_relations(named, request, *backend)) {
        if (outcome.breach)
            all.broken.emplace(outcome.relation);
        if (outcome.held())
            all.held.emplace(outcome.relation);
    }
    return all;
}

class ScanRelations : public testing::Test {
protected:
    void SetUp() override
    {
        if (!has_compiler())
            GTEST_SKIP() << "there is no C++ compiler for simt";
    }
    ProgramFolder folder_;
};

TEST_F(ScanRelations, HoldInBothDirections)
{
    for (const auto* name : {"affine_u32", "keep_first_i32"})
        for (const bool is_reverse : {false, true}) {
            const auto [broken, held] =
                tried(Catalogue::standard(), scanned(standard_operator(name), {false, is_reverse}));
            EXPECT_EQ(broken, std::set<std::string>()) << name << is_reverse;
            for (const auto* relation : {"agreement", "one_segment", "empty_segments", "repetition", "slices",
                                         "last_of_scan", "cut_scan"})
                EXPECT_TRUE(held.contains(relation)) << relation << " of " << name << is_reverse;
            EXPECT_FALSE(held.contains("splitting"));
        }
}

/// Sums round, and their grouping follows from the segments alone.
TEST_F(ScanRelations, ThatRoundAreHeldToBits)
{
    const auto [broken, held] = tried(Catalogue::standard(), scanned(standard_operator("sum_f32"), {}));
    EXPECT_EQ(broken, std::set<std::string>());
    EXPECT_TRUE(held.contains("repetition"));
    EXPECT_TRUE(held.contains("cut_scan"));
}

TEST_F(ScanRelations, SayNothingOfFolds)
{
    const auto op = standard_operator("sum_i32");
    EXPECT_EQ(regress::no_running_results(op), "operator sum gives no running results");
    EXPECT_EQ(regress::running_results(op), "");
    EXPECT_NE(regress::running_results(scanned(op, {})), "");
}

TEST_F(ScanRelations, StatesAreScannedInTheirDirection)
{
    const auto op = regress::scan_states_operator(scanned(standard_operator("affine_u32"), {true, true}));
    ASSERT_TRUE(op.scan && op.keeps_results);
    EXPECT_TRUE(op.scan->reverse);
    EXPECT_EQ(op.outputs.size(), 2U);
    EXPECT_EQ(op.results.size(), 2U);
}

/// A change of a kernel's file, and a relation that must notice it.
struct Bug {
    const char* name;
    const char* file;
    const char* from;
    const char* to;
    const char* relation;
};

[[maybe_unused]] void PrintTo(const Bug& bug, std::ostream* out) { *out << bug.name; }

class PlantedScanBugs : public ScanRelations, public testing::WithParamInterface<Bug> {};

TEST_P(PlantedScanBugs, BreakARelation)
{
    const auto& bug = GetParam();
    const auto kernels = copy_kernels(folder_, "kernels");
    plant(kernels, bug.file, bug.from, bug.to);
    if (HasFatalFailure())
        return;
    const auto op = scanned(standard_operator("affine_u32"), {});
    const auto [broken, held] = tried(Catalogue::from_directory(kernels), op);
    EXPECT_TRUE(broken.contains(bug.relation)) << testing::PrintToString(broken);
}

INSTANTIATE_TEST_SUITE_P(
    Each, PlantedScanBugs,
    testing::Values(Bug{"CarryOfTheTileLost", "stages/running_tiles.cu",
                        "threadIdx.x == 0 ? carry : join_on_way(carry, before.total)", "before.total",
                        "last_of_scan"},
                    Bug{"CarryJoinedWithoutThreadsBefore", "stages/running_tiles.cu",
                        "threadIdx.x == 0 ? carry : join_on_way(carry, before.total)", "carry",
                        "last_of_scan"},
                    Bug{"OperandsExchangedInTheSecondPass", "parts/tiles/running_tile.cuh",
                        "state = enters ? next : join_on_way(state, next);",
                        "state = enters ? next : join_on_way(next, state);", "cut_scan"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace segfold::test::scan_relations_test
