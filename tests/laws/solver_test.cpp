// A solver that hangs, crashes, is killed or talks nonsense proves nothing, takes no more than its time, and
// leaves nothing behind.
#include "runtime/laws/prove/solver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include <chrono>
#include <iterator>
#include <sstream>
#include <thread>

#include "dsl/text/standard_operators.h"
#include "runtime/laws/prove/prove.h"
#include "tests/cli/cli_program.h"

namespace segfold::solver_test {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 0.6;
constexpr double kSlackSeconds = 1.5;

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::size_t open_descriptors()
{
    return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

/// The command line of a process; nothing if the process has ended.
std::string words_of(const fs::path& process)
{
    try {
        return read_text(process / "cmdline");
    } catch (const std::exception&) {
        return {};
    }
}

/// Processes with `word` in their command line.
std::vector<std::string> processes_of(const std::string& word)
{
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto number = entry.path().filename().string();
        if (number.find_first_not_of("0123456789") == number.npos &&
            words_of(entry.path()).find(word) != std::string::npos && number != std::to_string(getpid()))
            found.push_back(number);
    }
    return found;
}

std::vector<pid_t> children_of_this()
{
    std::istringstream numbers(read_text(fmt::format("/proc/self/task/{}/children", gettid())));
    return {std::istream_iterator<pid_t>(numbers), {}};
}

/// A solver that misbehaves as the parameter says.
class FalseSolverTest : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        setenv("SEGFOLD_Z3", SEGFOLD_FALSE_Z3_LIBRARY, 1);
        setenv("SEGFOLD_FALSE_Z3", GetParam(), 1);
    }
    void TearDown() override
    {
        unsetenv("SEGFOLD_Z3");
        unsetenv("SEGFOLD_FALSE_Z3");
    }
};

