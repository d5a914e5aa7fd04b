// Delicate cases of the stage warp_stream: many ends in one place, shares that end among them, elements of
// every width, tables, arrays that begin anywhere.
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::warp_stream_test {
namespace {

const Stage& stage() { return Catalogue::standard().stage("warp_stream"); }

Segments offsets_segments(const std::vector<std::int64_t>& lengths)
{
    return segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
}

Configuration configuration(int block, int per_multiprocessor, int items, int ring, int held = 0,
                            bool sparse_ends = false)
{
    return {{"block_threads", block},    {"blocks_per_multiprocessor", per_multiprocessor},
            {"items_per_thread", items}, {"held_totals", held},
            {"ring_offsets", ring},      {"sparse_ends", sparse_ends}};
}

std::int64_t tile_of(const Configuration& configuration) { return configuration.at("items_per_thread") * 32; }

/// How a workload is run.
struct How {
    int num_multiprocessors = 3;
    int shifted_elements = 0;
    std::uint64_t seed = 1;
};

void expect_agreement(const std::string& what, const Workload& workload, const Emitted& emitted,
                      const How& how = {})
{
    SCOPED_TRACE(what + ", multiprocessors " + std::to_string(how.num_multiprocessors));
    try {
        const auto results = simt::run(workload, emitted, simt::options_from_seed(how.seed), {},
                                       how.num_multiprocessors, 1, how.shifted_elements);
        const auto comparison = Judge(workload).compare(results);
        EXPECT_TRUE(comparison.agrees()) << segfold::print(comparison);
    } catch (const simt::SimtError& error) {
        ADD_FAILURE() << error.what();
    }
}

struct Crowded {
    std::string op;
    int index_bits;
    Configuration configuration;
};

/// Returns cases with every size of the ring, blocks of one warp and of several, and both ways to combine.
std::vector<Crowded> crowded()
{
    return {{"trace_u64", 32, configuration(64, 2, 8, 256)},
            {"trace_u64", 64, configuration(64, 2, 8, 256)},
            {"trace_u64", 32, configuration(32, 16, 32, 1024)},
            {"sum_i32", 32, configuration(128, 1, 16, 512)},
            {"trace_u64", 32, configuration(32, 2, 8, 256, 256)},
            {"affine_u32", 64, configuration(32, 4, 32, 512)},
            {"costly_trace", 32, configuration(32, 3, 16, 256)},
            {"costly_trace", 64, configuration(64, 1, 8, 512)},
            {"max_subarray_i32", 32, configuration(96, 3, 8, 1024)},
            // If more segments end than there is room for, lanes process their rows in turns.
            {"max_subarray_i32", 32, configuration(64, 2, 8, 256, 0, true)},
            {"trace_u64", 64, configuration(32, 2, 32, 256, 0, true)},
            {"costly_trace", 32, configuration(96, 1, 16, 512, 256, true)},
            {"appended_pair", 32, configuration(64, 1, 16, 256, 0, true)},
            {"affine_u32", 64, configuration(32, 4, 32, 1024, 256, true)}};
}

/// Lengths of tiles in which a segment ends before each item, with more empty segments before the last item
/// than there is room for.
std::vector<std::int64_t> full_tiles_with_empties(std::int64_t tile, std::int64_t empties)
{
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(tile - 1), 1);
    for (int k = 0; k < 20; ++k) {
        lengths.insert(lengths.end(), static_cast<std::size_t>(empties), 0);
        lengths.insert(lengths.end(), static_cast<std::size_t>(tile), 1);
    }
    return lengths;
}

TEST(WarpStream, EmptySegmentsBehindATileFullOfEnds)
{
    for (const auto& [held, sparse, empties] :
         {std::tuple{0, false, 40}, std::tuple{512, true, 400}, std::tuple{0, true, 400}})
        for (const auto& [op, bits] : {std::pair{"sum_i32", 32}, std::pair{"trace_u64", 64}}) {
            const auto emitted = emit(Problem(matrix_operator(op), SegmentForm::offsets, bits), stage(),
                                      configuration(32, 1, 8, 1024, held, sparse));
            const auto workload = make_workload(
                op, with_index_bits(offsets_segments(full_tiles_with_empties(256, empties)), bits), 11);
            for (const int multiprocessors : {1, 3})
                expect_agreement(std::string(op) + ", held " + std::to_string(held), workload, emitted,
                                 {.num_multiprocessors = multiprocessors});
        }
}

std::string print(const Crowded& c)
{
    auto text = c.op + "_" + std::to_string(c.index_bits);
    for (const auto& [name, value] : c.configuration)
        text += "_" + std::to_string(value);
    return text;
}

[[maybe_unused]] void PrintTo(const Crowded& c, std::ostream* out) { *out << print(c); }

class CrowdedEnds : public testing::TestWithParam<Crowded> {};

/// Tries more ends in one place than the ring holds, shares that end among empty segments, and more shares
/// than items.
TEST_P(CrowdedEnds, AgreeWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto& param = GetParam();
    const Problem problem(matrix_operator(param.op), SegmentForm::offsets, param.index_bits);
    const auto emitted = emit(problem, stage(), param.configuration);
    for (const auto& [name, lengths] : crowded_cases(tile_of(param.configuration))) {
        const auto workload =
            make_workload(param.op, with_index_bits(offsets_segments(lengths), param.index_bits), 11);
        std::uint64_t seed = 1;
        for (const int multiprocessors : {1, 3, 64})
            expect_agreement(name, workload, emitted, {multiprocessors, 0, seed++});
    }
}

INSTANTIATE_TEST_SUITE_P(WarpStream, CrowdedEnds, testing::ValuesIn(crowded()),
                         [](const auto& info) { return print(info.param); });

/// Shares of uniform segments, cut everywhere.
TEST(WarpStream, UniformSegmentsAreCutAnywhere)
{
    for (const int bits : {32, 64}) {
        const Problem problem(standard_operator("trace_u64"), SegmentForm::uniform, bits);
        const auto emitted = emit(problem, stage(), configuration(64, 2, 8, 256));
        for (const std::int64_t length : {1, 2, 3, 255, 256, 257, 1000})
            for (const std::int64_t count : {1, 2, 7})
                for (const int multiprocessors : {1, 3, 64})
                    expect_agreement(
                        std::to_string(count) + " segments of " + std::to_string(length),
                        make_workload("trace_u64",
                                      with_index_bits(uniform_segments(length * count, length), bits), 11),
                        emitted, {multiprocessors, 0, 2});
    }
}

/// Lengths for a few tiles: long and short segments, empty segments, a last tile that is not full.
std::vector<std::int64_t> some_lengths(std::int64_t tile)
{
    return {3, tile + 1, 0, 0, 5, 2 * tile, 31, 33, tile - 7, 0, 1, 1, 4 * tile + 3, 12};
}

/// The polynomial hash of columns, whatever their types.
Operator hash_of(const std::vector<Type>& types)
{
    std::string parameters, value = "1";
    for (std::size_t i = 0; i < types.size(); ++i) {
        const std::string column = "x" + std::to_string(i);
        parameters += (i == 0 ? "" : ", ") + column + ": " + std::string(name(types[i]));
        value += " + u64(i32(" + column + ") + 9) * " + std::to_string(2 * i + 3);
    }
    return parse_operator("hash", "operator hash(" + parameters + R"() -> (hash: u64, power: u64) {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = )" + value + R"(; power = 0xd1342543de82ef95 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        })");
}

/// A lane's row takes 8 to 256 bytes, in steps of 4 elements.
TEST(WarpStream, ElementsMayHaveAnyWidth)
{
    for (const auto& types :
         std::vector<std::vector<Type>>{{Type::u8},
                                        {Type::boolean},
                                        {Type::i16},
                                        {Type::f16},
                                        {Type::f32},
                                        {Type::i64},
                                        {Type::f64},
                                        {Type::u8, Type::i64, Type::f16},
                                        {Type::i64, Type::boolean, Type::u32, Type::u8}}) {
        const Problem problem(hash_of(types), SegmentForm::offsets);
        for (const int items : {8, 16, 32}) {
            auto chosen = default_configuration(stage(), plan_facts(problem));
            if (types.size() == 1)
                chosen = configuration(32, 2, items, 256);
            else
                chosen["items_per_thread"] = std::min(items, chosen.at("items_per_thread"));
            const auto emitted = emit(problem, stage(), chosen);
            std::string what = std::to_string(chosen.at("items_per_thread")) + " items of";
            for (const auto type : types)
                what += " " + std::string(name(type));
            auto workload = make_workload(problem.op, offsets_segments(some_lengths(tile_of(chosen))), 3);
            for (std::size_t i = 0; i < types.size(); ++i)  // such as are exact as integers
                workload.arrays[i] = generate_values(types[i], workload.segments.num_elements, i + 3,
                                                     ValueRange::small_integers);
            expect_agreement(what, workload, emitted, {1, 0, 1});
            expect_agreement(what + ", shifted", workload, emitted, {3, 1, 2});
        }
    }
}

/// An array that begins in the middle of a vector is read element by element.
TEST(WarpStream, ArraysMayBeginAnywhere)
{
    for (const int bits : {32, 64}) {
        const Problem problem(standard_operator("affine_u32"), SegmentForm::offsets, bits);
        const auto emitted = emit(problem, stage(), configuration(64, 2, 8, 256));
        for (const auto& [name, lengths] : crowded_cases(256)) {
            const auto workload =
                make_workload("affine_u32", with_index_bits(offsets_segments(lengths), bits), 11);
            for (const int shift : {1, 2, 3})
                expect_agreement(name + ", shifted by " + std::to_string(shift), workload, emitted,
                                 {2, shift, static_cast<std::uint64_t>(shift)});
        }
    }
}

/// A tile that is not full has items that no element stands for; no table may be read for them.
TEST(WarpStream, TablesAreReadForElementsOnly)
{
    const auto one_based = parse_operator("one_based", R"(
        operator one_based(column: i32, t: table i64) -> i64 {
            state sum: i64 = 0
            lift t[column - 1]
            combine(a, b) a + b
        })");
    const auto weighted = parse_operator("weighted", R"(
        operator weighted(x: i32, weights: table i32) -> i32 {
            state sum: i32 = 0
            lift x * weights[index]
            combine(a, b) a + b
        })");
    for (const auto* op : {&one_based, &weighted}) {
        const Problem problem(*op, SegmentForm::offsets);
        const auto chosen = configuration(32, 2, 8, 256);
        const auto emitted = emit(problem, stage(), chosen);
        for (const auto& lengths : {some_lengths(tile_of(chosen)), {1}, {0, 0, 0}}) {
            const auto n = total(lengths);
            auto workload = make_workload(*op, offsets_segments(lengths), 3,
                                          op == &weighted ? n
                                          : n == 0        ? 0
                                                          : 8);
            if (op == &one_based)
                for (auto& column : workload.arrays[0].as<std::int32_t>())
                    column = (column + 8) % 8 + 1;
            expect_agreement(op->name + ", " + std::to_string(n) + " elements", workload, emitted);
        }
    }
}

}  // namespace
}  // namespace segfold::test::warp_stream_test
