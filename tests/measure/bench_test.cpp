// The bench without a GPU: statistics, compulsory bytes, tables of stored measurements, refusals of the verb.
#include <gtest/gtest.h>

#include <algorithm>

#include <array>
#include <nlohmann/json.hpp>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/cli/views/bench_view.h"
#include "runtime/data/resolve.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/measure/bench/agreement.h"
#include "runtime/measure/bench/ladder.h"
#include "runtime/measure/bench/markdown.h"
#include "runtime/measure/bench/plans.h"
#include "runtime/measure/bench/record_json.h"
#include "runtime/measure/bench/workloads/cases.h"
#include "runtime/measure/bench/workloads/sweep.h"
#include "tests/cli/cli_program.h"

namespace segfold::bench_test {
namespace {

const std::string kData = SEGFOLD_SOURCE_DIR "/tests/data/bench/";

Segments offsets_of(std::initializer_list<std::int64_t> offsets)
{
    const std::vector<std::int64_t> values(offsets);
    return segments_from_offsets(Array::of<std::int64_t>(Type::i64, values), values.back());
}

TEST(BenchStatistics, QuartilesInterpolate)
{
    const auto four = quartiles({4, 1, 3, 2});
    EXPECT_DOUBLE_EQ(four.low, 1.75);
    EXPECT_DOUBLE_EQ(four.median, 2.5);
    EXPECT_DOUBLE_EQ(four.high, 3.25);
    const auto one = quartiles({7});
    EXPECT_DOUBLE_EQ(one.low, 7);
    EXPECT_DOUBLE_EQ(one.high, 7);
    EXPECT_THROW((void)quartiles({}), InternalError);
    EXPECT_DOUBLE_EQ(geometric_mean(std::array{2.0, 8.0}), 4);
    EXPECT_DOUBLE_EQ(geometric_mean({}), 0);
}

/// States of 56 bytes leave no room for a tile of gather_tiles, however it is configured.
TEST(BenchPlans, AStageThatCannotServeNeedsNoConfiguration)
{
    SessionOptions options;
    options.backend = "simt";
    Session session(options);
    const Problem problem(standard_operator("linear_regression_f64"), SegmentForm::offsets);
    std::vector<std::string> warnings;
    const auto plans = bench::ladder_plans(session, problem, {1 << 16, 1 << 11, 64}, {}, {}, warnings);
    const auto found =
        std::ranges::find_if(plans, [](const auto& plan) { return plan.stage->name == "gather_tiles"; });
    ASSERT_NE(found, plans.end());
    EXPECT_TRUE(found->objection.starts_with("needs state_bytes <= 16")) << found->objection;
}

TEST(BenchTraffic, CountsWhatMustMove)
{
    const auto sum = standard_operator("sum_f32");
    auto traffic = compulsory_traffic(sum, whole_segments(1000));
    EXPECT_EQ(traffic.columns, 4000);
    EXPECT_EQ(traffic.layout, 0);
    EXPECT_EQ(traffic.results, 4);
    EXPECT_EQ(traffic.keys, 4004);
    traffic = compulsory_traffic(standard_operator("mean_variance_f64"), offsets_of({0, 3, 3, 10}));
    EXPECT_EQ(traffic.columns, 80);
    EXPECT_EQ(traffic.layout, 16);
    EXPECT_EQ(traffic.results, 48);
    EXPECT_EQ(traffic.total(), 144);
    EXPECT_EQ(traffic.total_by_key(), 80 + 48 + 4 * 13);
    const auto keys = given_as(SegmentForm::keys, offsets_of({0, 3, 10}));
    EXPECT_EQ(compulsory_traffic(sum, keys).layout, 40 + 8) << "keys are read, those of runs written";
    EXPECT_EQ(compulsory_traffic(sum, given_as(SegmentForm::flags, keys)).layout, 10);
    EXPECT_EQ(compulsory_traffic(sum, keys, 1, SegmentForm::offsets).layout, 12) << "made of keys before";
    EXPECT_EQ(compulsory_traffic(sum, with_index_bits(offsets_of({0, 10}), 64)).layout, 16);
    EXPECT_EQ(compulsory_traffic(standard_operator("dot_f32"), uniform_segments(12, 4)).columns, 96);
}

TEST(BenchTraffic, LeavesOutWhatNeedNotMove)
{
    EXPECT_EQ(compulsory_traffic(standard_operator("count_f32"), uniform_segments(12, 4)).columns, 0);
    const auto gather =
        parse_operator("test.seg",
                       "operator gather(place: i32, t: table f64) -> f64 {\n  state sum: f64 = 0\n  "
                       "lift t[place]\n  combine(a, b) a + b\n}");
    EXPECT_EQ(compulsory_traffic(gather, uniform_segments(12, 4)).columns, 48);
    // Ranges 2-5 and 4-6 have five items. Of two elements, ranges count at most two.
    const auto range = [](std::int64_t elements, std::vector<std::int64_t> begins,
                          std::vector<std::int64_t> ends) {
        return segments_from_ranges(Array::of<std::int64_t>(Type::i64, begins),
                                    Array::of<std::int64_t>(Type::i64, ends), elements);
    };
    const auto sum = standard_operator("sum_f32");
    EXPECT_EQ(compulsory_traffic(sum, range(10, {2, 4}, {5, 6})).columns, 20);
    EXPECT_EQ(compulsory_traffic(sum, range(10, {2, 4}, {5, 6})).layout, 20);
    EXPECT_EQ(compulsory_traffic(sum, range(2, {0, 0, 0}, {2, 2, 2})).columns, 8);
}

TEST(BenchTolerance, GrowsAsTypesShrink)
{
    EXPECT_LT(bench::tolerance(Type::f64), bench::tolerance(Type::f32));
    EXPECT_LT(bench::tolerance(Type::f32), bench::tolerance(Type::f16));
    EXPECT_LT(bench::tolerance(Type::f16), bench::tolerance(Type::bf16));
}

TEST(BenchCases, StandardLayoutsCanAllBeMade)
{
    const auto cases = bench::standard_cases(1 << 20);
    EXPECT_GE(cases.size(), 25U);
    for (const auto& each : cases) {
        auto elements = *each.num_elements;
        if (each.layout.kind == LayoutKind::uniform)
            elements -= elements % each.layout.uniform_length;
        EXPECT_EQ(resolve(each.layout, elements).segments.num_elements, elements) << print(each.layout);
    }
    const auto one = std::ranges::count_if(cases, [](const bench::Case& each) {
        return each.layout.distribution == "constant" &&
               resolve(each.layout, 1 << 20).segments.num_segments == 1;
    });
    EXPECT_EQ(one, 1);
}

TEST(BenchCases, SizesArePowersOfTwo)
{
    std::vector<std::int64_t> sizes;
    for (const auto& each : bench::size_cases({}, 1000, 5000))
        sizes.push_back(*each.num_elements);
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{1024, 2048, 4096}));
}

