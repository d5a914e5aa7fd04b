// Compares the standard operators, for every type, with folds written in C++.
#include "dsl/text/standard_operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "dsl/half.h"
#include "dsl/printer.h"
#include "tests/common/message_of.h"

namespace segfold::standard_operators_test {
namespace {

/// Reads a value. A double holds every value in these tests exactly.
double read_number(Type type, const void* at)
{
    Slot<long double> slot{};
    Machine<long double>::load(slot, type, at, 0);
    if (is_float(type))
        return static_cast<double>(slot.real);
    return is_signed_integer(type) ? static_cast<double>(static_cast<std::int64_t>(slot.bits))
                                   : static_cast<double>(slot.bits);
}

Slot<double> slot_of(Type type, double value)
{
    Slot<double> slot{};
    if (is_float(type))
        Machine<double>::set_real(slot, type, value);
    else
        slot.bits = wrap(type, value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                         : static_cast<std::uint64_t>(value));
    return slot;
}

/// Folds rows of column values as one segment, along a random tree over the elements in order.
class Fold {
public:
    explicit Fold(const std::string& name, std::optional<Type> type = {})
        : bytecode_(compile_bytecode(standard_operator(name, type))), evaluator_(bytecode_)
    {}

    std::vector<double> of(const std::vector<std::vector<double>>& rows)
    {
        std::vector<Slot<double>> result(evaluator_.result_fields());
        if (rows.empty()) {
            evaluator_.empty(0, result.data());
        } else {
            std::vector<std::vector<Slot<double>>> states;
            for (std::size_t i = 0; i < rows.size(); ++i)
                states.push_back(lift(rows[i], static_cast<std::int64_t>(i)));
            while (states.size() > 1) {
                const std::size_t at = random_() % (states.size() - 1);
                evaluator_.combine(states[at].data(), states[at + 1].data(), states[at].data());
                states.erase(states.begin() + static_cast<std::ptrdiff_t>(at) + 1);
            }
            evaluator_.finish(states[0].data(), 0, static_cast<std::int64_t>(rows.size()), result.data());
        }
        std::vector<double> numbers;
        for (std::size_t i = 0; i < result.size(); ++i) {
            std::uint64_t bytes = 0;
            Machine<double>::store(result[i], bytecode_.results[i], &bytes, 0);
            numbers.push_back(read_number(bytecode_.results[i], &bytes));
        }
        return numbers;
    }
    /// Folds one column.
    std::vector<double> of_column(const std::vector<double>& values)
    {
        std::vector<std::vector<double>> rows;
        for (const double value : values)
            rows.push_back({value});
        return of(rows);
    }

private:
    std::vector<Slot<double>> lift(const std::vector<double>& row, std::int64_t index)
    {
        std::vector<Slot<double>> values, state(evaluator_.state_fields());
        for (std::size_t i = 0; i < row.size(); ++i)
            values.push_back(slot_of(bytecode_.columns[i], row[i]));
        evaluator_.lift(values.data(), index, index, 0, state.data());
        return state;
    }

