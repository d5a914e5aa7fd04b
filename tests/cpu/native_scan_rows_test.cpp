// Running results of rows on the host's cores: every form of segments, both directions, numbers of features
// beside those of a vector, against the reference; planted bugs.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/judge/reference.h"
#include "tests/common/brief_tests.h"
#include "tests/cpu/row_scan_cases.h"

namespace segfold::test::native_scan_rows_test {
namespace {

constexpr int kShareSteps = 64;

struct RowScanCase {
    RowScanOperator op;
    SegmentForm form;
    int bits = 32;
    int feature_lanes = 16;
};

std::string print(const RowScanCase& c)
{
    return print(c.op) + "_" + std::string(name(c.form)) + (c.bits == 64 ? "_wide" : "") + "_" +
           std::to_string(c.feature_lanes);
}

[[maybe_unused]] void PrintTo(const RowScanCase& c, std::ostream* out) { *out << print(c); }

std::vector<RowScanCase> all_cases()
{
    using enum SegmentForm;
    std::vector<RowScanCase> cases;
    for (const bool reverse : {false, true}) {
        for (const auto form : {whole, uniform, ranges})
            cases.push_back({{.reverse = reverse}, form});
        cases.push_back({{.reverse = reverse}, offsets, 64, 1});
        cases.push_back({{.reverse = reverse, .keeps_results = false}, offsets, 32, 32});
        cases.push_back({{.reverse = reverse, .identity = false}, offsets, 32, 4});
        cases.push_back({{.reverse = reverse, .map = true}, offsets, 32, 64});
    }
    return cases;
}

Emitted native_text(const RowScanCase& c)
{
    const auto& stage = Catalogue::native().stage("scan_features");
    Problem problem(row_scan_operator(c.op), c.form, c.bits);
    problem.checked_tables = {"code", "wide"};
    return emit(problem, stage,
                configure(stage, {{"share_steps", kShareSteps}, {"feature_lanes", c.feature_lanes}}),
                Catalogue::native());
}

Results run_native(const Workload& workload, const Emitted& emitted)
{
    return make_backend("cpu")->run(workload, &emitted,
                                    {.launches = 2, .shifted_elements = 1, .scratch_poison = 0xa5});
}

/// Segments that begin and end at the borders of shares, longer than several of them, and empty ones there.
std::vector<std::vector<std::int64_t>> lists_at_borders()
{
    constexpr std::int64_t n = kShareSteps;
    std::vector<std::int64_t> none(2 * n + 9, 0), mixed;
    none[n] = 2;
    for (int i = 0; i < 90; ++i)
        mixed.push_back(i % 5 == 0 ? 0 : i % 29 == 0 ? 200 : i % 11);
    return {{},   {0},  {n - 2}, {n - 1}, {n}, {n - 1, n - 1, n, 1, n - 2, 0, n + 1}, {0, 5 * n + 7, 0},
            none, mixed};
}

Segments segments_of(const RowScanCase& c, const std::vector<std::int64_t>& lengths)
{
    auto segments = c.form == SegmentForm::ranges ? ranges_apart(lengths) : segments_in_form(c.form, lengths);
    if (c.form == SegmentForm::uniform && total(lengths) > 0)
        segments = uniform_segments(total(lengths) / 7 * 7, lengths.size() % 2 == 0 ? 7 : 1);
    return with_index_bits(std::move(segments), c.bits);
}

class NativeScansOfRows : public testing::TestWithParam<RowScanCase> {};

TEST_P(NativeScansOfRows, AreThoseOfTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    if (GetParam().form != SegmentForm::offsets)
        compile_briefly();
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto& c = GetParam();
    const auto emitted = native_text(c);
    int turn = 0;
    for (const auto& lengths : lists_at_borders()) {
        if (c.form == SegmentForm::uniform && total(lengths) == 0)
            continue;
        for (const int num_features : {1, 15, 16, 17, 70}) {
            if (turn++ % 2 == 1)  // every other pair
                continue;
            const auto workload = row_scan_workload(c.op, segments_of(c, lengths), num_features);
            ASSERT_EQ(first_difference(run_native(workload, emitted), reduce_sequentially(workload)), "")
                << lengths.size() << " segments of " << total(lengths) << ", " << num_features << " features";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, NativeScansOfRows, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

TEST(NativeScansOfRows, ArePlansOfARunWithoutAWish)
{
    const Problem problem(row_scan_operator({}), SegmentForm::offsets, 32);
    EXPECT_EQ(Catalogue::native().rule_of_thumb(problem, {}).name, "scan_features");
}

struct PlantedBug {
    const char* name;
    bool reverse;
    const char* from;
    const char* to;
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class NativeRowScanBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(NativeRowScanBugs, AreNoticed)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const RowScanCase c{{.reverse = GetParam().reverse}, SegmentForm::offsets};
    auto emitted = native_text(c);
    const auto at = emitted.source.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    emitted.source.replace(at, std::strlen(GetParam().from), GetParam().to);
    bool is_found = false;
    for (const auto& lengths : lists_at_borders()) {
        const auto workload = row_scan_workload(c.op, segments_of(c, lengths), 20);
        is_found = is_found ||
                   !first_difference(run_native(workload, emitted), reduce_sequentially(workload)).empty();
    }
    EXPECT_TRUE(is_found);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, NativeRowScanBugs,
    testing::Values(
        PlantedBug{"CarryOfTheShareAlone", false, "? joined(carries[k], own) : own", "? own : own"},
        PlantedBug{"CarryForgotten", false, "< item ? carries : nullptr", "< item ? nullptr : nullptr"},
        PlantedBug{"CarryTaken", true, "enters ? nullptr : carries", "false ? nullptr : carries"},
        PlantedBug{"LastFeaturesLeftOut", false, "int(num_features - rows.feature))",
                   "int(num_features - rows.feature) - 1)"},
        PlantedBug{"FeaturesOfTheBlockBefore", false, "before[rows.feature + v", "before[v"},
        PlantedBug{"StoredBySharesBehind", true, "from >= own.begin.item && (", "("}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace segfold::test::native_scan_rows_test
