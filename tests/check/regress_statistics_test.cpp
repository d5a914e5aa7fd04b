// The U test against known values; no alarm where nothing has changed, an alarm where something has.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "runtime/measure/times/verdict.h"
#include "runtime/support/rank_tests.h"

namespace segfold::regress::regress_statistics_test {
namespace {

TEST(MannWhitney, AgreesWithPublishedValues)
{
    // The example of SciPy's mannwhitneyu, by the normal approximation with continuity.
    const std::vector<double> males = {19, 22, 16, 29, 24}, females = {20, 11, 17, 12};
    const auto test = mann_whitney(males, females);
    EXPECT_DOUBLE_EQ(test.u, 17);
    EXPECT_NEAR(test.p, 0.11134688653314041, 1e-12);
    EXPECT_DOUBLE_EQ(mann_whitney(females, males).u, 3);
    EXPECT_NEAR(mann_whitney(females, males).p, test.p, 1e-12);
}

/// By hand: two ties of three values and one of two.
TEST(MannWhitney, CorrectsForTies)
{
    const std::vector<double> first = {1.1, 2.2, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8, 9.9};
    const std::vector<double> second = {2.2, 3.3, 3.3, 8.8, 10.1, 11.2, 12.3, 13.4, 14.5};
    const auto test = mann_whitney(first, second);
    // Pairs in which the first is larger: 0, 0, 0, 1, 3, 3, 3, 3, 3, 4; ties: 2 at 2.2, 2 at 3.3, 1 at 8.8.
    EXPECT_DOUBLE_EQ(test.u, 20 + 5 * 0.5);
    const double variance = 90.0 / 12 * (20 - (24 + 24 + 6) / (19.0 * 18));
    EXPECT_NEAR(test.p, std::erfc((45 - 22.5 - 0.5) / std::sqrt(2 * variance)), 1e-12);
}

TEST(MannWhitney, SaysNothingOfEqualOrMissingValues)
{
    EXPECT_EQ(mann_whitney({}, {}).p, 1);
    EXPECT_EQ(mann_whitney(std::vector<double>{1}, {}).p, 1);
    EXPECT_EQ(mann_whitney(std::vector<double>(20, 1.5), std::vector<double>(20, 1.5)).p, 1);
    EXPECT_LT(mann_whitney(std::vector<double>(20, 1.5), std::vector<double>(20, 1.6)).p, 1e-6);
}

TEST(Holm, AdjustsInTheOrderOfTheValues)
{
    const auto adjusted = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
    const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
    ASSERT_EQ(adjusted.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(adjusted[i], expected[i], 1e-12) << i;
    EXPECT_EQ(holm(std::vector<double>{0.7, 0.9}), (std::vector<double>{1, 1}));
}

/// Ratios as a GPU gives them: each round has a level of its own, samples spread about it, and now and then
/// one is late.
class Machine {
public:
    explicit Machine(unsigned seed, double between_rounds = 0.003) : random_(seed), between_(between_rounds)
    {}

    Rounds measure(double ratio, int rounds = 5, int samples = 7)
    {
        std::normal_distribution<double> level(1, between_), spread(1, 0.005);
        std::uniform_real_distribution<double> lot(0, 1);
        Rounds all;
        for (int r = 0; r < rounds; ++r) {
            const double own = ratio * level(random_);
            all.emplace_back();
            for (int i = 0; i < samples; ++i)
                all.back().push_back(own * spread(random_) * (lot(random_) < 0.02 ? 1.3 : 1));
        }
        return all;
    }

    std::vector<TimeCase> cases(int count, const std::function<double(int)>& slowdown)
    {
        std::vector<TimeCase> all;
        for (int i = 0; i < count; ++i) {
            TimeCase one{"sum_f32", "stage" + std::to_string(i), "uniform=8", "whole", "", {}, ""};
            one.rounds = measure((1 + 0.1 * i) * slowdown(i));
            all.push_back(std::move(one));
        }
        return all;
    }

private:
    std::mt19937 random_;
    double between_;
};

int place_of(const TimeCase& one) { return std::stoi(one.stage.substr(5)); }
double unchanged(int) { return 1; }

TEST(TimeVerdict, RaisesNoAlarmWhereNothingHasChanged)
{
    for (unsigned repetition = 0; repetition < 30; ++repetition) {
        Machine machine(repetition);
        const auto before = machine.cases(200, unchanged);
        const auto now = machine.cases(200, unchanged);
        for (const auto& outcome : compare_times(
                 now, before, [&](const TimeCase& one) { return machine.measure(1 + 0.1 * place_of(one)); }))
            EXPECT_EQ(outcome.verdict, Verdict::same)
                << repetition << " " << outcome.now.stage << " " << outcome.effect << " " << outcome.noise;
    }
}

/// Where rounds differ by as much as what is looked for, there is no alarm either, but no promise.
TEST(TimeVerdict, RaisesNoAlarmOnANoisyMachine)
{
    int ambiguous = 0;
    for (unsigned repetition = 0; repetition < 30; ++repetition) {
        Machine machine(100 + repetition, 0.03);
        const auto before = machine.cases(50, unchanged);
        const auto now = machine.cases(50, unchanged);
        for (const auto& outcome : compare_times(now, before, [&](const TimeCase& one) {
                 return machine.measure(1 + 0.1 * place_of(one));
             })) {
            EXPECT_NE(outcome.verdict, Verdict::worse) << repetition << " " << outcome.now.stage;
            EXPECT_NE(outcome.verdict, Verdict::better) << repetition << " " << outcome.now.stage;
            ambiguous += outcome.verdict == Verdict::ambiguous;
        }
    }
    EXPECT_GT(ambiguous, 1000);
}

TEST(TimeVerdict, FindsSlowdownsOfFivePercentAndNothingElse)
{
    int found = 0;
    for (unsigned repetition = 0; repetition < 30; ++repetition) {
        Machine machine(1000 + repetition);
        const auto slowdown = [](int i) { return i % 10 == 3 ? 1.05 : i % 10 == 7 ? 0.95 : 1.0; };
        const auto before = machine.cases(50, unchanged);
        const auto now = machine.cases(50, slowdown);
        for (const auto& outcome : compare_times(now, before, [&](const TimeCase& one) {
                 return machine.measure((1 + 0.1 * place_of(one)) * slowdown(place_of(one)));
             })) {
            const int place = place_of(outcome.now) % 10;
            if (place != 3 && place != 7) {
                EXPECT_EQ(outcome.verdict, Verdict::same) << outcome.now.stage << " " << outcome.effect;
                continue;
            }
            found += outcome.verdict == (place == 3 ? Verdict::worse : Verdict::better);
            EXPECT_NEAR(outcome.effect, place == 3 ? 0.05 : -0.05, 0.012);
        }
    }
    EXPECT_GE(found, 295) << "of 300";
}

TEST(TimeVerdict, SuspectsThatDoNotRepeatAreNone)
{
    Machine machine(5);
    const auto before = machine.cases(3, unchanged);
    const auto now = machine.cases(3, [](int i) { return i == 1 ? 1.2 : 1.0; });
    int asked = 0;
    const auto once_more = [&](const TimeCase& one) {
        EXPECT_EQ(one.stage, "stage1");
        return machine.measure(1.1 * (asked++ == 0 ? 1.2 : 1.0));
    };
    EXPECT_EQ(compare_times(now, before, once_more)[1].verdict, Verdict::ambiguous);
    EXPECT_EQ(asked, 2);
    const auto never = [&](const TimeCase&) { return machine.measure(1.1); };
    EXPECT_EQ(compare_times(now, before, never)[1].verdict, Verdict::same);
}

/// A case that the baseline has and that was over the cut-off at first.
class OverTheCutOff : public testing::Test {
protected:
    OverTheCutOff() : before_(machine_.cases(3, unchanged)), now_(before_)
    {
        now_[1].rounds.clear();
        now_[1].against = "whole";
        now_[1].reason = "one launch took 444 ms";
        before_[1].against = "grid_reduce whole";
    }

    TimeOutcome outcome(const Remeasure& again, const Remeasure& slowly)
    {
        return compare_times(now_, before_, again, slowly)[1];
    }

    static Rounds none(const TimeCase&) { return {}; }

    Machine machine_ = Machine(9);
    std::vector<TimeCase> before_, now_;
};

TEST_F(OverTheCutOff, ForOnceIsJudgedByTheSecondMeasurement)
{
    const auto fails = [](const TimeCase&) -> Rounds {
        ADD_FAILURE() << "nothing is measured slowly";
        return {};
    };
    const auto same = outcome([&](const TimeCase&) { return machine_.measure(1.1); }, fails);
    EXPECT_EQ(same.verdict, Verdict::same);
    EXPECT_EQ(same.reason + same.now.reason, "");
    EXPECT_NEAR(same.median, 1.1, 0.02);
    EXPECT_EQ(outcome([&](const TimeCase&) { return machine_.measure(1.3); }, fails).verdict, Verdict::worse);
}

TEST_F(OverTheCutOff, ByBothMeasurementsIsWorseByTrueNumbers)
{
    std::string against;
    const auto worse = outcome(none, [&](const TimeCase& one) {
        against = one.against;
        return machine_.measure(112, 3, 3);
    });
    EXPECT_EQ(worse.verdict, Verdict::worse);
    EXPECT_EQ(against, "grid_reduce whole") << "as in the baseline";
    EXPECT_NEAR(worse.median, 112, 3);
    EXPECT_NEAR(worse.effect, 112 / 1.1 - 1, 5);
    EXPECT_EQ(worse.reason, "one launch took 444 ms");
    // One run of something very slow.
    EXPECT_EQ(outcome(none, [](const TimeCase&) { return Rounds{{300}}; }).verdict, Verdict::worse);
    EXPECT_EQ(outcome(none, [](const TimeCase&) { return Rounds{{1.5}}; }).verdict, Verdict::ambiguous);
}

TEST_F(OverTheCutOff, IsNotWorseWhereSomeRunIsAsFastAsItWas)
{
    const auto busy = outcome(none, [](const TimeCase&) {
        return Rounds{{90, 80, 70}, {60, 90, 80}, {90, 1.1, 90}};
    });
    EXPECT_EQ(busy.verdict, Verdict::ambiguous);
    EXPECT_EQ(busy.reason,
              "over the cut-off, by times that are not all above the baseline's: one launch took 444 ms");
    EXPECT_EQ(outcome(none, none).reason, "measured then, not now: one launch took 444 ms");
}

TEST_F(OverTheCutOff, WhatIsOverItInRerunsIsConfirmed)
{
    now_[1].rounds = machine_.measure(1.3);
    now_[1].against = before_[1].against;
    EXPECT_EQ(outcome(none, [&](const TimeCase&) { return machine_.measure(1.3, 3, 3); }).verdict,
              Verdict::worse);
}

TEST(TimeVerdict, TellsWhatItCannotTell)
{
    Machine machine(6);
    auto before = machine.cases(4, unchanged);
    auto now = machine.cases(4, unchanged);
    now[0].stage = "another";
    now[1].rounds.clear();
    now[1].reason = "one launch took 20 ms";
    now[2].rounds = machine.measure(1.2, 1, 5);
    const auto outcomes = compare_times(now, before, [](const TimeCase&) { return Rounds(); });
    EXPECT_EQ(outcomes[0].verdict, Verdict::no_baseline);
    EXPECT_EQ(outcomes[1].verdict, Verdict::ambiguous);
    EXPECT_EQ(outcomes[1].reason, "measured then, not now: one launch took 20 ms");
    EXPECT_EQ(outcomes[2].verdict, Verdict::ambiguous);
    EXPECT_EQ(outcomes[2].reason, "too few samples");
    EXPECT_EQ(outcomes[3].verdict, Verdict::same);
}

}  // namespace
}  // namespace segfold::regress::regress_statistics_test
