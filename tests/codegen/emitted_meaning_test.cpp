// What the emitted text computes, against the evaluator of the language: every operation of every type on
// edge values, then random expressions and random operators.
//
// One thread folds one segment from left to right on the fiber executor, so results must agree bit for bit;
// NaNs are equal whatever their bits. The compiler's checks for undefined behaviour are on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dsl/text/parser.h"
#include "runtime/backends/simt_backend.h"
#include "tests/common/meaning_cases.h"
#include "tests/common/random_associative.h"
#include "tests/common/taken_names.h"

namespace segfold::emitted_meaning_test {
namespace {

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

void expect_meaning(const Workload& workload)
{
    expect_equal(workload, run_emitted(workload), reduce_sequentially(workload));
}

class EveryType : public testing::TestWithParam<Type> {};

TEST_P(EveryType, OperationsMeanWhatTheLanguageSays) { expect_meaning(operations_case(GetParam())); }

TEST_P(EveryType, ConversionsMeanWhatTheLanguageSays) { expect_meaning(conversions_case(GetParam())); }

// A part of the narrow types' cases: a GPU's test has all of them.
TEST_P(EveryType, ResultsAreCutOffBeforeAnyUse)
{
    if (is_integer(GetParam()) && size_bytes(GetParam()) < 4)
        expect_meaning(uses_case(GetParam(), static_cast<int>(GetParam()) % kPartsOfUses));
}

INSTANTIATE_TEST_SUITE_P(EmittedMeaning, EveryType, testing::ValuesIn(kTypes), type_name);

TEST(EmittedMeaning, RulesOfTheReadmeAreTrue)
{
    const auto results = run_emitted(rules_case());
    EXPECT_EQ(results.size(), 22u);
    for (const auto& result : results)
        EXPECT_EQ(bits_at(result.array, 0), 1u) << result.name;
}

// The C library's functions and the reference's are the same ones, but compilers fold constants their own
// way.
TEST(EmittedMeaning, FunctionsAgreeWithinRounding)
{
    const auto workload = functions_case();
    const auto got = run_emitted(workload);
    const auto expected = reduce_sequentially(workload);
    for (std::size_t f = 0; f < got.size(); ++f) {
        const Type type = got[f].array.type();
        const double step = type == Type::f64   ? 1e-15
                            : type == Type::f32 ? 2.5e-7
                            : type == Type::f16 ? 1e-3
                                                : 8e-3;
        for (std::size_t s = 0; s < kElements; ++s) {
            const double a = number_at(got[f].array, s);
            const double b = number_at(expected[f].array, s);
            ASSERT_TRUE(equal(got[f].array, expected[f].array, s) || std::abs(a - b) <= step * std::abs(b))
                << print(workload.op.lift.assignments[f].value) << inputs_text(workload, s);
        }
    }
}

class Seeded : public testing::TestWithParam<unsigned> {};

TEST_P(Seeded, RandomExpressionsMeanWhatTheLanguageSays)
{
    expect_meaning(random_expressions_case(GetParam()));
    expect_meaning(random_expressions_case(GetParam(), true));
}

INSTANTIATE_TEST_SUITE_P(EmittedMeaning, Seeded, testing::Range(1u, 7u));

// Whole operators with lets, two-field states, semigroups, tables, finish and empty, over every form of
// segments.
TEST_P(Seeded, RandomOperatorsMeanWhatTheLanguageSays)
{
    for (const auto form : kFoldedForms) {
        const auto workload = random_operator_case(GetParam(), form);
        expect_equal(workload, run_emitted(workload), fold(workload));
    }
}

// Stages combine in their own order, which only an associative operator allows.
TEST(EmittedMeaning, EveryStageCombinesRandomAssociativeOperators)
{
    std::uint32_t seed = 0;
    for (const auto& stage : test::plans()) {
        const auto workload = test::random_associative_case(++seed, stage.forms.back());
        const Problem problem(workload.op, workload.segments.form);
        if (Catalogue::standard().unmet(stage, problem))
            continue;
        const auto results =
            simt::run(workload, emit(problem, stage, test::smallest_configuration(stage, problem)));
        expect_equal(workload, results, reduce_sequentially(workload));
    }
}

TEST(EmittedMeaning, NamesThatOthersHaveTakenStayUsable)
{
    std::mt19937_64 random(13);
    Workload workload{parse_operator("names.seg", kTakenNames), {}, uniform_segments(kTableLength * 4, 4)};
    for (const auto& parameter : workload.op.parameters)
        workload.arrays.push_back(random_array(
            parameter.type,
            parameter.table ? kTableLength : static_cast<std::size_t>(workload.segments.num_elements),
            random));
    expect_equal(workload, run_emitted(workload), reduce_sequentially(workload));
}

}  // namespace
}  // namespace segfold::emitted_meaning_test
