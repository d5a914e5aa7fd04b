// The back end cpu as sessions and the program meet it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "codegen/catalogue.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/data/formats/npy.h"
#include "runtime/session/session.h"
#include "runtime/support/processes/process.h"
#include "runtime/support/processes/thread_pool.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"

namespace segfold::test::native_backend_test {
namespace {

TEST(NativeBackend, IsTheDefaultWithoutAGpu)
{
    if (!cuda::devices().empty())
        GTEST_SKIP() << "there is a GPU";
    EXPECT_EQ(automatic_backend(), "cpu");
    EXPECT_EQ(automatic_backend({}, true), "simt");
    EXPECT_EQ(automatic_backend({.schedule_seed = 1}), "simt");
}

TEST(NativeBackend, PlansRunOnArraysOfTheHostInPlace)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    Session session({.backend = "cpu"});
    const auto op = standard_operator("sum_i64");
    const std::vector<std::int32_t> ends = {0, 2, 2, 5};
    std::vector<std::int64_t> values = {1, 2, 3, 4, 5}, totals(3, -1);
    auto plan = session.plan(op, offsets(ends), 5);
    EXPECT_NE(plan.source().find("extern \"C\" void fold_share"), std::string::npos);
    for (const std::int64_t factor : {1, 10}) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = factor * static_cast<std::int64_t>(i + 1);
        const ArrayView input(values);
        const MutableArrayView result(totals);
        plan.run({&input, 1}, offsets(ends), {&result, 1});
        EXPECT_EQ(totals, (std::vector<std::int64_t>{3 * factor, 0, 12 * factor}));
    }
    auto copy = plan.copy();
    const std::vector<std::int32_t> more = {0, 1, 5};
    copy.resize(offsets(more), 5);
    std::vector<std::int64_t> two(2);
    const ArrayView input(values);
    const MutableArrayView result(two);
    copy.run({&input, 1}, offsets(more), {&result, 1});
    EXPECT_EQ(two, (std::vector<std::int64_t>{10, 140}));
}

/// Sums that round, several fields, no commutativity, by every form of segments.
TEST(NativeBackend, AReproduciblePlanGivesTheBitsOfTheGpusText)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    std::vector<float> values(20000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1.0F / static_cast<float>(i + 1);
    const std::vector<std::int32_t> ends = {0, 7, 5000, 5000, 20000};
    const struct {
        const char* op;
        SegmentsView segments;
        std::size_t count;
    } cases[] = {{"sum_f32", offsets(ends), 4},
                 {"sum_f32", whole(), 1},
                 {"sum_f32", uniform(8), 2500},
                 {"mean_variance_f32", offsets(ends), 4}};
    FoldOptions options;
    options.plan.is_reproducible = true;
    for (const auto& [name, segments, count] : cases) {
        const auto op = standard_operator(name);
        std::vector<std::vector<std::vector<float>>> all;
        for (const auto* backend : {"cpu", "simt"}) {
            Session session({.backend = backend});
            auto& results = all.emplace_back(op.results.size(), std::vector<float>(count));
            options.results.clear();
            for (auto& result : results)
                options.results.emplace_back(result);
            (void)session.fold(op, {ArrayView(values)}, segments, options);
        }
        for (std::size_t f = 0; f < op.results.size(); ++f)
            EXPECT_EQ(std::memcmp(all[0][f].data(), all[1][f].data(), count * sizeof(float)), 0)
                << name << " " << op.results[f].name;
    }
}

TEST(NativeBackend, ReadsOutsideOfATableAreRefused)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = parse_operator(
        "gather.seg",
        "operator gather(at: i32, t: table i32) -> i32 { state s: i32 = 0  lift t[at]  combine(a, b) a + b  "
        "laws commutative }");
    Session session({.backend = "cpu"});
    std::vector<std::int32_t> at(100000), table(50, 2);
    for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = static_cast<std::int32_t>(i % 50);
    EXPECT_EQ(session.fold(op, {at, table}, whole()).values<std::int32_t>()[0], 200000);
    for (const std::int32_t wrong : {50, -1}) {
        at[77777] = wrong;
        try {
            (void)session.fold(op, {at, table}, whole());
            ADD_FAILURE() << "no InputError for " << wrong;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("77777"), std::string::npos) << error.what();
        }
    }
}

