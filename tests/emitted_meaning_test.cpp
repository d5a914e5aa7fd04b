// What the emitted text computes, against the evaluator of the language: every operation of every type on edge
// values, then random expressions and random operators.
//
// One thread folds one segment from left to right on the fiber executor, so results must agree bit for bit; NaNs are
// equal whatever their bits. The compiler's checks for undefined behaviour are on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "dsl/check.h"
#include "dsl/half.h"
#include "dsl/parser.h"
#include "dsl/printer.h"
#include "runtime/reference.h"
#include "runtime/simt/simt_backend.h"
#include "tests/random_operator.h"

namespace segfold {
namespace {

constexpr std::int64_t kElements = 512;
constexpr std::size_t kTableLength = 8;

std::string text(Type type) { return std::string(name(type)); }

/// Bits of the values at which operations change their behaviour.
std::vector<std::uint64_t> edges(Type type)
{
    std::vector<std::uint64_t> bits;
    if (type == Type::boolean)
        return {0, 1};
    const unsigned width = static_cast<unsigned>(size_bytes(type)) * 8;
    if (is_integer(type)) {
        const std::uint64_t top = std::uint64_t{1} << (width - 1);
        for (const std::uint64_t value : {0, 1, 2, 3, 7, 8, 15, 31, 32, 63, 100})
            bits.insert(bits.end(), {value, 0 - value, top + value, top - value});
        return bits;
    }
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> values = {0,     1,       0.5,    1.5,     2.5,        3,          127.5,   255.5,
                                        256,   32767.5, 65504,  65535.5, 65536,      2147483520, 0x1p31,  0x1p32,
                                        0x1p63, 0x1p64, 1e-3,   6e-8,    5.9604e-08, 6.1e-5,     1e-40,   1e-310,
                                        3e38,  1e300,   1e10,   inf,     std::nan("")};
    for (const double magnitude : values)
        for (const double value : {magnitude, -magnitude}) {
            const auto single = static_cast<float>(value);
            bits.push_back(type == Type::f16    ? f32_to_f16(single)
                           : type == Type::bf16 ? f32_to_bf16(single)
                           : type == Type::f32  ? std::bit_cast<std::uint32_t>(single)
                                                : std::bit_cast<std::uint64_t>(value));
        }
    return bits;
}

Array array_of_bits(Type type, const std::vector<std::uint64_t>& bits)
{
    Array array(type, bits.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
        std::memcpy(array.data() + i * size_bytes(type), &bits[i], size_bytes(type));
    return array;
}

/// Edge values and random ones by turns.
Array random_array(Type type, std::size_t length, std::mt19937_64& random)
{
    const auto known = edges(type);
    std::vector<std::uint64_t> bits(length);
    for (auto& value : bits) {
        value = random();
        if (random() % 3 != 0 || type == Type::boolean)
            value = known[value % known.size()];
    }
    return array_of_bits(type, bits);
}

/// `x` and `y` of one type take every pair of edge values.
std::pair<Array, Array> pairs_of_edges(Type type)
{
    std::vector<std::uint64_t> left, right;
    for (const auto x : edges(type))
        for (const auto y : edges(type)) {
            left.push_back(x);
            right.push_back(y);
        }
    return {array_of_bits(type, left), array_of_bits(type, right)};
}

/// An operator whose results are `values` of each element: its segments have one element each.
Operator each_element(std::vector<Parameter> parameters, const std::vector<Expression>& values,
                      const std::vector<Type>& types)
{
    Operator op;
    op.name = "each_element";
    op.parameters = std::move(parameters);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto field = "value_" + std::to_string(i);
        op.state.push_back({field, types[i], {}, {}});
        op.lift.assignments.push_back({field, values[i], {}});
        op.combine.assignments.push_back({field, make_field(Operand::earlier, field), {}});
    }
    return check(std::move(op));
}

Emitted emit_for(const Workload& workload)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const Problem problem(workload.op, workload.segments.form, workload.segments.index_bits());
    return emit(problem, stage, configure(stage, {{"block_threads", 64}}));
}

Results run_emitted(const Workload& workload)
{
    return simt::run(workload, emit_for(workload), {}, {.shadow_check = false, .undefined_sanitizer = true});
}

template <class Word>
std::uint64_t word_at(const Array& array, std::size_t i)
{
    return array.as<Word>()[i];
}

std::uint64_t bits_at(const Array& array, std::size_t i)
{
    const auto size = size_bytes(array.type());
    return size == 1   ? word_at<std::uint8_t>(array, i)
           : size == 2 ? word_at<std::uint16_t>(array, i)
           : size == 4 ? word_at<std::uint32_t>(array, i)
                       : word_at<std::uint64_t>(array, i);
}

double number_at(const Array& array, std::size_t i)
{
    const auto bits = bits_at(array, i);
    switch (array.type()) {
    case Type::f16:
        return f16_to_f32(static_cast<std::uint16_t>(bits));
    case Type::bf16:
        return bf16_to_f32(static_cast<std::uint16_t>(bits));
    case Type::f32:
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default:
        return std::bit_cast<double>(bits);
    }
}

bool equal(const Array& left, const Array& right, std::size_t i)
{
    const bool nans = is_float(left.type()) && std::isnan(number_at(left, i)) && std::isnan(number_at(right, i));
    return nans || bits_at(left, i) == bits_at(right, i);
}

std::string value_text(const Array& array, std::size_t i)
{
    std::string number = is_float(array.type()) ? fmt::format(" = {}", number_at(array, i)) : "";
    return fmt::format("{} {:#x}{}", name(array.type()), bits_at(array, i), number);
}

/// What the segment's first element was, for the message of a failure.
std::string inputs_text(const Workload& workload, std::size_t element)
{
    std::string list;
    for (std::size_t p = 0; p < workload.arrays.size(); ++p)
        if (!workload.op.parameters[p].table && element < workload.arrays[p].length())
            list += "\n  " + workload.op.parameters[p].name + ": " + value_text(workload.arrays[p], element);
    return list;
}

/// Compares field by field; a field's first difference is shown with its expression.
void expect_equal(const Workload& workload, const Results& got, const Results& expected)
{
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t f = 0; f < got.size(); ++f)
        for (std::size_t s = 0; s < expected[f].array.length(); ++s) {
            if (equal(got[f].array, expected[f].array, s))
                continue;
            const bool by_element = workload.op.lift.assignments.size() == got.size();
            ADD_FAILURE() << "result " << got[f].name << " of segment " << s << " is " << value_text(got[f].array, s)
                          << ", not " << value_text(expected[f].array, s) << "\nof "
                          << (by_element ? print(workload.op.lift.assignments[f].value) : print(workload.op))
                          << inputs_text(workload, s);
            break;
        }
}

