// The papers: what their files say, that their rungs exist, and the tables made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"
#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/cli/views/paper_view.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::papers::paper_test {
namespace {

constexpr const char* kHead = "figure,row,metric,value,unit,device,read_from\n";

std::string failure_of_line(const std::string& line)
{
    return test::message_of<SpecError>([&] { (void)read_published("p.csv", kHead + line); });
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
    EXPECT_EQ(test::message_of<SpecError>([] { (void)read_published("p.csv", "figure,row\n"); }),
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
        return test::message_of<SpecError>([&] { (void)read_paper("x", "papers/x/paper.json", text); });
    };
    EXPECT_EQ(of("{"), "papers/x/paper.json: no JSON at byte 2");
    EXPECT_EQ(of("{}"), "papers/x/paper.json: document has no 'title'");
    EXPECT_EQ(of(R"({"title": 3})"), "papers/x/paper.json: document.title is 3; a text is needed");
    const std::string head =
        R"({"title": "", "authors": "", "published_in": "", "year": 1, "claim": "", "experiments": [{"figure": "f",
            "title": "", "operator": "sum", "rows": [], )";
    EXPECT_EQ(of(head + R"("type": "i33", "layout": "whole", "elements": 1}]})"),
              "papers/x/paper.json: f: unknown type 'i33'");
    EXPECT_EQ(of(head + R"("layout": "whole", "elements": 0}]})"),
              "papers/x/paper.json: f: elements is 0; it has to be 1 or more");
    EXPECT_NE(of(head + R"("layout": "hole", "elements": 1}]})").find("hole"), std::string::npos);
}

