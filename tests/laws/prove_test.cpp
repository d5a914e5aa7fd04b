// The verdicts of Z3 on the operators of tests/laws, and the messages without Z3.
#include "runtime/laws/prove/prove.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"

namespace segfold::prove_test {
namespace {

namespace fs = std::filesystem;

/// So long that a slow machine gets the same verdicts.
constexpr double kSeconds = 6;
/// For a verdict that did not come in that time, because other processes had the processors.
constexpr double kMoreSeconds = 30;
/// Enough cases for every fault that a search can find.
constexpr LawOptions kSearch{4000, 0.2, 1};
constexpr const char* kWithoutInvariants = "without invariants, ";

struct Expectation {
    std::string law, verdict;
    bool invariants = true;
};

std::string read(const fs::path& path)
{
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<Expectation> expectations(const std::string& text)
{
    std::vector<Expectation> list;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with("# ");) {
        line.erase(0, 2);
        const bool without = line.starts_with(kWithoutInvariants);
        if (without)
            line.erase(0, std::string_view(kWithoutInvariants).size());
        const auto colon = line.find(": ");
        list.push_back({line.substr(0, colon), line.substr(colon + 2), !without});
    }
    return list;
}

std::string verdict_of(const LawFinding& finding)
{
    switch (finding.verdict) {
        case Verdict::proved: return "proved";
        case Verdict::proved_while_nothing_overflows: return "proved_while_nothing_overflows";
        case Verdict::proved_over_reals: return "proved_over_reals";
        case Verdict::refuted: return "refuted";
        default: return "unproved";
    }
}

std::vector<fs::path> operators_in(const char* folder)
{
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(fs::path(SEGFOLD_SOURCE_DIR) / "tests/laws" / folder))
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    return paths;
}

class ProveTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = solver_.unavailable(); !reason.empty())
            GTEST_SKIP() << reason;
    }

    /// Judges the laws in `list`, or, if it is empty, all laws.
    LawReport judge(const Operator& op, bool invariants = true, const std::vector<Expectation>& list = {},
                    double seconds = kSeconds)
    {
        auto report = check_laws(op, kSearch);
        std::erase_if(report.findings, [&](const auto& finding) {
            return !list.empty() &&
                   std::ranges::find(list, name(finding.law), &Expectation::law) == list.end();
        });
        prove::ProofOptions options;
        options.seconds = seconds;
        options.invariants = invariants;
        prove::prove_laws(op, report, solver_, options);
        return report;
    }

    void expect_verdicts(const char* folder)
    {
        test::Draw draw;
        for (const auto& path : operators_in(folder)) {
            if (!draw.takes(path.filename().string()))
                continue;
            const auto text = read(path);
            const auto op = parse_operator(path.string(), text);
            for (const bool invariants : {true, false}) {
                auto list = expectations(text);
                std::erase_if(list, [&](const auto& e) { return e.invariants != invariants; });
                if (list.empty())
                    continue;
                auto report = judge(op, invariants, list);
                if (std::ranges::any_of(list, [&](const Expectation& e) {
                        return std::ranges::none_of(report.findings, [&](const LawFinding& f) {
                            return name(f.law) == e.law && verdict_of(f) == e.verdict;
                        });
                    }))
                    report = judge(op, invariants, list, kMoreSeconds);
                for (const auto& [law, verdict, unused] : list) {
                    const auto found =
                        std::ranges::find(report.findings, law, [](const auto& f) { return name(f.law); });
                    ASSERT_NE(found, report.findings.end()) << path << " " << law;
                    EXPECT_EQ(verdict_of(*found), verdict)
                        << path << (invariants ? "" : " without invariants") << "\n"
                        << print(*found, op);
                }
            }
        }
    }

    prove::Solver solver_;
};

TEST_F(ProveTest, TableOfFortyOperators)
{
    EXPECT_EQ(operators_in("table").size(), 40U);
    expect_verdicts("table");
}

TEST_F(ProveTest, WrongOperatorsThatASearchPassesAreRefuted)
{
    EXPECT_EQ(operators_in("wrong").size(), 20U);
    for (const auto& path : operators_in("wrong"))
        EXPECT_FALSE(check_laws(parse_operator(path.string(), read(path))).any_refuted()) << path;
    expect_verdicts("wrong");
}