void expect_meaning(Operator op, std::vector<Array> arrays)
{
    const auto length = static_cast<std::int64_t>(arrays.front().length());
    const Workload workload{std::move(op), std::move(arrays), uniform_segments(length, 1)};
    expect_equal(workload, run_emitted(workload), reduce_sequentially(workload));
}

class EveryType : public testing::TestWithParam<Type> {};

std::string type_name(const testing::TestParamInfo<Type>& info) { return text(info.param); }

// Arithmetic, comparisons, shifts, functions and traps of precedence, on all pairs of edge values.
TEST_P(EveryType, OperationsMeanWhatTheLanguageSays)
{
    const Type type = GetParam();
    std::vector<std::string> same = {"x", "x == y ? x : y", "x < y ? x : x > y ? y : x"};
    std::vector<std::string> tests = {"x == y", "x != y", "!(x == y)", "x == y && !(x != y)", "!(x == y && x != y)",
                                      "x == y || x != y && x == x", "(x == y || x != y) && x == x",
                                      "(x == y) == (x != y)", "x == y == (x == x)", "x == y | x != y ^ x == x",
                                      "(x == y | x != y) & x == x"};
    const auto add = [](std::vector<std::string>& to, std::initializer_list<const char*> more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    if (type == Type::boolean)
        same = {"x && y", "x || y", "!x", "x & y", "x | y", "x ^ y", "!(x && y)", "x ? y : !y", "(x ? y : x) ? x : y"};
    else
        add(tests, {"x < y", "x <= y", "x > y", "x >= y", "x < y == y > x", "x + y < y"});
    if (type != Type::boolean)
        add(same, {"x + y", "x - y", "x * y", "x / y", "-x", "-(-x)", "x - (y - x)", "x - y - x", "x - -y", "x - (-1)",
                   "x * (y + x)", "x * y + x", "x / (y / 3)", "x / y / 3", "x / (y * y)", "(x + y) * (x - y)", "min(x, y)",
                   "max(x, y)", "abs(x)", "-abs(x)", "x + (y + x)", "-(x + y)", "-x - y", "min(x, 7) - max(y, 3)",
                   "x == y ? x + y : x - y", "(x < y ? x : y) * 2", "-(x < y ? x : y)", "x * 3 - 100", "100 - x * 3"});
    if (is_integer(type)) {
        add(same, {"x % y", "x / 7", "x % 7", "x & y", "x | y", "x ^ y", "~x", "-~x", "~-x", "x << y", "x >> y", "x << 1",
                   "x >> 1", "x << 77", "x >> 77", "x << (y + 1)", "(x << 1) + y", "x << 1 >> 1", "x & y | x ^ y",
                   "x & (y | x) ^ y", "~(x & y)", "x / (y | 1) * y + x % (y | 1)", "x % (y % 5)", "-x / y", "-(x / y)",
                   "x * y * x", "x * (y * x)", "lowest(T)", "highest(T)", "x - lowest(T)", "highest(T) - x", "x / lowest(T)"});
        add(tests, {"(x & y) == x", "(x & 1) == 0", "~x == y", "x << 1 < y", "popcount(x) == clz(y)"});
    }
    if (is_signed_integer(type))
        add(same, {"x / -1", "x % -1", "x * -1", "x / -7", "x % -7", "lowest(T) / (y | -1)", "x + -5", "-5 - x"});
    if (is_float(type)) {
        add(same, {"sqrt(abs(x))", "floor(x)", "ceil(x)", "round(x)", "fma(x, y, x)", "x + 0.1", "x * -0.5", "0.1 / x", "-0.0",
                   "x + inf", "x * nan", "lowest(T)", "highest(T)", "epsilon(T)", "1 / min(x, y)", "1 / max(x, y)",
                   "isnan(x) ? y : x", "copysign(x, isnan(y) ? 1 : y)", "x - 1e-3 * y", "-(x * y)", "-x * y",
                   "copysign(min(x, 0), -1)"});
        add(tests, {"isnan(x)", "isfinite(x)", "!isnan(x) && isfinite(y)", "isnan(x) == isnan(y)", "isnan(x) ^ isfinite(x)"});
    }
    std::vector<Expression> values;
    std::vector<Type> types;
    const auto parse = [&](std::string text_of, Type result) {
        if (const auto at = text_of.find("(T)"); at != std::string::npos)
            text_of.replace(at, 3, "(" + text(type) + ")");
        if (is_unsigned_integer(type) && text_of.find("-1") != std::string::npos)
            return;
        values.push_back(parse_expression("test", text_of));
        types.push_back(result);
    };
    for (const auto& expression : same)
        parse(expression, type);
    for (const auto& expression : tests)
        parse(expression, Type::boolean);
    if (is_integer(type))
        for (const auto* count : {"popcount(x)", "clz(x)", "clz(x) - popcount(y)"})
            parse(count, Type::i32);
    auto [x, y] = pairs_of_edges(type);
    std::vector<Array> arrays;
    arrays.push_back(std::move(x));
    arrays.push_back(std::move(y));
    expect_meaning(each_element({{"x", type, false, {}}, {"y", type, false, {}}}, values, types), std::move(arrays));
}

// Conversions between all types, alone and of a sum.
TEST_P(EveryType, ConversionsMeanWhatTheLanguageSays)
{
    const Type from = GetParam();
    std::vector<Expression> values;
    std::vector<Type> types;
    for (const Type to : kTypes)
        for (const auto* argument : {"x", "x ? x : !x", "x + x", "-x", "x * 3"}) {
            const bool logical = std::string(argument).find('?') != std::string::npos;
            if (logical != (from == Type::boolean) && std::string(argument) != "x")
                continue;
            values.push_back(parse_expression("test", text(to) + "(" + argument + ")"));
            types.push_back(to);
        }
    std::vector<std::uint64_t> bits = edges(from);
    std::mt19937_64 random(7);
    while (bits.size() < kElements && from != Type::boolean)
        bits.push_back(random());
    std::vector<Array> arrays;
    arrays.push_back(array_of_bits(from, bits));
    expect_meaning(each_element({{"x", from, false, {}}}, values, types), std::move(arrays));
}

INSTANTIATE_TEST_SUITE_P(EmittedMeaning, EveryType, testing::ValuesIn(kTypes), type_name);

// The C library's functions and the reference's are the same ones, but compilers fold constants their own way.
TEST(EmittedMeaning, FunctionsAgreeWithinRounding)
{
    std::vector<Parameter> parameters;
    std::vector<Expression> values;
    std::vector<Type> types;
    std::vector<Array> arrays;
    std::mt19937_64 random(11);
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
        const auto x = "x_" + text(type);
        parameters.push_back({x, type, false, {}});
        arrays.push_back(random_array(type, kElements, random));
        for (const auto* function : {"rsqrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh"}) {
            values.push_back(call(function, {make_name(x)}));
            types.push_back(type);
        }
        values.push_back(call("pow", {make_name(x), Expression(1.5)}));
        types.push_back(type);
    }
    const Workload workload{each_element(parameters, values, types), std::move(arrays), uniform_segments(kElements, 1)};
    const auto got = run_emitted(workload);
    const auto expected = reduce_sequentially(workload);
    for (std::size_t f = 0; f < got.size(); ++f) {
        const Type type = got[f].array.type();
        const double step = type == Type::f64 ? 1e-15 : type == Type::f32 ? 2.5e-7 : type == Type::f16 ? 1e-3 : 8e-3;
        for (std::size_t s = 0; s < kElements; ++s) {
            const double a = number_at(got[f].array, s);
            const double b = number_at(expected[f].array, s);
            ASSERT_TRUE(equal(got[f].array, expected[f].array, s) || std::abs(a - b) <= step * std::abs(b))
                << print(workload.op.lift.assignments[f].value) << inputs_text(workload, s);
        }
    }
}

