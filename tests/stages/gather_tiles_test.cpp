// Delicate cases of the stage gather_tiles: borders that many tiles share, many ends in a tile, scratch
// memory of a launch over other segments, states that fit words and states that do not, checked tables.
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/check/tree.h"
#include "runtime/judge/compare.h"
#include "tests/common/files.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::gather_tiles_test {
namespace {

const Stage& stage() { return Catalogue::standard().stage("gather_tiles"); }

Segments offsets_segments(const std::vector<std::int64_t>& lengths)
{
    return segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
}

Configuration configuration(int block, int items)
{
    return {{"block_threads", block}, {"blocks_per_multiprocessor", 1}, {"items_per_thread", items}};
}

std::int64_t tile_items(const Configuration& configuration)
{
    return (configuration.at("block_threads") - 32) * configuration.at("items_per_thread");
}

void expect_agreement(const std::string& what, const Workload& workload, const Emitted& emitted,
                      std::uint64_t seed, const Segments* earlier = nullptr)
{
    SCOPED_TRACE(what + ", seed " + std::to_string(seed));
    try {
        const auto results = simt::run(workload, emitted, simt::options_from_seed(seed), {}, 3, 2, 0,
                                       static_cast<std::uint8_t>(0xa5), nullptr, earlier);
        const auto comparison = Judge(workload).compare(results);
        EXPECT_TRUE(comparison.agrees()) << segfold::print(comparison);
    } catch (const simt::SimtError& error) {
        ADD_FAILURE() << error.what();
    }
}

/// Lengths of segments at borders of tiles, beside the crowded cases.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> border_cases(std::int64_t tile)
{
    return {{"a segment through 40 tiles", {3, 40 * tile, 2}},
            {"one through all tiles", {35 * tile + 7}},
            {"one that begins in the last tile of a group", {tile + 3, 33 * tile, 2}},
            {"each tile a segment", std::vector<std::int64_t>(7, tile)},
            {"ends one before each border", {tile - 1, tile, tile, tile, 1}},
            {"ends one behind each border", {tile + 1, tile, tile, tile - 1}},
            {"empties at borders", {tile, 0, 0, tile, 0, tile / 2, tile / 2, 0, 0, 0}},
            {"long ones with an end in each second tile", {2 * tile - 3, 2 * tile, 2 * tile, 5, 3 * tile}}};
}

struct Crowded {
    std::string name, op;
    int index_bits;
    Configuration configuration;
    Numbers numbers = Numbers::constant;
};

class GatherTiles : public testing::TestWithParam<Crowded> {};

TEST_P(GatherTiles, AgreeWithTheReferenceWhereEndsCrowdAndTilesMeet)
{
    const auto& param = GetParam();
    const Problem problem(matrix_operator(param.op), SegmentForm::offsets, param.index_bits);
    const auto emitted = emit(problem, stage(), param.configuration, Catalogue::standard(), param.numbers);
    const auto tile = tile_items(param.configuration);
    auto cases = border_cases(tile);
    for (auto& crowded : crowded_cases(tile))
        cases.push_back(std::move(crowded));
    std::uint64_t seed = 1;
    for (const auto& [name, lengths] : cases)
        expect_agreement(
            name, make_workload(param.op, with_index_bits(offsets_segments(lengths), param.index_bits), 11),
            emitted, seed++);
}

INSTANTIATE_TEST_SUITE_P(Stages, GatherTiles,
                         testing::Values(Crowded{"Word", "hash_u8", 32, configuration(96, 4)},
                                         Crowded{"BesideTheWord", "hash_u64", 32, configuration(96, 4)},
                                         Crowded{"Wide", "hash_u64", 64, configuration(160, 4),
                                                 Numbers::at_launch},
                                         Crowded{"WideTiles", "sum_i32", 64, configuration(160, 16)},
                                         Crowded{"Costly", "costly_trace", 32, configuration(96, 4)}),
                         [](const auto& info) { return info.param.name; });

/// Equal results of bracket_operator() mean equal trees. So operators that round give the same bits in every
/// launch.
TEST(GatherTiles, TheOrderInWhichTilesComeChangesNoTree)
{
    const auto op = regress::bracket_operator(standard_operator("sum_i32"));
    const auto some = configuration(96, 4);
    const auto emitted = emit(Problem(op, SegmentForm::offsets), stage(), some);
    const auto tile = tile_items(some);
    const std::vector<std::int64_t> lengths = {3, 70 * tile, 2, 5 * tile + 1, 33 * tile, 31 * tile - 7};
    const auto workload = make_workload(op, offsets_segments(lengths), 11);
    std::vector<std::uint64_t> first;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        const auto results = simt::run(workload, emitted, simt::options_from_seed(seed));
        const auto found = to_vector<std::uint64_t>(results.front().array);
        if (seed == 1)
            first = found;
        EXPECT_EQ(found, first) << "seed " << seed;
    }
}

