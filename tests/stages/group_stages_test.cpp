// Stages that fold elements by the numbers of their groups, in any order, against a fold of sorted elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "dsl/error.h"
#include "runtime/backends/backend_table.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/data/groups.h"
#include "runtime/data/shape.h"
#include "runtime/judge/compare.h"
#include "runtime/session/grouped/grouped_inputs.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::group_stages_test {
namespace {

using Settings = std::map<std::string, int>;

/// How the numbers of groups lie.
enum class Lie : std::uint8_t { uniform, zipf, equal, giant, distinct, sorted, reversed, blocks, none };
constexpr std::array kLies = {Lie::uniform, Lie::zipf,     Lie::equal,  Lie::giant, Lie::distinct,
                              Lie::sorted,  Lie::reversed, Lie::blocks, Lie::none};

std::int64_t number_at(Lie lie, std::int64_t i, std::int64_t count, std::int64_t groups, std::mt19937& random)
{
    const auto drawn = static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(groups));
    switch (lie) {
        case Lie::uniform: return drawn;
        case Lie::zipf:
            return static_cast<std::int64_t>(
                std::pow(static_cast<double>(groups),
                         static_cast<double>(drawn) / static_cast<double>(groups)) -
                1);
        case Lie::equal: return groups - 1;
        case Lie::giant: return random() % 2 == 0 ? groups / 2 : drawn;
        case Lie::distinct: return (i * 7 + 3) % groups;
        case Lie::sorted: return i * groups / count;
        case Lie::reversed: return groups - 1 - i * groups / count;
        case Lie::blocks: return i / 9 % groups;
        case Lie::none: return random() % 3 == 0 ? drawn : -1 - drawn % 3;
    }
    return 0;
}

/// Numbers of groups; with `covers` the first ones are all groups, so that none is empty.
Array numbers_of(Type type, Lie lie, std::int64_t count, std::int64_t groups, bool covers)
{
    std::mt19937 random(17);
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < count; ++i)
        numbers.push_back(covers && i < groups ? groups - 1 - i : number_at(lie, i, count, groups, random));
    Array array(type, numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
        std::memcpy(array.data() + i * size_bytes(type), &numbers[i], size_bytes(type));
    return array;
}

Operator operator_named(const std::string& name)
{
    if (name == "placed")
        return parse_operator("placed", R"(
            operator placed(x: i32, t: table i32) -> (hash: u64, power: u64) {
                state { hash: u64 = 0; power: u64 = 1 }
                lift { hash = u64(x) + u64(index * 3 + segment * 7) + u64(t[segment]); power = 31 }
                combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
            })");
    if (name == "indexed_sum")
        return parse_operator("indexed_sum", R"(
            operator indexed_sum(x: i32) -> i64 {
                state sum: i64 = 0
                lift i64(x) * 5 + index
                combine(a, b) a + b
                laws commutative
            })");
    if (name == "of_columns")  // its columns are smaller than its state
        return parse_operator("of_columns", R"(
            operator of_columns(x: i16, y: i8, factor: scalar i32) -> (hash: u64, power: u64) {
                state { hash: u64 = 0; power: u64 = 1 }
                lift { hash = u64(x) * 5 + u64(y) * u64(factor) + u64(segment); power = 31 }
                combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
            })");
    if (name == "counted_sum")
        return parse_operator("counted_sum", R"(
            operator counted_sum(x: i32) -> (sum: i32, count: i64) {
                state sum: i32 = 0
                lift x
                combine(a, b) a + b
                finish { sum = sum; count = length }
                laws commutative
            })");
    return matrix_operator(name);
}

Workload workload_of(const Operator& op, Array numbers, std::int64_t groups)
{
    auto workload = make_workload(op, segments_from_groups(std::move(numbers), groups), 5, groups);
    for (std::size_t i = 0; i < workload.arrays.size(); ++i)
        if (op.parameters[i].scalar)
            workload.arrays[i] = generate_values(op.parameters[i].type, 1, 3, ValueRange::small_integers);
    return workload;
}

/// The back end of the host's cores.
Backend& host()
{
    static const auto backend = make_backend("cpu", {});
    return *backend;
}

const Catalogue& catalogue_of(const Stage& stage)
{
    return stage.dialect == Dialect::native ? Catalogue::native() : Catalogue::standard();
}

const Stage& stage_called(const std::string& name)
{
    return (name == "group_shares" ? Catalogue::native() : Catalogue::standard()).stage(name);
}

