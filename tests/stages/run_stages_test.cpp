// The stages that find segments in flags or keys: keys of every width, everything that operators may use, and
// segments that span many tiles.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::run_stages_test {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr int kMultiprocessors = 64;  // a block for everything

class RunStages : public testing::TestWithParam<std::string> {
protected:
    static const Stage& stage() { return Catalogue::standard().stage(GetParam()); }

    static Configuration smallest(SegmentForm form = SegmentForm::keys)
    {
        return smallest_configuration(stage(), Problem(standard_operator("sum_i32"), form));
    }
};

INSTANTIATE_TEST_SUITE_P(Each, RunStages, testing::ValuesIn(kRunStages),
                         [](const auto& info) { return info.param; });

/// An exact operator that is not commutative and uses the length.
Operator hash_and_length()
{
    return parse_operator("hash_and_length", R"(
        operator hash_and_length(x: u32) -> (hash: u64, count: i64) {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = u64(x) + 1; power = 0xd1342543de82ef95 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
            finish { hash = hash; count = length }
        })");
}

/// The mean of integers, which rounds once.
Operator mean()
{
    return parse_operator("mean", R"(
        operator mean(x: i16) -> f64 {
            state sum: i32 = 0
            lift i32(x)
            combine(a, b) a + b
            finish f64(sum) / f64(length)
        })");
}

