// Small benches on a GPU: results agree, documents can be read, wrong results are seen.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dsl/text/standard_operators.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/cli/views/json_schema.h"
#include "runtime/data/resolve.h"
#include "runtime/measure/bench/agreement.h"
#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/measure/bench/peers/segment_keys.h"
#include "runtime/measure/bench/workloads/bench_workload.h"
#include "tests/cli/cli_program.h"
#include "tests/common/json_schema.h"

namespace segfold::bench_gpu_test {
namespace {

class BenchGpu : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = cuda::no_device_reason(); !reason.empty())
            GTEST_SKIP() << reason;
    }

    [[nodiscard]] nlohmann::json bench(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), "bench");
        arguments.emplace_back("--json");
        const auto result = folder_.run(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        expect_valid(result.output);
        return nlohmann::json::parse(result.output);
    }

    void expect_valid(const std::string& document) const { EXPECT_EQ(judge_.faults(document), ""); }

    test::ProgramFolder folder_;
    test::SchemaJudge judge_{cli::json_schema()};
};

using BenchGpuDevice = BenchGpu;

/// Every entry that was measured is right, and has times, a rate and resources that can be.
void expect_sound(const nlohmann::json& document)
{
    EXPECT_GT(document["machine"]["ceiling_bytes_per_second"].get<double>(), 1e10);
    for (const auto& workload : document["workloads"]) {
        EXPECT_EQ(workload["agrees"], true) << workload.dump(2);
        int measured = 0;
        for (const auto& entry : workload["entries"]) {
            EXPECT_NE(entry["outcome"], "failed") << entry.dump(2);
            if (entry["outcome"] != "measured")
                continue;
            ++measured;
            EXPECT_GT(entry["milliseconds"]["median"].get<double>(), 0) << entry.dump(2);
            EXPECT_LE(entry["milliseconds"]["low"], entry["milliseconds"]["high"]);
            EXPECT_LT(entry["fraction"].get<double>(), 1.5) << entry.dump(2);
            if (!entry["peer"].get<bool>()) {
                EXPECT_GT(entry["resources"]["registers"].get<int>(), 0);
                EXPECT_GT(entry["resources"]["occupancy"].get<double>(), 0);
                EXPECT_LE(entry["resources"]["occupancy"].get<double>(), 1);
            }
        }
        EXPECT_GE(measured, 2) << workload.dump(2);
    }
}

TEST_F(BenchGpu, SmallWorkloadsAgreeWithTheReference)
{
    for (const auto* layout : {"whole", "uniform=32", "half_empty:mean=8"})
        expect_sound(bench({"sum,mean_variance", "--layout", layout, "--elements", "2^18", "--repeat", "5",
                            "--peers", "none"}));
}

TEST_F(BenchGpu, LargeWorkloadsAgreeWithEachOther)
{
    const auto document = bench({"affine", "--type", "u32", "--layout", "zipf:exponent=1.9", "--elements",
                                 "2^22", "--repeat", "3", "--peers", "none"});
    expect_sound(document);
    bool is_compared = false;
    for (const auto& entry : document["workloads"][0]["entries"])
        is_compared = is_compared || entry["agreement"]["text"] == "warp_stream, bit for bit";
    EXPECT_TRUE(is_compared) << document.dump(2);
}

/// Semigroups, places in lift, several columns and results through every peer that may serve.
TEST_F(BenchGpu, PeersAgree)
{
    if (const bench::PeerToolkit toolkit; !toolkit.reason().empty())
        GTEST_SKIP() << toolkit.reason();
    (void)folder_.write("own.seg",
                        R"(operator own(x: f32, w: i64) -> (best: f32, place: i64, length: i64, own: i64) {
  state   { best: f32; place: i64; weight: i64 }
  lift    { best = x; place = position; weight = w + segment }
  combine(a, b) {
    best = b.best > a.best ? b.best : a.best;
    place = b.best > a.best ? b.place : a.place;
    weight = a.weight + b.weight;
  }
  finish  { best = best; place = place; length = length; own = weight + segment }
  empty   { best = 0; place = -1; length = 0; own = segment }
})");
    for (const auto* op : {"own.seg", "mean_variance"})
        for (const auto* layout : {"whole", "uniform=7", "half_empty:mean=8"})
            for (const auto* elements : {"70000", "2100000"})
                expect_sound(bench({op, "--layout", layout, "--elements", elements, "--repeat", "3"}));
}