TEST_F(ProveTest, RightOperatorsNeedTheirInvariants)
{
    EXPECT_EQ(operators_in("right").size(), 20U);
    expect_verdicts("right");
}

TEST_F(ProveTest, LateStreakIsProvedWithItsInvariant)
{
    const auto path = fs::path(SEGFOLD_SOURCE_DIR) / "tests/data/flights/late_streak.seg";
    const auto op = parse_operator(path.string(), read(path));
    const auto report = judge(op);
    const auto* finding = report.find(Law::associative);
    EXPECT_EQ(finding->verdict, Verdict::proved_while_nothing_overflows);
    EXPECT_NE(finding->invariants.find("0 <= leading <= flights"), std::string::npos) << finding->invariants;
    EXPECT_LT(finding->seconds, 4);  // of the processor, beside other work
}

TEST_F(ProveTest, QuestionsAreKeptAsTheyAreAsked)
{
    const TemporaryFolder folder;
    const auto op = standard_operator("max", Type::i32);
    auto report = check_laws(op, kSearch);
    prove::ProofOptions options;
    options.seconds = kSeconds;
    options.smt_lib = folder.file("questions");
    prove::prove_laws(op, report, solver_, options);
    for (const auto* law : {"associative", "identity", "commutative", "idempotent"}) {
        const auto question = read(options.smt_lib / (std::string("max.") + law + ".bits.smt2"));
        EXPECT_EQ(solver_.ask(question, kSeconds).kind, prove::Answer::Kind::unsat) << question;
    }
    options.smt_lib = folder.write("file", "") + "/questions";
    EXPECT_THROW(prove::prove_laws(op, report, solver_, options), InputError);
}

TEST(ListedOperatorsTest, LesserOverNanIsRefuted)
{
    const auto op = parse_operator(
        "f", "operator f(x: f32) -> f32 { state s: f32 = inf lift x combine(a, b) a < b ? a : b }");
    EXPECT_TRUE(check_laws(op).refuted(Law::associative));
}

TEST_F(ProveTest, NoTimeIsNoProof)
{
    const auto op = standard_operator("max_subarray", Type::i32);
    auto report = check_laws(op);
    prove::ProofOptions options;
    options.seconds = 0.001;
    prove::prove_laws(op, report, solver_, options);
    for (const auto& finding : report.findings) {
        EXPECT_FALSE(is_proof(finding.verdict));
        EXPECT_NE(finding.unproved, "");
    }
}

/// Internally, a scalar is a table of one value. Messages call it a scalar.
TEST_F(ProveTest, AScalarThatHindersAProofIsCalledOne)
{
    for (const std::string scaled : {"x * k", "x > 0 ? x * k : 0"}) {
        const auto op =
            parse_operator("f", "operator f(x: i32, k: scalar i32) -> i32 { state s: i32 = 0 lift " + scaled +
                                    " combine(a, b) a + b append(a) a + (" + scaled + ") }");
        EXPECT_EQ(judge(op).find(Law::append)->unproved, "a scalar") << scaled;
    }
}

TEST_F(ProveTest, UndeclaredCommutativityIsFound)
{
    const auto op =
        parse_operator("f", "operator f(x: i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }");
    const auto report = judge(op);
    ASSERT_EQ(report.undeclared.size(), 1U);
    EXPECT_EQ(report.undeclared[0].law, Law::commutative);
    const auto last =
        parse_operator("f", "operator f(x: i32) -> i32 { state s: i32 lift x combine(a, b) b }");
    EXPECT_TRUE(judge(last).undeclared.empty());
}

TEST(ProveWithoutZ3Test, SearchRemainsAndSaysSo)
{
    setenv("SEGFOLD_Z3", "/nowhere/libz3.so", 1);
    const auto op = standard_operator("sum", Type::i32);
    auto report = check_laws(op);
    prove::Solver solver;
    prove::prove_laws(op, report, solver);
    unsetenv("SEGFOLD_Z3");
    EXPECT_EQ(report.find(Law::associative)->means, check_laws(op).find(Law::associative)->means);
    EXPECT_NE(report.prover.find("nothing is proved: no Z3"), std::string::npos) << report.prover;
}

}  // namespace
}  // namespace segfold::prove_test
