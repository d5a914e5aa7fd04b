#pragma once
// Operations and the values on which they are tried, for tests that compare an emitted text with the
// evaluator.
//
// Every case is a workload whose segments have one element each. A result field is the value of an expression
// for that element.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "runtime/judge/reference.h"
#include "tests/common/edge_values.h"
#include "tests/common/random_operator.h"
#include "tests/common/readme_rules.h"

namespace segfold {

constexpr std::int64_t kElements = 512;
constexpr std::size_t kTableLength = 8;

inline std::string type_text(Type type) { return std::string(name(type)); }

inline std::string type_name(const testing::TestParamInfo<Type>& info) { return type_text(info.param); }

/// Returns edge values and random values in turn.
inline Array random_array(Type type, std::size_t length, std::mt19937_64& random)
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

/// Returns columns `x` and `y` of one type that hold every pair of edge values.
inline std::vector<Array> pairs_of_edges(Type type)
{
    std::vector<std::uint64_t> left, right;
    for (const auto x : edges(type))
        for (const auto y : edges(type)) {
            left.push_back(x);
            right.push_back(y);
        }
    std::vector<Array> pairs;
    pairs.push_back(array_of_bits(type, left));
    pairs.push_back(array_of_bits(type, right));
    return pairs;
}

/// Returns an operator whose results are `values`, for segments of one element.
inline Operator each_element(std::vector<Parameter> parameters, const std::vector<Expression>& values,
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

inline Workload each_element_of(Operator op, std::vector<Array> arrays)
{
    const auto length = static_cast<std::int64_t>(arrays.front().length());
    return {std::move(op), std::move(arrays), uniform_segments(length, 1)};
}

/// Describes the element of a segment, for the message of a failure.
inline std::string inputs_text(const Workload& workload, std::size_t element)
{
    std::string list;
    for (std::size_t p = 0; p < workload.arrays.size(); ++p)
        if (!workload.op.parameters[p].table && element < workload.arrays[p].length())
            list += "\n  " + workload.op.parameters[p].name + ": " + value_text(workload.arrays[p], element);
    return list;
}

using Agrees = std::function<bool(std::size_t field, const Array& got, const Array& expected, std::size_t)>;

inline bool to_the_bit(std::size_t, const Array& got, const Array& expected, std::size_t element)
{
    return equal(got, expected, element);
}

/// Compares results field by field. Shows the first difference of each field with its expression.
inline void expect_equal(const Workload& workload, const Results& got, const Results& expected,
                         const Agrees& agrees = to_the_bit)
{
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t f = 0; f < got.size(); ++f)
        for (std::size_t s = 0; s < expected[f].array.length(); ++s) {
            if (agrees(f, got[f].array, expected[f].array, s))
                continue;
            const bool by_element = workload.op.lift.assignments.size() == got.size();
            ADD_FAILURE() << "result " << got[f].name << " of segment " << s << " is "
                          << value_text(got[f].array, s) << ", not " << value_text(expected[f].array, s)
                          << "\nof "
                          << (by_element ? print(workload.op.lift.assignments[f].value) : print(workload.op))
                          << inputs_text(workload, s);
            break;
        }
}

// The expressions below are tried on every pair of edge values x and y. They are separated by semicolons; T
// stands for the type of x and y. First come expressions of type T.
inline constexpr const char* kOfBools = R"(x; x && y; x || y; !x; x & y; x | y; x ^ y; !(x && y); x ? y : !y;
    (x ? y : x) ? x : y)";
inline constexpr const char* kOfNumbers =
    R"(x; x == y ? x : y; x < y ? x : x > y ? y : x; x + y; x - y; x * y; x / y; -x;
    -(-x); x - (y - x); x - y - x; x - -y; x * (y + x); x * y + x; x / (y / 3); x / y / 3; x / (y * y);
    (x + y) * (x - y); min(x, y); max(x, y); abs(x); -abs(x); x + (y + x); -(x + y); -x - y;
    min(x, 7) - max(y, 3); x == y ? x + y : x - y; (x < y ? x : y) * 2; -(x < y ? x : y); x * 3 - 100; 100 - x * 3;
    lowest(T); highest(T))";
inline constexpr const char* kOfIntegers =
    R"(x % y; x / 7; x % 7; x & y; x | y; x ^ y; ~x; -~x; ~-x; x << y; x >> y;
    x << 1; x >> 1; x << 77; x >> 77; x << (y + 1); (x << 1) + y; x << 1 >> 1; x & y | x ^ y; x & (y | x) ^ y;
    ~(x & y); x / (y | 1) * y + x % (y | 1); x % (y % 5); -x / y; -(x / y); x * y * x; x * (y * x);
    x - lowest(T); highest(T) - x; x / lowest(T); x / (x + y); x % (x + y); 1 / (x + y); 1 % (x + y);
    bool(x + y) ? x : y; x + y == 0 ? 1 : x; max(x + y, 1))";
