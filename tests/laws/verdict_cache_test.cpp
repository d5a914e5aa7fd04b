// A proof stores verdicts for later runs: they replace the search, and allow a law that was not declared.
#include "runtime/laws/prove/verdict_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/core.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/cache_settings.h"
#include "tests/common/files.h"

namespace segfold::verdict_cache_test {
namespace {

namespace fs = std::filesystem;

const prove::ProofOptions kPatient{.seconds = 6};
constexpr const char* kUndeclared =
    "operator f(x: i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }";

class VerdictCacheTest : public testing::Test {
protected:
    void SetUp() override
    {
        prove::Solver solver;
        if (const auto reason = solver.unavailable(); !reason.empty())
            GTEST_SKIP() << reason;
        unsetenv("SEGFOLD_CACHE");
        setenv("SEGFOLD_CACHE_DIR", folder_.file("cache").c_str(), 1);
    }
    void TearDown() override
    {
        setenv("SEGFOLD_CACHE", "off", 1);
        unsetenv("SEGFOLD_CACHE_DIR");
    }

    TemporaryFolder folder_;
};

TEST_F(VerdictCacheTest, ProvedLawsSpareTheSearch)
{
    const auto op = standard_operator("max", Type::i32);
    EXPECT_FALSE(quick_laws(op).is_remembered);
    const auto proved = judge_laws(op, {}, {}, &kPatient);
    const auto later = quick_laws(op);
    EXPECT_TRUE(later.is_remembered);
    ASSERT_EQ(later.report.findings.size(), proved.report.findings.size());
    for (const auto& finding : later.report.findings) {
        EXPECT_EQ(finding.verdict, Verdict::proved) << print(finding, op);
        EXPECT_EQ(finding.means, Means::bit_vectors);
    }
    EXPECT_EQ(print(later.report, op), print(proved.report, op));
    EXPECT_FALSE(quick_laws(standard_operator("max", Type::i64)).is_remembered);
}

TEST_F(VerdictCacheTest, CommutativityThatIsProvedIsReliedOnAndSaid)
{
    const auto op = parse_operator("f.seg", kUndeclared);
    EXPECT_FALSE(quick_laws(op).usable.commutative);
    (void)judge_laws(op, {}, {}, &kPatient);
    const auto later = quick_laws(op);
    EXPECT_TRUE(later.usable.commutative);
    const auto warnings = law_warnings(later, op);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(
        warnings[0],
        "operator f does not declare that it is commutative, and is proved to be; stages may rely on it");
}

TEST_F(VerdictCacheTest, WhatAProverRefutesStaysRefuted)
{
    const auto path = fs::path(SEGFOLD_SOURCE_DIR) / "tests/laws/wrong/sum_but_00.seg";
    const auto op = parse_operator(path.string(), read_text(path.string()));
    EXPECT_FALSE(quick_laws(op).report.any_refuted());
    EXPECT_TRUE(judge_laws(op, {}, {}, &kPatient).report.refuted(Law::associative));
    const auto later = quick_laws(op);
    EXPECT_TRUE(later.is_remembered);
    ASSERT_TRUE(later.report.refuted(Law::associative));
    EXPECT_TRUE(later.report.find(Law::associative)->counter_example);
    EXPECT_FALSE(later.usable.associative);
}

/// The file has one of the cache's names, whatever the operator's text contains.
TEST_F(VerdictCacheTest, FilesAreNamedByDigests)
{
    const auto op =
        parse_operator("third.seg", "# " + std::string(300, '.') +
                                        "/../\noperator third(x: i32) -> i64 "
                                        "{ state n: i64 = 0 lift i64(x / 3) combine(a, b) a + b }");
    (void)judge_laws(op, {}, {}, &kPatient);
    EXPECT_TRUE(prove::remembered(op));
    const auto settings = cache::settings_from_environment();
    const auto files = cache::Folder(settings.folder, settings.most_bytes).list();
    ASSERT_EQ(files.size(), 1U);
    EXPECT_TRUE(files[0].name.ends_with(".laws")) << files[0].name;
}

TEST_F(VerdictCacheTest, DamagedFilesCountAsNone)
{
    const auto op = standard_operator("max", Type::i32);
    (void)judge_laws(op, {}, {}, &kPatient);
    ASSERT_TRUE(prove::remembered(op));
    for (const std::string damage : {"", "{", "{\"format\": 2}", "[]", "{\"format\": 2, \"operator\": 7}"}) {
        for (const auto& entry : fs::directory_iterator(folder_.file("cache")))
            std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << damage;
        EXPECT_FALSE(prove::remembered(op)) << damage;
    }
}

/// A proof over the reals changes no answer about infinities and NaN, whether the scalars are known or not,
/// in any session.
TEST_F(VerdictCacheTest, AProofOverTheRealsSaysNothingOfScalarsThatAreNotFinite)
{
    const auto op = parse_operator("ema.seg",
                                   "operator ema(x: f32, decay: scalar f32) -> f32 {\n"
                                   "  state { w: f32 = 1; s: f32 = 0 }\n"
                                   "  lift { w = decay; s = x }\n"
                                   "  combine(a, b) { w = a.w * b.w; s = a.s * b.w + b.s }\n"
                                   "  finish s\n"
                                   "}\n");
    const std::vector<float> values = {1, 2, 3, 4};
    const auto answers = [&](Session& session) {
        std::vector<std::string> texts;
        for (const float decay :
             {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
              std::numeric_limits<float>::quiet_NaN()}) {
            const std::vector<ArrayView> inputs = {values, std::span(&decay, 1)};
            const auto laws = core(session).laws(borrow_workload(op, inputs, uniform(2)));
            texts.push_back(std::to_string(laws.has_sound_identity) + std::to_string(laws.is_associative()) +
                            print(*laws.report.find(Law::identity), op));
            for (const auto& warning : law_warnings(laws, op))
                texts.push_back(warning);
        }
        return texts;
    };
    Session session({.backend = "cpu"});
    const auto before = answers(session);
    EXPECT_TRUE(before[0].starts_with("0")) << before[0];
    (void)session.prove(op, kPatient.seconds);
    const auto report = session.laws(op).report;
    ASSERT_EQ(report.find(Law::identity)->verdict, Verdict::proved_over_reals);
    EXPECT_EQ(answers(session), before);
    Session other({.backend = "cpu"});
    ASSERT_TRUE(other.laws(op).is_remembered);
    EXPECT_EQ(answers(other), before);

    EXPECT_EQ(doubt_of_scalars(op, report), ScalarDoubt::extreme);
    for (const double decay : {0.5, -3.0, 3e38, 0.0})
        EXPECT_FALSE(depends_on_scalars(op, report, {FieldValue{Type::f32, 0, decay}})) << decay;
    auto plan = other.plan(op, uniform(2), 4);
    std::vector<float> results(2);
    for (const float decay :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
        EXPECT_THROW(plan.run({values, std::span(&decay, 1)}, uniform(2), {results}), InputError) << decay;
    EXPECT_EQ(results, std::vector<float>(2));
}

TEST_F(VerdictCacheTest, AProofWhileNothingOverflowsSaysNothingOfLargeIntegers)
{
    const auto op =
        parse_operator("p.seg",
                       "operator p(x: i32, k: scalar i32, n: scalar u64) -> i32 { state s: i32 = 0  "
                       "lift x * k  combine(a, b) a + b }");
    LawReport report;
    report.findings.emplace_back().law = Law::associative;
    for (const auto& [verdict, doubt] : {std::pair(Verdict::proved, ScalarDoubt::none),
                                         {Verdict::proved_while_nothing_overflows, ScalarDoubt::extreme},
                                         {Verdict::proved_over_reals, ScalarDoubt::extreme},
                                         {Verdict::not_refuted, ScalarDoubt::any},
                                         {Verdict::refuted, ScalarDoubt::none}}) {
        report.findings[0].verdict = verdict;
        EXPECT_EQ(doubt_of_scalars(op, report), doubt) << name(verdict);
    }
    report.findings[0].verdict = Verdict::proved_while_nothing_overflows;
    const auto is_asked = [&](std::int64_t k, std::uint64_t n) {
        return depends_on_scalars(
            op, report, {FieldValue{Type::i32, static_cast<std::uint64_t>(k)}, FieldValue{Type::u64, n}});
    };
    for (const std::int64_t k : {0, 1, -1, 46340, -46340})
        EXPECT_FALSE(is_asked(k, 0xffffffff)) << k;
    for (const std::int64_t k : {std::int64_t{46341}, std::int64_t{-46341}, -(std::int64_t{1} << 31)})
        EXPECT_TRUE(is_asked(k, 0)) << k;
    EXPECT_TRUE(is_asked(0, 0x100000000));
    EXPECT_FALSE(depends_on_scalars(op, report, {std::nullopt, std::nullopt}));
}

TEST_F(VerdictCacheTest, SessionsProveAndCarryVerdictMeansAndTime)
{
    const auto op = parse_operator("f.seg", kUndeclared);
    Session session({.backend = "reference"}), earlier({.backend = "simt"});
    EXPECT_FALSE(session.laws(op).usable.commutative);
    EXPECT_FALSE(earlier.laws(op).usable.commutative);
    const auto report = session.prove(op, kPatient.seconds);
    const auto* finding = report.find(Law::associative);
    EXPECT_EQ(finding->verdict, Verdict::proved);
    EXPECT_EQ(finding->means, Means::bit_vectors);
    EXPECT_GT(finding->seconds, 0);
    EXPECT_LT(finding->seconds, 2);
    EXPECT_NE(report.prover.find("Z3 "), std::string::npos);
    EXPECT_TRUE(session.laws(op).usable.commutative) << "later folds rely on it";
    Session other({.backend = "reference"});
    EXPECT_TRUE(other.laws(op).is_remembered);
    EXPECT_TRUE(earlier.laws(op).usable.commutative) << "that had judged the laws before";
}

/// Tests with and without a folder of the cache, and with and without a prover.
TEST_F(VerdictCacheTest, WhatALongSearchRefutesGovernsLaterFolds)
{
    for (const std::string word : {"on", "off"}) {
        setenv("SEGFOLD_CACHE", word.c_str(), 1);
        const auto op = parse_operator(
            "seldom.seg", "operator seldom_" + word +
                              "(x: i32, y: i32) -> i32 { state v: i32 = 0  lift (x & i32(255)) == 141 "
                              "&& (y & i32(63)) == 37 ? -7 : 1  combine(a, b) max(a, b) }");
        Session session({.backend = "reference"});
        ASSERT_FALSE(session.laws(op).report.refuted(Law::identity));
        const prove::ProofOptions none{.seconds = 0};
        const auto found = judge_laws(op, {20000000, 60, 3}, {}, &none);
        ASSERT_TRUE(found.report.refuted(Law::identity));
        EXPECT_TRUE(session.laws(op).report.refuted(Law::identity));
    }
    unsetenv("SEGFOLD_CACHE");
}

}  // namespace
}  // namespace segfold::verdict_cache_test