TEST(BenchCases, RowsHaveTheFeaturesThatAreAskedFor)
{
    const auto op = parse_operator("sum",
                                   "operator sum(x: row f32, weight: f32) -> f32 { state s: f32 = 0\n"
                                   "lift x * weight combine(a, b) a + b }");
    const auto timing = make_backend("cpu")->timing();
    WorkloadRequest request;
    request.num_features = 6;
    bench::CaseData data(*timing, op, request);
    for (const std::int64_t rows : {40, 80}) {
        const auto prepared = data.prepare({parse_layout("uniform=4"), rows});
        EXPECT_EQ(prepared.workload.num_features, 6);
        ASSERT_EQ(prepared.workload.arrays.size(), 2u);
        EXPECT_EQ(prepared.workload.arrays[0].length(), static_cast<std::size_t>(rows * 6));
        EXPECT_NO_THROW(check_workload(prepared.workload));
        const auto whole = make_workload(op, {.layout = parse_layout("uniform=4"),
                                              .num_elements = rows,
                                              .num_features = 6,
                                              .seed = request.seed});
        EXPECT_TRUE(std::ranges::equal(prepared.workload.arrays[0].as<float>(),
                                       whole.workload.arrays[0].as<float>()));
        const auto traffic = compulsory_traffic(op, prepared.workload.segments, 6);
        EXPECT_EQ(traffic.columns, rows * (6 + 1) * 4);
        EXPECT_EQ(traffic.results, rows / 4 * 6 * 4);
    }
    EXPECT_EQ(bench::most_bytes(op, parse_layout("uniform=4"), 4, 6) -
                  bench::most_bytes(op, parse_layout("uniform=4"), 4, 5),
              4 * 4 + 2 * 4);
}

