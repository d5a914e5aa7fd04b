// The table of back ends, a new one through the verbs of the program, and times by the host's clock.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/check/check_operator.h"
#include "runtime/cli/verbs.h"
#include "runtime/data/resolve.h"
#include "runtime/measure/bench/workloads/bench_workload.h"
#include "runtime/measure/times/ratios.h"
#include "runtime/measure/tune/tune_workload.h"
#include "runtime/session/core.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"
#include "tests/common/skeleton_backend.h"

namespace segfold::test::backend_test {
namespace {

TEST(Backends, StandInATable)
{
    std::vector<std::string> names;
    for (const auto& entry : backends())
        names.push_back(entry.name);
    ASSERT_GE(names.size(), 5U);
    names.resize(5);
    EXPECT_EQ(names, (std::vector<std::string>{"cuda", "cpu", "simt", "reference", "thrust"}));
}

TEST(Backends, UnknownNamesAndOptionsOfOthersAreRefused)
{
    EXPECT_EQ(message_of([] { (void)make_backend("smt"); }).substr(0, 24), "unknown back end 'smt'; ");
    EXPECT_EQ(message_of([] { (void)make_backend("reference", {.device = 0}); }),
              "a device chooses a GPU, and the back end reference uses none");
    EXPECT_EQ(message_of([] { (void)make_backend("thrust", {.schedule_seed = 3}); }),
              "a schedule's seed orders the threads of simt, and the back end is thrust");
    EXPECT_EQ(message_of([] {
                  add_backend({"simt", "", false, false, {}});
              }),
              "a back end is named 'simt' already; take another name");
}

TEST(Backends, AStageWithoutAPlanIsOurFault)
{
    const auto backend = make_backend("simt");
    EXPECT_THROW((void)backend->run({}, nullptr), InternalError);
}

/// Runs a verb of the program in this process; its standard output and its exit code.
std::pair<std::string, int> run_verb(int (*verb)(const cli::Words&), const cli::Words& words)
{
    testing::internal::CaptureStdout();
    const int code = verb(words);
    return {testing::internal::GetCapturedStdout(), code};
}

TEST(Backends, ANewOneRunsThroughRunCheckAndRegress)
{
    add_skeleton_backend();
    const auto [run, run_code] =
        run_verb(cli::verb_run, {"sum", "--type", "i32", "--elements", "5000", "--layout", "geometric:mean=9",
                                 "--backend", "skeleton", "--check"});
    EXPECT_EQ(run_code, 0) << run;
    EXPECT_NE(run.find("skeleton: the reference under another name"), std::string::npos) << run;
    EXPECT_NE(run.find("agree with the reference bit for bit"), std::string::npos) << run;
    const auto [check, check_code] = run_verb(
        cli::verb_check,
        {"sum", "--type", "i32", "--elements", "2048", "--stage", "tile_scan", "--backend", "skeleton"});
    EXPECT_EQ(check_code, 0) << check;
    EXPECT_NE(check.find("agree with the reference"), std::string::npos) << check;
    const auto [regress, regress_code] =
        run_verb(cli::verb_regress, {"sum", "--type", "i32", "--relations", "--elements", "500", "--stage",
                                     "warp_per_segment", "--backend", "skeleton"});
    EXPECT_EQ(regress_code, 0) << regress;
    EXPECT_NE(regress.find("all hold"), std::string::npos) << regress;
}

/// Without a toolkit of the host's compilers, and without a GPU: what is measured is the skeleton alone.
TEST(Backends, ANewOneIsMeasuredByBench)
{
    add_skeleton_backend();
    const auto [text, code] = run_verb(
        cli::verb_bench, {"sum", "--type", "i32", "--elements", "5000", "--layout", "geometric:mean=9",
                          "--backend", "skeleton", "--repeat", "3", "--peers", "cub_segmented", "--json"});
    EXPECT_EQ(code, 0) << text;
    const auto document = nlohmann::json::parse(text);
    EXPECT_EQ(document["machine"]["device"], host_identity().name);
    EXPECT_GT(document["machine"]["ceiling_bytes_per_second"].get<double>(), 1e8);
    std::size_t measured = 0;
    bool has_chosen = false;
    for (const auto& entry : document["workloads"][0]["entries"]) {
        if (entry["peer"].get<bool>()) {
            EXPECT_EQ(entry["outcome"], "left_out") << entry;
            EXPECT_EQ(entry["reason"], "runs on a GPU, and the back end that is measured uses none");
            continue;
        }
        has_chosen = has_chosen || entry["chosen"].get<bool>();
        if (entry["outcome"] != "measured")
            continue;
        ++measured;
        EXPECT_EQ(entry["agreement"]["text"], "reference") << entry;
        EXPECT_GT(entry["milliseconds"]["median"].get<double>(), 0) << entry;
        EXPECT_GT(entry["fraction"].get<double>(), 0) << entry;
    }
    EXPECT_TRUE(has_chosen) << text;
    EXPECT_GE(measured, 5U) << text;
}

/// The skeleton takes far longer than a read, which the verb calls hopeless (5) unless other work slows reads
/// down; a caller may have more patience.
TEST(Backends, ANewOneIsTimedByRegress)
{
    add_skeleton_backend();
    const TemporaryFolder folder;
    const auto [text, code] =
        run_verb(cli::verb_regress, {"sum", "--type", "i32", "--time", "--elements", "320000", "--layout",
                                     "uniform=64", "--stage", "warp_per_segment", "--backend", "skeleton",
                                     "--json", "--save", folder.file("b.json")});
    ASSERT_TRUE(code == 5 || code == 0) << text;
    const auto document = nlohmann::json::parse(text);
    const auto& times = document["times"];
    EXPECT_EQ(times["device"], host_identity().name);
    EXPECT_EQ(times["cases"].size(), 2U) << text;
    EXPECT_EQ(document.contains("saved"), code == 0);
    EXPECT_EQ(std::filesystem::exists(folder.file("b.json")), code == 0);
    if (code == 5) {
        EXPECT_EQ(document["unsaved"],
                  "nothing is saved to " + folder.file("b.json") + ": no time was measured");
    }

    SkeletonBackend backend;
    const auto& catalogue = Catalogue::standard();
    regress::TimeRequest request{
        .ops = {}, .stages = {}, .catalogue = catalogue, .layouts = {}, .make_arrays = {}};
    request.ops.push_back({"sum", standard_operator("sum_i32"), {true, true, false}});
    request.stages = {&catalogue.stage("tile_scan")};
    request.layouts = {parse_layout("uniform=64")};
    request.num_elements = 1000;
    request.make_arrays = [](const Operator& op, const Segments& segments, std::uint64_t seed) {
        std::vector<Array> arrays;
        arrays.push_back(
            generate_values(op.parameters[0].type, segments.num_elements, seed, ValueRange::small_integers));
        return arrays;
    };
    request.rounds = 2;
    request.most_ratio = 1e9;
    regress::TimeBench bench(backend, request);
    EXPECT_EQ(bench.facts().compiler, "none");
    const auto cases = bench.measure([](const std::string&) {});
    ASSERT_EQ(cases.size(), 2U);
    for (const auto& one : cases) {
        EXPECT_EQ(one.reason, "") << one.layout;
        ASSERT_EQ(one.rounds.size(), 2U) << one.layout;
        EXPECT_EQ(one.rounds[0].size(), 7U);
        for (const double ratio : one.rounds[0])
            EXPECT_GT(ratio, 0);
    }
    EXPECT_EQ(cases[0].against, "read");
    EXPECT_EQ(cases[1].against, "whole");

    request.most_ratio =
        1e-9;  // all is over the cut-off, and measured in spite of it where that is asked for
    regress::TimeBench strict(backend, request);
    for (const auto& one : strict.measure([](const std::string&) {})) {
        EXPECT_NE(one.reason.find("times as long as reading; the cut-off is 1e-09 times"), std::string::npos)
            << one.reason;
        EXPECT_TRUE(strict.measure(one).empty()) << one.layout;
        auto again = one;
        again.against = one.layout == "whole" ? "read" : "tile_scan whole";
        const auto rounds = strict.measure_slow(again);
        ASSERT_EQ(rounds.size(), 3U) << one.layout;
        EXPECT_EQ(rounds[0].size(), 3U) << one.layout;
        again.against = "no_such_stage whole";
        EXPECT_EQ(strict.measure_slow(again).empty(), one.layout != "whole");
    }
}

/// A tuning by a call, and by the verb, whose worker is this test's program.
class TunedSkeleton : public testing::Test {
protected:
    void SetUp() override
    {
        add_skeleton_backend();
        setenv("SEGFOLD_TUNING_DIR", folder_.file("records").c_str(), 1);
    }
    void TearDown() override { unsetenv("SEGFOLD_TUNING_DIR"); }

