// Reads of tables: compares ranges of integers with every pair of values, and tests reads that the data prove
// to lie inside and the message about the first element that reads outside.
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/emit.h"
#include "codegen/peers/peer.h"
#include "dsl/evaluation/interpreter.h"
#include "dsl/evaluation/table_reads.h"
#include "dsl/text/parser.h"
#include "runtime/judge/reference.h"
#include "runtime/judge/table_check.h"
#include "tests/common/edge_values.h"
#include "tests/common/files.h"
#include "tests/common/random_operator.h"

namespace segfold::table_reads_test {
namespace {

struct Named {
    const char* symbol;
    Opcode opcode;
};

constexpr Named kBinary[] = {
    {"+", Opcode::add},          {"-", Opcode::subtract},    {"*", Opcode::multiply},
    {"/", Opcode::divide},       {"%", Opcode::remainder},   {"&", Opcode::bit_and},
    {"|", Opcode::bit_or},       {"^", Opcode::bit_xor},     {"<<", Opcode::shift_left},
    {">>", Opcode::shift_right}, {"==", Opcode::equal},      {"!=", Opcode::not_equal},
    {"<", Opcode::less},         {"<=", Opcode::less_equal},
};

WideInteger value_of(Type type, std::uint64_t bits)
{
    return is_signed_integer(type) ? WideInteger{static_cast<std::int64_t>(bits)} : WideInteger{bits};
}

/// Up to twelve neighbouring values, sometimes at an end of the type.
Interval some_values(Type type, std::mt19937_64& random)
{
    const auto all = values_of(type);
    const auto span = static_cast<std::int64_t>(random() % 12);
    auto low = all.low + static_cast<WideInteger>(random() % 256) * (all.high - all.low) / 255;
    if (random() % 2 == 0)
        low = static_cast<std::int64_t>(random() % 20) - (is_signed_integer(type) ? 10 : 0);
    low = std::clamp<WideInteger>(low, all.low, all.high - span);
    return {low, low + span};
}

TEST(Interval, HoldsEveryValueOfEveryOperation)
{
    std::mt19937_64 random(5);
    for (const Type type : {Type::i8, Type::u8, Type::i16, Type::i32, Type::u32, Type::i64, Type::u64})
        for (int round = 0; round < 300; ++round) {
            const auto left = some_values(type, random), right = some_values(type, random);
            for (auto x = left.low; x <= left.high; ++x) {
                const auto bits = static_cast<std::uint64_t>(x);
                const auto holds = [&](const Interval& values, Opcode opcode, std::uint64_t other, Type of) {
                    const auto value = value_of(of, run_integer(opcode, type, bits, other));
                    ASSERT_TRUE(values.contains(value))
                        << name(type) << " opcode " << static_cast<int>(opcode) << " of "
                        << static_cast<std::int64_t>(bits) << " and " << static_cast<std::int64_t>(other);
                };
                holds(unary_values("-", type, left), Opcode::negate, 0, type);
                holds(unary_values("~", type, left), Opcode::bit_not, 0, type);
                holds(function_values("abs", type, left, {}), Opcode::absolute, 0, type);
                holds(function_values("popcount", type, left, {}), Opcode::count_ones, 0, Type::i32);
                holds(function_values("clz", type, left, {}), Opcode::leading_zeros, 0, Type::i32);
                for (auto y = right.low; y <= right.high; ++y) {
                    const auto other = static_cast<std::uint64_t>(y);
                    for (const auto& [symbol, opcode] : kBinary)
                        holds(binary_values(symbol, type, left, right), opcode, other,
                              opcode >= Opcode::equal && opcode <= Opcode::less_equal ? Type::boolean : type);
                    holds(function_values("min", type, left, right), Opcode::minimum, other, type);
                    holds(function_values("max", type, left, right), Opcode::maximum, other, type);
                }
                for (const Type to : kTypes) {
                    if (is_float(to))
                        continue;
                    const auto kept = value_of(to, to == Type::boolean ? bits != 0 : wrap(to, bits));
                    ASSERT_TRUE(wrapped(to, left).contains(kept)) << name(type) << " to " << name(to);
                }
            }
        }
}

TEST(Interval, IsExactWhereNothingIsTornApart)
{
    EXPECT_EQ(wrapped(Type::u8, {-1, -1}), (Interval{255, 255}));
    EXPECT_EQ(wrapped(Type::u8, {-3, -1}), (Interval{253, 255}));
    EXPECT_EQ(wrapped(Type::u8, {-1, 0}), (Interval{0, 255}));
    EXPECT_EQ(wrapped(Type::i8, {256, 260}), (Interval{0, 4}));
    EXPECT_EQ(wrapped(Type::i8, {120, 130}), (Interval{-128, 127}));
    EXPECT_EQ(binary_values("%", Type::i32, {0, 1000}, {20, 20}), (Interval{0, 19}));
    EXPECT_EQ(binary_values("%", Type::i32, {-5, 3}, {20, 20}), (Interval{-5, 3}));
    EXPECT_EQ(binary_values("&", Type::i32, {-100, 1000}, {15, 15}), (Interval{0, 15}));
    EXPECT_EQ(binary_values("/", Type::i32, {-7, 9}, {2, 3}), (Interval{-3, 4}));
    EXPECT_EQ(binary_values("<", Type::i32, {0, 4}, {5, 9}), (Interval{1, 1}));
}

/// Columns j (i32), u (u64), b (bool), x (f32), and tables t (f32) and k (i32).
Workload workload_of(const std::string& lift, std::initializer_list<std::int32_t> j, std::size_t length,
                     std::initializer_list<std::int32_t> k = {0, 1, 2, 3})
{
    const auto op =
        parse_operator("test",
                       "operator o(j: i32, u: u64, b: bool, x: f32, t: table f32, k: table i32) -> f32 {\n"
                       "  state s: f32 = 0\n  lift " +
                           lift + "\n  combine(a, b) a + b\n}\n");
    Workload workload{op, {}, uniform_segments(static_cast<std::int64_t>(j.size()), 1)};
    Array wide(Type::u64, j.size()), truth(Type::boolean, j.size()), real(Type::f32, j.size());
    std::size_t i = 0;
    for (const auto value : j) {
        wide.as<std::uint64_t>()[i] = static_cast<std::uint64_t>(std::int64_t{value});
        truth.as<bool>()[i] = value > 0;
        real.as<float>()[i++] = static_cast<float>(value);
    }
    workload.arrays.push_back(make_array<std::int32_t>(Type::i32, j));
    workload.arrays.push_back(std::move(wide));
    workload.arrays.push_back(std::move(truth));
    workload.arrays.push_back(std::move(real));
    workload.arrays.push_back(Array(Type::f32, length));
    std::ranges::fill(workload.arrays.back().as<float>(), 1.0F);
    workload.arrays.push_back(make_array<std::int32_t>(Type::i32, k));
    return workload;
}

using Names = std::vector<std::string>;

TEST(TableReads, AreProvedByTheRangesOfTheData)
{
    const auto proved = [](const std::string& lift, std::size_t length,
                           std::initializer_list<std::int32_t> j = {0, 3, 19, 7}) {
        return unproved_tables(workload_of(lift, j, length)).empty();
    };
    EXPECT_TRUE(proved("t[j]", 20));
    EXPECT_FALSE(proved("t[j]", 19));
    EXPECT_FALSE(proved("t[j + 1]", 20));
    EXPECT_TRUE(proved("t[j + 1]", 21));
    EXPECT_FALSE(proved("t[j - 1]", 20));
    EXPECT_TRUE(proved("t[u8(j)]", 256, {-1, -2})) << "255 and 254";
    EXPECT_FALSE(proved("t[u8(j)]", 255, {-1, -2}));
    EXPECT_TRUE(proved("t[u8(j)]", 300, {-1, 5}));
    EXPECT_FALSE(proved("t[i8(j)]", 300, {200}));
    EXPECT_TRUE(proved("t[j % 5]", 5));
    EXPECT_FALSE(proved("t[j % 5]", 5, {-1}));
    EXPECT_TRUE(proved("t[j & 7]", 8, {-1000, 1000}));
    EXPECT_TRUE(proved("t[j ^ 1]", 32));
    EXPECT_FALSE(proved("t[j ^ 1]", 19));
    EXPECT_TRUE(proved("t[min(max(j, 0), 3)]", 4, {-9, 9}));
    EXPECT_TRUE(proved("t[u]", 20));
    EXPECT_FALSE(proved("t[u]", 20, {-1})) << "2^64 - 1";
    EXPECT_TRUE(proved("t[u8(x)]", 256, {-1000}));
    EXPECT_FALSE(proved("t[i32(x)]", 256));
    EXPECT_TRUE(proved("t[i32(b)]", 2));
    EXPECT_TRUE(proved("t[index] + t[position] + t[segment]", 4));
    EXPECT_FALSE(proved("t[index]", 3));
    EXPECT_TRUE(proved("t[position]", 1));
    EXPECT_TRUE(proved("t[j]", 0, {})) << "there is no element";
    EXPECT_TRUE(proved("{ let i = j - 3; s = t[i * i] }", 257, {-13, 19}));
    EXPECT_FALSE(proved("{ let never = t[j]; s = x }", 19)) << "a let is always evaluated";
}

TEST(TableReads, AreProvedByTheirConditions)
{
    const auto proved = [](const std::string& lift) {
        return unproved_tables(workload_of(lift, {-100, 100}, 20)).empty();
    };
    EXPECT_TRUE(proved("j >= 0 && j < 20 ? t[j] : 0"));
    EXPECT_FALSE(proved("j >= 0 && j <= 20 ? t[j] : 0"));
    EXPECT_FALSE(proved("j >= 0 || j < 20 ? t[j] : 0"));
    EXPECT_TRUE(proved("j < 0 || j > 19 ? 0 : t[j]"));
    EXPECT_TRUE(proved("!(j < 0) && !(20 <= j) ? t[j] : 0"));
    EXPECT_TRUE(proved("0 <= j + 1 && j + 1 < 20 ? t[j + 1] : 0"));
    EXPECT_TRUE(proved("j > -1 && j < 20 && t[j] > 0 ? 1 : 0"));
    EXPECT_TRUE(proved("j < 0 || j >= 20 || t[j] > 0 ? 1 : 0"));
    EXPECT_TRUE(proved("j == 19 ? t[j] : 0"));
    EXPECT_TRUE(proved("i64(j) >= 0 && i64(j) < 20 ? t[j] : 0"));
    EXPECT_FALSE(proved("u8(j) < 20 ? t[j] : 0"));
    EXPECT_TRUE(proved("{ let ok = j >= 0 && j < 20; s = ok ? t[j] : 0 }"));
    EXPECT_TRUE(proved("{ let i = j + 1; s = i < 0 ? 0 : i < 20 ? t[i] : 0 }"));
    EXPECT_TRUE(proved("t[j < 0 ? 0 : j < 20 ? j : 19]"));
    EXPECT_TRUE(proved("j > 200 ? t[j] : 0")) << "no element gets there";
    EXPECT_FALSE(proved("b ? t[j] : 0")) << "what b has to do with j is not known";
}

TEST(TableReads, ThroughTablesAreProvedByTheirEntries)
{
    const auto unproved = [](const std::string& lift, std::initializer_list<std::int32_t> j,
                             std::initializer_list<std::int32_t> k) {
        return unproved_tables(workload_of(lift, j, 20, k));
    };
    EXPECT_EQ(unproved("t[k[j]]", {0, 1, 2}, {5, 19, 7}), Names());
    EXPECT_EQ(unproved("t[k[j]]", {0, 1, 2}, {5, 20, 7}), Names{"t"});
    EXPECT_EQ(unproved("t[k[j]]", {0, 1, 3}, {5, 19, 7}), Names{"k"});
    EXPECT_EQ(unproved("t[k[j] - 5]", {0, 1, 3}, {5, 19, 7}), (Names{"t", "k"}))
        << "the 0 that an outside read gives makes -5";
    EXPECT_EQ(unproved("k[j] < 20 && k[j] >= 0 ? t[k[j]] : 0", {0, 1}, {-50, 50}), Names());
}

/// What lift reads and what map does; results may be anything.
TEST(TableReads, OfMapAreProvedToo)
{
    const auto workload = [](const std::string& map, std::size_t length) {
        auto made = workload_of("1", {0, 3, 19, 7}, length);
        made.op = parse_operator(
            "test",
            "operator o(j: i32, u: u64, b: bool, x: f32, t: table f32, k: table i32) -> (s: i32, each y: "
            "f32) {\n"
            "  state n: i32 = 0\n  lift { let i = 2; n = k[i] }\n  combine(a, b) a + b\n  finish n\n  map " +
                map + "\n}\n");
        return made;
    };
    const auto unproved = [&](const std::string& map, std::size_t length) {
        return unproved_tables(workload(map, length));
    };
    EXPECT_EQ(unproved("t[j]", 20), Names());
    EXPECT_EQ(unproved("t[j]", 19), Names{"t"});
    EXPECT_EQ(unproved("t[segment]", 4), Names());
    EXPECT_EQ(unproved("t[segment]", 3), Names{"t"});
    EXPECT_EQ(unproved("t[length]", 2), Names());
    EXPECT_EQ(unproved("t[length]", 1), Names{"t"});
    EXPECT_EQ(unproved("t[length - 1]", 1), Names());
    EXPECT_EQ(unproved("t[s]", 1000), Names{"t"});
    EXPECT_EQ(unproved("t[s & 7]", 8), Names());
    EXPECT_EQ(unproved("s >= 0 && s < 9 ? t[s] : 0", 9), Names());
    EXPECT_EQ(unproved("{ let i = j + 1; y = t[i] }", 20), Names{"t"}) << "i of lift is another one";
    EXPECT_EQ(unproved("t[k[j & 3]]", 4), Names());
    const auto by_results = [&](const std::string& map) { return reads_by_results(workload(map, 1).op); };
    EXPECT_FALSE(by_results("t[j] * f32(s)"));
    EXPECT_TRUE(by_results("t[s]"));
    EXPECT_TRUE(by_results("{ let i = s + 1; y = t[i] }"));
    EXPECT_TRUE(by_results("{ let is_large = s > 3; y = is_large ? t[j] : 0 }"));
    EXPECT_FALSE(by_results("{ let is_large = s > 3; y = t[j] > 0 || is_large ? 1 : 0 }"));
    EXPECT_EQ(columns_of_places(workload("t[j] + t[u]", 1).op),
              (std::vector<bool>{true, true, false, false}));
}

TEST(TableReads, ByRoundingAreToldApart)
{
    const auto by_rounding = [](const std::string& lift) {
        return reads_by_rounding(workload_of(lift, {0}, 1).op);
    };
    EXPECT_FALSE(by_rounding("x * t[j]"));
    EXPECT_FALSE(by_rounding("t[i32(x)]"));
    EXPECT_FALSE(by_rounding("x < 2 ? t[j] : x * 2"));
    EXPECT_TRUE(by_rounding("t[i32(x * 2)]"));
    EXPECT_TRUE(by_rounding("x * 3 < 2 ? t[j] : 0"));
    EXPECT_TRUE(by_rounding("{ let y = x + 1; s = y > 2 && t[j] > 0 ? 1 : 0 }"));
}

std::string message(const Workload& workload)
{
    return refusal([&] { check_tables(workload); });
}

TEST(CheckTables, NamesTheFirstElement)
{
    EXPECT_EQ(message(workload_of("t[j + 1]", {0, 3, 19, 20}, 20)),
              "table 't' has 20 entries; element 2 reads t[20], and indices run from 0 to 19");
    EXPECT_EQ(message(workload_of("t[u8(j)]", {-1, 5}, 300)), "nothing was refused");
    EXPECT_EQ(message(workload_of("t[i8(j)]", {5, 200}, 300)),
              "table 't' has 300 entries; element 1 reads t[-56], and indices run from 0 to 299");
    EXPECT_EQ(message(workload_of("t[u]", {5, -1}, 300)),
              "table 't' has 300 entries; element 1 reads t[18446744073709551615], and indices run from 0 to "
              "299");
    EXPECT_EQ(message(workload_of("t[j]", {0, 1}, 0)),
              "table 't' has no entries; element 0 reads t[0], and an empty table cannot be read");
    EXPECT_EQ(message(workload_of("t[k[j] - 5]", {0, 1, 3}, 20, {5, 19, 7})),
              "table 'k' has 3 entries; element 2 reads k[3], and indices run from 0 to 2");
    EXPECT_EQ(message(workload_of("j % 2 == 0 ? t[j / 2] : 0", {8, 41, 39}, 5)), "nothing was refused")
        << "the others read nothing";
    EXPECT_EQ(message(workload_of("j % 2 == 1 ? t[j / 2] : 0", {8, 9, 39}, 5)),
              "table 't' has 5 entries; element 2 reads t[19], and indices run from 0 to 4");
}

TEST(CheckTables, TakesTheOrderOfTheSegments)
{
    auto workload = workload_of("t[j]", {9, 0, 8, 0, 7}, 7);
    const auto indices = [](std::initializer_list<std::int64_t> values) {
        return make_array<std::int64_t>(Type::i64, values);
    };
    workload.segments = segments_from_ranges(indices({3, 2, 1}), indices({5, 4, 2}), 5);
    EXPECT_EQ(message(workload),
              "table 't' has 7 entries; element 4 reads t[7], and indices run from 0 to 6");
    workload.segments = segments_from_ranges(indices({1, 3}), indices({2, 4}), 5);
    EXPECT_EQ(message(workload), "nothing was refused") << "no segment has the others";
}

/// If several threads find faults in many pieces, the message names the first element.
TEST(CheckTables, NamesTheFirstOfManyElements)
{
    const std::int64_t n = 300'000;
    auto workload = workload_of("t[j]", {0}, 20);
    for (std::size_t c = 0; c < 4; ++c)
        workload.arrays[c] = Array(workload.arrays[c].type(), n);
    auto places = workload.arrays[0].as<std::int32_t>();
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = i >= 123'456 ? 20 : static_cast<std::int32_t>(i % 20);
    for (const std::int64_t length : {n, std::int64_t{3}, std::int64_t{100'000}}) {
        workload.segments = uniform_segments(n, length);
        EXPECT_EQ(message(workload),
                  "table 't' has 20 entries; element 123456 reads t[20], and indices run from 0 to 19");
    }
}

/// A read that the evaluator refuses never counts as proved.
TEST(CheckTables, HoldsNothingProvedThatIsNot)
{
    int num_proved = 0, num_refused = 0;
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        RandomOperator make(seed);
        std::mt19937_64 random(seed);
        Operator op;
        op.name = "random";
        Workload workload{{}, {}, uniform_segments(6, 2)};
        for (const Type type : kTypes) {
            op.parameters.push_back({"x_" + std::string(name(type)), type, false, {}});
            std::vector<std::uint64_t> bits(6);
            const auto known = edges(type);
            for (auto& value : bits)
                value = random() % 3 == 0 ? random() % 9 : known[random() % known.size()];
            workload.arrays.push_back(array_of_bits(type, bits));
        }
        for (const auto& [table, type] : {std::pair("t", Type::f32), std::pair("k", Type::i32)}) {
            op.parameters.push_back({table, type, true, {}});
            workload.arrays.push_back(
                array_of_bits(type, std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
        }
        const auto type =
            std::array{Type::i8, Type::u8, Type::i32, Type::u32, Type::i64, Type::u64}[seed % 6];
        auto index = make.make_expression(type, 4);
        index = seed % 3 == 0 ? index % 9 : seed % 3 == 1 ? call("min", {index, Expression(8)}) : index;
        const auto condition = make.make_expression(Type::boolean, 3);
        const auto place = make_name("place");
        op.state = {{"s", Type::f32, Expression(0), {}}};
        op.lift.lets = {{"place", convert(type, index), {}}};
        op.lift.assignments = {
            {"s", select(condition && place < 8, make_gather("t", place), Expression(0)), {}}};
        op.combine.assignments = {{"s", make_field(Operand::earlier, "s"), {}}};
        workload.op = check(std::move(op));
        const bool is_proved = unproved_tables(workload).empty();
        const bool is_refused = refusal([&] { reduce_sequentially(workload); }) != "nothing was refused";
        ASSERT_FALSE(is_proved && is_refused) << "seed " << seed;
        num_proved += is_proved;
        num_refused += is_refused;
    }
    EXPECT_GT(num_proved, 40);
    EXPECT_GT(num_refused, 20);
}

std::string text_of(const Operator& op, const std::vector<std::string>& checked, int bits = 32)
{
    Problem problem(op, SegmentForm::offsets, bits);
    problem.checked_tables = checked;
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    return emit(problem, stage, default_configuration(stage, plan_facts(problem))).source;
}

TEST(CheckedText, ChecksTheTablesThatAreAskedFor)
{
    const auto op = workload_of("t[u] + f32(k[j + 1]) + t[index]", {0}, 1).op;
    const auto both = text_of(op, {"t", "k"});
    EXPECT_NE(both.find("    return gather(t, i64(u)) + float(gather(k, int(unsigned(j) + 1))) + gather(t, "
                        "index);\n"),
              both.npos)
        << both;
    EXPECT_NE(both.find("    const float* x;\n    Table_f32 t;\n    Table_i32 k;\n};\n"), both.npos) << both;
    const auto one = text_of(op, {"k"});
    EXPECT_NE(one.find("    const float* t;  // table\n    Table_i32 k;\n};\n"), one.npos) << one;
    EXPECT_NE(one.find("    return t[u] + float(gather(k, int(unsigned(j) + 1))) + t[index];\n"), one.npos)
        << one;
    const auto none = text_of(op, {});
    EXPECT_EQ(none.find("gather"), none.npos);
    EXPECT_EQ(none.find("Table_"), none.npos);
}

TEST(CheckedText, KeepsALetThatOnlyReads)
{
    const auto op = workload_of("{ let never = t[j]; s = x }", {0}, 1).op;
    EXPECT_EQ(text_of(op, {}).find("const float never"), std::string::npos);
    const auto text = text_of(op, {"t"});
    EXPECT_NE(text.find("    [[maybe_unused]] const float never = gather(t, j);\n"), text.npos) << text;
}

TEST(CheckedText, IsNotThePeers)
{
    Problem problem(workload_of("t[j]", {0}, 1).op, SegmentForm::offsets);
    problem.laws.commutative = true;
    const auto plain = emit_peer(problem, peer("cub_segmented")).source;
    problem.checked_tables = {"t"};
    EXPECT_EQ(emit_peer(problem, peer("cub_segmented")).source, plain);
}

}  // namespace
}  // namespace segfold::table_reads_test
