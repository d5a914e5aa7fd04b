// A whole tuning without a GPU: ties, wrong winners, and workers that crash and hang.
#include "runtime/measure/tune/contest.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/measure/tune/shared_texts.h"
#include "runtime/measure/tune/worker.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::tune::tune_contest_test {
namespace {

Point plan(int size) { return {"plan", {{"size", size}}}; }

/// An evaluator of plans whose times the test sets.
class Given : public Evaluator {
public:
    PlanMeasurement evaluate(const Point& point, double) override
    {
        return {MeasurementOutcome::correct, times.at(point.configuration.at("size")), {}};
    }

    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override
    {
        std::vector<std::vector<double>> all;
        for (const auto& point : points) {
            auto& samples = all.emplace_back();
            for (int i = 0; i < rounds; ++i)
                samples.push_back(
                    times.at(point.configuration.at("size")) * (1 + 0.001 * (i % 5)) *
                    (disturbed.contains(point.configuration.at("size")) && i % 3 == 0 ? 50 : 1));
        }
        return all;
    }

    PlanMeasurement validate(const Point& point) override
    {
        if (point.configuration.at("size") == wrong)
            return {MeasurementOutcome::wrong, 0, {}, "3 segments are wrong"};
        return {};
    }

    std::map<int, double> times = {{1, 1.0}, {2, 0.8}, {4, 0.795}, {8, 2.0}};
    std::set<int> disturbed;  ///< plans of which a third of the runs take 50 times as long
    int wrong = 0;
};

SearchSpace four() { return {{plan(1), plan(2), plan(4), plan(8)}, {0}}; }

TEST(Contest, TakesTheFastestAndSaysBy)
{
    Given times;
    const auto contest = tune(four(), times, 0, {});
    EXPECT_EQ(contest.winner, 2u);
    EXPECT_EQ(contest.finalists.size(), 4u);
    EXPECT_EQ(contest.reason, "1.26 times as fast as the plan that runs today");
}

TEST(Contest, TiesGoToTheIncumbent)
{
    Given times;
    const auto contest = tune(four(), times, 1, {});
    EXPECT_EQ(contest.winner, 1u) << "0.6 % are not worth a change";
    EXPECT_NE(contest.reason.find("stays"), std::string::npos);
    EXPECT_EQ(tune(four(), times, 2, {}).reason, "the plan that runs today is the fastest");
}

/// Medians and the U test alone would call the disturbed plan the winner.
TEST(Contest, RunsThatDifferTooMuchChangeNothing)
{
    Given times;
    times.times = {{1, 1.0}, {2, 1.02}, {4, 0.5}, {8, 2.0}};
    times.disturbed = {4};
    const auto kept = tune(four(), times, 0, {});
    EXPECT_EQ(kept.winner, 0u);
    EXPECT_FALSE(kept.is_certain);
    EXPECT_EQ(
        kept.reason,
        "the plan that runs today stays: the runs differ too much to tell whether plan size=4 is faster, "
        "0.5015 ms (0.5005 - 25) beside 1.002 ms (1.001 - 1.003), medians and quartiles; a machine with "
        "less other work may tell");
    // A plan that is certainly faster still wins.
    times.times[2] = 0.8;
    const auto other = tune(four(), times, 0, {});
    EXPECT_EQ(other.winner, 1u);
    EXPECT_TRUE(other.is_certain);
    EXPECT_EQ(other.reason, "1.25 times as fast as the plan that runs today");
}

TEST(Contest, AWrongWinnerIsDropped)
{
    Given times;
    times.wrong = 4;
    const auto contest = tune(four(), times, 0, {});
    EXPECT_EQ(contest.winner, 1u);
    EXPECT_NE(contest.reason.find("plan size=4 was dropped: wrong (3 segments are wrong)"), std::string::npos)
        << contest.reason;
}

TEST(Contest, TheBestTwoOfAStageThatIsCloseAreRankedToo)
{
    Given times;
    times.times = {{1, 1.0},    {2, 0.99},  {4, 0.98},  {8, 0.97},
                   {16, 1.02},  {32, 1.03}, {64, 1.04},  // another stage, with close times
                   {128, 1.06}, {256, 1.5}};             // a third stage, with one close time
    const auto of = [](const char* stage, int size) { return Point{stage, {{"size", size}}}; };
    const SearchSpace space({plan(1), plan(2), plan(4), plan(8), of("close", 16), of("close", 32),
                             of("close", 64), of("third", 128), of("third", 256)},
                            {0, 4, 7});
    ContestOptions options;
    options.finalists = 3;
    const auto contest = tune(space, times, std::nullopt, options);
    std::vector<int> sizes;
    for (const auto& finalist : contest.finalists)
        sizes.push_back(space[finalist.place].configuration.at("size"));
    EXPECT_EQ(sizes, (std::vector<int>{8, 4, 2, 16, 32, 128}));
    EXPECT_EQ(tune(space, times, 8, options).finalists.size(), 7u)
        << "the plan that runs today is ranked too";
}

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

constexpr const char* kAnswer =
    R"(echo '{"outcome":"correct","milliseconds":0.5,"samples":[],"reason":"","compile_milliseconds":0}')";

TEST(Worker, ACrashAndAHangEndNothingElse)
{
    WorkerEvaluator worker(shell(std::string("echo '{}'; while read -r line; do case \"$line\" in "
                                             "*:1}*) kill -SEGV $$;; *:2}*) sleep 60;; *:4}*) exit 3;; *) ") +
                                 kAnswer + ";; esac; done"),
                           2);
    EXPECT_EQ(worker.evaluate(plan(8), 1).milliseconds, 0.5);
    const auto crashed = worker.evaluate(plan(1), 1);
    EXPECT_EQ(crashed.outcome, MeasurementOutcome::runtime);
    EXPECT_NE(crashed.reason.find("signal 11"), std::string::npos) << crashed.reason;
    EXPECT_EQ(worker.evaluate(plan(8), 1).milliseconds, 0.5);
    const auto hung = worker.evaluate(plan(2), 1);
    EXPECT_EQ(hung.outcome, MeasurementOutcome::timeout);
    EXPECT_EQ(hung.reason, "no answer within 2 s");
    EXPECT_EQ(worker.evaluate(plan(4), 1).reason, "its process ended with exit code 3");
    EXPECT_EQ(worker.evaluate(plan(8), 1).milliseconds, 0.5);
    EXPECT_EQ(worker.starts(), 4);
}

TEST(Worker, OneThatEndsBetweenRequestsIsStartedAgain)
{
    const TemporaryFolder folder;
    WorkerEvaluator worker(shell("echo $$ >" + folder.file("pid") + "; echo '{}'; read -r line; " + kAnswer),
                           60);
    EXPECT_EQ(worker.evaluate(plan(8), 1).outcome, MeasurementOutcome::correct);
    // Wait until the worker has ended and is a zombie.
    const auto pid = std::to_string(std::stoi(read_text(folder.file("pid"))));
    while (read_text("/proc/" + pid + "/stat").find(") Z ") == std::string::npos)
        usleep(1000);
    EXPECT_EQ(worker.evaluate(plan(8), 1).outcome, MeasurementOutcome::correct);
    EXPECT_EQ(worker.starts(), 2);
}

TEST(Worker, OneThatCannotStartSaysWhy)
{
    WorkerEvaluator worker(shell("echo '{\"error\":\"no GPU\",\"exit_code\":3}'"), 1);
    try {
        (void)worker.greeting();
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_STREQ(error.what(), "no GPU");
    }
    WorkerEvaluator silent(shell("exit 7"), 1);
    EXPECT_THROW((void)silent.greeting(), DeviceError);
    WorkerEvaluator missing({"/no/such/program"}, 1);
    EXPECT_THROW((void)missing.greeting(), DeviceError);
}

TEST(Worker, AnAnswerThatIsNoneIsShown)
{
    const auto failure = [](const std::string& answer) {
        WorkerEvaluator worker(shell("echo '{}'; read -r line; echo '" + answer + "'"), 5);
        return test::message_of<InternalError>([&] { (void)worker.evaluate(plan(8), 1); });
    };
    EXPECT_EQ(failure(R"({"outcome":"fast"})"),
              R"(internal error: a worker answers '{"outcome":"fast"}': answer.outcome is "fast"; )"
              "correct, abandoned, compile, resources, wrong, timeout or runtime is needed");
    EXPECT_EQ(failure("hello"), "internal error: a worker answers 'hello': answer: no JSON at byte 1");
}

TEST(Worker, ServesAnEvaluator)
{
    Given times;
    std::istringstream in(
        "{\"expect\":[]}\n"
        "{\"evaluate\":{\"stage\":\"plan\",\"configuration\":{\"size\":2}},\"best\":3}\n"
        "{\"rank\":[{\"stage\":\"plan\",\"configuration\":{\"size\":8}}],\"rounds\":1}\n"
        "{\"validate\":{\"stage\":\"plan\",\"configuration\":{\"size\":8}}}\n");
    std::string out;
    serve(
        times, "{}", in, [&](std::string_view text) { out += text; }, [] { return true; });
    EXPECT_EQ(out,
              "{}\n"
              "{\"outcome\":\"correct\",\"milliseconds\":0.8,\"samples\":[],\"reason\":\"\","
              "\"compile_milliseconds\":0.0}\n"
              "{\"samples\":[[2.0]]}\n"
              "{\"outcome\":\"correct\",\"milliseconds\":0.0,\"samples\":[],\"reason\":\"\","
              "\"compile_milliseconds\":0.0}\n");
    std::istringstream nonsense("hello\n");
    EXPECT_THROW(serve(
                     times, "{}", nonsense, [](std::string_view) {}, [] { return true; }),
                 InputError);
}

TEST(SharedTexts, PlansThatDifferInNumbersHaveOne)
{
    const Problem problem(standard_operator("sum_f32"), SegmentForm::offsets);
    SharedTexts texts(problem, Catalogue::standard());
    std::set<const Emitted*> emitted;
    const auto& stage = Catalogue::standard().stage("warp_stream");
    for (const auto& configuration : configurations(stage, plan_facts(problem)))
        emitted.insert(&texts.of({stage.name, configuration}));
    EXPECT_LE(emitted.size(), 80U)
        << "three values of items_per_thread, two of sparse_ends, and what no text mentions";
    EXPECT_THROW((void)texts.of({"warp_steam", {}}), InputError);
}

/// The texts compiled ahead are the texts that the points need later.
TEST(SharedTexts, AreThoseOfThePlans)
{
    for (const auto form :
         {SegmentForm::offsets, SegmentForm::uniform, SegmentForm::keys, SegmentForm::whole}) {
        const Problem problem(standard_operator("argmax_f32"), form);
        SharedTexts texts(problem, Catalogue::standard());
        for (const auto& stage : Catalogue::standard().stages()) {
            if (stage.is_rung || Catalogue::standard().unmet(stage, problem))
                continue;
            const auto all = configurations(stage, plan_facts(problem));
            const std::size_t step = all.size() / 40 + 1;
            for (std::size_t i = 0; i < all.size(); i += step) {
                EXPECT_EQ(texts.of({stage.name, all[i]}).source,
                          emit(problem, stage, all[i], Catalogue::standard(), Numbers::at_launch).source)
                    << stage.name << " " << segfold::print(all[i]);
            }
        }
    }
}

}  // namespace
}  // namespace segfold::tune::tune_contest_test