    TemporaryFolder folder_;
};

TEST_F(TunedSkeleton, IsTunedByACallAndRunsTheWinner)
{
    Session session(make_backend("skeleton"), {});
    const auto op = standard_operator("sum_i32");
    std::vector<std::int32_t> values(4096);
    std::iota(values.begin(), values.end(), 1);
    const auto tuned = tune_workload(session, op, {values}, uniform(32), {.evaluations = 3});
    EXPECT_GE(tuned.measured, 1U);
    EXPECT_NE(tuned.winner, "") << tuned.reason;
    EXPECT_GT(tuned.milliseconds, 0);
    const auto rows = read_text(tuned.file);
    EXPECT_NE(rows.find("\"compute_capability\":0"), std::string::npos) << rows;
    EXPECT_NE(rows.find("\"phase\":\"screened\""), std::string::npos) << rows;
    EXPECT_NE(rows.find("\"phase\":\"ranked\""), std::string::npos) << rows;
    EXPECT_NE(rows.find("\"phase\":\"chosen\""), std::string::npos) << rows;
    const auto folded = session.fold(op, {values}, uniform(32), {.check = true});
    EXPECT_EQ(folded.plan(), tuned.winner + " (tuning record)");
    EXPECT_TRUE(folded.agrees());
}

TEST_F(TunedSkeleton, RecordsNeedAFolder)
{
    const auto home = std::string(getenv("HOME") ? getenv("HOME") : "");
    const auto data = std::string(getenv("XDG_DATA_HOME") ? getenv("XDG_DATA_HOME") : "");
    for (const auto* name : {"SEGFOLD_TUNING_DIR", "XDG_DATA_HOME", "HOME"})
        unsetenv(name);
    Session session(make_backend("skeleton"), {});
    const std::vector<std::int32_t> values(64, 1);
    EXPECT_EQ(
        message_of([&] { (void)tune_workload(session, standard_operator("sum_i32"), {values}, whole()); }),
        "nowhere to keep records: none of SEGFOLD_TUNING_DIR, XDG_DATA_HOME and HOME names a folder; set "
        "SEGFOLD_TUNING_DIR to one");
    if (!home.empty())
        setenv("HOME", home.c_str(), 1);
    if (!data.empty())
        setenv("XDG_DATA_HOME", data.c_str(), 1);
}

TEST_F(TunedSkeleton, IsTunedByTheVerb)
{
    const auto [text, code] =
        run_verb(cli::verb_tune, {"sum", "--type", "i32", "--elements", "4096", "--layout", "uniform=32",
                                  "--evaluations", "2", "--backend", "skeleton", "--pin", "--json"});
    EXPECT_EQ(code, 0) << text;
    const auto document = nlohmann::json::parse(text);
    EXPECT_EQ(document["device"], host_identity().name);
    EXPECT_NE(read_text(document["records"].get<std::string>()).find("\"phase\":\"pinned\""),
              std::string::npos);
    EXPECT_FALSE(document["winner"].is_null()) << text;
    EXPECT_TRUE(document["certain"].is_boolean()) << text;
    ASSERT_FALSE(document["finalists"].empty()) << text;
    for (const auto& finalist : document["finalists"]) {
        EXPECT_EQ(finalist["quartiles"]["median"], finalist["milliseconds"]) << finalist;
        EXPECT_LE(finalist["quartiles"]["low"], finalist["quartiles"]["high"]) << finalist;
    }
    const auto [table, table_code] =
        run_verb(cli::verb_tune, {"sum", "--type", "i32", "--elements", "4096", "--layout", "uniform=32",
                                  "--evaluations", "1", "--backend", "skeleton"});
    EXPECT_EQ(table_code, 0) << table;
    EXPECT_NE(table.find("  quartiles  "), std::string::npos) << table;
}

TEST(BenchCall, MeasuresArraysOfTheCallersAndFindsWrongResults)
{
    const auto op = standard_operator("sum_i32");
    std::vector<std::int32_t> values(2048, 3);
    Session session(std::make_unique<SkeletonBackend>(), {});
    const auto record =
        bench_workload(session, op, {values}, uniform(32),
                       {.repeats = 3, .stages = {"warp_per_segment"}, .peers = {"cub_segmented"}});
    ASSERT_EQ(record.entries.size(), 3U);
    EXPECT_NE(record.chosen(), nullptr);
    EXPECT_TRUE(record.agrees());
    EXPECT_EQ(record.traffic.columns, 8192);

    /// Forgets the last segment.
    class Forgetful : public SkeletonBackend {
    public:
        [[nodiscard]] std::unique_ptr<Timing> timing() override
        {
            HostPlans plans;
            plans.prepare = [](const Workload& workload, const Emitted&, Results& results) {
                return [&workload, &results] {
                    const auto right = reduce_sequentially(workload);
                    const auto bytes = right[0].array.bytes() - sizeof(std::int32_t);
                    std::memcpy(results[0].array.data(), right[0].array.data(), bytes);
                };
            };
            return make_host_timing(std::move(plans));
        }
    };
    Session forgetful(std::make_unique<Forgetful>(), {});
    EXPECT_FALSE(bench_workload(forgetful, op, {values}, uniform(32), {.repeats = 3}).agrees());
}

TEST(CheckCall, RunsEveryStageAndFindsWrongLawsAndResults)
{
    Session session(std::make_unique<SkeletonBackend>(), {});
    regress::CheckRequest request;
    request.workload.standard_elements = 512;
    const auto op = standard_operator("sum_i32");
    request.layouts = regress::standard_layouts(op, 512);
    request.stages = {&core(session).catalogue().stage("tile_scan"),
                      &core(session).catalogue().stage("run_stream")};
    std::vector<std::string> told;
    const auto right =
        regress::check_operator(session, op, request, [&](const std::string& what) { told.push_back(what); });
    EXPECT_TRUE(right.is_well());
    EXPECT_TRUE(right.has_stages);
    EXPECT_GE(right.matrix.outcomes.size(), request.layouts.size() * 2);
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.front(), "laws");