TEST(BenchCases, BytesGrowWithSegments)
{
    const auto op = standard_operator("sum_f32");
    EXPECT_DOUBLE_EQ(bench::most_bytes(op, parse_layout("whole"), 100), 100 * (4 + 4) + 20);
    EXPECT_DOUBLE_EQ(bench::most_bytes(op, parse_layout("uniform=1"), 100), 100 * (4 + 4 + 20));
}

/// With flags, lean_stream makes offsets in scratch memory, so fewer elements fit.
TEST(BenchCases, ScratchMemoryCountsWhereElementsAreMadeToFit)
{
    SessionOptions options;
    options.backend = "simt";
    Session session(options);
    const auto op = standard_operator("sum_i8");
    bench::SweepRequest request;
    request.workload.layout = parse_layout("uniform=4");
    const auto scratch = [&] { return bench::scratch_of_element(session, op, session.laws(op), request); };
    const double by_length = scratch();
    EXPECT_LT(by_length, 2);
    request.given_as = SegmentForm::flags;
    const double by_flags = scratch();
    EXPECT_GE(by_flags, 4);

    const auto fitting = [&](double scratch_bytes) {
        const double data = bench::most_bytes(op, request.workload.layout, std::int64_t{1} << 28);
        return bench::fitting_elements(data / 0.79, op, request.workload.layout, 1, scratch_bytes);
    };
    EXPECT_EQ(fitting(0), std::int64_t{1} << 28);
    EXPECT_EQ(fitting(by_flags), std::int64_t{1} << 27);
}

TEST(BenchConstant, IsUniformByOffsets)
{
    const auto segments = resolve(parse_layout("constant:length=3"), 10).segments;
    EXPECT_EQ(segments.form, SegmentForm::offsets);
    const auto offsets = segments.offsets.as<std::int32_t>();
    EXPECT_EQ(std::vector<std::int32_t>(offsets.begin(), offsets.end()),
              (std::vector<std::int32_t>{0, 3, 6, 9, 10}));
    EXPECT_EQ(resolve(parse_layout("constant:length=3"), 0).segments.num_segments, 0);
    EXPECT_EQ(resolve(parse_layout("constant:length=30"), 10).segments.num_segments, 1);
}

TEST(BenchLengthRange, IsTheSameByAllForms)
{
    EXPECT_EQ(length_range(offsets_of({0, 3, 3, 10})).shortest, 0);
    EXPECT_EQ(length_range(offsets_of({0, 3, 3, 10})).longest, 7);
    EXPECT_EQ(length_range(whole_segments(9)).shortest, 9);
    EXPECT_EQ(length_range(uniform_segments(9, 3)).longest, 3);
    EXPECT_EQ(length_range(uniform_segments(0, 3)).longest, 0);
    const auto many = resolve(parse_layout("bimodal:short=1,long=900,share=0.01"), 1 << 22).segments;
    EXPECT_EQ(length_range(many).longest, 900);
}

TEST(BenchLengthRange, IsTheSameByRangesOfBothWidths)
{
    const auto array = [](std::vector<std::int64_t> values) {
        return Array::of<std::int64_t>(Type::i64, values);
    };
    for (const int bits : {32, 64}) {
        const auto some = with_index_bits(segments_from_ranges(array({4, 0, 9}), array({9, 9, 9}), 10), bits);
        EXPECT_EQ(length_range(some).shortest, 0);
        EXPECT_EQ(length_range(some).longest, 9);
        EXPECT_EQ(num_items(some), 14);
        const auto none = with_index_bits(segments_from_ranges(array({}), array({}), 10), bits);
        EXPECT_EQ(length_range(none).longest, 0);
        EXPECT_EQ(num_items(none), 0);
    }
}