/// An exact operator that is not commutative; its state fits into a word.
Operator short_hash()
{
    return parse_operator("short_hash", R"(
        operator short_hash(x: u16) -> (hash: u16, power: u16) {
            state { hash: u16 = 0; power: u16 = 1 }
            lift { hash = x + 1; power = 31 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        })");
}

/// An exact operator that is not commutative; elements of eight bytes are its states without a conversion.
Operator packed_hash()
{
    return parse_operator("packed_hash", R"(
        operator packed_hash(x: u64) -> u64 {
            state packed: u64 = 0x100000000
            lift x
            combine(a, b) {
                let power = (a >> 32) * (b >> 32);
                let hash = (a & 0xffffffff) * (b >> 32) + (b & 0xffffffff);
                packed = power << 32 | hash & 0xffffffff
            }
        })");
}

/// Like packed_hash() for elements of four bytes; uses the length too.
Operator packed_short_hash()
{
    return parse_operator("packed_short_hash", R"(
        operator packed_short_hash(x: u32) -> (hash: u32, count: i64) {
            state packed: u32 = 0x10000
            lift x
            combine(a, b) {
                let power = (a >> 16) * (b >> 16);
                let hash = (a & 0xffff) * (b >> 16) + (b & 0xffff);
                packed = power << 16 | hash & 0xffff
            }
            finish { hash = packed; count = length }
        })");
}

/// An operator that uses index, segment and length, and reads a table.
Operator places()
{
    return parse_operator("places", R"(
        operator places(column: i32, t: table i64) -> (a: i64, b: i64, n: i64) {
            state { a: i64 = 0; c: i64 = 0 }
            lift { a = index * 3; c = t[column - 1] }
            combine(a, b) { a = a.a + b.a; c = a.c + b.c }
            finish { a = a * 7 + c; b = segment; n = length }
        })");
}

simt::Options overtaking()
{
    simt::Options options;
    options.schedule = simt::Schedule::overtaking;
    options.block_order = simt::BlockOrder::ascending;
    return options;
}

/// A run_stream with so many tiles that its tree has three levels, the last group of each not full.
TEST(RunStream, CarriesClimbTheTree)
{
    const auto& stage = Catalogue::standard().stage("run_stream");
    const Problem problem(standard_operator("trace_u64"), SegmentForm::keys);
    const auto configuration = smallest_configuration(stage, problem);
    const auto emitted = emit(problem, stage, configuration);
    const auto tile = block_and_tile(stage, problem, configuration).second;
    const std::int64_t n = tile * (32 * 32 + 40) + 7;
    for (const Lengths& lengths :
         {Lengths{n}, Lengths{3, tile * 70, 1, tile * 955, tile, n - tile * 1026 - 4}}) {
        const auto workload = make_workload("trace_u64", from_keys(lengths), 3);
        simt::CompileOptions unchecked;
        unchecked.shadow_check = false;
        const auto comparison = Judge(workload).compare(simt::run(workload, emitted, {}, unchecked));
        ASSERT_TRUE(comparison.agrees()) << segfold::print(comparison);
    }
}

/// Lengths of segments that span whole tiles. They begin and end at borders of tiles, one item before and
/// behind them, and where 32 borders are full. Some span many tiles, one is alone, and one ends in a last
/// tile without a head.
std::vector<std::pair<std::string, Lengths>> through_tiles(std::int64_t tile)
{
    Lengths growing;
    for (std::int64_t k = 1; k <= 9; ++k)
        growing.push_back(k * tile + k % 3 - 1);
    Lengths ones(static_cast<std::size_t>(tile), 1);
    ones.insert(ones.end(), {40 * tile, 1, 1});
    // More segments than tiles, so that tiles exchange states at their borders, up to the end or up to the
    // long segments.
    Lengths behind_short(300, 7);
    behind_short.insert(behind_short.end(), {70 * tile, 3, 5 * tile + 2});
    Lengths before_short{3 * tile, 40 * tile + 1};
    before_short.insert(before_short.end(), 600, tile / 7);
    before_short.push_back(20 * tile);
    Lengths one_a_tile(40, tile);
    one_a_tile.front() = 3;
    return {{"one tile", {tile}},
            {"one giant over three tiles", {3 * tile}},
            {"one giant over many tiles", {75 * tile + 5}},
            {"one giant that ends with a tile", {66 * tile}},
            {"each tile a segment", Lengths(36, tile)},
            {"two tiles each", Lengths(34, 2 * tile)},
            {"three tiles and one item each", Lengths(12, 3 * tile + 1)},
            {"three tiles less one item each", Lengths(12, 3 * tile - 1)},
            {"borders at borders", {tile, 3 * tile, tile, tile, 2 * tile, 4 * tile, tile}},
            {"ends one behind the borders", {tile + 1, 3 * tile, tile, 2 * tile, tile - 1}},
            {"ends one before the borders", {tile - 1, 3 * tile, tile, 2 * tile, tile, 1}},
            {"ever longer ones", growing},
            {"groups of 32 borders exactly", {32 * tile, 32 * tile, tile}},
            {"behind groups of 32 borders", {33 * tile, 32 * tile, tile}},
            {"before the last border of a group", {31 * tile + 2, 35 * tile, 1}},
            {"giants one behind the other", {3, 40 * tile, 1, 33 * tile + 2, 2 * tile, 34 * tile - 1, 5}},
            {"a giant behind ones", ones},
            {"giants behind short ones", behind_short},
            {"short ones between giants", before_short},
            {"as many as tiles, and one", one_a_tile},
            {"the last tile has no head", {tile - 3, 2 * tile + 5}},
            {"the last tile has no head, after many", {5, 50 * tile}},
            {"the last item is a head", {50 * tile, 1}},
            // A warp looks back over 64, 128 or 256 borders at once; the size of the state decides.
            {"a look-back of 64 borders and of one more", {5, 65 * tile, 66 * tile, 1}},
            {"a look-back of 128 borders and of one more", {5, 129 * tile, 130 * tile, 1}},
            {"a look-back of 256 borders and of one more", {5, 257 * tile, 258 * tile, 1}}};
}

struct Through {
    Operator op;
    SegmentForm form;
    int index_bits = 32;
    int slices = 0;  ///< slices of copied items of a warp in run_tiles; 0: items are not copied
};

/// Returns `configuration` with this number of slices of copied items a warp; unchanged if it is 0.
Configuration with_slices(Configuration configuration, int slices)
{
    if (slices != 0) {
        configuration["copies"] = 1;
        configuration["slices_per_warp"] = slices;
    }
    return configuration;
}

TEST_P(RunStages, SegmentsGoThroughManyTiles)
{
    const Through all[] = {{standard_operator("trace_u64"), SegmentForm::keys},
                           {standard_operator("affine_u32"), SegmentForm::flags},
                           {short_hash(), SegmentForm::keys},
                           {packed_hash(), SegmentForm::keys},
                           {standard_operator("keep_first_i32"), SegmentForm::keys},
                           {hash_and_length(), SegmentForm::keys},
                           {hash_and_length(), SegmentForm::flags, 64},
                           {mean(), SegmentForm::flags},
                           {packed_hash(), SegmentForm::keys, 32, 1},
                           {packed_hash(), SegmentForm::keys, 64, 2},
                           {packed_short_hash(), SegmentForm::keys, 32, 2},
                           {packed_short_hash(), SegmentForm::flags, 32, 3}};
    Draw draw;
    for (const auto& [op, form, index_bits, slices] : all) {
        if ((slices != 0 && stage().name != "run_tiles") ||
            !draw.takes(stage().name + " " + op.name + " " + std::string(name(form)) + " " +
                        std::to_string(slices)))
            continue;
        const Problem problem(op, form, index_bits);
        const auto configuration = with_slices(smallest_configuration(stage(), problem), slices);
        const auto emitted = emit(problem, stage(), configuration);
        std::uint64_t seed = 1;
        for (const auto& [shape, lengths] :
             through_tiles(block_and_tile(stage(), problem, configuration).second)) {
            SCOPED_TRACE(op.name + " over " + std::string(name(form)) + ", " + shape);
            const auto workload =
                make_workload(op, with_index_bits(segments_in_form(form, lengths), index_bits), 7);
            const Judge judge(workload);
            const auto run = [&](const simt::Options& options) {
                return judge.compare(simt::run(workload, emitted, options, {}, kMultiprocessors, 2));
            };
            const auto comparison = run(simt::options_from_seed(seed++));
            ASSERT_TRUE(comparison.agrees()) << segfold::print(comparison);
            if (op.name == "trace" || op.name == "short_hash" || op.name == "packed_hash") {
                const auto other = run(overtaking());
                ASSERT_TRUE(other.agrees()) << "overtaking: " << segfold::print(other);
            }
        }
    }
}

/// Tries each kind of schedule, with few blocks at a time and with nearly all.
TEST_P(RunStages, SchedulesDoNotMatter)
{
    Draw draw;
    for (const auto& op : {standard_operator("trace_u64"), short_hash(), packed_hash()}) {
        if (!draw.takes("schedules of " + stage().name + " " + op.name))
            continue;
        const Problem problem(op, SegmentForm::keys);
        const auto configuration = smallest_configuration(stage(), problem);
        const auto emitted = emit(problem, stage(), configuration);
        const auto tile = block_and_tile(stage(), problem, configuration).second;
        const Lengths lengths = {3, 3 * tile, tile - 3, 36 * tile, tile, 1, 2 * tile, 5 * tile, 2};
        const auto workload = make_workload(op, from_keys(lengths), 7);
        const Judge judge(workload);
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            auto options = simt::options_from_seed(seed);
            options.resident_blocks = seed % 2 == 0 ? 2 : 40;
            const auto comparison =
                judge.compare(simt::run(workload, emitted, options, {}, kMultiprocessors, 3));
            ASSERT_TRUE(comparison.agrees())
                << op.name << ", seed " << seed << ": " << segfold::print(comparison);
        }
    }
}

