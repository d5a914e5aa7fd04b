// Contests: workloads with the plan of a run and the best peer, and the page that shows the project's own.
#include <gtest/gtest.h>

#include "runtime/cli/views/paper_view.h"
#include "runtime/papers/compare.h"
#include "runtime/papers/measure.h"
#include "runtime/session/core.h"
#include "tests/common/files.h"

namespace segfold::papers::paper_contest_test {
namespace {

/// Tables of the project's own page are what the program prints.
TEST(Contest, TheProjectsOwnPageShowsWhatThePaperPrints)
{
    const auto& paper = embedded_paper("segfold2026");
    const auto text = read_text(SEGFOLD_SOURCE_DIR "/papers/segfold2026/README.md");
    const auto measured = embedded_measurement(paper.measured.front());
    for (const auto& experiment : paper.experiments) {
        const auto table = cli::print_experiment(paper, experiment, &measured);
        EXPECT_NE(text.find("\n```\n" + table + "```\n"), std::string::npos) << "the page lacks\n" << table;
    }
}

TEST(Contest, RunsThePlanOfARunBesideThePeers)
{
    const auto paper = read_paper("p", "p.json", R"({"title": "T", "authors": "A", "published_in": "J",
        "year": 1999, "claim": "C.", "experiments": [{"figure": "f", "title": "t", "kind": "contest",
        "operator": "sum", "type": "f32", "elements": 4096, "rows": [{"row": "one", "layout": "whole"},
        {"row": "many", "layout": "uniform=16"}]}]})");
    SessionOptions options;
    options.backend = "cpu";
    Session session(options);
    bench::Bench bench(core(session).backend());
    std::vector<std::string> lines;
    const auto measured = measure_contest(session, bench, paper.experiments[0], 1,
                                          [&](const std::string& line) { lines.push_back(line); });
    EXPECT_FALSE(lines.empty());
    const MeasuredPaper all{bench.machine(), {measured}};
    for (const auto* row : {"one", "many"}) {
        const auto* plan = find_entry(&all, paper.experiments[0], row);
        ASSERT_TRUE(is_timed(plan)) << row;
        EXPECT_TRUE(plan->is_chosen && !plan->is_peer && plan->agreement.agrees);
        EXPECT_NE(plan->configuration.find('='), std::string::npos) << plan->configuration;
    }
}

TEST(Contest, ItsTableHasStatedSharesAndGeometricMeans)
{
    auto paper = read_paper("p", "p.json", R"({"title": "T", "authors": "A", "published_in": "J",
        "year": 1999, "claim": "C.", "experiments": [{"figure": "f", "title": "t", "kind": "contest",
        "operator": "sum", "type": "f32", "elements": 4096, "rows": [{"row": "one", "layout": "whole"},
        {"row": "many", "layout": "uniform=16"}, {"row": "none", "layout": "uniform=8"}]}]})");
    paper.published = read_published("p.csv",
                                     "figure,row,metric,value,unit,device,read_from\n"
                                     "f,many,share,0.7,of ceiling,V100,x\n");
    const auto entry = [](const std::string& row, const std::string& what, double fraction, bool is_peer) {
        bench::Entry one;
        one.name = row;
        one.configuration = what;
        one.is_peer = is_peer;
        one.fraction = fraction;
        one.milliseconds.median = 0.25 / fraction;
        return one;
    };
    MeasuredPaper measured{{}, {{"f", {}}}};
    measured.experiments[0].record.entries = {
        entry("one", "grid_reduce a=1", 0.9, false), entry("one", "cub_reduce", 0.9, true),
        entry("many", "group_per_segment a=1", 0.8, false), entry("many", "cub_fixed_size", 0.2, true)};
    EXPECT_EQ(cli::print_experiment(paper, paper.experiments[0], &measured),
              "f: sum of f32, 2^12 elements, t\n\n"
              "workload             V100  stage              of ceiling  best peer       of ceiling  times "
              "as fast\n"
              "one                        grid_reduce              0.90  cub_reduce            0.90          "
              " 1.00\n"
              "many                  0.7  group_per_segment        0.80  cub_fixed_size        0.20          "
              " 4.00\n"
              "none\n"
              "geometric mean of 2                                 0.85                        0.42          "
              " 2.00\n");
}

}  // namespace
}  // namespace segfold::papers::paper_contest_test