/// The program where there is no compiler.
ProcessResult run_without_compiler(const std::vector<std::string>& words)
{
    std::vector<std::string> all = {"/usr/bin/env", "PATH=/nonexistent", "CXX=", SEGFOLD_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    return run_process(all);
}

TEST(NativeBackend, WithoutACompilerOperatorsAreInterpretedAndThatIsSaidOnce)
{
    const auto result = run_without_compiler({"run", "mean_variance", "--backend", "cpu", "--layout",
                                              "geometric:mean=5", "--elements", "5000", "--check"});
    EXPECT_EQ(result.status, 0) << result.output;
    const auto said = result.output.find("no C++ compiler");
    EXPECT_NE(said, std::string::npos) << result.output;
    EXPECT_EQ(result.output.find("no C++ compiler", said + 1), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("operators are interpreted"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("none; the operator is interpreted"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("agree with the reference"), std::string::npos) << result.output;
}

/// Times of the interpreter under the names of stages would become tuning records.
TEST(NativeBackend, WithoutACompilerNoStageIsMeasured)
{
    for (const std::string verb : {"bench", "tune"}) {
        const auto result = run_without_compiler({verb, "sum", "--backend", "cpu", "--elements", "5000"});
        EXPECT_EQ(result.status, 3) << result.output;
        EXPECT_NE(result.output.find("the times of stages cannot be taken where operators are interpreted"),
                  std::string::npos)
            << result.output;
    }
}

TEST(NativeBackend, WithoutACompilerThereAreNoBitsOfAGpu)
{
    const auto result =
        run_without_compiler({"run", "sum", "--backend", "cpu", "--elements", "5000", "--reproducible"});
    EXPECT_EQ(result.status, 3) << result.output;
    EXPECT_NE(result.output.find("a reproducible plan has the bits of a GPU's, whose text must be compiled"),
              std::string::npos)
        << result.output;
}

/// What tuning records of GPUs say is nothing that a host's user must read.
TEST(NativeBackend, ARunSaysNothingButItsResults)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto result = run_process({SEGFOLD_PROGRAM, "run", "sum", "--backend", "cpu", "--elements", "5000",
                                     "--layout", "zipf:exponent=1.9"});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output.find("warning"), std::string::npos) << result.output;
}

/// The stages of the host that take segments in this form; those of groups stand in no row of another form.
std::ptrdiff_t num_stages_of(SegmentForm form)
{
    return std::ranges::count_if(Catalogue::native().stages(), [&](const Stage& stage) {
        return std::ranges::count(stage.forms, form) > 0;
    });
}

nlohmann::json bench(const std::vector<std::string>& words, const std::string& layout = "geometric:mean=9")
{
    std::vector<std::string> all = {SEGFOLD_PROGRAM, "bench",    "affine",     "--type", "u32",
                                    "--backend",     "cpu",      "--elements", "20000",  "--layout",
                                    layout,          "--repeat", "3",          "--json"};
    all.insert(all.end(), words.begin(), words.end());
    const auto result = run_process(all);
    EXPECT_EQ(result.status, 0) << result.output;
    return nlohmann::json::parse(result.output.substr(result.output.find('{')));
}

/// Elements in groups are not sorted before: stages fold them as they lie, and the peer sorts within its
/// time.
TEST(NativeBackend, GroupsAreMeasuredAsTheyLie)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const TemporaryFolder folder;
    std::vector<std::int16_t> numbers;
    for (int i = 0; i < 20000; ++i)
        numbers.push_back(static_cast<std::int16_t>(i * 7919 % 23 - 2));
    write_npy(folder.file("n.npy"), Array::of<std::int16_t>(Type::i16, numbers));
    const auto document =
        bench({"--num-groups", "25", "--peers", "thrust_omp"}, "groups=" + folder.file("n.npy"));
    const auto& workload = document["workloads"][0];
    EXPECT_EQ(workload["num_segments"], 25);
    std::set<std::string> measured;
    for (const auto& entry : workload["entries"]) {
        const auto name = entry["name"].get<std::string>();
        if (entry["outcome"] == "measured") {
            EXPECT_EQ(entry["agreement"]["text"], "reference") << entry;
            measured.insert(name);
        } else if (name == "thrust_omp") {
            EXPECT_NE(entry["reason"].get<std::string>().find("CCCL"), std::string::npos) << entry;
        }
    }
    EXPECT_TRUE(measured.contains("group_shares")) << document;
}