/// The second launch meets scratch memory of a launch over other segments.
TEST_P(RunStages, EarlierLaunchesCountAsNothing)
{
    for (const auto& op :
         {standard_operator("trace_u64"), short_hash(), hash_and_length(), packed_short_hash()}) {
        const Problem problem(op, SegmentForm::keys);
        const bool is_copied = stage().name == "run_tiles" && op.name == "packed_short_hash";
        const auto configuration = with_slices(smallest_configuration(stage(), problem), is_copied ? 2 : 0);
        const auto emitted = emit(problem, stage(), configuration);
        const auto tile = block_and_tile(stage(), problem, configuration).second;
        const std::vector<Lengths> lists = {Lengths(static_cast<std::size_t>(tile * 2), 21),
                                            Lengths(14, 3 * tile),
                                            {42 * tile},
                                            {tile / 2, 30 * tile, tile, 11 * tile - tile / 2}};
        for (std::size_t i = 0; i < lists.size() * 2; ++i) {
            const auto& lengths = lists[i % lists.size()];
            const auto earlier = from_keys(lists[(i + 1 + i / lists.size()) % lists.size()]);
            const auto workload = make_workload(op, from_keys(lengths), 7);
            ASSERT_EQ(earlier.num_elements, workload.segments.num_elements);
            const auto results = simt::run(workload, emitted, simt::options_from_seed(i + 1), {},
                                           kMultiprocessors, 2, 0, {}, nullptr, &earlier);
            const auto comparison = Judge(workload).compare(results);
            ASSERT_TRUE(comparison.agrees())
                << op.name << ", list " << i % lists.size() << ": " << segfold::print(comparison);
        }
    }
}

