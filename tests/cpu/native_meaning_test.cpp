// What the host's cores compute, against the evaluator of the language: by emitted C++, and by blocks of byte
// code where there is no compiler. Every operation of every type on edge values, random expressions and
// operators; results agree bit for bit, and NaNs are equal whatever their bits.
#include <gtest/gtest.h>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/block_interpreter.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/judge/reference.h"
#include "tests/common/brief_tests.h"
#include "tests/common/meaning_cases.h"
#include "tests/common/random_associative.h"
#include "tests/common/stage_cases.h"
#include "tests/common/taken_names.h"

namespace segfold::native_meaning_test {
namespace {

/// By the stage that folds strictly from left to right, or by the interpreter.
Results run_native(const Workload& workload, const std::string& stage_name = "lane_per_segment")
{
    const auto& catalogue = Catalogue::native();
    const auto& stage = catalogue.stage(stage_name);
    const Problem problem(workload.op, workload.segments.form, workload.segments.index_bits());
    const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)), catalogue);
    return make_backend("cpu")->run(workload, &emitted);
}

Results run_interpreted(const Workload& workload)
{
    auto results = allocate_results(workload);
    cpu::interpret(workload, results);
    return results;
}

using Run = Results (*)(const Workload&);

struct Way {
    const char* name;
    Run run;
};

constexpr Way kWays[] = {{"Native", [](const Workload& workload) { return run_native(workload); }},
                         {"Interpreted", run_interpreted}};

bool lacks_compiler(const Way& way)
{
    return way.run != run_interpreted && !cpu::reason_without_compiler().empty();
}

class Operations : public testing::TestWithParam<std::tuple<Way, Type>> {};

TEST_P(Operations, MeanWhatTheLanguageSays)
{
    const auto& [way, type] = GetParam();
    if (lacks_compiler(way))
        GTEST_SKIP() << cpu::reason_without_compiler();
    if (test::is_left_out())
        GTEST_SKIP() << test::kLeftOut;
    for (const auto& workload : {operations_case(type), conversions_case(type)})
        expect_equal(workload, way.run(workload), reduce_sequentially(workload));
    if (is_integer(type) && size_bytes(type) < 4) {
        const auto workload = uses_case(type, static_cast<int>(type) % kPartsOfUses);
        expect_equal(workload, way.run(workload), reduce_sequentially(workload));
    }
}

INSTANTIATE_TEST_SUITE_P(NativeMeaning, Operations,
                         testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(kTypes)),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param).name) + "_" +
                                    type_text(std::get<1>(info.param));
                         });

class Ways : public testing::TestWithParam<Way> {
protected:
    void SetUp() override
    {
        if (lacks_compiler(GetParam()))
            GTEST_SKIP() << cpu::reason_without_compiler();
    }
};

TEST_P(Ways, RandomExpressionsMeanWhatTheLanguageSays)
{
    for (const unsigned seed : {1U, 2U})
        for (const bool literals : {false, true}) {
            const auto workload = random_expressions_case(seed, literals);
            expect_equal(workload, GetParam().run(workload), reduce_sequentially(workload));
        }
}

TEST_P(Ways, RulesAndTakenNamesMeanWhatTheLanguageSays)
{
    const auto rules = rules_case();
    for (const auto& result : GetParam().run(rules))
        EXPECT_EQ(bits_at(result.array, 0), 1U) << result.name;
    std::mt19937_64 random(13);
    Workload workload{parse_operator("names.seg", kTakenNames), {}, uniform_segments(kTableLength * 4, 4)};
    for (const auto& parameter : workload.op.parameters)
        workload.arrays.push_back(random_array(
            parameter.type,
            parameter.table ? kTableLength : static_cast<std::size_t>(workload.segments.num_elements),
            random));
    expect_equal(workload, GetParam().run(workload), reduce_sequentially(workload));
}

TEST_P(Ways, RandomAssociativeOperatorsAreCombinedInOrder)
{
    for (std::uint32_t seed = 1; seed <= 3; ++seed)
        for (const auto form : {SegmentForm::offsets, SegmentForm::ranges}) {
            const auto workload = test::random_associative_case(seed, form);
            expect_equal(workload, GetParam().run(workload), reduce_sequentially(workload));
        }
}

INSTANTIATE_TEST_SUITE_P(NativeMeaning, Ways, testing::ValuesIn(kWays),
                         [](const auto& info) { return info.param.name; });

/// Functions of the texts' vocabulary are no names that a user must keep off.
TEST(NativeMeaning, NamesOfTheVocabularyStayUsable)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = parse_operator("names.seg", R"(
operator lanes(get: i32, put: table i32, kLanes: i32) -> (choose: i32, store_total: i32) {
  state { clear: i32 = 0; clip: i32 = 0; totals: i32 = 0 }
  lift { let lift_item = get & 7; let fold_items = lift_item + kLanes;
         clear = fold_items; clip = put[lift_item]; totals = get }
  combine(carry, lane) { let take_items = carry.clear + lane.clear; let take_item = take_items;
                         clear = take_item; clip = carry.clip + lane.clip;
                         totals = carry.totals + lane.totals }
  finish { let share_begin = clear; choose = share_begin; store_total = clip + totals }
})");
    std::mt19937_64 random(3);
    Workload workload{op, {}, uniform_segments(3000, 100)};
    workload.arrays.push_back(random_array(Type::i32, 3000, random));
    workload.arrays.push_back(random_array(Type::i32, 8, random));
    workload.arrays.push_back(random_array(Type::i32, 3000, random));
    const Problem problem(op, SegmentForm::uniform);
    for (const auto& stage : Catalogue::native().stages())
        if (!Catalogue::native().unmet(stage, problem))
            expect_equal(workload, run_native(workload, stage.name), reduce_sequentially(workload));
    const auto rows = parse_operator("names.seg", R"(
operator Row(find_row: row i32, features: i32, Mapped: table row i32) -> (map_feature: i32, each total: i32) {
  state { place: i32 = 0; lanes: i32 = 0 }
  lift { let lift_feature = features & 7; let find_features = Mapped[lift_feature];
         place = find_row + find_features; lanes = lift_feature }
  combine(row, feature) { place = row.place + feature.place; lanes = row.lanes + feature.lanes }
  finish { let finish_row = place; map_feature = finish_row + lanes }
  map { let map_element = map_feature + find_row; let map_items = features; total = map_element + map_items }
})");
    Workload of_rows{rows, {}, uniform_segments(300, 10), 5};
    of_rows.arrays.push_back(random_array(Type::i32, 1500, random));
    of_rows.arrays.push_back(random_array(Type::i32, 300, random));
    of_rows.arrays.push_back(random_array(Type::i32, 40, random));
    expect_equal(of_rows, run_native(of_rows, "lane_per_feature"), reduce_sequentially(of_rows));
}

/// Lets, states of two fields, semigroups, tables, finish and empty, over every form of segments.
TEST(NativeMeaning, RandomOperatorsAreFoldedFromLeftToRight)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    for (const unsigned seed : {1U, 2U})
        for (const auto form : kFoldedForms) {
            const auto workload = random_operator_case(seed, form);
            expect_equal(workload, run_native(workload), fold(workload));
        }
}

}  // namespace
}  // namespace segfold::native_meaning_test
