// The stage fused_blocks on the fiber executor: segments of one lane's vector up to several times what their
// threads keep, wherever they begin, in registers, in shared memory and by clusters; arrays that begin inside
// of a vector; tables; planted bugs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/write_back_cases.h"

namespace segfold::test::fused_blocks_test {
namespace {

using Lengths = std::vector<std::int64_t>;

/// How many threads of how many blocks take a segment, and how many items each keeps in registers and in
/// shared memory.
struct Keepers {
    int threads;
    int items;
    int shared = 0;
    int blocks = 1;

    [[nodiscard]] std::int64_t kept() const { return std::int64_t{threads} * blocks * (items + shared); }
    [[nodiscard]] std::string text() const
    {
        return fmt::format("{} threads of {} blocks, {} + {} items", threads, blocks, items, shared);
    }
};

/// Lanes of a warp; a warp; two warps; four, whose totals more lanes read than there are; clusters. All
/// numbers of items suit vectors of eight.
constexpr Keepers kKeepers[] = {{4, 8},        {16, 8},        {32, 8},      {64, 8},
                                {128, 8},      {4, 8, 16},     {32, 8, 8},   {64, 8, 16},
                                {64, 8, 0, 2}, {64, 16, 8, 4}, {64, 8, 8, 8}};

const Stage& stage() { return Catalogue::standard().stage("fused_blocks"); }

Emitted emitted_for(const Problem& problem, const Keepers& keepers)
{
    auto configuration = default_configuration(stage(), plan_facts(problem));
    configuration["segment_threads"] = keepers.threads;
    configuration["items_per_thread"] = keepers.items;
    configuration["shared_items"] = keepers.shared;
    configuration["cluster_blocks"] = keepers.blocks;
    configuration["block_threads"] = keepers.threads > 32 ? keepers.threads : 64;
    return emit(problem, stage(), configuration);
}

Comparison compare(const Workload& workload, const Emitted& emitted, std::uint64_t seed, int shift = 0)
{
    return Judge(workload).compare(
        simt::run(workload, emitted, simt::options_from_seed(seed), {}, 2, 2, shift));
}

/// An odd number of lengths about what the threads keep, and beyond; those between let segments begin at
/// every place of a vector.
Lengths lengths_about(std::int64_t kept)
{
    return {0, 1,        3,        4,        5,        kept - 1,     kept,     kept + 1,
            0, 0,        kept + 3, kept - 2, kept + 6, 3 * kept + 2, kept / 2, kept / 2 + 3,
            2, 4 * kept, 7,        0,        9};
}

std::vector<Segments> all_forms(std::int64_t kept)
{
    std::vector<Segments> all;
    all.push_back(segments_in_form(SegmentForm::offsets, lengths_about(kept)));
    all.push_back(whole_segments(2 * kept + 3));
    for (const std::int64_t length : {std::int64_t{3}, kept - 1, kept, 2 * kept + 5})
        all.push_back(uniform_segments(length * 7, length));
    all.push_back(segments_from_ranges(index_array({kept + 20, 0, 9, 9, 13}),
                                       index_array({3 * kept + 25, 9, 9, 12, kept + 17}), 4 * kept + 30));
    return all;
}

TEST(FusedBlocksOnSimt, SegmentsOfAnyLengthAndForm)
{
    std::uint64_t seed = 0;
    for (const auto& keepers : kKeepers)
        for (auto& segments : all_forms(keepers.kept())) {
            const bool keeps_results = ++seed % 2 == 0;
            const int bits = seed % 3 == 0 ? 64 : 32;
            const auto op = seed % 5 < 2 ? told_back_of("u16", keeps_results) : told_back(keeps_results);
            const auto form = segments.form;
            const auto workload = make_workload(op, with_index_bits(std::move(segments), bits), 7);
            const auto comparison = compare(workload, emitted_for(Problem(op, form, bits), keepers), seed);
            ASSERT_TRUE(comparison.agrees()) << name(form) << ", " << keepers.text() << ", "
                                             << op.parameters[0].name << ": " << print(comparison);
        }
}

/// Outputs of all widths, no identity, a column that lift does not read; a map in parts; a commutative
/// operator.
TEST(FusedBlocksOnSimt, OperatorsOfAllKinds)
{
    std::uint64_t seed = 0;
    for (const auto& op : {several_outputs(), in_parts(), told_by_tables(true), told_by_tables(false),
                           standard_operator("centre_f64"), standard_operator("softmax_f16"),
                           standard_operator("layer_norm_f32"), standard_operator("softmax_backward_bf16"),
                           standard_operator("masked_softmax_f64"), standard_operator("rms_norm_bf16")})
        for (const auto& keepers :
             {Keepers{4, 8}, Keepers{8, 8, 16}, Keepers{64, 8, 8}, Keepers{64, 8, 8, 2}}) {
            const auto lengths = lengths_about(keepers.kept());
            const auto workload =
                make_workload_with_tables(op, segments_in_form(SegmentForm::offsets, lengths), 3);
            const auto comparison =
                compare(workload, emitted_for(Problem(op, SegmentForm::offsets), keepers), ++seed);
            ASSERT_TRUE(comparison.agrees())
                << op.name << ", " << keepers.text() << ": " << print(comparison);
        }
}

/// Arrays that do not begin where a vector does are read and written element by element.
TEST(FusedBlocksOnSimt, ArraysMayBeginInsideOfAVector)
{
    for (const auto& op : {told_back(true), several_outputs(), told_back_of("i16", false)})
        for (const auto& keepers : {Keepers{4, 8}, Keepers{8, 8}, Keepers{64, 8}, Keepers{64, 8, 8, 2}})
            for (const int shift : {1, 2, 3}) {
                const auto lengths = lengths_about(keepers.kept());
                const auto workload = make_workload(op, segments_in_form(SegmentForm::offsets, lengths), 7);
                const auto comparison =
                    compare(workload, emitted_for(Problem(op, SegmentForm::offsets), keepers), 3, shift);
                ASSERT_TRUE(comparison.agrees()) << op.name << ", " << shift << ": " << print(comparison);
            }
}

/// Of tables that are just long enough, nothing else is read.
TEST(FusedBlocksOnSimt, TablesAreReadForElementsAlone)
{
    const auto op = told_by_tables(true);
    Problem problem(op, SegmentForm::offsets);
    problem.checked_tables = tables_of(op);
    for (const auto& keepers : {Keepers{8, 4}, Keepers{64, 8, 4}}) {
        const auto lengths = lengths_about(keepers.kept());
        const auto workload =
            make_workload_with_tables(op, segments_in_form(SegmentForm::offsets, lengths), 7);
        const auto comparison = compare(workload, emitted_for(problem, keepers), 1);
        ASSERT_TRUE(comparison.agrees()) << keepers.text() << ": " << print(comparison);
    }
}

TEST(FusedBlocksOnSimt, OneLaunchWithoutScratch)
{
    const auto emitted =
        emitted_for(Problem(standard_operator("softmax_f32"), SegmentForm::offsets), {64, 16});
    EXPECT_EQ(emitted.launches.size(), 1u);
    for (const auto& scratch : emitted.scratch)
        EXPECT_EQ(scratch.count.value({}), 1) << scratch.name;
}

struct Planted {
    const char* from;
    const char* to;
};

/// Whether some workload and schedule shows the planted bug.
bool is_found(const Emitted& emitted, const std::vector<Workload>& workloads, const Planted& bug)
{
    auto planted = emitted;
    const auto at = planted.source.find(bug.from);
    EXPECT_NE(at, std::string::npos) << bug.from;
    if (at == std::string::npos)
        return false;
    planted.source.replace(at, std::string_view(bug.from).size(), bug.to);
    for (const auto& workload : workloads)
        for (const std::uint64_t seed : {1, 2, 3}) {
            try {
                if (!compare(workload, planted, seed).agrees())
                    return true;
            } catch (const simt::SimtError&) {
                return true;
            }
        }
    return false;
}

void expect_found(const Operator& op, const Keepers& keepers, std::initializer_list<Planted> bugs)
{
    const auto emitted = emitted_for(Problem(op, SegmentForm::offsets), keepers);
    std::vector<Workload> workloads;
    workloads.push_back(
        make_workload(op, segments_in_form(SegmentForm::offsets, lengths_about(keepers.kept())), 7));
    for (const auto& bug : bugs)
        EXPECT_TRUE(is_found(emitted, workloads, bug)) << keepers.text() << ": " << bug.from;
}

TEST(FusedBlocksOnSimt, PlantedBugsAreFound)
{
    expect_found(
        told_back(true), {64, 8},
        {{"combine(run, lift_item(inputs, items, k, index + k))",
          "combine(lift_item(inputs, items, k, index + k), run)"},
         {"is_later ? other : state, is_later ? state : other", "state, other"},
         {"thread == 0 ? edge : total, thread == 0 ? total : edge", "edge, total"},
         {"thread == 0 ? before : 0", "before"},
         {"thread == 0 ? before : 0", "thread == 1 ? before : 0"},
         {"is_last ? behind", "is_last ? 0"},
         {"-part.begin & Index(kStepItems - 1)", "part.begin & Index(kStepItems - 1)"},
         {"min(part.length, -part.begin", "min(Index(4), -part.begin"},
         {"min(share, num_vectors - mine)", "share"},
         {"thread * share", "thread"},
         {"(num_vectors + kTeamThreads - 1) / kTeamThreads", "num_vectors / kTeamThreads"},
         {"Index from = part.num_kept; from < part.num_vectors", "Index from = 0; from < part.num_vectors"},
         {"end > part.num_kept", "end > part.num_kept + kAhead"},
         {"target, part, items[v - 1], part.first + (end - v) * kStride",
          "target, part, items[v - 1], part.first + (end - 1) * kStride"},
         {"index + k - part.begin", "index - part.begin"},
         {"if (k < count)\n                store_output", "if (true)\n                store_output"},
         {"if (thread == 0)\n        store(", "if (true)\n        store("}});
    expect_found(told_back(true), {8, 8},
                 {{"is_later ? other : state, is_later ? state : other", "state, other"},
                  {"if (segment != wanted)\n        return;", ";"},
                  {"const Index segment = min(wanted, segments.num_segments - 1)",
                   "const Index segment = min(wanted, segments.num_segments)"}});
    expect_found(told_back(true), {32, 4}, {{"if (segment >= segments.num_segments)\n        return;", ";"}});
    expect_found(told_back(true), {64, 8},
                 {{"__syncthreads();  // all warps have written their totals", ";  //"},
                  {"of_warps[threadIdx.x % kWarps]", "of_warps[threadIdx.x / kWarpThreads]"}});
    expect_found(
        told_back(true), {64, 8, 8},
        {{"wait_for_copies();\n", ";\n"},
         {"kVectors + v < part.num_kept)\n            copy_vectors", "true)\n            copy_vectors"},
         {"shared, v, inputs, part.first + (kVectors + v)", "shared, v, inputs, part.first + v"},
         {"Index(most_kept)", "Index(most_kept - 1) * 2"},
         {"total = fold_shared(total, *shared, inputs, part);", ";"},
         {"shared_vectors(shared, v - kVectors)", "shared_vectors(shared, 0)"},
         {"shared_vectors(*shared, v - kVectors)", "shared_vectors(*shared, 0)"}});
    expect_found(told_back(true), {64, 8, 0, 2},
                 {{"wait_for_cluster();  // all blocks have written their totals", "__syncthreads();"},
                  {"wait_for_cluster();  // no block leaves before the others have read its total", ""},
                  {"blockIdx.x % kClusterBlocks * kBlockThreads + threadIdx.x", "threadIdx.x"},
                  {"blockIdx.x / kClusterBlocks", "blockIdx.x % kClusterBlocks"},
                  {"threadIdx.x % kClusterBlocks)", "0)"}});
}

/// Threads side by side have vectors side by side.
TEST(FusedBlocksOnSimt, PlantedBugsInStridesAreFound)
{
    const auto op = parse_operator("sums", R"(
        operator sums(x: i32) -> (sum: i64, each told: i64) {
            state sum: i64 = 0  lift i64(x)  combine(a, b) a + b  map { told = sum * 7 + i64(x) }
            laws commutative
        })");
    for (const auto& keepers : {Keepers{8, 8}, Keepers{64, 8}, Keepers{64, 8, 8, 2}})
        expect_found(op, keepers,
                     {{"num_vectors - thread + kTeamThreads - 1", "num_vectors"},
                      {"kTeamThreads * kStepItems", "kStepItems"},
                      {"part.begin + before + mine * kStepItems", "part.begin + before + mine"}});
}

}  // namespace
}  // namespace segfold::test::fused_blocks_test