/// Peers by key, which get keys of their own where flags or keys are given.
TEST_F(BenchGpu, PeersByKeyAgreeWhereSegmentsAreFound)
{
    if (const bench::PeerToolkit toolkit; !toolkit.reason().empty())
        GTEST_SKIP() << toolkit.reason();
    for (const auto* form : {"flags", "keys"})
        for (const auto* elements : {"70000", "2100000"}) {
            const auto document =
                bench({"affine", "--type", "u32", "--layout", "constant:length=10", "--elements", elements,
                       "--given-as", form, "--repeat", "3", "--peers", "cub,thrust"});
            expect_sound(document);
            int peers = 0;
            for (const auto& entry : document["workloads"][0]["entries"])
                peers += entry["peer"].get<bool>() && entry["outcome"] == "measured" ? 1 : 0;
            EXPECT_EQ(peers, 2) << document.dump(2);
        }
}

/// Scans of operands that do not commute, from both ends, and one that reads both states and places.
TEST_F(BenchGpu, PeersOfScansAgree)
{
    if (const bench::PeerToolkit toolkit; !toolkit.reason().empty())
        GTEST_SKIP() << toolkit.reason();
    (void)folder_.write("own.seg", R"(operator own(x: i32, w: i64) -> (each grown: i64, each place: i64) {
  state   { count: i64 = 0; best: i32 = 0 }
  lift    { count = position; best = x }
  combine(a, b) { count = a.count + b.count; best = max(a.best, b.best) }
  scan(before, through) { grown = i64(through.best - before.best) * w; place = through.count + segment }
})");
    for (const std::vector<std::string>& scan :
         {std::vector<std::string>{"affine", "--type", "u32", "--reverse"},
          {"sum", "--exclusive"},
          {"own.seg"}})
        for (const auto* layout : {"whole", "uniform=7", "half_empty:mean=8"})
            for (const auto* elements : {"70000", "2100000"}) {
                auto words = scan;
                words.insert(words.end(), {"--layout", layout, "--elements", elements, "--repeat", "3"});
                const auto document = bench(words);
                expect_sound(document);
                int peers = 0;
                for (const auto& entry : document["workloads"][0]["entries"])
                    peers += entry["peer"].get<bool>() && entry["outcome"] == "measured" ? 1 : 0;
                EXPECT_EQ(peers, layout == std::string("whole") ? 4 : 2) << document.dump(2);
            }
}

/// What the longest segment alone would take is asked of a short one in the same form.
TEST_F(BenchGpu, GiantsAreFoundInFlagsAndKeys)
{
    for (const auto* form : {"flags", "keys"})
        for (const auto* layout : {"whole", "uniform=524288"})
            expect_sound(bench({"affine", "--type", "u32", "--layout", layout, "--elements", "2^21",
                                "--given-as", form, "--repeat", "3", "--peers", "none"}));
}

TEST_F(BenchGpu, LogsAreALineEach)
{
    (void)bench({"sum", "--sweep", "sizes", "--from", "2^10", "--to", "2^12", "--peers", "none", "--repeat",
                 "3", "--log", "bench.jsonl"});
    std::istringstream lines(read_text(folder_.file("bench.jsonl")));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
        EXPECT_TRUE(nlohmann::json::parse(line).is_object());
    EXPECT_GE(count, 1 + 3 * 3);
}