    Bytecode bytecode_;
    Evaluator<double> evaluator_;
    std::mt19937 random_{7};
};

/// Small whole numbers. Every type holds them, and their sums are exact in all types but i8 and u8.
std::vector<double> small_numbers(Type type, std::size_t count, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
        const int value = static_cast<int>(random() % 7);
        values.push_back(type == Type::boolean ? value % 2 : is_unsigned_integer(type) ? value : value - 3);
    }
    return values;
}

std::vector<Type> types_of(const std::string& name)
{
    for (const auto& standard : standard_operators())
        if (standard.name == name)
            return standard.types;
    ADD_FAILURE() << "no operator " << name;
    return {};
}

using Column = std::vector<double>;

/// Compares an operator of one column with `expected` for every type that it accepts.
template <class Expected>
void expect_fold(const std::string& name, Expected expected)
{
    for (const Type type : types_of(name)) {
        Fold fold(name, type);
        for (const std::size_t count : {1, 2, 3, 9}) {
            const auto values = small_numbers(type, count, static_cast<std::uint32_t>(count));
            const Column wanted = expected(values);
            EXPECT_EQ(fold.of_column(values), wanted)
                << name << " of " << segfold::name(type) << ", " << count;
        }
    }
}

double sum_of(const Column& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double place_of(const Column& v, Column::const_iterator it) { return static_cast<double>(it - v.begin()); }

double best_part(const Column& v)
{
    double best = 0;
    for (std::size_t i = 0; i < v.size(); ++i)
        for (std::size_t k = i; k < v.size(); ++k)
            best = std::max(best, std::accumulate(v.begin() + static_cast<std::ptrdiff_t>(i),
                                                  v.begin() + static_cast<std::ptrdiff_t>(k) + 1, 0.0));
    return best;
}

TEST(StandardOperators, FoldAsTheirNamesSay)
{
    expect_fold("sum", [](const Column& v) { return Column{sum_of(v)}; });
    expect_fold("mean", [](const Column& v) { return Column{sum_of(v) / static_cast<double>(v.size())}; });
    expect_fold("count", [](const Column& v) { return Column{static_cast<double>(v.size())}; });
    expect_fold("min", [](const Column& v) { return Column{*std::ranges::min_element(v)}; });
    expect_fold("max", [](const Column& v) { return Column{*std::ranges::max_element(v)}; });
    expect_fold("argmin", [](const Column& v) {
        const auto least = std::ranges::min_element(v);
        return Column{*least, place_of(v, least)};
    });
    expect_fold("argmax", [](const Column& v) {
        const auto greatest = std::ranges::max_element(v);
        return Column{*greatest, place_of(v, greatest)};
    });
    expect_fold("any", [](const Column& v) {
        return Column{std::ranges::any_of(v, [](double x) { return x != 0; }) + 0.0};
    });
    expect_fold("all", [](const Column& v) {
        return Column{std::ranges::all_of(v, [](double x) { return x != 0; }) + 0.0};
    });
    expect_fold("keep_first", [](const Column& v) { return Column{v[0]}; });
    expect_fold("max_subarray", [](const Column& v) { return Column{best_part(v)}; });
}

TEST(StandardOperators, Products)
{
    for (const Type type : types_of("product")) {
        EXPECT_EQ(Fold("product", type).of_column({3, 5, 1, 2}), Column{30});
        EXPECT_EQ(Fold("product", type).of_column({}), Column{1});
    }
    EXPECT_EQ(Fold("product_u8").of_column({16, 17}), Column{16}) << "272 wraps";
    for (const Type type : types_of("dot"))
        EXPECT_EQ(Fold("dot", type).of({{1, 4}, {2, 5}, {3, 6}}), Column{32});
}

TEST(StandardOperators, AffineComposesEarlierMapsFirst)
{
    for (const Type type : types_of("affine")) {
        // v -> 2 v + 1, then v -> 3 v + 4, then v -> v + 5: 6 v + 3 + 4 + 5.
        EXPECT_EQ(Fold("affine", type).of({{2, 1}, {3, 4}, {1, 5}}), (Column{6, 12})) << name(type);
        EXPECT_EQ(Fold("affine", type).of({}), (Column{1, 0}));
    }
}

TEST(StandardOperators, TraceTellsOrdersApart)
{
    for (const Type type : types_of("trace")) {
        Fold trace("trace", type);
        EXPECT_EQ(trace.of_column({1, 2, 3}), trace.of_column({1, 2, 3}));
        EXPECT_NE(trace.of_column({1, 2, 3}), trace.of_column({1, 3, 2}));
        EXPECT_NE(trace.of_column({1, 2, 3}), trace.of_column({1, 2}));
        EXPECT_NE(trace.of_column({1, 2, 2}), trace.of_column({1, 2}));
        EXPECT_NE(trace.of_column({0, 0}), trace.of_column({0}));
    }
}

TEST(StandardOperators, MeanVarianceAndLogSumExp)
{
    for (const Type type : types_of("mean_variance")) {
        const auto result = Fold("mean_variance", type).of_column({2, 4, 4, 4, 5, 5, 7, 9});
        EXPECT_NEAR(result[0], 5, type == Type::bf16 ? 0.1 : type == Type::f16 ? 0.02 : 1e-5) << name(type);
        EXPECT_NEAR(result[1], 4, type == Type::bf16 ? 0.2 : type == Type::f16 ? 0.03 : 1e-5) << name(type);
        EXPECT_EQ(Fold("mean_variance", type).of_column({3}), (Column{3, 0}));
    }
    for (const Type type : types_of("log_sum_exp")) {
        Fold fold("log_sum_exp", type);
        EXPECT_NEAR(fold.of_column({1, 2, 3})[0], 3.4076059644443806,
                    type == Type::bf16  ? 0.03
                    : type == Type::f16 ? 0.004
                                        : 1e-6);
        EXPECT_NEAR(fold.of_column({1000, 1000})[0], 1000.6931471805599,
                    type == Type::bf16  ? 4
                    : type == Type::f16 ? 0.5
                                        : 1e-4);
        EXPECT_EQ(fold.of_column({-INFINITY, -INFINITY}), Column{-INFINITY});
        EXPECT_EQ(fold.of_column({}), Column{-INFINITY});
        EXPECT_EQ(fold.of_column({INFINITY, 1, INFINITY}), Column{INFINITY});
        EXPECT_TRUE(std::isnan(fold.of_column({1, NAN, 2})[0]));
    }
}

TEST(StandardOperators, NanLosesAgainstNumbers)
{
    for (const Type type : types_of("log_sum_exp")) {  // the floating-point types
        EXPECT_EQ(Fold("min", type).of_column({NAN, 2, NAN, 1, NAN}), Column{1});
        EXPECT_EQ(Fold("max", type).of_column({NAN, 2, NAN, 1, NAN}), Column{2});
        EXPECT_EQ(Fold("argmin", type).of_column({NAN, 2, NAN, 1, 1}), (Column{1, 3}));
        EXPECT_EQ(Fold("argmax", type).of_column({NAN, 2, 2, 1, NAN}), (Column{2, 1}));
        EXPECT_EQ(Fold("max", type).of_column({NAN}), Column{-INFINITY});
        EXPECT_EQ(Fold("argmax", type).of_column({-INFINITY, -INFINITY}), (Column{-INFINITY, 0}));
        EXPECT_EQ(Fold("argmin", type).of_column({NAN, NAN}), (Column{INFINITY, 0x1p63}));
        EXPECT_TRUE(std::isnan(Fold("sum", type).of_column({1, NAN})[0]));
        EXPECT_EQ(Fold("all", type).of_column({NAN, 1}), Column{1}) << "nan is not zero";
        EXPECT_EQ(Fold("any", type).of_column({0, NAN}), Column{1});
    }
}

TEST(StandardOperators, EmptySegments)
{
    const auto empty = [](const std::string& name) { return Fold(name).of_column({}); };
    EXPECT_EQ(empty("sum_i8"), Column{0});
    EXPECT_EQ(empty("count_f64"), Column{0});
    EXPECT_EQ(empty("any_u8"), Column{0});
    EXPECT_EQ(empty("all_u8"), Column{1});
    EXPECT_EQ(empty("min_f32"), Column{INFINITY});
    EXPECT_EQ(empty("max_i16"), Column{-32768});
    EXPECT_EQ(empty("min_u8"), Column{255});
    EXPECT_EQ(empty("argmax_i8"), (Column{-128, 0x1p63}));
    EXPECT_EQ(empty("max_subarray_f32"), Column{0});
    EXPECT_TRUE(std::isnan(empty("mean_i32")[0]));
    EXPECT_TRUE(std::isnan(empty("mean_variance_f64")[1]));
    EXPECT_FALSE(standard_operator("keep_first").allows_empty());
    EXPECT_EQ(Fold("dot").of({}), Column{0});
}

TEST(StandardOperators, NarrowTypesDoNotWrapWhereTheResultIsWide)
{
    const Column large(1000, 127);
    EXPECT_EQ(Fold("mean_i8").of_column(large), Column{127});
    EXPECT_EQ(Fold("max_subarray_i8").of_column(large), Column{127000});
    EXPECT_EQ(Fold("count_i8").of_column(large), Column{1000});
    EXPECT_EQ(Fold("sum_i8").of_column({127, 1}), Column{-128}) << "a sum is of its column's type";
}

/// Each type is in one version, whose text is the text of the operator for that type.
TEST(StandardOperators, VersionsShareTheTypes)
{
    for (const auto& standard : standard_operators()) {
        std::vector<Type> types;
        for (const auto& version : standard.versions)
            for (const Type type : version.types) {
                types.push_back(type);
                const auto text = print(parse_operator("version", version.text, type));
                EXPECT_EQ(text, print(standard_operator(standard.name, type)))
                    << standard.name << " of " << name(type);
            }
        std::ranges::sort(types);
        EXPECT_EQ(types, standard.types) << standard.name;
    }
    const auto result = [](const std::string& name) { return standard_operator(name).results[0].type; };
    EXPECT_EQ(result("wide_sum_u8"), Type::u64);
    EXPECT_EQ(result("wide_sum_u64"), Type::u64);
    EXPECT_EQ(result("wide_sum_i8"), Type::i64);
    EXPECT_EQ(result("wide_sum_bf16"), Type::f32);
    const auto large = Fold("wide_sum_u64").of_column({0x1p63, 0x1p62});
    EXPECT_EQ(large, Column{0x1p63 + 0x1p62});
    EXPECT_EQ(Fold("wide_sum_i64").of_column({-0x1p62, -0x1p62, 0x1p62}), Column{-0x1p62});
}

/// A text says that sums wrap only if they can.
TEST(StandardOperators, MaxSubarraySaysWhereItWraps)
{
    for (const Type type : types_of("max_subarray")) {
        if (!is_integer(type))
            continue;
        const auto& said = standard_operator("max_subarray", type).description;
        const bool is_wide = size_bytes(type) == 8;
        EXPECT_EQ(said.find("cannot wrap") == std::string::npos, is_wide) << name(type) << ": " << said;
        EXPECT_EQ(said.find("they wrap") != std::string::npos, is_wide) << name(type) << ": " << said;
    }
}

std::string refusal(const std::string& name, std::optional<Type> type = {})
{
    return test::message_of<InputError>([&] { standard_operator(name, type); });
}

TEST(StandardOperators, TypesInNames)
{
    EXPECT_EQ(standard_operator("affine_u32").parameters[0].type, Type::u32);
    EXPECT_EQ(standard_operator("sum").parameters[0].type, Type::f32);
    EXPECT_EQ(standard_operator("trace").parameters[0].type, Type::i32);
    EXPECT_EQ(standard_operator("mean_variance_f64").name, "mean_variance");
    EXPECT_EQ(standard_operator("sum_i8", Type::i8).parameters[0].type, Type::i8);
    EXPECT_TRUE(is_standard_operator("max_subarray_bf16"));
    EXPECT_TRUE(is_standard_operator("max_subarray"));
    EXPECT_FALSE(is_standard_operator("max_sub"));
    EXPECT_FALSE(is_standard_operator("sum_float"));
    EXPECT_FALSE(is_standard_operator(""));
}

TEST(StandardOperators, Refusals)
{
    EXPECT_EQ(refusal("summ"),
              "unknown operator 'summ'; 'segfold operators' lists those that come with the program; "
              "did you mean 'sum'?");
    EXPECT_EQ(refusal("sum_f32", Type::f64),
              "operator 'sum_f32' is for f32, but the type asked for is f64; give one of them");
    EXPECT_EQ(refusal("trace_f32"),
              "operator 'trace' is not defined for f32; it takes i8, i16, i32, i64, u8, u16, u32 and u64");
    EXPECT_EQ(refusal("log_sum_exp", Type::i32),
              "operator 'log_sum_exp' is not defined for i32; it takes f16, bf16, f32 and f64");
    EXPECT_EQ(refusal("sum", Type::boolean),
              "operator 'sum' is not defined for bool; it takes i8, i16, i32, i64, u8, "
              "u16, u32, u64, f16, bf16, f32 and f64");
}

TEST(StandardOperators, EveryOneIsDescribed)
{
    std::vector<std::string> names;
    for (const auto& standard : standard_operators()) {
        names.push_back(standard.name);
        EXPECT_FALSE(standard.types.empty()) << standard.name;
        EXPECT_GT(standard.summary.size(), 10u) << standard.name;
        EXPECT_TRUE(std::isupper(static_cast<unsigned char>(standard.summary[0]))) << standard.summary;
        ASSERT_FALSE(standard.versions.empty()) << standard.name;
        EXPECT_TRUE(standard.versions.front().text.starts_with("# " + standard.summary + ".\n"))
            << "the first line is a sentence";
        EXPECT_EQ(standard.summary.find('|'), std::string::npos) << standard.summary << ": tables show it";
        for (const Type type : standard.types) {
            const auto op = standard_operator(standard.name, type);
            EXPECT_EQ(op.name, standard.name);
            EXPECT_FALSE(op.description.empty()) << standard.name << " of " << name(type);
        }
    }
    // Tuning records, goldens and pages name these.
    for (const std::string known :
         {"affine", "all", "any", "argmax", "argmin", "count", "dot", "keep_first", "log_sum_exp", "max",
          "max_subarray", "mean", "mean_variance", "min", "product", "sum", "trace"})
        EXPECT_NE(std::ranges::find(names, known), names.end()) << known;
}

}  // namespace
}  // namespace segfold::standard_operators_test