TEST_P(FalseSolverTest, ProvesNothingAndEnds)
{
    const auto descriptors = open_descriptors();
    for (const auto* name : {"sum", "max", "argmax"}) {
        const auto op = standard_operator(name, Type::i32);
        const auto searched = check_laws(op);
        auto report = searched;
        {
            prove::Solver solver;
            const auto begin = std::chrono::steady_clock::now();
            prove::prove_laws(op, report, solver, {.seconds = kSeconds});
            EXPECT_LT(seconds_since(begin), prove::kMostPatience * kSeconds + kSlackSeconds);
        }
        EXPECT_TRUE(report.undeclared.empty());
        ASSERT_EQ(report.findings.size(), searched.findings.size());
        for (std::size_t i = 0; i < report.findings.size(); ++i) {
            EXPECT_EQ(report.findings[i].verdict, searched.findings[i].verdict);
            EXPECT_FALSE(is_proof(report.findings[i].verdict));
            EXPECT_FALSE(report.findings[i].unproved.empty()) << name;
        }
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
}

INSTANTIATE_TEST_SUITE_P(Ways, FalseSolverTest,
                         testing::Values("hang", "crash", "be killed", "end", "take memory", "say nothing",
                                         "say unknown", "say timeout", "say an error", "say sat",
                                         "say nonsense"),
                         [](const auto& way) {
                             std::string text = way.param;
                             std::ranges::replace(text, ' ', '_');
                             return text;
                         });

TEST(SolverTest, OneThatCrashesAtItsStartIsNone)
{
    setenv("SEGFOLD_Z3", SEGFOLD_FALSE_Z3_LIBRARY, 1);
    setenv("SEGFOLD_FALSE_Z3", "crash at start", 1);
    prove::Solver solver;
    EXPECT_NE(solver.unavailable().find("the solver ended at once"), std::string::npos)
        << solver.unavailable();
    unsetenv("SEGFOLD_Z3");
    unsetenv("SEGFOLD_FALSE_Z3");
}

TEST(SolverTest, AnotherLibraryIsNone)
{
    setenv("SEGFOLD_Z3", "libm.so.6", 1);
    prove::Solver solver;
    EXPECT_NE(solver.unavailable().find("it is not Z3"), std::string::npos) << solver.unavailable();
    unsetenv("SEGFOLD_Z3");
}

/// After a crash, the next question starts another child.
TEST(SolverTest, GoesOnAfterAQuestionTooHard)
{
    prove::Solver solver;
    if (const auto reason = solver.unavailable(); !reason.empty())
        GTEST_SKIP() << reason;
    const std::string hard =
        "(declare-const a (_ BitVec 64))(declare-const b (_ BitVec 64))"
        "(assert (= (bvmul a b) #x8000000000000365))(assert (bvugt a #x0000000000000001))"
        "(assert (bvugt b #x0000000000000001))(assert (bvult a b))(assert (bvult b "
        "#x0000000100000000))(check-sat)\n";
    const auto answer = solver.ask(hard, 0.05);
    EXPECT_EQ(answer.kind, prove::Answer::Kind::unknown);
    EXPECT_NE(answer.reason, "");
    EXPECT_EQ(solver.ask("(assert false)(check-sat)\n", 5).kind, prove::Answer::Kind::unsat);
    EXPECT_EQ(solver.ask("(assert true)(check-sat)\n", 5).kind, prove::Answer::Kind::sat);
}

constexpr const char* kUnsat = "(assert false)(check-sat)\n";

/// A solver started by a thread that has ended still works, and remembers the earlier declarations.
TEST(SolverTest, OutlivesTheThreadThatStartedIt)
{
    prove::Solver solver;
    if (const auto reason = solver.unavailable(); !reason.empty())
        GTEST_SKIP() << reason;
    prove::Solver other;
    std::thread([&] { other.begin("(declare-const x Int)(assert (> x 1))", 5); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(other.go_on("(assert (< x 2))(check-sat)\n", 5).kind, prove::Answer::Kind::unsat);
    for (int i = 0; i < 3; ++i)
        std::thread([&] { EXPECT_EQ(other.ask(kUnsat, 5).kind, prove::Answer::Kind::unsat); }).join();
}

/// If a child ends between two questions, both are answered.
TEST(SolverTest, TheNextQuestionFindsAnotherChild)
{
    prove::Solver solver;
    if (const auto reason = solver.unavailable(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto children = children_of_this();
    ASSERT_EQ(children.size(), 1U);
    kill(children.front(), SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(solver.ask(kUnsat, 5).kind, prove::Answer::Kind::unsat);
    EXPECT_NE(children_of_this(), children);
}

/// A signal ends the program while its solver hangs.
TEST(SolverTest, NoSolverOutlivesTheProgram)
{
    const test::ProgramFolder folder;
    const auto library = folder.file("false_z3.so");  // a copy, so that its processes can be told apart
    fs::copy_file(SEGFOLD_FALSE_Z3_LIBRARY, library);
    for (const int number : {SIGINT, SIGTERM, SIGKILL}) {
        const auto pid = fork();
        if (pid == 0) {
            setpgid(0, 0);
            setenv("SEGFOLD_Z3", library.c_str(), 1);
            setenv("SEGFOLD_FALSE_Z3", "hang", 1);
            const int nothing = open("/dev/null", O_RDWR);
            dup2(nothing, 1);
            dup2(nothing, 2);
            execl(SEGFOLD_PROGRAM, "segfold", "check", "sum", "--backend", "simt", "--prove", "60", nullptr);
            _exit(127);
        }
        const auto begin = std::chrono::steady_clock::now();
        while (processes_of(library).empty() && seconds_since(begin) < 20)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ASSERT_FALSE(processes_of(library).empty());
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        kill(number == SIGINT ? -pid : pid, number);  // the terminal's signal reaches the whole group
        int status = 0;
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        const auto ended = std::chrono::steady_clock::now();
        while (!processes_of(library).empty() && seconds_since(ended) < 5)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_TRUE(processes_of(library).empty()) << "signal " << number;
    }
}

}  // namespace
}  // namespace segfold::solver_test
