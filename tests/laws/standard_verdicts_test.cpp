// The table of verdicts on the standard operators is complete, belongs to their texts, and its proofs can be
// repeated.
#include "runtime/laws/prove/standard_verdicts.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "dsl/error.h"
#include "tests/common/brief_tests.h"

namespace segfold::prove::standard_verdicts_test {
namespace {

/// So long that a slow machine gets the same verdicts.
constexpr double kSeconds = 30;

/// Operators judged in every run. They cover each theory, with invariants and without, and arrays, functions,
/// scalars and uses.
constexpr const char* kSample[] = {
    "affine",      "bit_xor", "complex_product", "count_above",      "histogram_8", "balanced_brackets",
    "longest_run", "mean",    "mean_variance",   "saturating_count", "sum",         "trace"};

StandardOperator standard(const std::string& name)
{
    const auto all = standard_operators();
    return *std::ranges::find(all, name, &StandardOperator::name);
}

TEST(StandardVerdicts, AreThoseOfAllOperatorsAsTheyStand)
{
    const auto faults = faults_of_table(standard_verdicts(), standard_operators());
    EXPECT_TRUE(faults.empty()) << fmt::format(
        "{}\nsegfold operators NAME --verdicts prints the lines for dsl/standard/verdicts.jsonl",
        fmt::join(faults, "\n"));
}

TEST(StandardVerdicts, OfTheNewestSolverAreThoseThatDiffer)
{
    const auto kept = standard_verdicts();
    const auto newest = newest_verdicts();
    EXPECT_EQ(differing(kept, newest).size(), newest.size());
    EXPECT_TRUE(differing(kept, kept).empty());
    for (const auto& verdict : newest) {
        EXPECT_EQ(verdict.text, standard_digest(standard(verdict.op))) << verdict.op;
        EXPECT_NE(verdict.prover, kept.front().prover) << verdict.op;
        EXPECT_NE(verdict.verdict, Verdict::refuted) << verdict.op;
    }
    auto other = std::vector{kept.front()};
    other[0].verdict = Verdict::not_refuted;
    other[0].types.push_back(Type::boolean);
    EXPECT_EQ(differing(kept, other).front().types, other[0].types);
}

TEST(StandardVerdicts, PrintFewOfManyInvariants)
{
    LawFinding finding;
    finding.verdict = Verdict::proved;
    const auto op = standard_operator("sum_i32");
    finding.invariants = "a, b, c, d";
    EXPECT_EQ(segfold::print(finding, op), "associative: proved, while a, b, c, d, which every state keeps");
    finding.invariants = "a, b, c, d, e, f";
    EXPECT_EQ(segfold::print(finding, op),
              "associative: proved, while a, b, c, d and 2 more, which every state keeps");
}

/// Every fault of the table is reported.
TEST(StandardVerdicts, FaultsOfTheTableAreSeen)
{
    const auto kept = standard_verdicts();
    const auto operators = standard_operators();
    const auto faults = [&](auto change) {
        auto table = kept;
        change(table);
        return faults_of_table(table, operators);
    };
    using Table = std::vector<StandardVerdict>;
    using Faults = std::vector<std::string>;
    EXPECT_EQ(faults([](Table& t) { t[0].text = "0123456789ab"; }),
              Faults{"affine: its text has changed since it was judged"});
    EXPECT_EQ(faults([](Table& t) { t[0].types.pop_back(); }),
              Faults{"affine: has not one verdict for each law and type"});
    EXPECT_EQ(faults([](Table& t) { t.push_back(t[0]); }),
              Faults{"affine: has not one verdict for each law and type"});
    EXPECT_EQ(faults([](Table& t) { t[0].verdict = Verdict::refuted; }),
              Faults{"affine: associative is refuted"});
    EXPECT_EQ(faults([](Table& t) { std::erase_if(t, [](const auto& v) { return v.op == "sum"; }); }),
              Faults{"sum: has no verdicts"});
    EXPECT_EQ(faults([](Table& t) {
                  t.push_back(t[0]);
                  t.back().op = "summ";
              }),
              Faults{"summ: is no standard operator"});
    EXPECT_THROW((void)parse_standard_verdicts("{\"operator\":\"sum\"}\n"), InputError);
    EXPECT_THROW((void)parse_standard_verdicts("sum\n"), InputError);
    std::string text;
    for (const auto& verdict : kept)
        text += print(verdict) + "\n";
    const auto again = parse_standard_verdicts(text);
    ASSERT_EQ(again.size(), kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
        EXPECT_EQ(print(again[i]), print(kept[i]));
}

class StandardProofs : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = solver_.unavailable(); !reason.empty())
            GTEST_SKIP() << reason;
    }

    Solver solver_;
};

/// With SEGFOLD_ALL_VERDICTS set, judges all operators, which takes half an hour.
TEST_F(StandardProofs, AreFoundAnew)
{
    const auto kept = standard_verdicts();
    const bool all = std::getenv("SEGFOLD_ALL_VERDICTS") != nullptr;
    test::Draw draw;
    for (const auto& op : standard_operators()) {
        if (!all && std::ranges::find(kSample, op.name) == std::end(kSample))
            continue;
        if (!draw.takes(op.name))
            continue;
        auto types = judged_types(op);
        if (!all && types.size() > 2)
            types = {types.front(), types[2]};  // i32 and f32
        const auto unkept = unkept_proofs(kept, judge_standard(op, types, solver_, kSeconds));
        EXPECT_TRUE(unkept.empty()) << fmt::format("{}", fmt::join(unkept, "\n"));
    }
}

/// The table claims more than the prover finds.
TEST_F(StandardProofs, ThatDoNotComeAreSeen)
{
    const auto found = judge_standard(standard("argmax"), {Type::f32}, solver_);
    auto claimed = found;
    const auto commutative = std::ranges::find(claimed, Law::commutative, &StandardVerdict::law);
    ASSERT_NE(commutative, claimed.end());
    EXPECT_TRUE(unkept_proofs(claimed, found).empty());
    commutative->verdict = Verdict::proved;
    EXPECT_EQ(unkept_proofs(claimed, found).size(), 1U);
    commutative->types = {Type::i32};
    EXPECT_TRUE(unkept_proofs(claimed, found).empty());
    // A proof where the table claims less is no fault; less than the claimed proof is one.
    auto proved = found, bounded = found;
    for (auto* table : {&proved, &bounded})
        std::erase_if(*table, [](const auto& verdict) { return verdict.law != Law::associative; });
    proved[0].verdict = Verdict::proved;
    bounded[0].verdict = Verdict::proved_while_nothing_overflows;
    EXPECT_TRUE(unkept_proofs(bounded, proved).empty());
    EXPECT_EQ(unkept_proofs(proved, bounded).size(), 1U);
}

}  // namespace
}  // namespace segfold::prove::standard_verdicts_test