/// The expression without functions that round their own way, and without a NaN's sign, which is nobody's.
Expression exactly(const Expression& expression)
{
    ExpressionNode node = *expression;
    const Type type = *node.type;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type = {};
    for (auto& argument : node.arguments)
        argument = exactly(argument);
    if (node.kind == ExpressionKind::call) {
        constexpr std::array<std::string_view, 10> rounding = {"rsqrt", "exp", "exp2", "expm1", "log",
                                                               "log2",  "log1p", "sin", "cos", "tanh"};
        if (std::ranges::find(rounding, node.name) != rounding.end())
            node.name = "sqrt";
        if (node.name == "pow")
            node.name = "min";
        if (node.name == "copysign") {
            const auto sign = convert(type, node.arguments[1]);
            node.arguments[1] = select(call("isnan", {sign}), convert(type, Expression(1)), sign);
        }
    }
    return Expression(std::move(node));
}

Operator exactly(Operator op)
{
    const auto rewrite = [](Block& block) {
        for (auto& let : block.lets)
            let.value = exactly(let.value);
        for (auto& assignment : block.assignments)
            assignment.value = exactly(assignment.value);
    };
    for (auto& field : op.state)
        if (field.identity)
            field.identity = exactly(*field.identity);
    rewrite(op.lift);
    rewrite(op.combine);
    for (auto* block : {&op.finish, &op.empty})
        if (*block)
            rewrite(**block);
    return check(std::move(op));
}