/// Keys of every width, equal by their bits, and flags of every type.
TEST_P(RunStages, KeysMayHaveAnyWidth)
{
    auto configuration = smallest();
    configuration["items_per_thread"] = 16;  // lanes then read as many keys at once as possible
    for (const Type type :
         {Type::u8, Type::boolean, Type::bf16, Type::i16, Type::f32, Type::i64, Type::f64}) {
        // Keys are compared by bits: these differ in the highest byte only, and NaN equals itself.
        Array keys(type, 3000);
        const auto width = size_bytes(type);
        std::memset(keys.data(), type == Type::boolean ? 0 : 0xff, keys.bytes());
        for (std::size_t i = 0; i < keys.length(); ++i)
            keys.data()[i * width + width - 1] = static_cast<std::byte>(i / 7 % 2);
        for (std::size_t i = 1000; i < 2500; ++i)
            keys.data()[i * width + width - 1] = std::byte{0};
        Problem problem(standard_operator("sum_i32"), SegmentForm::keys);
        problem.key_bytes = static_cast<int>(width);
        const auto workload = make_workload("sum_i32", segments_from_keys(keys.copy(), 3000), 5);
        const auto results = simt::run(workload, emit(problem, stage(), configuration));
        ASSERT_TRUE(results.keys);
        EXPECT_EQ(results.keys->type(), type);
        const auto comparison = Judge(workload).compare(results);
        ASSERT_TRUE(comparison.agrees()) << name(type) << ": " << segfold::print(comparison);
    }
}

/// Flags and keys are read in vectors if a lane has 16 items. Small tiles and wide states have fewer.
TEST_P(RunStages, FlagsAndKeysAreReadInVectors)
{
    const auto op = short_hash();
    auto configuration = smallest();
    configuration["items_per_thread"] = 16;
    const auto [block, tile] = block_and_tile(stage(), Problem(op, SegmentForm::keys), configuration);
    for (const auto kind : {LayoutKind::flags, LayoutKind::keys}) {
        const auto emitted = emit(Problem(op, form_of(kind)), stage(), configuration);
        for (const auto& shape : segment_cases(kind, block, tile, true)) {
            Workload workload;
            workload.op = op;
            workload.segments = shape.segments.copy();
            workload.arrays.push_back(
                generate_values(Type::u16, workload.segments.num_elements, 5, ValueRange::uniform));
            const auto results = simt::run(workload, emitted, simt::options_from_seed(2), {}, 2, 2);
            const auto comparison = Judge(workload).compare(results);
            ASSERT_TRUE(comparison.agrees())
                << name(kind) << ", " << shape.name << ": " << segfold::print(comparison);
        }
    }
}

