// Searches: each point is measured once, known points never again, and results are better than random search
// with equal budgets.
#include "runtime/measure/tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dsl/stopped.h"
#include "dsl/text/standard_operators.h"
#include "runtime/support/processes/work_stopper.h"
#include "runtime/support/random.h"
#include "tests/common/brief_tests.h"

namespace segfold::tune::tune_search_test {
namespace {

/// An evaluator that computes times: valleys in the logarithms of the tunables, noise from a hash, and points
/// that fail.
class Synthetic : public Evaluator {
public:
    explicit Synthetic(std::uint64_t seed) : seed_(seed) {}

    PlanMeasurement evaluate(const Point& point, double) override
    {
        asked.push_back(point);
        return of(point);
    }

    [[nodiscard]] PlanMeasurement of(const Point& point) const
    {
        RandomSequence valley(RandomSequence::derive_seed(seed_, std::hash<std::string>()(point.stage)));
        double height = 0.1 * static_cast<double>(valley() % 8);
        std::uint64_t place = 0;
        for (const auto& [name, value] : point.configuration) {
            const auto best = static_cast<double>(valley() % 6);
            const double away = std::log2(value + 1.0) - best - 1;
            height += 0.05 * away * away * (1 + static_cast<double>(valley() % 3));
            place = place * 31 + static_cast<std::uint64_t>(value);
        }
        const auto chance = RandomSequence::derive_seed(seed_ + 1, place);
        if (chance % 23 == 0)
            return {MeasurementOutcome::runtime, 0, {}, "walls"};
        return {MeasurementOutcome::correct, std::exp(height) * (1 + 0.01 * static_cast<double>(chance % 7))};
    }

    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override
    {
        std::vector<std::vector<double>> all;
        for (const auto& point : points)
            all.emplace_back(static_cast<std::size_t>(rounds), of(point).milliseconds);
        return all;
    }

    PlanMeasurement validate(const Point& point) override { return of(point); }