inline constexpr const char* kOfSigned =
    R"(x - (-1); x / -1; x % -1; x * -1; x / -7; x % -7; lowest(T) / (y | -1); x + -5;
    -5 - x)";
inline constexpr const char* kOfFloats =
    R"(x - (-1); sqrt(abs(x)); floor(x); ceil(x); round(x); fma(x, y, x); x + 0.1;
    x * -0.5; 0.1 / x; -0.0; x + inf; x * nan; epsilon(T); 1 / min(x, y); 1 / max(x, y); isnan(x) ? y : x;
    copysign(x, isnan(y) ? 1 : y); copysign(min(x, 0), -1); x - 1e-3 * y; -(x * y); -x * y;
    min(0.0, -0.0); max(-0.0, 0.0); min(-0.0, 0.0); max(0.0, -0.0); max(x, -0.0); min(0.0, x))";
// Literals to which C++ would give another type.
inline constexpr const char* kOfU32 = "(x + 4000000000) / 3; x / 4000000000; max(x, 4000000000) - 4000000000";
inline constexpr const char* kOfU64 = R"((x + 11400714819323198485) / 3; x * 11400714819323198485;
    max(x, 9223372036854775808))";
inline constexpr const char* kOfI32 = R"(-2147483648; max(x, -2147483648); x - -2147483648; x / -2147483648;
    x == y ? -2147483648 : x)";
inline constexpr const char* kOfI64 =
    R"(-9223372036854775808; max(x, -9223372036854775808); x - -9223372036854775808;
    x * 4294967296 + 2147483648)";
// Expressions of f32: quotients of integers, for which emitted texts have special functions.
inline constexpr const char* kQuotients =
    R"(f32(x) / f32(y); 1 / f32(x); 1.0 / f32(x + y); 0 / f32(x); -1 / f32(x);
    16777215 / f32(y); f32(x) / f32(x - y); f32(x / 3) / f32(y); 1 / (1 / f32(x)); f32(x) / f32(y) / f32(x);
    f32(x) / 3; 0.5 / f32(y))";
// Expressions of bool.
inline constexpr const char* kTests = R"(x == y; x != y; !(x == y); x == y && !(x != y); !(x == y && x != y);
    x == y || x != y && x == x; (x == y || x != y) && x == x; (x == y) == (x != y); x == y == (x == x);
    x == y | x != y ^ x == x; (x == y | x != y) & x == x)";
inline constexpr const char* kTestsOfNumbers = "x < y; x <= y; x > y; x >= y; x < y == y > x; x + y < y";
inline constexpr const char* kTestsOfIntegers = R"((x & y) == x; (x & 1) == 0; ~x == y; x << 1 < y;
    popcount(x) == clz(y); popcount(x + y) == 0; clz(x + y) == clz(x - x); popcount(x + y) > 0;
    (x + y & 15) == 0; max(x + y, 1) == 1; min(x + y, 1) == 0; i8(x + y) == 0; bool(u8(x + y)))";
// Compilers turn x + y == 0 into x == -y.
inline constexpr const char* kTestsForZero = R"(bool(x + y); !bool(x + y); x + y == 0; x + y != 0; 0 == x + y;
    0 != x + y; x + y > 0; x + y < 1; x + y >= 1; 0 < x + y; bool(x + lowest(T)); x + lowest(T) == 0;
    bool(x + highest(T)); bool(x + y + x); x + y + x == 0; x + (y + x) != 0; x + y + y + x == 0; x + y == x - x;
    x + y == x + x; x - y == 0; x == -y; 0 - x == y; bool(x + y) && x != y; bool(f32(x + y)); f32(x + y) == 0;
    f16(x + y) != 0; f64(x + y) == 0.0; bool(x < y ? x + y : y); (x < y ? x + y : y) == 0; x + y == lowest(T))";
inline constexpr const char* kTestsOfFloats =
    R"(isnan(x); isfinite(x); !isnan(x) && isfinite(y); isnan(x) == isnan(y);
    isnan(x) ^ isfinite(x))";
// Expressions of i32.
inline constexpr const char* kCounts = "popcount(x); clz(x); clz(x) - popcount(y)";

/// Expressions with the types of their values.
struct Expressions {
    std::vector<Expression> values;
    std::vector<Type> types;

    void add(std::string list, Type operands, Type result)
    {
        for (std::size_t at = 0; (at = list.find("(T)")) != std::string::npos;)
            list.replace(at, 3, "(" + type_text(operands) + ")");
        for (std::size_t begin = 0; begin < list.size();) {
            const auto end = std::min(list.find(';', begin), list.size());
            values.push_back(parse_expression("test", list.substr(begin, end - begin)));
            types.push_back(result);
            begin = end + 1;
        }
    }
};