Emitted emitted_for(const Workload& workload, const Stage& stage, const Settings& settings = {},
                    int index_bits = 32)
{
    Problem problem(workload.op, SegmentForm::groups, index_bits);
    problem.laws.commutative = workload.op.laws.commutative;
    problem.number_type = workload.segments.numbers.type();
    if (stage.dialect == Dialect::native)
        problem.target = host().target();
    return emit(problem, stage, configure(stage, settings, plan_facts(problem, shape_of(workload))),
                catalogue_of(stage));
}

Results run(const Workload& workload, const Emitted& emitted, int num_multiprocessors, std::uint64_t seed,
            int launches = 1)
{
    if (emitted.dialect == Dialect::native) {
        Circumstances circumstances;
        circumstances.launches = launches;
        circumstances.scratch_poison = std::uint8_t{0xa5};
        return host().run(workload, &emitted, circumstances);
    }
    return simt::run(workload, emitted, simt::options_from_seed(seed), {}, num_multiprocessors, launches, 0,
                     std::uint8_t{0xa5});
}

void expect_equal(const Results& results, const Results& wanted)
{
    ASSERT_EQ(results.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(std::memcmp(results[i].array.data(), wanted[i].array.data(), wanted[i].array.bytes()), 0);
}

void expect_agreement(const Workload& workload, const Emitted& emitted, int num_multiprocessors = 2,
                      std::uint64_t seed = 1)
{
    try {
        const auto sorted = sorted_by_group(workload);
        const auto comparison = Judge(sorted).compare(run(workload, emitted, num_multiprocessors, seed, 2));
        EXPECT_TRUE(comparison.agrees()) << segfold::print(comparison);
    } catch (const simt::SimtError& error) {
        ADD_FAILURE() << error.what();
    }
}

struct Case {
    std::string stage, op;
    std::int64_t groups;
    Settings settings;
    Type type = Type::i32;
    int index_bits = 32;
};

std::vector<Case> cases()
{
    std::vector<Case> all;
    const auto add = [&](const std::string& stage, const std::string& op, std::int64_t groups,
                         const Settings& settings, Type type = Type::i32, int bits = 32) {
        all.push_back({stage, op, groups, settings, type, bits});
    };
    const Settings small = {{"block_threads", 64}, {"rows", 4}, {"blocks_per_multiprocessor", 2}};
    for (const auto* op :
         {"sum_i32", "argmax_f32", "trace_u64", "affine_u32", "keep_first_i32", "max_subarray_i32",
          "mean_variance_f32", "sum_and_length", "placed", "indexed_sum", "sum_f16", "count_above_f32"})
        add("group_tables", op, 13, small);
    for (const auto* op : {"sum_i32", "sum_and_length", "mean_variance_f32", "trace_u64"})
        add("group_tables", op, 700, small);
    for (const auto& [type, groups] : {std::pair{Type::i8, 100},
                                       {Type::u8, 200},
                                       {Type::i16, 40},
                                       {Type::u16, 40},
                                       {Type::u32, 40},
                                       {Type::i64, 40},
                                       {Type::u64, 40}})
        add("group_tables", "trace_u64", groups, small, type);
    add("group_tables", "affine_u32", 17, {{"block_threads", 32}, {"table_groups", 32}}, Type::i64, 64);
    add("group_tables", "sum_i32", 16, {{"block_threads", 96}, {"rows", 16}, {"table_lanes", 1}});
    add("group_tables", "indexed_sum", 1, {{"block_threads", 128}, {"table_lanes", 32}}, Type::u8, 64);
    for (const auto* op : {"sum_i32", "max_f32", "argmax_f32", "indexed_sum", "counted_sum"}) {
        auto one_table = small;
        one_table["table_lanes"] = 0;
        add("group_tables", op, 300, one_table, Type::u16);
    }
    auto in_turns = small;
    in_turns.insert({{"table_lanes", 0}, {"in_turns", 1}});
    for (const auto* op : {"sum_f32", "affine_u32", "trace_u64", "keep_first_i32", "sum_and_length", "placed",
                           "mean_variance_f32", "sum_f16"})
        add("group_tables", op, 90, in_turns);
    in_turns["block_threads"] = 128;
    add("group_tables", "affine_u32", 1500, in_turns, Type::i64, 64);
    add("group_tables", "trace_u64", 2, in_turns, Type::u8);
    const Settings parts = {{"block_threads", 64}, {"rows", 4},          {"blocks_per_multiprocessor", 2},
                            {"tile_rows", 4},      {"table_groups", 64}, {"chunk_items", 1024},
                            {"parts", 32},         {"move_threads", 64}};
    for (const auto* op : {"sum_i32", "argmax_f32", "trace_u64", "keep_first_i32", "mean_variance_f32",
                           "sum_and_length", "placed", "of_columns", "sum_f16"})
        add("group_parts", op, 900, parts);
    auto many = parts;
    many["parts"] = 128;
    many["move_threads"] = 128;
    for (const auto* op : {"affine_u32", "mean_variance_f32", "sum_f16"})
        add("group_parts", op, 5000, many);
    add("group_parts", "affine_u32", 2048, parts);
    add("group_parts", "max_subarray_i32", 7, parts, Type::u8);
    add("group_parts", "trace_u64", 300, parts, Type::u16, 64);
    add("group_parts", "trace_u64", 1500, parts, Type::i64);
    for (const auto* op :
         {"sum_i32", "argmax_f32", "trace_u64", "affine_u32", "keep_first_i32", "max_subarray_i32",
          "mean_variance_f32", "sum_and_length", "indexed_sum", "sum_f16", "count_above_f32", "counted_sum"})
        add("group_shares", op, 13, {{"most_shares", 16}});
    for (const auto type : {Type::i8, Type::u8, Type::i16, Type::u16, Type::u32, Type::i64, Type::u64})
        add("group_shares", "trace_u64", 100, {{"most_shares", 64}}, type, type == Type::u16 ? 64 : 32);
    add("group_shares", "affine_u32", 1500, {{"most_shares", 256}});
    return all;
}

std::string print(const Case& one)
{
    return one.stage + "_" + one.op + "_" + std::to_string(one.groups) + "_" + std::string(name(one.type)) +
           "_" + std::to_string(one.index_bits) + "_" + std::to_string(one.settings.begin()->second);
}

[[maybe_unused]] void PrintTo(const Case& one, std::ostream* out) { *out << print(one); }

class GroupStages : public testing::TestWithParam<Case> {};

TEST_P(GroupStages, FoldAsSortedElementsDo)
{
    const auto& [stage_name, op_name, groups, settings, type, index_bits] = GetParam();
    const auto& stage = stage_called(stage_name);
    const bool is_native = stage.dialect == Dialect::native;
    if (is_native && host().interprets())
        GTEST_SKIP() << host().note();
    const auto op = operator_named(op_name);
    const bool covers = !op.takes_empty_segments();
    for (const auto lie : kLies) {
        if (lie == Lie::none && !is_signed_integer(type))
            continue;
        SCOPED_TRACE("lie " + std::to_string(static_cast<int>(lie)));
        auto workload = workload_of(
            op, numbers_of(type, lie, (is_native ? 60000 : 2500) + groups, groups, covers), groups);
        if (index_bits == 64)
            workload.segments.has_wide_indices = true;
        expect_agreement(workload, emitted_for(workload, stage, settings, index_bits));
    }
    for (const std::int64_t count : {0, 1, 31, 32, 33, 255, 256, 257, 511, 513, 1025}) {
        if (covers && count < groups)
            continue;
        SCOPED_TRACE(std::to_string(count) + " elements");
        auto workload = workload_of(op, numbers_of(type, Lie::uniform, count, groups, covers), groups);
        if (index_bits == 64)
            workload.segments.has_wide_indices = true;
        expect_agreement(workload, emitted_for(workload, stage, settings, index_bits), 3, 4);
    }
}

INSTANTIATE_TEST_SUITE_P(All, GroupStages, testing::ValuesIn(cases()),
                         [](const auto& info) { return print(info.param); });

TEST(GroupStages, JoinManyChunksOfAPart)
{
    const auto op = operator_named("affine_u32");
    auto numbers = numbers_of(Type::i32, Lie::uniform, 24000, 300, false);
    const auto all = numbers.as<std::int32_t>();
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = i % 50 == 0 ? all[i] : 70 + static_cast<std::int32_t>(i % 3);
    const auto workload = workload_of(op, std::move(numbers), 300);
    expect_agreement(workload, emitted_for(workload, stage_called("group_parts"),
                                           {{"block_threads", 64},
                                            {"move_threads", 64},
                                            {"tile_rows", 8},
                                            {"table_groups", 64},
                                            {"chunk_items", 1024},
                                            {"parts", 32}}));
}

/// Sums of floats round, so a change of the order of combination would show.
TEST(GroupStages, GiveTheSameBitsInAnyOrderOfThreads)
{
    const auto op = standard_operator("sum_f32");
    for (const auto* stage : {"group_tables", "group_parts"})
        for (const std::int64_t groups : {5, 600}) {
            const auto workload =
                workload_of(op, numbers_of(Type::i32, Lie::zipf, 6000, groups, false), groups);
            const auto emitted =
                emitted_for(workload, Catalogue::standard().stage(stage), {{"block_threads", 64}});
            const auto first = run(workload, emitted, 3, 1);
            for (std::uint64_t seed = 2; seed < 6; ++seed)
                expect_equal(run(workload, emitted, 3, seed), first);
        }
}

/// A bug that is planted in the text of a stage.
struct Planted {
    std::string name, stage, op, right, wrong;
    Settings settings = {};
};

[[maybe_unused]] void PrintTo(const Planted& bug, std::ostream* out) { *out << bug.name; }

const Settings kInTurns = {{"table_lanes", 0}, {"in_turns", 1}};

const std::vector<Planted> kPlanted = {
    {"LaterLanesJoinedFirst", "group_tables", "affine_u32", "__ffs(later) - 1 : lane",
     "31 - __clz(later) : lane"},
    {"LanesJoinedTwice", "group_tables", "trace_u64", "rank % 2 == 0 ? later & even : 0",
     "later & (later - 1)"},
    {"BitsReadTooEarly", "group_tables", "trace_u64", "__syncwarp();  // all lanes have set their bits", ""},
    {"EntriesReadTooEarly", "group_tables", "trace_u64",
     "__syncwarp();  // the entries are written before the next row", ""},
    {"LastElementFoldedAgain", "group_tables", "trace_u64",
     "if (index >= end)\n            groups[row] = -1;", ""},
    {"WarpsJoinedBackwards", "group_tables", "affine_u32", "tables + warp * kTableWords",
     "tables + (kBlockThreads / kWarpThreads - 1 - warp) * kTableWords"},
    {"LastGroupLeftOut", "group_tables", "trace_u64", "unsigned(number) < unsigned",
     "unsigned(number) + 1 < unsigned"},
    {"TablesOfTheLastShareLeftOut", "group_tables", "sum_i32", "min(begin + share, last)",
     "min(begin + share, last - 1)"},
    {"LanesTakeOneTable",
     "group_tables",
     "sum_i32",
     "* kEntryLanes + lane;",
     "* kEntryLanes;",
     {{"table_lanes", 32}}},
    {"StateThatLostARaceDropped",
     "group_tables",
     "argmax_f32",
     "seen.word = found;",
     "return;",
     {{"table_lanes", 0}}},
    {"TurnsNotWaitedFor", "group_tables", "affine_u32", "*whose != turn", "false", kInTurns},
    {"TurnPassedOnTooEarly", "group_tables", "trace_u64",
     "__threadfence_block();  // later turns see the entries", "", kInTurns},
    {"StampsOverwritten", "group_tables", "trace_u64",
     "__syncwarp();  // all lanes have written the stamp of this row", "", kInTurns},
    {"StampsOfOtherRows", "group_tables", "trace_u64", "found[row] == stamp + row", "found[row] == stamp",
     kInTurns},
    {"EqualGroupsOfSomeLanesJoined", "group_tables", "trace_u64", "later &= ~equal;", "later = 0;", kInTurns},
    {"TilesTakenTwice", "group_tables", "trace_u64", "first += kTableWarps * kRows * kWarpThreads",
     "first += kRows * kWarpThreads", kInTurns},
    {"RanksOfWarpsMixedUp", "group_parts", "trace_u64", "counts[groups[row] / kTableGroups] + ranks[row]",
     "ranks[row]"},
    {"RanksFromTheLastLane", "group_parts", "trace_u64", "__popc(peers & ((1u << lane) - 1))",
     "__popc(peers & ~((2u << lane) - 1))"},
    {"BitsOfPartsForgotten", "group_parts", "trace_u64", "int bit = 1; bit < kParts",
     "int bit = 2; bit < kParts"},
    {"RowsOfAWarpCountedOnce", "group_parts", "trace_u64", "counts[part] = u16(rank + __popc(peers));", ";"},
    {"PlacesTakenTwice", "group_parts", "sum_i32", "* kParts + part] = counts[part];",
     "* kParts + part] = 0;"},
    {"TilesOfAnotherShare", "group_parts", "sum_i32", "tile / share", "tile % share"},
    {"CountedTooEarly", "group_parts", "sum_i32", "__syncthreads();  // all elements of the tile are counted",
     ""},
    {"NextTileTooEarly", "group_parts", "sum_i32",
     "__syncthreads();  // the counts of all warps are written, and the tile before has been moved", ""},
    {"LastChunkForgotten", "group_parts", "sum_i32", "chunk < chunk_begins[part + 1]; ++chunk",
     "chunk + 1 < chunk_begins[part + 1]; ++chunk"},
    {"ChunkOfAnotherPart", "group_parts", "sum_i32", "chunk_begins[middle] <= chunk",
     "chunk_begins[middle] < chunk"},
    {"LastElementOfAPartForgotten", "group_parts", "sum_i32", "part_begins[part + 1])",
     "part_begins[part + 1] - 1)"},
    {"BlocksCountedOnce", "group_parts", "trace_u64", "part_begins[part] + block_begins",
     "part_begins[part] + 0 * block_begins"},
    {"SharesJoinedBackwards", "group_shares", "affine_u32", "combine(totals[k], table[k])",
     "combine(table[k], totals[k])"},
    {"LastShareLeftOut", "group_shares", "trace_u64", "share < num_shares; ++share) {",
     "share + 1 < num_shares; ++share) {"},
    {"SharesOverlap", "group_shares", "trace_u64", "(share + 1) / num_shares);",
     "(share + 1) / num_shares + (share + 1 < num_shares ? 64 : 0));"}};

class GroupBugs : public testing::TestWithParam<Planted> {};

TEST_P(GroupBugs, AreFound)
{
    const auto& [_, stage, op, right, wrong, more] = GetParam();
    const bool is_native = stage == "group_shares";
    const std::int64_t groups = stage == "group_parts" ? 300 : 12;
    const auto workload =
        workload_of(operator_named(op),
                    numbers_of(Type::i32, Lie::none, is_native ? 70000 : 5000, groups, false), groups);
    auto settings = more;
    if (!is_native)
        settings.insert({{"block_threads", 64}, {"blocks_per_multiprocessor", 2}});
    if (stage == "group_parts")
        settings.insert({{"tile_rows", 4},
                         {"table_groups", 64},
                         {"chunk_items", 1024},
                         {"parts", 32},
                         {"move_threads", 64}});
    auto emitted = emitted_for(workload, stage_called(stage), settings);
    const auto at = emitted.source.find(right);
    ASSERT_NE(at, std::string::npos) << "the text has no \"" << right << '"';
    emitted.source.replace(at, right.size(), wrong);
    const auto sorted = sorted_by_group(workload);
    const Judge judge(sorted);
    bool is_found = false;
    for (std::uint64_t seed = 1; seed < 8 && !is_found; ++seed) {
        try {
            is_found = !judge.compare(run(workload, emitted, 2, seed)).agrees();
        } catch (const Error&) {
            is_found = true;
        }
    }
    EXPECT_TRUE(is_found);
}

INSTANTIATE_TEST_SUITE_P(All, GroupBugs, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return info.param.name; });