TEST(PaperFile, FaultsOfRowsNameTheRow)
{
    const auto of = [](const std::string& kind, const std::string& rows) {
        return test::message_of<SpecError>([&] {
            (void)read_paper("x", "p.json",
                             R"({"title": "", "authors": "", "published_in": "", "year": 1, "claim": "",
            "experiments": [{"figure": "f", "title": "", "kind": ")" +
                                 kind +
                                 R"(", "operator": "sum", "layout": "whole", "elements": 8, "rows": [)" +
                                 rows + "]}]}");
        });
    };
    EXPECT_EQ(
        of("timers", ""),
        "p.json: f: unknown kind 'timers'; kinds are ladder, probe, transfer, timer, contest; did you mean "
        "'timer'?");
    EXPECT_EQ(of("contest", R"({"row": "r", "stage": "s", "layout": "whole"})"),
              "p.json: f, r: a row of a contest has a layout, and neither stage nor probe");
    EXPECT_EQ(of("contest", R"({"row": "r", "layout": "uniform=4"})"), "nothing was thrown");
    EXPECT_EQ(of("ladder", R"({"row": "r"})"), R"(p.json: f, r: a row has either a stage or "host": true)");
    EXPECT_EQ(of("ladder", R"({"row": "r", "stage": "tile_scan", "host": true})"),
              R"(p.json: f, r: a row has either a stage or "host": true)");
    EXPECT_EQ(of("timer", R"({"row": "r", "host": true})"),
              "p.json: f, r: the CPU has rows in ladders only, not in a timer");
    EXPECT_EQ(of("ladder", R"({"row": "r", "stage": "s", "elements": 4})"),
              "p.json: f, r: a row of a ladder has the elements of its experiment");
    EXPECT_EQ(of("timer", R"({"row": "r", "stage": "s", "elements": 0})"),
              "p.json: f, r: elements is 0; it has to be 1 or more");
    EXPECT_EQ(of("ladder", R"({"row": "r", "stage": "s"}, {"row": "r", "stage": "s"})"),
              "p.json: f: row 'r' is there twice");
    EXPECT_EQ(of("timer", R"({"row": "r", "stage": "s", "elements": 4})"), "nothing was thrown");
}

TEST(PaperFile, FaultsOfProbesAndTransfersNameTheRow)
{
    const auto of = [](const std::string& kind, const std::string& row, const std::string& layout = "whole") {
        return test::message_of<SpecError>([&] {
            (void)read_paper("x", "p.json",
                             R"({"title": "", "authors": "", "published_in": "", "year": 1, "claim": "",
            "experiments": [{"figure": "f", "title": "", "kind": ")" +
                                 kind + R"(", "operator": "sum", "layout": ")" + layout +
                                 R"(", "elements": 8, "rows": [{"row": "r", )" + row + "}]}]}");
        });
    };
    EXPECT_EQ(of("probe", R"("probe": "divergence", "set": {"granularity": 8})"), "nothing was thrown");
    EXPECT_EQ(of("probe", R"("stage": "tile_scan")"),
              "p.json: f, r: a row of probes has a probe, and no stage");
    EXPECT_EQ(of("ladder", R"("probe": "divergence")"), "p.json: f, r: a ladder has no probes");
    EXPECT_EQ(of("transfer", R"("memory": "pinned")"), "nothing was thrown");
    EXPECT_EQ(of("transfer", R"("memory": "pinned", "stage": "grid_reduce", "streams": 3, "chunks": 64)"),
              "nothing was thrown");
    EXPECT_EQ(of("transfer", R"("memory": "locked")"),
              "p.json: f, r: memory is 'locked'; it has to be pageable or pinned");
    EXPECT_EQ(of("transfer", R"("direction": "up")"),
              "p.json: f, r: direction is 'up'; it has to be to_device or to_host");
    EXPECT_EQ(of("transfer", R"("streams": 0)"), "p.json: f, r: streams is 0; it has to be 1 to 32");
    EXPECT_EQ(of("transfer", R"("streams": 2)"),
              "p.json: f, r: 2 streams have 1 chunks; each needs one at least");
    EXPECT_EQ(of("transfer", R"("chunks": 4)"),
              "p.json: f, r: chunks are there to be folded, and there is no stage");
    EXPECT_EQ(of("transfer", R"("direction": "to_host", "stage": "grid_reduce")"),
              "p.json: f, r: a stage folds what arrives on the GPU, not what goes to the host");
    EXPECT_EQ(of("transfer", R"("host": true)"),
              "p.json: f, r: the CPU has rows in ladders only, not in a transfer");
    EXPECT_EQ(of("transfer", R"("memory": "pinned")", "uniform=4"),
              "p.json: f: the layout is 'uniform=4'; a transfer folds one segment, layout whole");
}

void expect_stage_serves(const PaperRow& row, const Experiment& experiment, const std::string& what)
{
    const auto& catalogue = Catalogue::standard();
    const Problem problem(standard_operator(experiment.op, experiment.type), form_of(experiment.layout.kind));
    const auto& stage = catalogue.stage(row.stage);
    EXPECT_NO_THROW((void)configure(stage, row.chosen, plan_facts(problem))) << what;
    EXPECT_EQ(catalogue.unmet(stage, problem), std::nullopt) << what;
}

TEST(Papers, RungsExistAndServe)
{
    ASSERT_GE(embedded_papers().size(), 6U);
    for (const auto& paper : embedded_papers())
        for (const auto& experiment : paper.experiments) {
            EXPECT_FALSE(experiment.rows.empty()) << paper.name << " " << experiment.figure;
            for (const auto& row : experiment.rows) {
                const auto what = paper.name + ", " + experiment.figure + ", " + row.row;
                if (experiment.kind == ExperimentKind::probe) {
                    EXPECT_NO_THROW((void)configure(Catalogue::standard().probe(row.stage), row.chosen))
                        << what;
                } else if (!row.stage.empty()) {
                    expect_stage_serves(row, experiment, what);
                }
                if (experiment.kind == ExperimentKind::transfer) {
                    EXPECT_EQ(experiment.num_elements % row.transfer.chunks, 0) << what;
                }
            }
            if (experiment.kind == ExperimentKind::transfer) {
                EXPECT_TRUE(bench::can_fold_chunks(standard_operator(experiment.op, experiment.type)))
                    << experiment.figure;
            }
        }
}

TEST(Transfer, FoldsResultsOfChunksWhereTheyAreElementsAndExact)
{
    EXPECT_TRUE(bench::can_fold_chunks(standard_operator("sum", Type::i32)));
    EXPECT_TRUE(bench::can_fold_chunks(standard_operator("max", Type::i32)));
    EXPECT_FALSE(bench::can_fold_chunks(standard_operator("sum", Type::f32)));
    EXPECT_FALSE(bench::can_fold_chunks(standard_operator("mean_variance", Type::f32)));
    EXPECT_FALSE(bench::can_fold_chunks(standard_operator("count", Type::i32)));
    EXPECT_FALSE(bench::can_fold_chunks(standard_operator("dot", Type::i32)));
}

TEST(Papers, PublishedNumbersBelongToAnExperiment)
{
    for (const auto& paper : embedded_papers())
        for (const auto& value : paper.published) {
            const auto experiment = std::ranges::find(paper.experiments, value.figure, &Experiment::figure);
            ASSERT_NE(experiment, paper.experiments.end()) << paper.name << ": " << value.figure;
            EXPECT_NE(std::ranges::find(experiment->rows, value.row, &PaperRow::row), experiment->rows.end())
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
    const auto text = cli::print_experiment(paper, paper.experiments.front(), &now);
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
    EXPECT_NE(cli::print_experiment(paper, paper.experiments.front(), &slower)
                  .find("two is 0.50 times as fast as one here; 2.00 times when it was published"),
              std::string::npos);
    const auto same = measured(0.0100, 0.0102);
    EXPECT_EQ(cli::print_experiment(paper, paper.experiments.front(), &same).find("here"), std::string::npos);
}

TEST(PaperView, WithoutMeasurementsThePublishedNumbersStand)
{
    const auto paper = two_rungs();
    const auto text = cli::print_experiment(paper, paper.experiments.front(), nullptr);
    EXPECT_NE(text.find("4 ms"), std::string::npos) << text;
    EXPECT_EQ(text.find(" us"), std::string::npos) << text;
}

/// A CPU's row above two rungs, with what starting them takes.
TEST(PaperView, ShowsTheCpuAndStartsWhereTheyArePublishedOrMeasured)
{
    auto paper = two_rungs();
    auto now = measured(0.010, 0.002);
    const auto without = cli::print_experiment(paper, paper.experiments.front(), &now);
    EXPECT_EQ(without.find("over CPU"), std::string::npos) << without;
    EXPECT_EQ(without.find("start"), std::string::npos) << without;

    auto& rows = paper.experiments.front().rows;
    rows.insert(rows.begin(), PaperRow{"CPU", true, "", {}});
    paper.published = read_published("p.csv", std::string(kHead) +
                                                  "f,CPU,time,64,ms,Q6600,x\nf,one,time,8,ms,G80,x\n"
                                                  "f,one,over_cpu,8.25,times,G80,x\n"
                                                  "f,two,start_time,13.5,us,G80,x\n");
    auto& entries = now.experiments.front().record.entries;
    bench::Entry cpu;
    cpu.name = "CPU";
    cpu.is_host = true;
    cpu.milliseconds = {4.2, 4.2, 4.2};
    entries.insert(entries.begin(), cpu);
    entries[2].host_microseconds = 3.75;
    const auto text = cli::print_experiment(paper, paper.experiments.front(), &now);
    EXPECT_NE(text.find("one thread of the CPU"), std::string::npos) << text;
    EXPECT_NE(text.find("8.25"), std::string::npos) << text;
    EXPECT_NE(text.find("13.5 us"), std::string::npos) << text;
    EXPECT_NE(text.find("420.00"), std::string::npos) << text;   // one over the CPU
    EXPECT_NE(text.find("2100.00"), std::string::npos) << text;  // two over the CPU
    EXPECT_NE(text.find("3.8 us"), std::string::npos) << text;
    EXPECT_EQ(text.find("here"), std::string::npos) << "a CPU is no step: " << text;
}

TEST(PaperView, PutsTheHostsClockBesideEvents)
{
    auto paper = two_rungs();
    paper.experiments.front().kind = ExperimentKind::timer;
    auto now = measured(0.010, 0.002);
    now.experiments.front().record.entries[1].wall_milliseconds = Quartiles{0.009, 0.010, 0.011};
    const auto text = cli::print_experiment(paper, paper.experiments.front(), &now);
    EXPECT_NE(text.find("9.0 - 11.0"), std::string::npos) << text;
    EXPECT_NE(text.find("8.0 us"), std::string::npos) << text;
    EXPECT_NE(text.find("5.00"), std::string::npos) << text;
}

/// An experiment of one kind whose rows are `rows`, with an entry of so many milliseconds and GB/s for each.
struct Shown {
    Paper paper;
    MeasuredPaper measured;

    Shown(const std::string& kind, const std::string& rows, const std::vector<double>& rates)
        : paper(read_paper("p", "p.json",
                           R"({"title": "T", "authors": "A", "published_in": "J", "year": 1999,
        "claim": "C.", "experiments": [{"figure": "f", "title": "t", "kind": ")" +
                               kind +
                               R"(", "operator": "sum", "layout": "whole", "elements": 1024, "rows": [)" +
                               rows + "]}]}"))
    {
        measured.experiments.push_back({"f", {}});
        for (std::size_t i = 0; i < rates.size(); ++i) {
            bench::Entry entry;
            entry.name = paper.experiments.front().rows[i].row;
            entry.milliseconds = {0.9 / rates[i], 1 / rates[i], 1.1 / rates[i]};
            entry.bytes_per_second = rates[i] * 1e9;
            entries().push_back(entry);
        }
    }
    std::vector<bench::Entry>& entries() { return measured.experiments.front().record.entries; }
    [[nodiscard]] std::string text() const
    {
        return cli::print_experiment(paper, paper.experiments.front(), &measured);
    }
};

TEST(PaperView, ProbesStandBesideTheFirstRow)
{
    Shown shown("probe", R"({"row": "a", "probe": "strided_copy"},
        {"row": "b", "probe": "strided_copy", "set": {"stride": 2}}, {"row": "c", "probe": "accumulators"})",
                {4000, 1500, 8});
    shown.paper.published = read_published("p.csv", std::string(kHead) + "f,b,efficiency,0.55,of a,none,x\n");
    shown.entries()[1].resources = bench::Resources{21, 0, 4096, 68, 0.75};
    shown.entries()[2].outcome = bench::Outcome::failed;
    shown.entries()[2].agreement = {true, false, "result 7 is 0x1; it has to be 0x2"};
    const auto text = shown.text();
    EXPECT_NE(text.find("f: 2^10 threads, t"), std::string::npos) << text;
    EXPECT_NE(text.find("strided_copy stride=2"), std::string::npos) << text;
    EXPECT_NE(text.find("0.55"), std::string::npos) << text;
    EXPECT_NE(text.find("0.375"), std::string::npos) << text;
    EXPECT_NE(text.find("21    4096     68       75 %"), std::string::npos) << text;
    EXPECT_NE(text.find("failed"), std::string::npos) << text;
    EXPECT_NE(text.find("c: wrong results: result 7 is 0x1; it has to be 0x2"), std::string::npos) << text;
}

TEST(PaperView, TransfersStandBesideThePinnedCopy)
{
    Shown shown("transfer", R"({"row": "slow"}, {"row": "fast", "memory": "pinned"},
        {"row": "over", "memory": "pinned", "stage": "grid_reduce", "streams": 3, "chunks": 64},
        {"row": "back", "memory": "pinned", "direction": "to_host"})",
                {10, 50, 49, 40});
    shown.entries()[2].wall_milliseconds = Quartiles{11, 12.5, 13};
    const auto text = shown.text();
    EXPECT_NE(text.find("pageable, to the GPU"), std::string::npos) << text;
    EXPECT_NE(text.find("pinned, to the GPU, 64 chunks in 3 streams, grid_reduce"), std::string::npos)
        << text;
    EXPECT_NE(text.find("0.200"), std::string::npos) << text;
    EXPECT_NE(text.find("12.50 ms"), std::string::npos) << text;
    EXPECT_NE(text.find("\nover: 0.980 of the pinned copy's rate\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("back: "), std::string::npos) << text;
}

TEST(Measured, IsReadAsItWasWritten)
{
    auto document = measured(0.010, 0.002);
    document.machine.host = "CPU of a test";
    auto& entry = document.experiments.front().record.entries.front();
    entry.is_host = true;
    entry.wall_milliseconds = Quartiles{1, 2, 3};
    entry.resources = bench::Resources{32, 0, 0, 64, 0.5};
    const auto written = json_of("p", document).dump();
    EXPECT_NE(written.find("CPU of a test"), std::string::npos);
    const auto read = measured_paper("m.json", written);
    EXPECT_EQ(json_of("p", read).dump(), written);
}

TEST(Measured, FaultsNameFileFieldAndValue)
{
    const auto written = json_of("p", measured(0.010, 0.002)).dump();
    const auto of = [](const std::string& text) {
        return test::message_of<SpecError>([&] { (void)measured_paper("m.json", text); });
    };
    const auto with = [&](const std::string& right, const std::string& wrong) {
        auto text = written;
        const auto place = text.find(right);
        EXPECT_NE(place, std::string::npos) << right;
        return of(text.replace(place, right.size(), wrong));
    };
    const std::string entry = "m.json: document.experiments[0].workload.entries[0]";
    EXPECT_EQ(with(R"("outcome":"measured")", R"("outcome":"masured")"),
              entry + R"(.outcome is "masured"; measured, abandoned, left_out or failed is needed)");
    EXPECT_EQ(with(R"("peer":false)", R"("peer":0)"), entry + ".peer is 0; true or false is needed");
    EXPECT_EQ(with(R"("agreement":)", R"("agreed":)"), entry + " has no 'agreement'");
    EXPECT_EQ(of(R"({"paper": "p"})"), "m.json: document has no 'machine'");
    EXPECT_EQ(of(R"({"paper": )"), "m.json: no JSON at byte 11");
}

}  // namespace
}  // namespace segfold::papers::paper_test