/// Arithmetic, comparisons, shifts, functions and traps of precedence on pairs of edge values.
inline Workload operations_case(Type type)
{
    Expressions all;
    const auto add = [&](bool applies, const char* list, Type result) {
        if (applies)
            all.add(list, type, result);
    };
    const bool logical = type == Type::boolean;
    add(logical, kOfBools, type);
    add(!logical, kOfNumbers, type);
    add(is_integer(type), kOfIntegers, type);
    add(is_signed_integer(type), kOfSigned, type);
    add(is_float(type), kOfFloats, type);
    add(type == Type::u32, kOfU32, type);
    add(type == Type::u64, kOfU64, type);
    add(type == Type::i32, kOfI32, type);
    add(type == Type::i64, kOfI64, type);
    add(true, kTests, Type::boolean);
    add(!logical, kTestsOfNumbers, Type::boolean);
    add(!logical, kTestsForZero, Type::boolean);
    add(is_integer(type), kTestsOfIntegers, Type::boolean);
    add(is_float(type), kTestsOfFloats, Type::boolean);
    add(is_integer(type), kCounts, Type::i32);
    add(is_integer(type), kQuotients, Type::f32);
    return each_element_of(
        each_element({{"x", type, false, {}}, {"y", type, false, {}}}, all.values, all.types),
        pairs_of_edges(type));
}

/// The rules of dsl/README.md. Compilers evaluate them, because they consist of literals.
inline Workload rules_case()
{
    Expressions all;
    for (const auto& rule : readme_rules())
        all.add(rule, Type::boolean, Type::boolean);
    std::vector<Array> arrays;
    arrays.push_back(array_of_bits(Type::u8, {0}));
    return each_element_of(each_element({{"x", Type::u8, false, {}}}, all.values, all.types),
                           std::move(arrays));
}

/// Conversions to all types, alone and of a sum.
inline Workload conversions_case(Type from)
{
    std::vector<Expression> values;
    std::vector<Type> types;
    for (const Type to : kTypes)
        for (const auto* argument : {"x", "x ? x : !x", "x + x", "-x", "x * 3"}) {
            const bool logical = std::string(argument).find('?') != std::string::npos;
            if (logical != (from == Type::boolean) && std::string(argument) != "x")
                continue;
            values.push_back(parse_expression("test", type_text(to) + "(" + argument + ")"));
            types.push_back(to);
        }
    std::vector<std::uint64_t> bits = edges(from);
    std::mt19937_64 random(7);
    while (bits.size() < kElements && from != Type::boolean)
        bits.push_back(random());
    std::vector<Array> arrays;
    arrays.push_back(array_of_bits(from, bits));
    return each_element_of(each_element({{"x", from, false, {}}}, values, types), std::move(arrays));
}

/// Applies each use to the result of each operation: widening, narrowing, comparison, shift, division,
/// selection.
///
/// A compiler that computes in wider registers must truncate the result before each use. Returns part `part`
/// of kPartsOfUses.
inline constexpr int kPartsOfUses = 8;

inline Workload uses_case(Type type, int part)
{
    std::vector<std::string> sources = {"-x",         "abs(x)",     "x + y",         "x - y",
                                        "x * y",      "0 - x",      "x * 3",         "x - y - x",
                                        "max(x, -x)", "min(-x, y)", "x < y ? -x : y"};
    if (is_integer(type))
        for (const auto* more : {"~x", "~x + 1", "x << 1", "x << y", "x / y", "x % y", "x / (y | 1)",
                                 "-x >> 1", "-x / 3", "(x ^ y) - y"})
            sources.emplace_back(more);
    if (is_signed_integer(type))
        for (const auto* more : {"x * -1", "x * -4", "x / -1", "(x ^ -1) + 1", "x * (y < 0 ? -1 : 1)"})
            sources.emplace_back(more);
    for (const Type middle : {Type::i8, Type::u8, Type::i16, Type::u16, Type::i32, Type::u32, Type::i64,
                              Type::f32, Type::bf16, Type::f16})
        for (const auto* sign : {"", "-"})
            sources.push_back(type_text(type) + "(" + sign + type_text(middle) + "(x))");
    Expressions all;
    for (std::size_t i = static_cast<std::size_t>(part); i < sources.size(); i += kPartsOfUses) {
        const auto value = "(" + sources[i] + ")";
        all.add(value, type, type);
        for (const Type to : kTypes)
            all.add(type_text(to) + value, type, to);
        for (const auto* test : {" < y", " < 5", " == x", " > x"})
            all.add(value + test, type, Type::boolean);
        for (const auto* further : {"i32(i16", "i64(u16", "f32(i8", "i32(u8", "f64(f16"})
            all.add(further + value + ")", type,
                    further[0] == 'f' ? (further[1] == '3' ? Type::f32 : Type::f64)
                                      : (further[1] == '3' ? Type::i32 : Type::i64));
        all.add("max(" + value + ", x)", type, type);
        if (is_integer(type))
            for (const auto* use : {" >> 1", " >> y", " / 7", " / y", " % 5", " & y"})
                all.add(value + use, type, type);
    }
    return each_element_of(
        each_element({{"x", type, false, {}}, {"y", type, false, {}}}, all.values, all.types),
        pairs_of_edges(type));
}