TEST(BenchLengthRange, PadsSegmentsToTheLongestOfTheirSlice)
{
    EXPECT_EQ(length_range(offsets_of({0, 3, 3, 10})).padded, 3 * 7);
    EXPECT_EQ(length_range(uniform_segments(9, 3)).padded, 9);
    EXPECT_EQ(length_range(whole_segments(9)).padded, 9);
    EXPECT_EQ(length_range(offsets_of({0})).padded, 0);
    std::vector<std::int64_t> lengths(70, 1);
    lengths[31] = 4;
    lengths[69] = 9;
    std::vector<std::int64_t> begins, ends;
    std::int64_t end = 0;
    for (const auto length : lengths) {
        begins.push_back(end);
        ends.push_back(end += length);
    }
    const auto array = [](const auto& values) { return Array::of<std::int64_t>(Type::i64, values); };
    EXPECT_EQ(length_range(segments_from_lengths(array(lengths), end)).padded, 32 * 4 + 32 + 6 * 9);
    EXPECT_EQ(length_range(segments_from_ranges(array(begins), array(ends), end)).padded,
              32 * 4 + 32 + 6 * 9);
    // The threads' parts begin at slices.
    const auto many = resolve(parse_layout("geometric:mean=3"), 1 << 22).segments;
    std::int64_t padded = 0;
    for (std::int64_t begin = 0; begin < many.num_segments; begin += kSliceSegments) {
        const auto next = std::min(begin + kSliceSegments, many.num_segments);
        std::int64_t longest = 0;
        for (auto s = begin; s < next; ++s)
            longest = std::max(longest, many.length(s));
        padded += longest * (next - begin);
    }
    EXPECT_EQ(length_range(many).padded, padded);
}

/// Measurements as --json writes them; the numbers are made up.
struct Kept {
    bench::MachineRecord machine;
    std::vector<bench::WorkloadRecord> workloads;
};

Kept kept()
{
    const auto document = Json::parse(read_text(kData + "measurements.json"));
    const JsonValue root("measurements.json: document", document);
    Kept all{bench::machine_from(root.at("machine")), {}};
    for (const auto& workload : root.at("workloads").elements())
        all.workloads.push_back(bench::workload_from(workload));
    return all;
}

TEST(BenchView, JsonReadsBack)
{
    const auto document = Json::parse(read_text(kData + "measurements.json"));
    const auto [machine, workloads] = kept();
    EXPECT_EQ(bench::json_of(machine), document["machine"]);
    ASSERT_EQ(workloads.size(), 3U);
    for (std::size_t i = 0; i < workloads.size(); ++i)
        EXPECT_EQ(bench::json_of(workloads[i]).dump(2), document["workloads"][i].dump(2));
}

TEST(BenchView, TablesAreThoseOfTheFiles)
{
    const auto [machine, workloads] = kept();
    std::string text = cli::print(machine);
    for (const auto& workload : workloads)
        text += "\n" + cli::print(workload);
    EXPECT_EQ(text, read_text(kData + "table.txt"));
}