TEST_F(BenchGpuDevice, WrongResultsAreSeen)
{
    cuda::CudaTiming timing{cuda::Context()};
    Workload workload;
    workload.op = standard_operator("sum_f32");
    const std::int64_t elements = 2 * bench::kMostJudged;
    workload.segments = resolve(parse_layout("half_empty:mean=32"), elements).segments;
    workload.arrays.push_back(generate_values(Type::f32, elements, 7, ValueRange::small_integers));
    const auto placed = timing.place(workload, timing.load(borrowed(workload.arrays)));
    auto& resident = cuda::resident_of(*placed);
    bench::Agreements agreements(workload, *placed);
    auto& results = const_cast<cuda::DeviceBuffer&>(resident.result_arrays().buffers[0]);
    results.fill_with(3.0f);
    EXPECT_FALSE(agreements.check("first", {}).is_checked);
    EXPECT_EQ(agreements.check("second", {}).text, "first, bit for bit");
    results.fill_with(3.0001f);
    EXPECT_EQ(agreements.check("third", {}).text, "first, within rounding");
    results.fill_with(3.0f);
    const float wrong = 3.5f;
    results.copy_in(std::as_bytes(std::span(&wrong, 1)), 4 * 1000);
    const auto verdict = agreements.check("fourth", {});
    EXPECT_FALSE(verdict.agrees);
    EXPECT_EQ(verdict.text,
              "1 of 1 segments that differ from first are out of their bounds of the reference, the first is "
              "segment 1000");
}

/// Runs in a row, the segments without an element left out, are put in their places before they are compared.
TEST_F(BenchGpuDevice, CompactedResultsAreCompared)
{
    cuda::CudaTiming timing{cuda::Context()};
    Workload workload;
    workload.op = standard_operator("sum_i32");
    const std::int64_t elements = 2 * bench::kMostJudged;
    workload.segments = resolve(parse_layout("half_empty:mean=32"), elements).segments;
    workload.arrays.push_back(generate_values(Type::i32, elements, 7, ValueRange::small_integers));
    const auto placed = timing.place(workload, timing.load(borrowed(workload.arrays)));
    auto& resident = cuda::resident_of(*placed);
    const bench::SegmentKeys keys(timing.context(), timing.stream(), resident);
    const auto places = keys.segment_of_run.to_host<std::int32_t>();
    ASSERT_EQ(static_cast<std::int64_t>(places.size()), keys.num_runs);
    const auto keys_on_host = keys.keys.to_host<std::int32_t>();
    const auto& segments = workload.segments;
    for (const std::int64_t run : {std::int64_t{0}, keys.num_runs / 2, keys.num_runs - 1}) {
        const auto segment = places[static_cast<std::size_t>(run)];
        EXPECT_EQ(keys_on_host[static_cast<std::size_t>(segments.begin(segment))], segment);
        EXPECT_EQ(keys_on_host[static_cast<std::size_t>(segments.end(segment) - 1)], segment);
    }
    bench::Agreements agreements(workload, *placed);
    auto& results = const_cast<cuda::DeviceBuffer&>(resident.result_arrays().buffers[0]);
    std::vector<std::int32_t> all(static_cast<std::size_t>(segments.num_segments)), compacted(all.size());
    for (std::size_t s = 0; s < all.size(); ++s)
        all[s] = static_cast<std::int32_t>(7 * s);
    for (std::size_t i = 0; i < places.size(); ++i)
        compacted[i] = 7 * places[i];
    results.copy_in(std::as_bytes(std::span(all)));
    (void)agreements.check("first", {});
    EXPECT_TRUE(agreements.check("in place", keys.filled(false)).agrees);
    EXPECT_FALSE(agreements.check("in place", keys.filled(true)).agrees);
    results.copy_in(std::as_bytes(std::span(compacted)));
    EXPECT_TRUE(agreements.check("compacted", keys.filled(true)).agrees);
    EXPECT_FALSE(agreements.check("compacted", keys.filled(false)).agrees);
}

