// Running results of columns on the host's cores: every form of segments, both directions, against plain
// loops; planted bugs.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/module.h"
#include "tests/common/brief_tests.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/scan_cases.h"

namespace segfold::test::native_scan_test {
namespace {

constexpr std::int64_t kShareSteps = 1024;

struct ScanCase {
    ScanOperator op;
    SegmentForm form;
    int bits = 32;
};

std::string print(const ScanCase& c)
{
    return print(c.op) + "_" + std::string(name(c.form)) + (c.bits == 64 ? "_wide" : "");
}

[[maybe_unused]] void PrintTo(const ScanCase& c, std::ostream* out) { *out << print(c); }

std::vector<ScanCase> all_cases()
{
    using enum SegmentForm;
    std::vector<ScanCase> cases;
    for (const bool reverse : {false, true}) {
        for (const auto form : {whole, uniform, offsets, ranges})
            cases.push_back({{.reverse = reverse, .lifts_places = true}, form});
        cases.push_back({{.reverse = reverse, .keeps_results = false}, offsets});
        cases.push_back({{.reverse = reverse, .identity = false}, offsets, 64});
        cases.push_back({{.reverse = reverse, .map = true}, ranges, 64});
        for (const auto form : {uniform, offsets, ranges})
            cases.push_back({{.reverse = reverse, .lifts_places = true, .associative = false}, form});
        cases.push_back({{.reverse = reverse, .keeps_results = false, .associative = false}, whole});
        cases.push_back({{.reverse = reverse, .map = true, .associative = false}, offsets, 64});
        cases.push_back({{.reverse = reverse, .identity = false, .map = true, .associative = false}, ranges});
    }
    return cases;
}

Emitted native_text(const ScanCase& c)
{
    const auto& stage = Catalogue::native().stage("scan_shares");
    Problem problem(scan_operator(c.op), c.form, c.bits);
    problem.laws.associative = c.op.associative;
    problem.checked_tables = {"code"};
    return emit(problem, stage, configure(stage, {{"share_steps", int{kShareSteps}}}), Catalogue::native());
}

Results run_native(const Workload& workload, const Emitted& emitted)
{
    return make_backend("cpu")->run(workload, &emitted,
                                    {.launches = 2, .shifted_elements = 1, .scratch_poison = 0xa5});
}

/// Segments that begin and end at the borders of shares, longer than several of them, and empty ones there.
std::vector<std::vector<std::int64_t>> lists_at_borders()
{
    constexpr auto n = kShareSteps;
    std::vector<std::int64_t> ones(3 * n, 1), none(2 * n + 9, 0), mixed;
    none[n] = 2;
    for (int i = 0; i < 900; ++i)
        mixed.push_back(i % 5 == 0 ? 0 : i % 89 == 0 ? 300 : i % 61);
    return {{},
            {0},
            {1},
            {n - 2},
            {n - 1},
            {n},
            {n + 1},
            {n - 1, n - 1, n, 1, n - 2, 0, n + 1},
            {0, 9999, 0},
            {5, 6 * n + 1, 3, 0},
            {n - 2, 0, 0, n - 2},
            ones,
            none,
            mixed};
}

Segments segments_of(const ScanCase& c, const std::vector<std::int64_t>& lengths)
{
    auto segments = c.form == SegmentForm::ranges ? ranges_apart(lengths) : segments_in_form(c.form, lengths);
    if (c.form == SegmentForm::uniform && total(lengths) > 0)
        segments = uniform_segments(total(lengths) / 7 * 7, lengths.size() % 2 == 0 ? 7 : 1);
    return with_index_bits(std::move(segments), c.bits);
}

class NativeScans : public testing::TestWithParam<ScanCase> {};

TEST_P(NativeScans, AreThoseOfLoops)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    if (GetParam().form != SegmentForm::offsets)
        compile_briefly();
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto& c = GetParam();
    const auto emitted = native_text(c);
    for (const auto& lengths : lists_at_borders()) {
        if (c.form == SegmentForm::uniform && total(lengths) == 0)
            continue;
        const auto workload = scan_workload(c.op, segments_of(c, lengths));
        ASSERT_EQ(first_difference(run_native(workload, emitted), scanned_by_loops(workload, c.op)), "")
            << lengths.size() << " segments of " << total(lengths);
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, NativeScans, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

/// A bug that a person may make.
struct PlantedBug {
    const char* name;
    bool reverse;
    const char* from;
    const char* to;
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class NativeScanBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(NativeScanBugs, AreNoticed)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const ScanCase c{{.reverse = GetParam().reverse}, SegmentForm::offsets};
    auto emitted = native_text(c);
    const auto at = emitted.source.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    emitted.source.replace(at, std::strlen(GetParam().from), GetParam().to);
    bool is_found = false;
    for (const auto& lengths : lists_at_borders()) {
        const auto workload = scan_workload(c.op, segments_of(c, lengths));
        is_found = is_found ||
                   !first_difference(run_native(workload, emitted), scanned_by_loops(workload, c.op)).empty();
    }
    EXPECT_TRUE(is_found);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, NativeScanBugs,
    testing::Values(PlantedBug{"OperandsExchanged", false, "return combine(before, next);",
                               "return combine(next, before);"},
                    PlantedBug{"OperandsExchangedBackward", true, "return combine(next, before);",
                               "return combine(before, next);"},
                    PlantedBug{"CarryOfTheShareAlone", false, "? joined(carry, own) : own", "? own : own"},
                    PlantedBug{"CarryPastABegin", false, ".goes_through ?", ".goes_through || true ?"},
                    PlantedBug{"CarryLeftOut", false, "if (num_shares > 1)", "if (num_shares < 1)"},
                    PlantedBug{"StateKeptBehindAnEnd", false,
                               "        state = identity();\n        item = end;", "        item = end;"},
                    PlantedBug{"PiecesBeforeLeftOut", false, "joined(states[piece - 1], totals[piece - 1])",
                               "states[piece - 1]"},
                    PlantedBug{"OwnStateBefore", false, "share_states[share] = carry;",
                               "share_states[share] = own;"},
                    PlantedBug{"StoredBySharesBehind", true,
                               "if (from >= own.begin.item && (ends || from < end))", "if (ends)"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace segfold::test::native_scan_test
