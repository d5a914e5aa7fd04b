// The papers: what their files say, that their rungs exist, and the tables made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"
#include "dsl/error.h"
#include "dsl/standard_operators.h"
#include "runtime/cli/paper_view.h"
#include "tests/files.h"

namespace segfold::cli {
namespace {

constexpr const char* kHead = "figure,row,metric,value,unit,device,read_from\n";

template <class Call>
std::string failure(Call call)
{
    try {
        call();
    } catch (const SpecError& error) {
        return error.what();
    }
    return "no failure";
}

std::string failure_of_line(const std::string& line)
{
    return failure([&] { (void)read_published("p.csv", kHead + line); });
}

TEST(Published, ReadsNumbersAndQuotedFields)
{
    const auto values =
        read_published("p.csv", std::string(kHead) +
                                    "\"a, \"\"b\"\"\",r,time,8.5,ms,G80,slide 1\r\n\nc,r,time,-1e3,ms,d,e\n");
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].figure, "a, \"b\"");
    EXPECT_EQ(values[0].value, 8.5);
    EXPECT_EQ(values[0].read_from, "slide 1");
    EXPECT_EQ(values[1].value, -1000);
}

TEST(Published, FaultsNameFileAndLine)
{
    EXPECT_EQ(failure([] { (void)read_published("p.csv", "figure,row\n"); }),
              "p.csv:1: the first line has to be figure,row,metric,value,unit,device,read_from");
    EXPECT_EQ(failure_of_line("a,b,c\n"),
              "p.csv:2: 3 fields; the columns are figure,row,metric,value,unit,device,read_from");
    EXPECT_EQ(failure_of_line("a,b,time,8 ms,ms,d,e\n"), "p.csv:2: '8 ms' is not a number");
    EXPECT_EQ(failure_of_line("a,b,time,,ms,d,e\n"), "p.csv:2: '' is not a number");
    EXPECT_EQ(failure_of_line("a,\"b,time,8,ms,d,e\n"), "p.csv:2: a quote is opened and not closed");
}

TEST(PaperFile, FaultsNameTheFile)
{
    const auto of = [](const std::string& text) {
        return failure([&] { (void)read_paper("x", "papers/x/paper.json", text); });
    };
    EXPECT_TRUE(of("{").starts_with("papers/x/paper.json: "));
    EXPECT_NE(of("{}").find("title"), std::string::npos);
    const std::string head =
        R"({"title": "", "authors": "", "published_in": "", "year": 1, "claim": "", "experiments": [{"figure": "f",
            "title": "", "operator": "sum", "rows": [], )";
    EXPECT_EQ(of(head + R"("type": "i33", "layout": "whole", "elements": 1}]})"),
              "papers/x/paper.json: f: unknown type 'i33'");
    EXPECT_EQ(of(head + R"("layout": "whole", "elements": 0}]})"),
              "papers/x/paper.json: f: elements is 0; it has to be 1 or more");
    EXPECT_NE(of(head + R"("layout": "hole", "elements": 1}]})").find("hole"), std::string::npos);
}

TEST(Papers, RungsExistAndServe)
{
    ASSERT_GE(embedded_papers().size(), 3U);
    const auto& catalogue = Catalogue::standard();
    for (const auto& paper : embedded_papers())
        for (const auto& experiment : paper.experiments) {
            const Problem problem(standard_operator(experiment.op, experiment.type),
                                  form_of(experiment.layout.kind));
            EXPECT_FALSE(experiment.rows.empty()) << paper.name << " " << experiment.figure;
            for (const auto& row : experiment.rows) {
                const auto& stage = catalogue.stage(row.stage);
                EXPECT_NO_THROW((void)configure(stage, row.chosen, plan_facts(problem))) << row.row;
                EXPECT_EQ(catalogue.unmet(stage, problem), std::nullopt) << paper.name << " " << row.row;
            }
        }
}

TEST(Papers, PublishedNumbersBelongToAnExperiment)
{
    for (const auto& paper : embedded_papers())
        for (const auto& value : paper.published) {
            const auto experiment = std::ranges::find(paper.experiments, value.figure, &Experiment::figure);
            ASSERT_NE(experiment, paper.experiments.end()) << paper.name << ": " << value.figure;
            // What a CPU did has no rung here.
            EXPECT_TRUE(value.row == "CPU" || std::ranges::find(experiment->rows, value.row,
                                                                &PaperRow::row) != experiment->rows.end())
                << paper.name << ": " << value.row;
        }
}