/// The documents of verbs that need a GPU for all that they have to say.
TEST_F(BenchGpu, DocumentsAreAsTheSchemaSays)
{
    setenv("SEGFOLD_TUNING_DIR", folder_.file("records").c_str(), 1);
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"devices"},
             {"tune", "sum", "--elements", "2^16", "--layout", "uniform=32", "--evaluations", "2"},
             {"tune", "sum", "--elements", "2^16", "--layout", "uniform=32", "--effort", "none"},
             {"run", "sum", "--elements", "2^16", "--layout", "uniform=32", "--explain", "--check"},
             {"paper", "harris2007", "--figure", "slide 34", "--repeat", "3"},
             {"regress", "sum", "--time", "--elements", "2^16", "--layout", "uniform=32"}}) {
        auto words = command;
        words.emplace_back("--json");
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << command[0] << ": " << result.errors;
        expect_valid(result.output);
    }
    unsetenv("SEGFOLD_TUNING_DIR");
}

TEST_F(BenchGpuDevice, EmptiedCachesAreSlower)
{
    cuda::CudaTiming timing{cuda::Context()};
    EXPECT_TRUE(timing.fits_cache(1 << 20));
    EXPECT_FALSE(timing.fits_cache(std::int64_t{1} << 40));
    EXPECT_GT(timing.read_ceiling().bytes_per_second, 1e10);
    int launches = 0;
    EXPECT_EQ(timing.time([&] { ++launches; }, 3, 4, true).size(), 4U);
    EXPECT_EQ(launches, 7);
}

/// The interface of timing on a GPU: what is expected is compiled once, turns are taken, copies are equal.
TEST_F(BenchGpuDevice, PlansAreTimedThroughTheInterface)
{
    const auto backend = make_backend("cuda");
    const auto timing = backend->timing();
    Workload workload;
    workload.op = standard_operator("sum_i32");
    const std::int64_t elements = 1 << 20;
    workload.segments = uniform_segments(elements, 32);
    workload.arrays.push_back(generate_values(Type::i32, elements, 7, ValueRange::small_integers));
    const auto arrays = timing->load(borrowed(workload.arrays));
    EXPECT_EQ(arrays->bytes(), workload.arrays[0].bytes());
    const auto placed = timing->place(workload, timing->copy(*arrays));
    Problem problem(workload.op, SegmentForm::uniform);
    problem.laws = {true, true, false};
    problem.target = backend->target();
    const auto& catalogue = Catalogue::standard();
    const auto& stage = catalogue.rule_of_thumb(problem, {elements, elements / 32, 32});
    const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)), catalogue);
    timing->expect({&emitted, 1});
    timing->expect({});
    timing->compile_each({&emitted, 1});
    EXPECT_GE(timing->compile(emitted), 0);
    const auto plan = timing->prepare(*placed, emitted);
    ASSERT_FALSE(plan.kernels.empty());
    EXPECT_GT(plan.kernels[0].registers, 0);
    EXPECT_GT(plan.kernels[0].resident_blocks, 0);
    placed->poison_results(0xa1);
    EXPECT_GT(timing->once(plan.launch), 0);
    EXPECT_TRUE(Judge(workload).compare(placed->results()).agrees());
    placed->keep_results();
    EXPECT_EQ(placed->difference(0, 0, {}).bits, 0U);
    placed->poison_results(0xa4);
    EXPECT_EQ(placed->difference(0, 0, {}).beyond, static_cast<unsigned long long>(elements / 32));
    const std::array<TimedLaunch, 2> launches = {plan.launch, [&] { timing->read(arrays->bytes()); }};
    const auto times = timing->time_by_turns(launches, 1, 5);
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].size(), 5U);
    for (const double milliseconds : times[1])
        EXPECT_GT(milliseconds, 0);
}

TEST_F(BenchGpuDevice, ACallMeasuresStagesAndPeers)
{
    Session session;
    const auto op = standard_operator("sum_f32");
    std::vector<float> values(1 << 18);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i % 9);
    const auto record = bench_workload(session, op, {values}, uniform(64), {.repeats = 5});
    EXPECT_TRUE(record.agrees());
    ASSERT_NE(record.chosen(), nullptr);
    EXPECT_TRUE(record.chosen()->resources);
    EXPECT_GT(record.chosen()->bytes_per_second, 1e9);
    EXPECT_GE(record.entries.size(), 4U);
}

}  // namespace
}  // namespace segfold::bench_gpu_test