/// States of every width are staged in vectors or one by one, from arrays that begin anywhere.
TEST_P(RunStages, ItemsAreReadInVectors)
{
    Draw draw;
    for (const char* name : {"sum_i8", "sum_bf16", "sum_i32", "sum_i64", "affine_u32", "trace_u64",
                             "appended_pair", "max_subarray_i32", "appended_hash"}) {
        const auto op = matrix_operator(name);
        const bool is_copied = stage().name == "run_tiles" &&
                               (op.state[0].type == Type::i32 || op.state[0].type == Type::i64) &&
                               op.name == "sum";
        for (const auto& [items, slices] : std::vector<std::pair<int, int>>{
                 {stage().name == "lean_stream" ? 8 : 4, 0}, {16, 0}, {8, 3}, {16, 2}}) {
            if ((slices != 0 && !is_copied) ||
                !draw.takes(stage().name + " " + name + " " + std::to_string(items) + std::to_string(slices)))
                continue;
            const auto kind = items % 16 == 8 || items < 8 ? LayoutKind::keys : LayoutKind::flags;
            const Problem problem(op, form_of(kind));
            auto configuration = with_slices(smallest(form_of(kind)), slices);
            configuration["items_per_thread"] = items;
            const auto [block, tile] = block_and_tile(stage(), problem, configuration);
            const auto emitted = emit(problem, stage(), configuration);
            int shifted = 0;
            for (const auto& shape : segment_cases(kind, block, tile, true)) {
                const auto workload = make_workload(name, shape.segments.copy(), 5);
                const auto results =
                    simt::run(workload, emitted, simt::options_from_seed(3), {}, 2, 2, shifted++ % 2);
                const auto comparison = Judge(workload).compare(results);
                ASSERT_TRUE(comparison.agrees()) << name << ", " << items << " items, " << shape.name << ": "
                                                 << segfold::print(comparison);
            }
        }
    }
}

/// Bits must not depend on the schedule, even if rounding makes the order of combination visible.
TEST_P(RunStages, CarriesAreCombinedInOneOrder)
{
    if (stage().name == "lean_stream")
        GTEST_SKIP() << "its shares are as many as the GPU has room for";
    const auto emitted = emit(Problem(standard_operator("sum_f32"), SegmentForm::flags), stage(),
                              smallest(SegmentForm::flags));
    const auto workload = make_workload("sum_f32", from_flags({5, 20000, 3, 9000}), 5);
    const auto first = simt::run(workload, emitted);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const auto other =
            simt::run(workload, emitted, simt::options_from_seed(seed), {}, static_cast<int>(seed) * 3);
        for (std::size_t s = 0; s < 4; ++s)
            EXPECT_EQ(first[0].array.as<std::uint32_t>()[s], other[0].array.as<std::uint32_t>()[s]) << seed;
    }
}

/// If kernels find the segments, index, segment and length reach the operator, and tables are read.
TEST_P(RunStages, LengthsOfFoundSegmentsReachTheOperator)
{
    const auto op = places();
    const auto configuration = smallest();
    for (const auto kind : {LayoutKind::flags, LayoutKind::keys})
        for (const int bits : {32, 64}) {
            Problem problem(op, form_of(kind), bits);
            problem.checked_tables = {"t"};
            const auto emitted = emit(problem, stage(), configuration);
            const auto [block, tile] = block_and_tile(stage(), problem, configuration);
            for (const auto& shape : segment_cases(kind, block, tile, true)) {
                Workload workload;
                workload.op = op;
                workload.segments = with_index_bits(shape.segments.copy(), bits);
                const auto n = workload.segments.num_elements;
                auto column = generate_values(Type::i32, n, 5, ValueRange::small_integers);
                for (auto& value : column.as<std::int32_t>())
                    value = (value < 0 ? -value : value) + 1;
                workload.arrays.push_back(std::move(column));
                workload.arrays.push_back(generate_values(Type::i64, 20, 6, ValueRange::small_integers));
                const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
                ASSERT_TRUE(comparison.agrees()) << shape.name << ": " << segfold::print(comparison);
            }
        }
}

}  // namespace
}  // namespace segfold::test::run_stages_test