TEST(NativeBackend, StagesAreMeasuredBesideTheReadRate)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto document = bench({"--peers", "none"});
    EXPECT_EQ(document["machine"]["device"], host_identity().name);
    EXPECT_GT(document["machine"]["ceiling_bytes_per_second"].get<double>(), 1e8);
    const auto& entries = document["workloads"][0]["entries"];
    ASSERT_EQ(std::ssize(entries), num_stages_of(SegmentForm::offsets));
    int chosen = 0;
    for (const auto& entry : entries) {
        const auto name = entry["name"].get<std::string>();
        if (name == "lane_per_feature" || name.starts_with("scan_")) {
            EXPECT_EQ(entry["outcome"], "left_out") << entry;  // the operator has no rows and no scan
            continue;
        }
        EXPECT_EQ(entry["outcome"], "measured") << entry;
        EXPECT_EQ(entry["agreement"]["text"], "reference") << entry;
        EXPECT_GT(entry["milliseconds"]["median"].get<double>(), 0) << entry;
        chosen += entry["chosen"].get<bool>() ? 1 : 0;
    }
    EXPECT_EQ(chosen, 1);
}

/// How many of Thrust's systems were measured; their results are right.
int measured_of_thrust(const nlohmann::json& document)
{
    int measured = 0;
    for (const auto& entry : document["workloads"][0]["entries"]) {
        if (!entry["peer"].get<bool>() || entry["outcome"] == "left_out")
            continue;
        if (entry["name"] == "thrust_tbb" && entry["outcome"] == "failed") {
            EXPECT_NE(entry["reason"].get<std::string>().find("tbb"), std::string::npos) << entry;
            continue;  // the headers of TBB are a package of their own
        }
        EXPECT_EQ(entry["outcome"], "measured") << entry;
        EXPECT_EQ(entry["agreement"]["text"], "reference") << entry;
        ++measured;
    }
    return measured;
}

TEST(NativeBackend, EveryStageIsMeasuredWhereKeysAreGiven)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto document = bench({"--peers", "none", "--given-as", "keys"}, "constant:length=10");
    const auto& entries = document["workloads"][0]["entries"];
    // The host folds what is given by keys by its offsets.
    EXPECT_EQ(std::ssize(entries), num_stages_of(SegmentForm::offsets));
    // Nothing counts the keys: the offsets are made of them before anything is timed.
    const auto& bytes = document["workloads"][0]["bytes"];
    EXPECT_EQ(bytes["layout"], 2001 * 4) << bytes;
    const auto all = bytes["columns"].get<double>() + 2001 * 4 + bytes["results"].get<double>();
    for (const auto& entry : entries)
        if (entry["outcome"] == "measured") {
            EXPECT_EQ(entry["reason"],
                      "offsets are made of the keys before anything is timed; the share counts the offsets "
                      "alone");
            const auto seconds = entry["milliseconds"]["median"].get<double>() / 1e3;
            EXPECT_NEAR(entry["bytes_per_second"].get<double>(), all / seconds, 1e-6 * all / seconds);
        }
    const auto said =
        run_process({SEGFOLD_PROGRAM, "bench", "sum", "--backend", "cpu", "--elements", "20000", "--layout",
                     "constant:length=10", "--given-as", "flags", "--peers", "none", "--repeat", "3"});
    EXPECT_NE(said.output.find("lane_per_segment, vector_per_segment, lane_scan, row_tree: offsets are made "
                               "of the flags before anything is timed; the share counts the offsets alone\n"),
              std::string::npos)
        << said.output;
}

