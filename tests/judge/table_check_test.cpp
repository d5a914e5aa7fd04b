// Reads of tables that kernels check as they make them: what is refused, in which words, and that nothing
// else is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "dsl/check/check.h"
#include "dsl/text/parser.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/judge/reference.h"
#include "tests/common/edge_values.h"
#include "tests/common/files.h"
#include "tests/common/random_operator.h"

namespace segfold::table_check_test {
namespace {

constexpr const char* kText =
    "operator o(j: i32, t: table f32) -> f32 {\n  state s: f32 = 0\n  lift t[j + 1]\n  combine(a, b) a + "
    "b\n}\n";

Workload workload_of(const std::string& text, std::initializer_list<std::int32_t> j, std::size_t length)
{
    Workload workload{parse_operator("test", text), {}, whole_segments(static_cast<std::int64_t>(j.size()))};
    workload.arrays.push_back(make_array<std::int32_t>(Type::i32, j));
    workload.arrays.push_back(Array(Type::f32, length));
    std::ranges::fill(workload.arrays.back().as<float>(), 1.0F);
    return workload;
}

Emitted checked(const Workload& workload, std::vector<std::string> tables = {"t"})
{
    Problem problem(workload.op, workload.segments.form, workload.segments.index_bits());
    problem.checked_tables = std::move(tables);
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    return emit(problem, stage, default_configuration(stage, plan_facts(problem)));
}

std::string message(const Workload& workload, const Emitted& emitted)
{
    return refusal([&] { (void)simt::run(workload, emitted); });
}

TEST(CheckedReads, AreRefusedInTheWordsOfTheReference)
{
    for (const auto& workload : {workload_of(kText, {0, 3, 19, -9}, 20), workload_of(kText, {-1}, 0),
                                 workload_of(kText, {0, -2}, 2)})
        EXPECT_EQ(message(workload, checked(workload)), refusal([&] { reduce_sequentially(workload); }));
    const auto workload = workload_of(kText, {0, 3, 19, -9}, 20);
    EXPECT_EQ(message(workload, checked(workload)),
              "table 't' has 20 entries; element 2 reads t[20], and indices run from 0 to 19");
}

TEST(CheckedReads, InsideGiveTheEntry)
{
    const auto workload = workload_of(kText, {0, 3, 18, -1}, 20);
    EXPECT_EQ(simt::run(workload, checked(workload))[0].array.as<float>()[0], 4.0F);
}

/// A border that is off by one is noticed on either side.
TEST(CheckedReads, OfAPlantedBorderAreNoticed)
{
    const auto planted = [](const Workload& workload, const std::string& condition) {
        auto emitted = checked(workload);
        const std::string own = "u64(place) < u64(table.length)";
        const auto at = emitted.source.find(own);
        EXPECT_NE(at, std::string::npos);
        emitted.source.replace(at, own.size(), condition);
        return emitted;
    };
    const auto beyond = workload_of(kText, {0, 19}, 20);
    EXPECT_THROW((void)simt::run(beyond, planted(beyond, "u64(place) <= u64(table.length)")),
                 simt::SimtError);
    const auto last = workload_of(kText, {0, 18}, 20);
    EXPECT_EQ(
        message(last, planted(last, "u64(place) + 1 < u64(table.length)")),
        "table 't' is read outside of its length by the back end, and by no element as the host evaluates "
        "the operator; where an index is computed in floating point, keep it away from the table's ends "
        "by as much as it may be rounded");
}

constexpr const char* kAllowed = "nothing was refused";
constexpr std::size_t kElements = 512;

/// Functions that round their own way give the host and the text different places.
bool is_exact(const Expression& expression)
{
    constexpr std::array<std::string_view, 8> exact = {"min", "max",  "abs",      "popcount",
                                                       "clz", "sqrt", "isfinite", "floor"};
    return (expression->kind != ExpressionKind::call ||
            std::ranges::find(exact, expression->name) != exact.end()) &&
           std::ranges::all_of(expression->arguments,
                               [](const auto& argument) { return is_exact(argument); });
}

Expression exact_expression(RandomOperator& make, Type type, int depth)
{
    auto expression = make.make_expression(type, depth);
    while (!is_exact(expression))
        expression = make.make_expression(type, depth);
    return expression;
}

/// Reads by random indices, on random sides of conditions, in segments of one element.
Workload random_workload(unsigned seed)
{
    RandomOperator make(seed + 200);
    std::mt19937_64 random(seed);
    Operator op;
    op.name = "random";
    Workload workload{{}, {}, uniform_segments(kElements, 1)};
    for (const Type type : kTypes) {
        op.parameters.push_back({"x_" + std::string(name(type)), type, false, {}});
        const auto known = edges(type);
        std::vector<std::uint64_t> bits(kElements);
        for (auto& value : bits)
            value = random() % 3 == 0 ? random() : known[random() % known.size()];
        if (type == Type::boolean)
            std::ranges::for_each(bits, [](auto& value) { value &= 1; });
        workload.arrays.push_back(array_of_bits(type, bits));
    }
    for (const auto& [table, type] : {std::pair("t", Type::f32), std::pair("k", Type::i32)}) {
        op.parameters.push_back({table, type, true, {}});
        workload.arrays.push_back(array_of_bits(type, {0, 1, 2, 3, 4, 5, 6, 7}));
    }
    for (const Type type : {Type::i8, Type::u8, Type::i32, Type::u64, Type::i64}) {
        const auto condition = [&] { return exact_expression(make, Type::boolean, 2); };
        const auto place = convert(Type::i32, exact_expression(make, type, 3)) & 15;
        for (const auto& value :
             {make_gather("t", select(condition() && place < 9, place, place >> 1)),
              select(condition() && place < 9, make_gather("t", place), make_gather("t", 7)),
              select(condition(), make_gather("t", make_gather("k", place >> 1) & 7),
                     convert(Type::f32, 0))}) {
            const auto field = "value_" + std::to_string(op.state.size());
            op.state.push_back({field, Type::f32, {}, {}});
            op.lift.assignments.push_back({field, value, {}});
            op.combine.assignments.push_back({field, make_field(Operand::earlier, field), {}});
        }
    }
    workload.op = check(std::move(op));
    return workload;
}

/// Puts element `from` of `source` in the place of element `to`.
void put(const Workload& source, std::size_t from, Workload& workload, std::size_t to)
{
    for (std::size_t p = 0; p < workload.arrays.size(); ++p)
        if (const auto width = size_bytes(workload.arrays[p].type()); !workload.op.parameters[p].table)
            std::memcpy(workload.arrays[p].data() + to * width, source.arrays[p].data() + from * width,
                        width);
}

std::string reference_message(const Workload& workload)
{
    return refusal([&] { reduce_sequentially(workload); });
}

class RandomReads : public testing::TestWithParam<unsigned> {};

// What the language allows of every element is allowed of all together, and one among them that it refuses is
// refused with the same words.
TEST_P(RandomReads, AreRefusedWhereTheLanguageRefusesThem)
{
    const auto drawn = random_workload(GetParam());
    auto workload = random_workload(GetParam());
    const auto emitted = checked(workload, {"t", "k"});
    Workload one{workload.op, {}, uniform_segments(1, 1)};
    for (std::size_t p = 0; p < drawn.arrays.size(); ++p)
        one.arrays.push_back(workload.op.parameters[p].table ? drawn.arrays[p].copy()
                                                             : Array(drawn.arrays[p].type(), 1));
    std::vector<std::size_t> allowed, refused;
    for (std::size_t i = 0; i < kElements; ++i) {
        put(drawn, i, one, 0);
        (reference_message(one) == kAllowed ? allowed : refused).push_back(i);
    }
    ASSERT_GT(allowed.size(), 20u);
    ASSERT_GT(refused.size(), 20u);
    std::mt19937_64 random(GetParam());
    for (const auto i : refused)
        put(drawn, allowed[random() % allowed.size()], workload, i);
    EXPECT_EQ(message(workload, emitted), kAllowed);

    const auto place = random() % kElements;
    put(drawn, refused[random() % refused.size()], workload, place);
    const auto text = message(workload, emitted);
    EXPECT_EQ(text, reference_message(workload));
    EXPECT_NE(text.find("; element " + std::to_string(place) + " reads "), text.npos) << text;
}

INSTANTIATE_TEST_SUITE_P(CheckedReads, RandomReads, testing::Range(1u, 5u));

}  // namespace
}  // namespace segfold::table_check_test