TEST(BenchView, NothingIsTheFastestWithoutElements)
{
    auto workload = kept().workloads[0];
    ASSERT_NE(cli::print(workload).find("times as fast"), std::string::npos);
    workload.num_elements = 0;
    const auto text = cli::print(workload);
    EXPECT_EQ(text.find("times as fast"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with(
        "there is nothing to time: the data have no elements, so that no plan is called the fastest\n"))
        << text;
}

TEST(BenchView, MarkdownIsThatOfTheFile)
{
    const auto [machine, workloads] = kept();
    std::string text = bench::markdown_header(machine) + "\n" + bench::markdown_titles(true);
    for (const auto& workload : workloads)
        text += bench::markdown_row(workload, true);
    EXPECT_EQ(text + bench::markdown_mean(workloads, true), read_text(kData + "table.md"));
    EXPECT_EQ(bench::markdown_row(workloads[0], false),
              "| `uniform=1024` | 2^28 | warp_per_segment | 0.88 | cub_segmented | 0.44 | 2.00 |\n");
    EXPECT_EQ(bench::markdown_mean({}, false), "");
}

/// The table names the best of all peers, including newer releases of CUB, and its release.
TEST(BenchView, MarkdownNamesTheBestPeerAndItsRelease)
{
    auto [machine, workloads] = kept();
    auto record = workloads[0];
    ASSERT_EQ(record.best_peer()->name, "cub_segmented");
    auto faster = *record.best_peer();
    faster.name = "cub_segmented_hint";
    faster.milliseconds.median /= 1.5;
    faster.fraction *= 1.5;
    record.entries.push_back(faster);
    EXPECT_EQ(bench::markdown_row(record, false),
              "| `uniform=1024` | 2^28 | warp_per_segment | 0.88 | cub_segmented_hint | 0.66 | 1.33 |\n");
    faster.name = "cub_fixed_size";
    faster.milliseconds.median /= 2;
    faster.fraction *= 2;
    record.entries.push_back(faster);
    EXPECT_EQ(bench::markdown_row(record, false),
              "| `uniform=1024` | 2^28 | warp_per_segment | 0.88 | cub_fixed_size | 1.32 | 0.67 |\n");
    machine.library = "CCCL 3.5.0";
    EXPECT_NE(bench::markdown_header(machine).find(", CCCL 3.5.0, "), std::string::npos)
        << bench::markdown_header(machine);
}

/// Peers and stages with wrong results are not compared, even if they are fastest.
TEST(BenchRecord, WrongResultsDoNotCount)
{
    const auto workloads = kept().workloads;
    EXPECT_TRUE(workloads[0].agrees());
    EXPECT_FALSE(workloads[1].agrees());
    EXPECT_EQ(workloads[1].best_peer()->name, "thrust_reduce_by_key");
    EXPECT_DOUBLE_EQ(*workloads[0].speed_up(), 2);
    auto wrong = workloads[0];
    wrong.entries[1].agreement.agrees = false;
    EXPECT_FALSE(wrong.speed_up());
    EXPECT_EQ(workloads[2].chosen()->name, "tile_scan");
    EXPECT_EQ(workloads[2].best_stage()->name, "block_per_segment");
    EXPECT_EQ(workloads[2].best_peer(), nullptr);
    EXPECT_FALSE(workloads[2].speed_up());
}

TEST(BenchRecord, EntriesStandAsInTheLadder)
{
    std::vector<bench::Entry> entries(4);
    entries[0].name = "tile_scan";
    entries[1].name = "thrust_reduce_by_key";
    entries[2].name = "cub_segmented";
    entries[3].name = "thread_per_segment";
    entries[1].is_peer = entries[2].is_peer = true;
    std::vector<std::string> names;
    for (const auto& entry : bench::in_order(entries, Catalogue::standard()))
        names.push_back(entry.name);
    EXPECT_EQ(names, (std::vector<std::string>{"thread_per_segment", "tile_scan", "cub_segmented",
                                               "thrust_reduce_by_key"}));
}

class BenchVerb : public testing::Test {
protected:
    [[nodiscard]] std::string refusal(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), "bench");
        const auto result = folder_.run(arguments);
        EXPECT_EQ(result.exit_code, 2) << result.errors;
        EXPECT_EQ(result.output.empty(), std::ranges::find(arguments, "--json") == arguments.end());
        return result.errors;
    }

    test::ProgramFolder folder_;
};

TEST_F(BenchVerb, RefusesWhatDoesNotGoTogether)
{
    EXPECT_EQ(refusal({"sum", "--from", "2^20"}),
              "segfold: --from is an end of --sweep sizes or --sweep lot:N\n");
    EXPECT_EQ(refusal({"sum", "--sweep", "layouts", "--to", "2^20"}),
              "segfold: --to is an end of --sweep sizes or --sweep lot:N\n");
    EXPECT_EQ(
        refusal({"sum", "--sweep", "sizes", "--elements", "5"}),
        "segfold: --elements names one size, and --sweep sizes goes through many; see --from and --to\n");
    EXPECT_EQ(refusal({"sum", "--sweep", "layouts", "--layout", "whole"}),
              "segfold: --layout names one layout, and --sweep layouts goes through the standard ones\n");
    EXPECT_EQ(refusal({"sum", "--sweep", "sizes", "--from", "2^20", "--to", "2^10"}),
              "segfold: --from is 1048576 and --to 1024; the first must not be the larger\n");
    EXPECT_EQ(refusal({"sum", "--sweep", "sizes", "--from", "1000", "--to", "1010"}),
              "segfold: no power of two lies between --from 1000 and --to 1010; the next is 1024\n");
    EXPECT_EQ(refusal({"sum", "--json", "--markdown"}),
              "segfold: --json and --markdown are two forms of one result; give one of them\n");
    EXPECT_EQ(
        refusal({"sum", "--sweep", "size"}),
        "segfold: --sweep: unknown 'size'; it is one of sizes, layouts, lot:N; did you mean 'sizes'?\n");
    EXPECT_EQ(refusal({"sum", "--repeat", "0"}), "segfold: --repeat is 0; it must be from 1 to 10000\n");
}