class Seeded : public testing::TestWithParam<unsigned> {};

TEST_P(Seeded, RandomExpressionsMeanWhatTheLanguageSays)
{
    RandomOperator make(GetParam());
    std::mt19937_64 random(GetParam());
    std::vector<Parameter> parameters;
    std::vector<Array> arrays;
    std::vector<Expression> values;
    std::vector<Type> types;
    for (const Type type : kTypes) {
        parameters.push_back({"x_" + text(type), type, false, {}});
        arrays.push_back(random_array(type, kElements, random));
        for (int i = 0; i < 3; ++i) {
            values.push_back(make.make_expression(type, 3 + i));
            types.push_back(type);
        }
    }
    for (const auto& [table, type] : {std::pair("t", Type::f32), std::pair("k", Type::i32)}) {
        parameters.push_back({table, type, true, {}});
        arrays.push_back(random_array(type, kTableLength, random));
    }
    expect_meaning(exactly(each_element(parameters, values, types)), std::move(arrays));
}

INSTANTIATE_TEST_SUITE_P(EmittedMeaning, Seeded, testing::Range(1u, 7u));

Segments random_segments(SegmentForm form, bool may_be_empty, std::mt19937_64& random)
{
    constexpr std::int64_t segments = 40;
    std::vector<std::int64_t> begins, lengths;
    std::int64_t end = 0;
    for (int s = 0; s < segments; ++s) {
        lengths.push_back(static_cast<std::int64_t>(random() % 6) + (may_be_empty ? 0 : 1));
        begins.push_back(static_cast<std::int64_t>(random() % 100));
        end += lengths.back();
    }
    const auto array = [](const std::vector<std::int64_t>& values) {
        return Array::of<std::int64_t>(Type::i64, values);
    };
    switch (form) {
    case SegmentForm::whole:
        return whole_segments(9);
    case SegmentForm::uniform:
        return uniform_segments(segments * 3, 3);
    case SegmentForm::offsets:
        return segments_from_lengths(array(lengths), end);
    default:
        for (std::size_t s = 0; s < segments; ++s)
            lengths[s] += begins[s];
        return segments_from_ranges(array(begins), array(lengths), 110);
    }
}