TEST(NativeBackend, ThrustIsMeasuredOnTheHostsCores)
{
    const int measured = measured_of_thrust(bench({"--stage", "lane_scan", "--peers", "thrust"}));
    for (const auto* form : {"flags", "keys"}) {
        if (is_left_out(form, 2))
            continue;
        EXPECT_EQ(measured_of_thrust(bench({"--peers", "thrust", "--given-as", form}, "constant:length=10")),
                  measured)
            << form;
    }
    if (measured == 0)
        GTEST_SKIP() << "no headers of CCCL, or no compiler";
}

/// Scans are measured beside scans alone. Operands that do not commute keep their order, from the end too.
TEST(NativeBackend, ThrustScansOnTheHostsCores)
{
    const auto document = bench({"--exclusive", "--reverse", "--peers", "thrust"});
    std::vector<std::string> peers;
    for (const auto& entry : document["workloads"][0]["entries"])
        if (entry["peer"].get<bool>())
            peers.push_back(entry["name"]);
    EXPECT_EQ(peers, (std::vector<std::string>{"thrust_omp_scan_by_key", "thrust_tbb_scan_by_key"}));
    const int measured = measured_of_thrust(document);
    if (!is_left_out("whole", 2)) {
        EXPECT_EQ(measured_of_thrust(bench({"--scan", "--peers", "thrust"}, "whole")), 2 * measured)
            << "in one segment, those without keys too";
    }
    if (measured == 0)
        GTEST_SKIP() << "no headers of CCCL, or no compiler";
}

TEST(NativeBackend, ATunedPlanIsTheOneThatARunTakes)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    TemporaryFolder folder;
    const std::vector<std::string> data = {"sum",      "--type",     "i32",        "--backend", "cpu",
                                           "--layout", "uniform=32", "--elements", "65536"};
    const auto run = [&](const std::string& verb, const std::vector<std::string>& words) {
        std::vector<std::string> all = {"/usr/bin/env", "SEGFOLD_TUNING_DIR=" + folder.file("records"),
                                        SEGFOLD_PROGRAM, verb};
        all.insert(all.end(), data.begin(), data.end());
        all.insert(all.end(), words.begin(), words.end());
        const auto result = run_process(all);
        EXPECT_EQ(result.status, 0) << result.output;
        return result.output;
    };
    const auto tuned = run("tune", {"--evaluations", "3"});
    EXPECT_NE(tuned.find("agree with the reference"), std::string::npos) << tuned;
    EXPECT_EQ(tuned.find("share counts"), std::string::npos) << tuned;
    const auto output = run("run", {});
    EXPECT_NE(output.find("(tuning record)"), std::string::npos) << output;
}

/// What a tuning of keys leaves out of its times is said.
TEST(NativeBackend, TuningByKeysCountsTheOffsets)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    TemporaryFolder folder;
    const auto result =
        run_process({"/usr/bin/env", "SEGFOLD_TUNING_DIR=" + folder.file("records"), SEGFOLD_PROGRAM, "tune",
                     "sum", "--type", "i32", "--backend", "cpu", "--input", "[1,2,3,4,5,6]", "--layout",
                     "keys=[7,7,8,8,8,9]", "--evaluations", "2"});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_NE(result.output.find("plans by offsets have them made of the keys before anything is timed; "
                                 "their share counts the offsets alone\n"),
              std::string::npos)
        << result.output;
}

TEST(ThreadPool, CallsEachPartOnce)
{
    ThreadPool pool(5);
    for (const std::int64_t count : {0, 1, 2, 4, 5, 6, 1000}) {
        std::vector<int> calls(static_cast<std::size_t>(count), 0);
        for (int loop = 0; loop < 50; ++loop)
            pool.run(count, [&](std::int64_t part) { ++calls[static_cast<std::size_t>(part)]; });
        EXPECT_EQ(std::count(calls.begin(), calls.end(), 50), count);
    }
}

}  // namespace
}  // namespace segfold::test::native_backend_test
