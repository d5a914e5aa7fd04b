#include "tests/mutants/case_configurations.h"

#include <algorithm>

#include "tests/common/stage_cases.h"

namespace segfold::test {
namespace {

constexpr std::int64_t kMostTile = 2048;  // of configurations that are tried beside the small ones

}  // namespace

Configuration looping_configuration(const Stage& stage, const Problem& problem)
{
    auto configuration = smallest_configuration(stage, problem);
    const auto set = [&](const std::string& name, const std::string& tunable, int value) {
        if (stage.name == name)
            configuration[tunable] = value;
    };
    set("thread_per_segment", "segments_per_thread", 2);
    set("group_per_segment", "lanes_per_segment", 4);
    set("group_per_segment", "segments_per_group", 2);
    set("block_per_segment", "items_per_thread", 8);
    set("warp_per_segment", "items_per_thread", 8);
    set("run_stream", "items_per_thread", 16);
    set("run_stream", "slices_per_warp", 2);
    set("run_tiles", "items_per_thread", 16);
    set("fused_blocks", "segment_threads", 64);
    set("fused_blocks", "block_threads", 64);
    set("grid_reduce", "blocks_per_multiprocessor", 2);
    set("warp_stream", "block_threads", 64);
    set("warp_stream", "blocks_per_multiprocessor", 3);
    set("tree_vector", "items_per_thread", 8);
    // More than two warps, and groups of lanes that look back for several tiles each.
    for (const auto& [tunable, value] :
         std::initializer_list<std::pair<const char*, int>>{{"block_threads", 128},
                                                            {"features_per_lane", 2},
                                                            {"feature_lanes", 16},
                                                            {"span_tiles", 32},
                                                            {"rows_per_lane", 2}})
        set("running_rows", tunable, value);
    for (const auto* tunable : {"features_per_lane", "feature_lanes", "rows_per_step"})
        for (const auto* rows : {"row_groups", "row_stream"})
            set(rows, tunable, 2);
    for (const auto& [tunable, value] :
         std::initializer_list<std::pair<const char*, int>>{{"features_per_lane", 2},
                                                            {"feature_lanes", 2},
                                                            {"row_lanes", 2},
                                                            {"rows_per_step", 2},
                                                            {"kept_steps", 2}})
        set("fused_row_groups", tunable, value);
    set("row_groups", "row_lanes", 2);
    set("row_groups", "segments_per_group", 2);
    for (const auto* rung : {"tree_last_warp", "pairs_last_warp", "tree_unrolled", "pairs_unrolled"})
        set(rung, "block_threads", 128);  // so that there are rounds of more than a warp
    if (configuration.contains("items_per_thread") && stage.is_rung &&
        stage.name.find("cascade") != std::string::npos)
        configuration["items_per_thread"] = 2;
    return configuration;
}

std::vector<Configuration> other_configurations(const Stage& stage, const Problem& problem)
{
    const auto facts = plan_facts(problem);
    const auto smallest = smallest_configuration(stage, problem);
    std::vector<Configuration> others;
    for (const auto& tunable : stage.tunables) {
        auto values = tunable.values;
        std::ranges::sort(values);
        for (const int value : {values.front(), values[values.size() / 2], values.back()}) {
            auto other = smallest;
            other[tunable.name] = value;
            if (other != smallest && std::ranges::find(others, other) == others.end() &&
                is_allowed(stage, other, facts) && block_and_tile(stage, problem, other).second <= kMostTile)
                others.push_back(other);
        }
    }
    return others;
}

}  // namespace segfold::test
