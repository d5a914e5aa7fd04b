#pragma once
// Operators of rows with running results, in the configurations of the stage running_rows that tests try.
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "tests/cpu/row_scan_cases.h"

namespace segfold::test {

/// An operator over segments in one form, a configuration and numbers of features.
struct RowScanPlan {
    RowScanOperator op;
    SegmentForm form;
    std::vector<std::int64_t> features;
    Configuration settings = {};
    int bits = 32;
};

inline std::string print(const RowScanPlan& c)
{
    auto text = print(c.op) + "_" + std::string(name(c.form)) + (c.bits == 64 ? "_wide" : "");
    for (const auto& [tunable, value] : c.settings)
        text += "_" + std::to_string(value);
    return text;
}

inline void PrintTo(const RowScanPlan& c, std::ostream* out) { *out << print(c); }

inline Configuration row_scan_settings(int block_threads, int feature_lanes, int features_per_lane,
                                       int rows_per_lane, int span_tiles = 2)
{
    return {{"block_threads", block_threads},
            {"feature_lanes", feature_lanes},
            {"features_per_lane", features_per_lane},
            {"rows_per_lane", rows_per_lane},
            {"span_tiles", span_tiles}};
}

inline std::vector<RowScanPlan> row_scan_plans()
{
    using enum SegmentForm;
    std::vector<RowScanPlan> cases;
    for (const bool reverse : {false, true}) {
        cases.push_back({{.reverse = reverse}, whole, {16, 33}, row_scan_settings(64, 4, 4, 2)});
        cases.push_back({{.reverse = reverse}, uniform, {1, 3}, row_scan_settings(64, 1, 1, 1)});
        cases.push_back({{.reverse = reverse}, offsets, {64, 256}, row_scan_settings(64, 16, 4, 1)});
        cases.push_back({{.reverse = reverse}, offsets, {3, 33}, row_scan_settings(128, 32, 1, 2, 8), 64});
        cases.push_back({{.reverse = reverse}, ranges, {16, 3}, row_scan_settings(64, 2, 8, 4)});
        cases.push_back(
            {{.reverse = reverse, .keeps_results = false}, offsets, {16, 6}, row_scan_settings(64, 4, 2, 4)});
        cases.push_back(
            {{.reverse = reverse, .identity = false}, offsets, {1, 16}, row_scan_settings(64, 2, 2, 2)});
        cases.push_back({{.reverse = reverse, .map = true}, offsets, {16, 64}, {}});
    }
    return cases;
}

inline Emitted cuda_text(const RowScanPlan& c)
{
    const auto& stage = Catalogue::standard().stage("running_rows");
    Problem problem(row_scan_operator(c.op), c.form, c.bits);
    problem.checked_tables = {"code", "wide"};
    const auto facts = plan_facts(problem, {.num_features = c.features.front()});
    return emit(problem, stage, c.settings.empty() ? default_configuration(stage, facts) : c.settings);
}

inline std::int64_t tile_rows(const Emitted& emitted)
{
    const auto& c = emitted.configuration;
    return c.at("block_threads") / c.at("feature_lanes") * c.at("rows_per_lane");
}

inline Segments segments_of(const RowScanPlan& c, const std::vector<std::int64_t>& lengths)
{
    return segments_of(ScanCase{{}, c.form, c.bits}, lengths);
}

}  // namespace segfold::test