    std::vector<Point> asked;

private:
    std::uint64_t seed_;
};

SearchSpace synthetic_space()
{
    std::vector<Point> points;
    std::vector<std::size_t> starts;
    for (const auto* stage : {"plain", "rich"}) {
        const int values = std::string_view(stage) == "rich" ? 6 : 3;
        for (int a = 0; a < values; ++a)
            for (int b = 0; b < values; ++b)
                for (int c = 0; c < values; ++c)
                    for (int d = 0; d < values; ++d)
                        if ((a + b) % 5 != 4)
                            points.push_back(
                                {stage, {{"a", 1 << a}, {"b", 1 << b}, {"c", 1 << c}, {"d", 1 << d}}});
        const Point start{stage, {{"a", 4}, {"b", 2}, {"c", 4}, {"d", 4}}};
        starts.push_back(static_cast<std::size_t>(std::ranges::find(points, start) - points.begin()));
    }
    return {std::move(points), std::move(starts)};
}

double best_of(const std::vector<Trial>& trials)
{
    const auto* best = fastest(trials);
    return best == nullptr ? 1e9 : best->measurement.milliseconds;
}

double optimum(const SearchSpace& space, const Synthetic& times)
{
    double best = 1e9;
    for (std::size_t i = 0; i < space.size(); ++i)
        if (const auto one = times.of(space[i]); one.outcome == MeasurementOutcome::correct)
            best = std::min(best, one.milliseconds);
    return best;
}

TEST(SearchSpace, HoldsWhatTheProblemAllows)
{
    const auto& catalogue = Catalogue::standard();
    const Problem problem(standard_operator("sum"), SegmentForm::offsets);
    const Shape shape{1 << 24, 1 << 14, 1 << 12};
    const auto space = SearchSpace::of(problem, shape, catalogue);
    EXPECT_EQ(space[space.starts().front()].stage, catalogue.rule_of_thumb(problem, shape).name);
    std::set<std::string> stages;
    for (std::size_t i = 0; i < space.size(); ++i) {
        stages.insert(space[i].stage);
        ASSERT_FALSE(impossible(space[i], problem, shape, catalogue)) << print(space[i]);
        ASSERT_EQ(space.find(space[i]), i);
    }
    EXPECT_TRUE(stages.contains("warp_stream"));
    EXPECT_FALSE(stages.contains("grid_reduce")) << "which takes no offsets";
    EXPECT_FALSE(stages.contains("tree_cascade")) << "which is a rung";
    EXPECT_EQ(space.starts().size(), stages.size());
    for (const auto place : space.neighbours(space.starts().front()))
        EXPECT_EQ(space[place].stage, space[space.starts().front()].stage);
}

TEST(SearchSpace, HasWhatStagesPreferForOtherLengths)
{
    const auto& catalogue = Catalogue::standard();
    const Problem problem(standard_operator("sum"), SegmentForm::uniform);
    const Shape shape{1 << 24, 1 << 19};
    const auto space = SearchSpace::of(problem, shape, catalogue);
    const auto lanes = [&](std::size_t place) { return space[place].configuration.at("lanes_per_segment"); };
    std::vector<int> of_groups;
    std::set<std::size_t> seen(space.starts().begin(), space.starts().end());
    for (const auto place : space.across()) {
        EXPECT_TRUE(seen.insert(place).second) << print(space[place]) << " is there twice";
        if (space[place].stage == "group_per_segment")
            of_groups.push_back(lanes(place));
    }
    EXPECT_GE(of_groups.size(), 3u);
    EXPECT_GT(*std::ranges::max_element(of_groups), *std::ranges::min_element(of_groups))
        << "more lanes for longer segments than for shorter ones";
    const SearchSpace none = SearchSpace::of(problem, {0, 0}, catalogue);
    EXPECT_FALSE(none.starts().empty());
}

TEST(SearchSpace, SaysWhyAPointIsImpossible)
{
    const auto& catalogue = Catalogue::standard();
    const Problem problem(standard_operator("sum"), SegmentForm::offsets);
    const auto why = [&](const Point& point) {
        return impossible(point, problem, {1 << 20, 1 << 10, 0}, catalogue).value_or("");
    };
    const auto good = Point{"tile_scan", {{"block_threads", 256}, {"items_per_thread", 8}}};
    EXPECT_EQ(why(good), "");
    EXPECT_NE(why({"tile_scam", {}}).find("did you mean 'tile_scan'"), std::string::npos);
    EXPECT_EQ(why({"tile_scan", {{"block_threads", 256}}}),
              "stage tile_scan has a tunable items_per_thread, which is not given");
    EXPECT_EQ(why({"tile_scan", {{"block_threads", 96}, {"items_per_thread", 8}}}),
              "stage tile_scan: block_threads cannot be 96; its values are 256, 64, 128");
    EXPECT_NE(why({"grid_reduce", {}}).find("takes segments given as whole"), std::string::npos);
}

TEST(Search, EnumeratesWhatTheBudgetAllows)
{
    const auto space = synthetic_space();
    Synthetic times(1);
    const auto trials = search(space, times, {.strategy = Strategy::everything});
    EXPECT_EQ(trials.size(), space.size());
    EXPECT_EQ(std::set(times.asked.begin(), times.asked.end()).size(), space.size());
    EXPECT_DOUBLE_EQ(best_of(trials), optimum(space, times));
}

TEST(Search, KeepsToItsBudgetAndStops)
{
    const auto space = synthetic_space();
    for (const auto strategy : {Strategy::automatic, Strategy::elite, Strategy::random}) {
        Synthetic times(2);
        EXPECT_EQ(search(space, times, {.strategy = strategy, .evaluations = 37}).size(), 37u);
        EXPECT_EQ(times.asked.size(), 37u);
        Synthetic few(2);
        int left = 5;
        (void)search(space, few, {.strategy = strategy}, {{}, [&] { return left-- == 0; }});
        EXPECT_EQ(few.asked.size(), 5u);
    }
}

TEST(Search, IsDeterministicAndNeverAsksTwice)
{
    const auto space = synthetic_space();
    Synthetic first(3), second(3), other(3);
    (void)search(space, first, {.evaluations = 150, .seed = 5});
    (void)search(space, second, {.evaluations = 150, .seed = 5});
    (void)search(space, other, {.evaluations = 150, .seed = 6});
    EXPECT_EQ(first.asked, second.asked);
    EXPECT_NE(first.asked, other.asked);
    EXPECT_EQ(std::set(first.asked.begin(), first.asked.end()).size(), first.asked.size());
}

TEST(Search, TakesUpWhereItWasStopped)
{
    const auto space = synthetic_space();
    Synthetic first(4), second(4);
    const auto half = search(space, first, {.evaluations = 60});
    const auto all = search(space, second, {.evaluations = 60, .known = half});
    EXPECT_EQ(all.size(), 120u);
    const std::set<Point> before(first.asked.begin(), first.asked.end());
    for (const auto& point : second.asked)
        EXPECT_FALSE(before.contains(point)) << print(point);
    EXPECT_LE(best_of(all), best_of(half));
}

/// Stopping the work ends a plan's compiler. That must not count as a plan that does not compile.
TEST(Search, APlanDuringWhichWorkStopsIsNotJudged)
{
    class Stopping : public Synthetic {
    public:
        using Synthetic::Synthetic;
        PlanMeasurement evaluate(const Point& point, double best) override
        {
            if (asked.size() == 3) {
                stopper->stop();
                return {MeasurementOutcome::compile, 0, {}, "the compiler was ended"};
            }
            return Synthetic::evaluate(point, best);
        }
        std::shared_ptr<WorkStopper> stopper = std::make_shared<WorkStopper>();
    };
    const auto space = synthetic_space();
    Stopping evaluator(1);
    std::size_t told = 0;
    SearchListener listener;
    listener.measured = [&](const Trial&) { ++told; };
    const WorkStopper::Here here(evaluator.stopper);
    EXPECT_THROW(search(space, evaluator, {}, listener), Stopped);
    EXPECT_EQ(told, 3U);
}

TEST(Search, LooksAtSeedsFirst)
{
    const auto space = synthetic_space();
    Synthetic times(5);
    const std::size_t seed = space.size() - 3;
    (void)search(space, times, {.evaluations = 3, .seeds = {seed}});
    ASSERT_EQ(times.asked.size(), 3u);
    EXPECT_EQ(times.asked[2], space[seed]);
}

/// Returns the share of the optimum that a strategy reaches, on average over many spaces.
double reached(Strategy strategy, std::size_t budget)
{
    const auto space = synthetic_space();
    constexpr int kSpaces = 60;
    double sum = 0;
    for (int seed = 0; seed < kSpaces; ++seed) {
        Synthetic times(static_cast<std::uint64_t>(100 + seed));
        const auto trials =
            search(space, times,
                   {.strategy = strategy, .evaluations = budget, .seed = static_cast<std::uint64_t>(seed)});
        sum += optimum(space, times) / best_of(trials);
    }
    return sum / kSpaces;
}

TEST(Search, BeatsChanceAtEqualBudgets)
{
    test::Draw draw;
    for (const std::size_t budget : {25, 50, 100}) {
        if (!draw.takes(std::to_string(budget)))
            continue;
        const double ours = reached(Strategy::elite, budget);
        const double chance = reached(Strategy::random, budget);
        RecordProperty("budget " + std::to_string(budget),
                       std::to_string(ours) + " against " + std::to_string(chance));
        EXPECT_GT(ours, chance) << budget;
        EXPECT_TRUE(budget != 100 || ours > 0.9) << ours;
    }
}

/// Three stages whose first tunable is their time in milliseconds.
class Plain : public Evaluator {
public:
    PlanMeasurement evaluate(const Point& point, double) override
    {
        asked.push_back(point);
        return {MeasurementOutcome::correct, static_cast<double>(point.configuration.at("ms")), {}, ""};
    }
    std::vector<std::vector<double>> rank(std::span<const Point>, int) override { return {}; }
    PlanMeasurement validate(const Point&) override { return {}; }

    std::vector<Point> asked;
};

TEST(Search, LooksAcrossTheThresholdsOfCloseStagesFirst)
{
    std::vector<Point> points;
    for (const auto& [stage, first] :
         {std::pair("best", 100), std::pair("close", 124), std::pair("far", 126)})
        for (int i = 0; i < 20; ++i)
            points.push_back({stage, {{"ms", first + i}}});
    const SearchSpace space(points, {0, 20, 40}, {45, 27, 9, 28});
    Plain evaluator;
    (void)search(space, evaluator, {.strategy = Strategy::elite, .evaluations = 6});
    const std::vector<Point> expected = {points[0],  points[20], points[40],
                                         points[27], points[9],  points[28]};
    EXPECT_EQ(evaluator.asked, expected);
    Plain again;
    const Trial known{27, {MeasurementOutcome::correct, 131, {}, ""}};
    (void)search(space, again, {.strategy = Strategy::elite, .evaluations = 5, .known = {known}});
    EXPECT_EQ(again.asked, (std::vector<Point>{points[0], points[20], points[40], points[9], points[28]}));
}

}  // namespace
}  // namespace segfold::tune::tune_search_test
