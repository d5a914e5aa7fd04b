// Delicate cases of the stage lean_stream: tiles that are processed again, shares that end among empty
// segments, flags and keys, rows of every length, elements and states of every width, arrays that begin
// anywhere.
#include <gtest/gtest.h>

#include <sstream>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::lean_stream_test {
namespace {

const Stage& stage() { return Catalogue::standard().stage("lean_stream"); }

Segments offsets_segments(const std::vector<std::int64_t>& lengths)
{
    return segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
}

Configuration configuration(int block, int items, bool byte_marks, int ring = 256, int held = 256)
{
    return {{"block_threads", block},   {"blocks_per_multiprocessor", 2},
            {"byte_marks", byte_marks}, {"items_per_thread", items},
            {"held_totals", held},      {"ring_offsets", ring}};
}

void expect_agreement(const std::string& what, const Workload& workload, const Emitted& emitted,
                      int multiprocessors = 3, std::uint64_t seed = 1, int shifted_elements = 0)
{
    SCOPED_TRACE(what + ", multiprocessors " + std::to_string(multiprocessors));
    try {
        const auto results = simt::run(workload, emitted, simt::options_from_seed(seed), {}, multiprocessors,
                                       1, shifted_elements);
        const auto comparison = Judge(workload).compare(results);
        EXPECT_TRUE(comparison.agrees()) << segfold::print(comparison);
    } catch (const simt::SimtError& error) {
        ADD_FAILURE() << error.what();
    }
}

struct Crowded {
    std::string name;
    std::string op;
    int index_bits;
    Configuration configuration;
    Numbers numbers = Numbers::constant;
};

class LeanCrowdedEnds : public testing::TestWithParam<Crowded> {};

/// More ends in a tile than the ring or the room for totals holds, and shares that end among empty segments.
TEST_P(LeanCrowdedEnds, AgreeWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto& param = GetParam();
    const Problem problem(matrix_operator(param.op), SegmentForm::offsets, param.index_bits);
    const auto emitted = emit(problem, stage(), param.configuration, Catalogue::standard(), param.numbers);
    std::uint64_t seed = 1;
    for (const auto& [name, lengths] : crowded_cases(param.configuration.at("items_per_thread") * 32)) {
        const auto workload =
            make_workload(param.op, with_index_bits(offsets_segments(lengths), param.index_bits), 11);
        for (const int multiprocessors : {1, 3, 64})
            expect_agreement(name, workload, emitted, multiprocessors, seed++);
    }
}

/// Ends fill a tile to its last item and use all room, with empty segments at the tile's border.
TEST(LeanStream, EndsFillATile)
{
    const std::int64_t tile = 8 * 32;
    std::vector<std::int64_t> bordered, closing(static_cast<std::size_t>(2 * tile), 1), twos;
    for (int k = 0; k < 6; ++k) {
        bordered.insert(bordered.end(), static_cast<std::size_t>(tile), 1);
        bordered.insert(bordered.end(), static_cast<std::size_t>(k), 0);
    }
    closing.insert(closing.end(), 150, 0);
    for (int k = 0; k < 5 * tile / 2; ++k)
        twos.push_back(2);
    twos.insert(twos.end(), 3, 0);
    for (const auto& [op, bits] : {std::pair{"sum_i32", 32}, std::pair{"trace_u64", 64}}) {
        const auto emitted = emit(Problem(matrix_operator(op), SegmentForm::offsets, bits), stage(),
                                  configuration(64, 8, false));
        std::uint64_t seed = 1;
        for (const auto& lengths : {bordered, closing, twos})
            for (const int multiprocessors : {1, 2, 3, 64})
                expect_agreement(std::to_string(lengths.size()) + " segments",
                                 make_workload(op, with_index_bits(offsets_segments(lengths), bits), 11),
                                 emitted, multiprocessors, seed++);
    }
}

INSTANTIATE_TEST_SUITE_P(
    LeanStream, LeanCrowdedEnds,
    testing::Values(Crowded{"Bits8", "trace_u64", 32, configuration(64, 8, false)},
                    Crowded{"Bits16Wide", "trace_u64", 64, configuration(32, 16, false), Numbers::at_launch},
                    Crowded{"Bits32", "affine_u32", 32, configuration(64, 32, false)},
                    Crowded{"Bits64", "sum_i32", 32, configuration(32, 64, false, 1024, 512)},
                    Crowded{"Bytes16", "trace_u64", 32, configuration(64, 16, true), Numbers::at_launch},
                    Crowded{"Bytes32Wide", "affine_u32", 64, configuration(32, 32, true)},
                    Crowded{"Bytes64", "sum_i32", 32, configuration(32, 64, true)},
                    Crowded{"Costly", "costly_trace", 32, configuration(32, 16, false), Numbers::at_launch},
                    Crowded{"CostlyBytesWide", "costly_trace", 64, configuration(64, 16, true)},
                    Crowded{"Fields", "max_subarray_i32", 32, configuration(64, 8, false)},
                    Crowded{"Empty", "appended_pair", 32, configuration(64, 8, false)},
                    Crowded{"EmptyBytesWide", "appended_pair", 64, configuration(32, 16, true),
                            Numbers::at_launch}),
    [](const auto& info) { return info.param.name; });

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

const std::vector<std::int64_t> kSomeLengths = {3, 513, 0, 0, 5, 1030, 31, 33, 249, 0, 1, 1, 2051, 12};

TEST(LeanStream, ElementsMayHaveAnyWidthAndArraysBeginAnywhere)
{
    const std::vector<std::pair<std::vector<Type>, int>> cases = {
        {{Type::i8}, 32}, {{Type::boolean}, 8},       {{Type::f16}, 16},
        {{Type::f64}, 8}, {{Type::i8, Type::u8}, 16}, {{Type::i64, Type::boolean, Type::u32, Type::u8}, 32}};
    for (const auto& [types, items] : cases) {
        const Problem problem(hash_of(types), SegmentForm::offsets);
        const auto emitted = emit(problem, stage(), configuration(32, items, false));
        auto workload = make_workload(problem.op, offsets_segments(kSomeLengths), 3);
        std::string what = std::to_string(items) + " items of";
        for (std::size_t i = 0; i < types.size(); ++i) {  // values that are exact as integers
            what += " " + std::string(name(types[i]));
            workload.arrays[i] =
                generate_values(types[i], workload.segments.num_elements, i + 3, ValueRange::small_integers);
        }
        expect_agreement(what, workload, emitted, 1, 1);
        expect_agreement(what + ", shifted", workload, emitted, 3, 2, 1);
    }
}

/// States of 1, 2, 3, 6 and 12 bytes stand in rows of their own alignment.
TEST(LeanStream, StatesMayHaveAnyWidth)
{
    const std::vector<std::pair<std::string, int>> cases = {
        {"i8", 8}, {"i16", 32}, {"i8 i8 i8", 16}, {"i16 i16 i16", 8}, {"i32 i32 i32", 16}, {"i64 i8", 32}};
    for (const auto& [fields, items] : cases) {
        std::string state, lift, combine, results;
        std::istringstream words(fields);
        std::string type;
        for (int i = 0; words >> type; ++i) {
            const auto n = "s" + std::to_string(i);
            results += (i == 0 ? "" : ", ") + n + ": " + type;
            state += n + ": " + type + " = 0; ";
            lift += n + " = " + type + "(x) + " + std::to_string(i) + "; ";
            combine += n + " = a." + n + " + b." + n + "; ";
        }
        const auto op =
            parse_operator("sums", "operator sums(x: i32) -> (" + results + ") { state { " + state +
                                       "} lift { " + lift + "} combine(a, b) { " + combine + "} }");
        expect_agreement(fields, make_workload(op, offsets_segments(kSomeLengths), 3),
                         emit(Problem(op, SegmentForm::offsets), stage(), configuration(32, items, false)), 2,
                         3);
    }
}

/// The last tile has items without elements. Tables must not be read for them.
TEST(LeanStream, TablesAreReadForElementsOnly)
{
    const auto op = parse_operator("weighted", R"(
        operator weighted(x: i32, weights: table i32) -> i32 {
            state sum: i32 = 0
            lift x * weights[index]
            combine(a, b) a + b
        })");
    const auto emitted = emit(Problem(op, SegmentForm::offsets), stage(), configuration(32, 8, false));
    for (const auto& lengths : {kSomeLengths, {1}, {0, 0, 0}})
        expect_agreement("weighted", make_workload(op, offsets_segments(lengths), 3, total(lengths)),
                         emitted);
}

/// States that are arrays, and scalars that the launch passes and lift reads like tables.
TEST(LeanStream, StatesMayBeArraysAndLaunchesGiveScalars)
{
    const std::vector<std::pair<std::string, int>> cases = {
        {"histogram_8_i32", 8}, {"top_four_f32", 16}, {"count_above_i32", 32}, {"binned_sum_f32", 8}};
    for (const auto& [name, items] : cases) {
        const auto op = standard_operator(name);
        expect_agreement(name, make_workload(op, offsets_segments(kSomeLengths), 3, 1),
                         emit(Problem(op, SegmentForm::offsets), stage(), configuration(32, items, false)), 2,
                         5);
    }
}

/// A histogram of sixteen bins just fits; larger states are refused with a message.
TEST(LeanStream, StatesThatDoNotFitAreRefused)
{
    const auto problem_of = [](int bins) {
        const auto n = std::to_string(bins);
        return Problem(
            parse_operator("bins", "operator bins(x: i32) -> (bins: i32[" + n + "]) { state bins: i32[" + n +
                                       "] = 0 lift { for k in 0.." + n +
                                       " { bins[k] = x == k ? 1 : 0 } } combine(a, b) { for k in 0.." + n +
                                       " { bins[k] = a.bins[k] + b.bins[k] } } }"),
            SegmentForm::offsets);
    };
    EXPECT_NO_THROW((void)emit(problem_of(16), stage(), configuration(32, 8, false)));
    try {
        (void)emit(problem_of(17), stage(), configuration(32, 8, false));
        ADD_FAILURE() << "68 bytes were taken";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("state_bytes <= 64"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace segfold::test::lean_stream_test