TEST_F(BenchVerb, RefusesNamesThatNobodyHas)
{
    EXPECT_TRUE(refusal({"sum", "--peers", "cub,thrist"})
                    .starts_with("segfold: --peers: unknown peer 'thrist'; the peers are cub_segmented, "));
    EXPECT_EQ(
        refusal({"sum,,max"}),
        "segfold: 'sum,,max': an operator's name is missing at a comma; write names such as sum,argmax\n");
    EXPECT_EQ(refusal({"sum", "--stage", "tile_scan", "--set", "x=3"}),
              "segfold: stage tile_scan has no tunable 'x'; it has block_threads, items_per_thread\n");
    EXPECT_EQ(refusal({"sum", "--plan", "tile_scam"}).substr(0, 33), "segfold: unknown stage 'tile_scam");
    EXPECT_EQ(refusal({"sum", "--plan", "tile_scan:x=3"}),
              "segfold: stage tile_scan has no tunable 'x'; it has block_threads, items_per_thread\n");
    EXPECT_EQ(
        refusal({"sum", "--plan", "tile_scan:block_threads"}),
        "segfold: --plan 'block_threads': a tunable and its value are needed; write NAME=VALUE, such as "
        "block_threads=128\n");
    EXPECT_EQ(refusal({"sum", "--plan", "tile_scan:block_threads=128,block_threads=256"}),
              "segfold: --plan gives block_threads twice, 128 and 256; once is enough\n");
    EXPECT_EQ(refusal({"sum", "--given-as", "ranges"}).substr(0, 28), "segfold: --given-as: unknown");
    EXPECT_EQ(refusal({"sum,dot", "--input", "x=y.npy"}),
              "segfold: --input gives data to one operator, and several are named\n");
    EXPECT_EQ(refusal({"sum", "--emit-peer", "cub_fixed_size", "--layout", "offsets"}),
              "segfold: cub_fixed_size: takes segments given as uniform, not as offsets\n");
}

TEST_F(BenchVerb, RefusesFoldersWithoutHeaders)
{
    const auto folder = folder_.file("");
    EXPECT_EQ(refusal({"sum", "--peers", "cccl="}),
              "segfold: --peers: cccl= names no folder; write cccl=DIR, a folder with the headers of CCCL\n");
    EXPECT_EQ(refusal({"sum", "--peers", "cub,cccl=absent"}),
              "segfold: --peers: there is no folder absent; name one with the headers of CCCL\n");
    EXPECT_EQ(refusal({"sum", "--peers", "cccl=" + folder + ",cub_reduce"}),
              "segfold: --peers: " + folder +
                  " has no headers of CCCL; cub/version.cuh must be in it, or in include/cccl or include "
                  "below\n");
    std::filesystem::create_directories(folder + "wheel/nvidia/cu13/include/cccl/cub");
    (void)folder_.write("wheel/nvidia/cu13/include/cccl/cub/version.cuh", "");
    EXPECT_EQ(refusal({"sum", "--peers", "cccl=wheel,cccl=wheel"}),
              "segfold: --peers gives cccl twice; all peers of a run take the same headers\n");
    // With headers that exist, only the unknown peer is refused.
    EXPECT_TRUE(
        refusal({"sum", "--peers", "cccl=wheel,cub_reduse"})
            .ends_with("; did you mean 'cub_reduce'?; cub, thrust, none and cccl=DIR are known too\n"));
}

TEST_F(BenchVerb, PrintsPeers)
{
    const auto result =
        folder_.run({"bench", "argmax", "--emit-peer", "thrust_reduce_by_key", "--layout", "offsets"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    const Problem problem(standard_operator("argmax"), SegmentForm::offsets);
    EXPECT_EQ(result.output, emit_peer(problem, peer("thrust_reduce_by_key")).source);
}

TEST_F(BenchVerb, NeedsAGpuForStagesOfCuda)
{
    if (!cuda::devices().empty())
        GTEST_SKIP() << "there is a GPU";
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"bench", "sum", "--stage", "grid_reduce"},
          {"bench", "sum,argmax", "--sweep", "layouts", "--markdown", "--stage", "warp_stream"}}) {
        const auto result = folder_.run(arguments);
        EXPECT_EQ(result.exit_code, 3);
        EXPECT_EQ(result.output, "");
        EXPECT_TRUE(result.errors.starts_with("segfold: bench measures stages of CUDA on a GPU: "))
            << result.errors;
        EXPECT_EQ(result.errors.find("--backend"), std::string::npos) << result.errors;
    }
}

}  // namespace
}  // namespace segfold::bench_test