/// Offsets may change between launches. A launch must check what it finds of the launch before.
TEST(GatherTiles, SegmentsOfTheLaunchBeforeMislead)
{
    const auto some = configuration(96, 4);
    const Problem problem(matrix_operator("hash_u64"), SegmentForm::offsets);
    const auto emitted = emit(problem, stage(), some);
    const std::int64_t tile = tile_items(some);
    const std::int64_t elements = 8 * tile;
    const auto lengths = [&](const std::vector<std::int64_t>& first, std::int64_t count) {
        auto all = first;  // `count` segments of `elements` elements, the rest empty
        all.push_back(elements - total(first));
        all.resize(static_cast<std::size_t>(count), 0);
        return all;
    };
    std::vector<std::int64_t> ones(static_cast<std::size_t>(elements), 1);
    const std::int64_t count = elements;
    const std::vector<std::pair<std::string, std::vector<std::int64_t>>> kinds = {
        {"ones", ones},
        {"one long, then empties", lengths({}, count)},
        {"borders one later", lengths({tile + 1, tile, tile, tile}, count)},
        {"borders one earlier", lengths({tile - 1, tile, tile, tile}, count)},
        {"many in the first tile", lengths(std::vector<std::int64_t>(200, 1), count)},
        {"empties first", [&] {
             auto all = lengths({tile, 3 * tile}, count);
             std::ranges::reverse(all);
             return all;
         }()}};
    std::uint64_t seed = 1;
    for (const auto& [before, earlier] : kinds)
        for (const auto& [now, later] : kinds) {
            const auto segments = offsets_segments(earlier);
            expect_agreement(now + " behind " + before, make_workload("hash_u64", offsets_segments(later), 5),
                             emitted, seed++, &segments);
        }
}

/// Elements read a table, the purpose of this stage; the last of several tiles reads outside of it.
TEST(GatherTiles, ReadsOutsideOfTablesAreRefused)
{
    const auto op = parse_operator("gather", R"(
        operator gather(v: i32, j: i32, t: table i32) -> i32 {
            state s: i32 = 0
            lift v * t[j - 1]
            combine(a, b) a + b
        })");
    Problem problem(op, SegmentForm::offsets);
    problem.checked_tables = {"t"};
    const auto emitted = emit(problem, stage(), configuration(96, 4));
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < 400; ++i)
        lengths.push_back(i % 90 == 0 ? 300 : i % 4);
    auto workload = make_workload(op, offsets_segments(lengths), 3);
    const auto elements = workload.segments.num_elements;
    auto places = workload.arrays[1].as<std::int32_t>();
    for (std::int64_t i = 0; i < elements; ++i)
        places[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(1 + i * 7 % 20);
    workload.arrays[2] = Array(Type::i32, 20);
    for (std::int32_t i = 0; i < 20; ++i)
        workload.arrays[2].as<std::int32_t>()[static_cast<std::size_t>(i)] = i * i - 30;
    expect_agreement("all inside", workload, emitted, 1);
    places[static_cast<std::size_t>(elements - 1)] = 21;
    EXPECT_EQ(refusal([&] { (void)simt::run(workload, emitted); }),
              "table 't' has 20 entries; element " + std::to_string(elements - 1) +
                  " reads t[20], and indices run from 0 to 19");
}

}  // namespace
}  // namespace segfold::test::gather_tiles_test