/// Folds as the kernel does: from the identity where there is one, lawful or not.
Results fold(const Workload& workload)
{
    const auto bytecode = compile_bytecode(workload.op);
    const auto inputs = inputs_of(workload);
    Evaluator<double> evaluator(bytecode, inputs.tables);
    std::vector<Slot<double>> total(evaluator.state_fields()), item(total.size()), result(evaluator.result_fields());
    Results results = allocate_results(workload);
    for (std::int64_t s = 0; s < workload.segments.num_segments; ++s) {
        const auto length = workload.segments.length(s);
        if (workload.op.has_identity())
            evaluator.identity(total.data());
        for (std::int64_t position = 0; position < length; ++position) {
            const bool first = position == 0 && !workload.op.has_identity();
            evaluator.lift(inputs.columns, workload.segments.begin(s) + position, position, s,
                           first ? total.data() : item.data());
            if (!first)
                evaluator.combine(total.data(), item.data(), total.data());
        }
        if (length == 0 && workload.op.empty)
            evaluator.empty(s, result.data());
        else
            evaluator.finish(total.data(), s, length, result.data());
        for (std::size_t f = 0; f < results.size(); ++f)
            Machine<double>::store(result[f], results[f].array.type(), results[f].array.data(), s);
    }
    return results;
}

// Whole operators with lets, two-field states, semigroups, tables, finish and empty, over every form of segments.
TEST_P(Seeded, RandomOperatorsMeanWhatTheLanguageSays)
{
    RandomOperator make(GetParam() + 100);
    std::mt19937_64 random(GetParam());
    for (const auto form : {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets, SegmentForm::ranges}) {
        Workload workload{exactly(make.make()), {}, {}};
        workload.segments = with_index_bits(random_segments(form, workload.op.allows_empty(), random),
                                            GetParam() % 2 == 0 ? 64 : 32);
        for (const auto& parameter : workload.op.parameters)
            workload.arrays.push_back(random_array(
                parameter.type,
                parameter.table ? kTableLength : static_cast<std::size_t>(workload.segments.num_elements), random));
        expect_equal(workload, run_emitted(workload), fold(workload));
    }
}

}  // namespace
}  // namespace segfold