/// The kernels note numbers that no group has, and leave these elements out.
TEST(GroupStages, NoteNumbersThatNoGroupHas)
{
    const auto op = standard_operator("sum_i32");
    for (const auto type : {Type::i32, Type::u8, Type::u64, Type::i64}) {
        auto workload = workload_of(op, numbers_of(type, Lie::uniform, 300, 9, false), 9);
        workload.segments.numbers = numbers_of(type, Lie::uniform, 300, 10, false);
        for (const auto* stage : {"group_tables", "group_parts", "group_shares"})
            EXPECT_THROW(run(workload, emitted_for(workload, stage_called(stage)), 2, 1), InputError);
    }
}

TEST(SegmentsFromGroups, NameTheFirstNumberThatNoGroupHas)
{
    const auto numbers = [] { return numbers_of(Type::i32, Lie::distinct, 20, 20, false); };
    try {
        (void)segments_from_groups(numbers(), 17);
        FAIL() << "17 groups serve for 20";
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "the number of the group of element 2 is 17, and there are 17 groups: numbers go from 0 to "
                  "16, and a negative one means no group");
    }
    EXPECT_EQ(segments_from_groups(numbers(), std::nullopt).num_segments, 20);
    EXPECT_EQ(first_empty_group(segments_from_groups(numbers(), 20)), std::nullopt);
    EXPECT_EQ(first_empty_group(segments_from_groups(numbers(), 22)), 20);
}

}  // namespace
}  // namespace segfold::test::group_stages_test
