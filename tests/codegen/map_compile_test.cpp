// NVRTC takes outputs of elements in silence: maps that read tables, by stages that keep elements and by
// those that read them again; running results.
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "tests/common/needs_nvrtc.h"
#include "tests/cpu/row_scan_cases.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/scan_cases.h"
#include "tests/stages/write_back_cases.h"

namespace segfold::map_compile_test {
namespace {

class MapCompile : public test::NeedsNvrtc {};

TEST_F(MapCompile, TablesAreReadInSilence)
{
    std::vector<cuda::CompileRequest> requests;
    for (const auto& op : {test::told_by_tables(true), test::rows_by_tables()})
        for (const auto* name :
             {"thread_per_segment", "fused_tiles", "fused_blocks", "row_groups", "fused_row_groups"})
            for (const auto form : {SegmentForm::uniform, SegmentForm::offsets, SegmentForm::ranges})
                for (const bool is_checked : {false, true}) {
                    const auto& stage = Catalogue::standard().stage(name);
                    Problem problem(op, form, is_checked ? 64 : 32);
                    if (is_checked)
                        problem.checked_tables = test::tables_of(op);
                    if (Catalogue::standard().unmet(stage, problem))
                        continue;
                    const auto emitted =
                        emit(problem, stage, default_configuration(stage, plan_facts(problem)));
                    requests.push_back({emitted.source, op.name + "." + name + ".cu", "sm_90", {}});
                }
    ASSERT_GT(requests.size(), 12U);
    const auto compiled = cuda::compile_many(requests, 2);
    for (std::size_t i = 0; i < requests.size(); ++i)
        EXPECT_EQ(compiled[i].log, "") << requests[i].name;
}

/// Both directions, with and without identity, results, places and a map.
TEST_F(MapCompile, RunningResultsAreGivenInSilence)
{
    std::vector<cuda::CompileRequest> requests;
    for (const auto* stage_name : {"running_tiles", "running_segments"}) {
        const auto& stage = Catalogue::standard().stage(stage_name);
        for (const bool reverse : {false, true})
            for (const test::ScanOperator& c :
                 {test::ScanOperator{.reverse = reverse, .map = true},
                  {.reverse = reverse, .lifts_places = true},
                  {.reverse = reverse, .keeps_results = false},
                  {.reverse = reverse, .identity = false},
                  {.reverse = reverse, .keeps_results = false, .tells_places = false}})
                for (const auto form : stage.forms) {
                    Problem problem(test::scan_operator(c), form, reverse ? 64 : 32);
                    if (!c.map && c.tells_places)
                        problem.checked_tables = {"code"};
                    const auto emitted =
                        emit(problem, stage, default_configuration(stage, plan_facts(problem)));
                    requests.push_back(
                        {emitted.source,
                         stage.name + "." + test::print(c) + "." + std::string(name(form)) + ".cu",
                         "sm_90",
                         {}});
                }
    }
    const auto compiled = cuda::compile_many(requests, 2);
    for (std::size_t i = 0; i < requests.size(); ++i)
        EXPECT_EQ(compiled[i].log, "") << requests[i].name;
}

/// The same of rows, whose length says how many features a lane holds, for every architecture.
TEST_F(MapCompile, RunningResultsOfRowsAreGivenInSilence)
{
    const auto& stage = Catalogue::standard().stage("running_rows");
    std::vector<cuda::CompileRequest> requests;
    for (const bool reverse : {false, true})
        for (const test::RowScanOperator& c : {test::RowScanOperator{.reverse = reverse, .map = true},
                                               {.reverse = reverse},
                                               {.reverse = reverse, .keeps_results = false},
                                               {.reverse = reverse, .identity = false}})
            for (const auto form : stage.forms) {
                Problem problem(test::row_scan_operator(c), form, reverse ? 64 : 32);
                if (!c.map)
                    problem.checked_tables = {"code", "wide"};
                const auto turn = requests.size();
                const Shape shape{.num_features = turn % 3 == 0 ? 33 : turn % 3 == 1 ? 16 : 256};
                const auto emitted =
                    emit(problem, stage, default_configuration(stage, plan_facts(problem, shape)));
                constexpr const char* kArchitectures[] = {"sm_80", "sm_90", "sm_100"};
                requests.push_back({emitted.source,
                                    test::print(c) + "." + std::string(name(form)) + ".cu",
                                    kArchitectures[turn / 3 % 3],
                                    {}});
            }
    const auto compiled = cuda::compile_many(requests, 2);
    for (std::size_t i = 0; i < requests.size(); ++i)
        EXPECT_EQ(compiled[i].log, "") << requests[i].name;
}

}  // namespace
}  // namespace segfold::map_compile_test