/// Replaces functions whose rounding is not specified, and reads of a NaN's sign, which is unspecified.
inline Expression exactly(const Expression& expression)
{
    ExpressionNode node = *expression;
    const Type type = *node.type;
    if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
        node.type = {};
    for (auto& argument : node.arguments)
        argument = exactly(argument);
    if (node.kind == ExpressionKind::call) {
        constexpr std::array<std::string_view, 10> rounding = {"rsqrt", "exp",   "exp2", "expm1", "log",
                                                               "log2",  "log1p", "sin",  "cos",   "tanh"};
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

inline Operator exactly(Operator op)
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

/// Random expressions over a column of every type and two tables; with no column, over literals alone.
inline Workload random_expressions_case(unsigned seed, bool literals = false)
{
    RandomOperator make(seed);
    std::mt19937_64 random(seed);
    std::vector<Parameter> parameters;
    std::vector<Array> arrays;
    std::vector<Expression> values;
    std::vector<Type> types;
    for (const Type type : kTypes) {
        parameters.push_back({"x_" + type_text(type), type, false, {}});
        arrays.push_back(random_array(type, literals ? 1 : kElements, random));
        for (int i = 0; i < 3; ++i) {
            values.push_back(literals ? make.make_literal_expression(type, 2 + i)
                                      : make.make_expression(type, 3 + i));
            types.push_back(type);
        }
    }
    for (const auto& [table, type] : {std::pair("t", Type::f32), std::pair("k", Type::i32)}) {
        parameters.push_back({table, type, true, {}});
        arrays.push_back(random_array(type, kTableLength, random));
    }
    return each_element_of(exactly(each_element(parameters, values, types)), std::move(arrays));
}

/// Functions whose last bits differ between devices.
inline Workload functions_case()
{
    std::vector<Parameter> parameters;
    std::vector<Expression> values;
    std::vector<Type> types;
    std::vector<Array> arrays;
    std::mt19937_64 random(11);
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
        const auto x = "x_" + type_text(type);
        parameters.push_back({x, type, false, {}});
        arrays.push_back(random_array(type, kElements, random));
        for (const auto* function :
             {"rsqrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh"}) {
            values.push_back(call(function, {make_name(x)}));
            types.push_back(type);
        }
        values.push_back(call("pow", {make_name(x), Expression(1.5)}));
        types.push_back(type);
    }
    return each_element_of(each_element(parameters, values, types), std::move(arrays));
}

inline Segments random_segments(SegmentForm form, bool may_be_empty, std::mt19937_64& random)
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
        case SegmentForm::whole: return whole_segments(9);
        case SegmentForm::uniform: return uniform_segments(segments * 3, 3);
        case SegmentForm::offsets: return segments_from_lengths(array(lengths), end);
        default:
            for (std::size_t s = 0; s < segments; ++s)
                lengths[s] += begins[s];
            return segments_from_ranges(array(begins), array(lengths), 110);
    }
}

/// Folds like a kernel: from the identity if there is one, even if it is not neutral.
inline Results fold(const Workload& workload)
{
    const auto bytecode = compile_bytecode(workload.op);
    const auto inputs = inputs_of(workload);
    Evaluator<double> evaluator(bytecode, inputs.tables);
    std::vector<Slot<double>> total(evaluator.state_fields()), item(total.size()),
        result(evaluator.result_fields());
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

inline constexpr std::array kFoldedForms = {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                                            SegmentForm::ranges};

/// A random operator with every construct, over random segments. Even seeds have wide indices.
inline Workload random_operator_case(unsigned seed, SegmentForm form)
{
    const auto own = seed * static_cast<unsigned>(kFoldedForms.size()) + static_cast<unsigned>(form);
    RandomOperator make(own + 1000);
    std::mt19937_64 random(own);
    Workload workload{exactly(make.make()), {}, {}};
    workload.segments =
        with_index_bits(random_segments(form, workload.op.allows_empty(), random), seed % 2 == 0 ? 64 : 32);
    for (const auto& parameter : workload.op.parameters)
        workload.arrays.push_back(random_array(
            parameter.type,
            parameter.table ? kTableLength : static_cast<std::size_t>(workload.segments.num_elements),
            random));
    return workload;
}

}  // namespace segfold