TEST(Papers, PublishedStepsFollowFromPublishedTimes)
{
    const auto& paper = embedded_paper("harris2007");
    const auto& experiment = paper.experiments.front();
    for (std::size_t i = 1; i < experiment.rows.size(); ++i) {
        const auto value = [&](std::size_t row, const char* metric) {
            return paper.find(experiment.figure, experiment.rows[row].row, metric)->value;
        };
        EXPECT_NEAR(value(i - 1, "time") / value(i, "time"), value(i, "step_speed_up"), 0.02) << i;
        EXPECT_NEAR(double{1 << 24} / value(i, "time") / 1e6, value(i, "bandwidth"), 0.1) << i;
    }
}

TEST(Papers, EachHasAReadmeThatNamesItsCommand)
{
    for (const auto& paper : embedded_papers()) {
        const auto text = read_text(SEGFOLD_SOURCE_DIR "/papers/" + paper.name + "/README.md");
        EXPECT_NE(text.find("segfold paper " + paper.name), std::string::npos) << paper.name;
        EXPECT_NE(text.find(std::to_string(paper.year)), std::string::npos) << paper.name;
    }
}

TEST(Papers, UnknownOnesAreRefusedWithAList)
{
    try {
        (void)embedded_paper("haris2007");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'harris2007'?"), std::string::npos)
            << error.what();
    }
}

/// Two rungs, the second of which was twice as fast once and is slower now.
Paper two_rungs()
{
    auto paper =
        read_paper("p", "p.json", R"({"title": "T", "authors": "A", "published_in": "J", "year": 1999,
        "claim": "C.", "experiments": [{"figure": "f", "title": "t", "operator": "sum", "type": "i32",
        "layout": "whole", "elements": 1024, "rows": [{"row": "one", "stage": "tree_interleaved"},
        {"row": "two", "stage": "tree_sequential", "set": {"block_threads": 64}}]}]})");
    paper.published =
        read_published("p.csv", std::string(kHead) + "f,one,time,8,ms,G80,x\nf,two,time,4,ms,G80,x\n");
    return paper;
}

MeasuredPaper measured(double one, double two)
{
    MeasuredPaper result;
    result.machine = {"GPU", "13.0", "NVRTC", "CCCL", "2026-01-01", 1e12, "grid"};
    MeasuredExperiment experiment{"f", {}};
    experiment.record.op = "sum";
    experiment.record.layout = "whole";
    for (const auto& [name, milliseconds] : {std::pair{"one", one}, std::pair{"two", two}}) {
        bench::Entry entry;
        entry.name = name;
        entry.milliseconds = {milliseconds, milliseconds, milliseconds};
        entry.runs = 5;
        entry.bytes_per_second = 4096 / milliseconds * 1e3;
        experiment.record.entries.push_back(entry);
    }
    result.experiments.push_back(experiment);
    return result;
}

TEST(PaperView, PutsPublishedBesideMeasured)
{
    const auto paper = two_rungs();
    const auto now = measured(0.010, 0.002);
    const auto text = print_experiment(paper, paper.experiments.front(), &now);
    EXPECT_NE(text.find("tree_sequential block_threads=64"), std::string::npos) << text;
    EXPECT_NE(text.find("8 ms"), std::string::npos) << text;
    EXPECT_NE(text.find("10.0 us"), std::string::npos) << text;
    EXPECT_NE(text.find("5.00"), std::string::npos) << text;
    EXPECT_EQ(text.find("here"), std::string::npos) << text;
}

TEST(PaperView, SaysWhichStepsWentAnotherWay)
{
    const auto paper = two_rungs();
    const auto slower = measured(0.010, 0.020);
    EXPECT_NE(print_experiment(paper, paper.experiments.front(), &slower)
                  .find("two is 0.50 times as fast as one here; 2.00 times when it was published"),
              std::string::npos);
    const auto same = measured(0.0100, 0.0102);
    EXPECT_EQ(print_experiment(paper, paper.experiments.front(), &same).find("here"), std::string::npos);
}

TEST(PaperView, WithoutMeasurementsThePublishedNumbersStand)
{
    const auto paper = two_rungs();
    const auto text = print_experiment(paper, paper.experiments.front(), nullptr);
    EXPECT_NE(text.find("4 ms"), std::string::npos) << text;
    EXPECT_EQ(text.find(" us"), std::string::npos) << text;
}

TEST(Measured, IsReadAsItWasWritten)
{
    const auto written = json_of("p", measured(0.010, 0.002)).dump();
    const auto read = measured_paper("m.json", written);
    EXPECT_EQ(json_of("p", read).dump(), written);
    EXPECT_TRUE(failure([] { (void)measured_paper("m.json", R"({"paper": "p"})"); }).starts_with("m.json: "));
}

}  // namespace
}  // namespace segfold::cli