    const auto wrong = parse_operator(
        "wrong.seg", "operator wrong(x: i32) -> i32 { state s: i32 = 1 lift x combine(a, b) a + b }");
    const auto refuted = regress::check_operator(session, wrong, request);
    EXPECT_FALSE(refuted.has_stages);
    EXPECT_FALSE(refuted.is_well());
    EXPECT_TRUE(refuted.matrix.outcomes.empty());
    request.assume = {Law::identity};
    EXPECT_TRUE(regress::check_operator(session, wrong, request).has_stages);

    /// Adds 1 to the first result.
    class Wrong : public SkeletonBackend {
        Results run_workload(const Workload& workload, const Emitted*, const Circumstances&,
                             RunTimes&) override
        {
            auto results = reduce_sequentially(workload);
            ++results[0].array.as<std::int32_t>()[0];
            return results;
        }
    };
    Session faulty(std::make_unique<Wrong>(), {});
    EXPECT_FALSE(regress::check_operator(faulty, op, request).is_well());
    Session reference(make_backend("reference"), {});
    EXPECT_EQ(message_of([&] { (void)regress::check_operator(reference, op, request); }),
              "a check runs stages, and the back end reference has none; cuda and simt have, and both are "
              "compared with the reference and Thrust anyway");
}

TEST(SegmentArrays, AreLent)
{
    const std::array<std::int32_t, 4> begins = {0, 2, 2, 5};
    const auto offsets = segments_from_offsets(Array::of<std::int32_t>(Type::i32, begins), 5);
    const auto lent = segment_arrays(offsets);
    ASSERT_EQ(lent.size(), 1U);
    EXPECT_EQ(lent[0].array.data(), offsets.offsets.data());
    EXPECT_EQ(lent[0].array.length(), begins.size());
    const auto drawn = resolve(parse_layout("geometric:mean=3"), 50).segments;
    EXPECT_EQ(segment_arrays(drawn)[0].array.data(), drawn.offsets.data());
}

TEST(Timings, OfOthersAreRefusedInWords)
{
    const auto refusal = [](std::string_view name) {
        return message_of([&] { (void)make_backend(name)->timing(); });
    };
    EXPECT_EQ(test::message_of<InputError>([] { (void)make_backend("simt")->timing(); }),
              "the back end simt looks for faults, and its times are not those of a GPU; take cuda or cpu");
    EXPECT_EQ(refusal("reference"), "the back end reference has no stages, so there are no plans to time");
    if (!thrust_available(thrust_system()))
        GTEST_SKIP() << thrust_unavailable_reason(thrust_system());
    EXPECT_EQ(refusal("thrust"), "the back end thrust has no stages, so there are no plans to time");
}

/// Results that are kept, and how later ones differ.
TEST(HostTiming, ComparesWithWhatWasKept)
{
    const auto timing = SkeletonBackend().timing();
    Workload workload;
    workload.op = standard_operator("sum_f32");
    workload.segments = uniform_segments(8, 2);
    std::vector<Array> arrays;
    arrays.push_back(
        Array::of<float>(Type::f32, std::array{1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f}));
    const auto placed = timing->place(workload, timing->load(std::move(arrays)));  // one element too many
    const auto plan = timing->prepare(*placed, Emitted());
    placed->poison_results(0xa1);
    placed->keep_results();
    plan.launch();
    auto difference = placed->difference(0, 1e-3, {});
    EXPECT_EQ(difference.beyond, 4U);
    EXPECT_EQ(difference.first, 0U);
    EXPECT_EQ(placed->results()[0].array.as<float>()[3], 15.0f);
    placed->keep_results();
    EXPECT_EQ(placed->difference(0, 0, {}).bits, 0U);
    // The runs of segments 1 and 3 in a row are right where segments 1 and 3 hold the same.
    const std::array places = {1, 3};
    Filled filled{.is_by_key = true, .num_runs = 2};
    filled.places = reinterpret_cast<std::uint64_t>(places.data());
    EXPECT_EQ(placed->difference(0, 0, filled).bits, 0U);
    filled.is_compacted = true;
    difference = placed->difference(0, 1e-3, filled);
    EXPECT_EQ(difference.beyond, 2U);
    EXPECT_EQ(difference.first, 1U);
}

/// Every form of segments is placed, with a fold of the skeleton that agrees.
TEST(HostTiming, PlacesEveryForm)
{
    SkeletonBackend backend;
    const auto timing = backend.timing();
    const auto offsets =
        segments_from_offsets(Array::of<std::int64_t>(Type::i64, std::array<std::int64_t, 4>{0, 3, 4, 9}), 9);
    for (const auto form : {SegmentForm::offsets, SegmentForm::flags, SegmentForm::keys}) {
        Workload workload;
        workload.op = standard_operator("sum_i32");
        workload.segments = form == SegmentForm::offsets ? offsets.copy() : given_as(form, offsets);
        workload.arrays.push_back(Array::of<std::int32_t>(Type::i32, std::array{1, 2, 3, 4, 5, 6, 7, 8, 9}));
        const auto placed = timing->place(workload, timing->load(borrowed(workload.arrays)));
        const auto plan = timing->prepare(*placed, Emitted());
        placed->poison_results(0xa1);
        EXPECT_FALSE(Judge(workload).compare(placed->results()).agrees()) << name(form);
        plan.launch();
        EXPECT_TRUE(Judge(workload).compare(placed->results()).agrees()) << name(form);
    }
}

TEST(HostTiming, CountsWarmupsAndTurns)
{
    const auto timing = SkeletonBackend().timing();
    std::string order;
    const TimedLaunch a = [&] { order += 'a'; };
    const TimedLaunch b = [&] { order += 'b'; };
    EXPECT_EQ(timing->time(a, 2, 3, true).size(), 3U);
    EXPECT_EQ(order, "aaaaa");
    order.clear();
    const std::array both = {a, b};
    const auto times = timing->time_by_turns(both, 1, 2);
    EXPECT_EQ(order, "ababab");
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[1].size(), 2U);
    EXPECT_TRUE(timing->fits_cache(1000));
    EXPECT_FALSE(timing->fits_cache(std::int64_t{1} << 40));
    EXPECT_FALSE(timing->is_asynchronous());
}

}  // namespace
}  // namespace segfold::test::backend_test

/// `segfold tune` starts the program that it is part of as its worker; here that is this test.
int main(int argc, char** argv)
{
    if (argc > 2 && std::string_view(argv[1]) == "tune") {
        segfold::test::add_skeleton_backend();
        return segfold::cli::verb_tune({argv + 2, argv + argc});
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
