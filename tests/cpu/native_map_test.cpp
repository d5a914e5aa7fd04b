// Write-back on the host's cores: every native stage over columns of numbers, every form of segments, against
// the reference; planted bugs. native_rows_test maps rows.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/write_back_cases.h"

namespace segfold::test::native_map_test {
namespace {

constexpr std::int64_t kShareSteps = 1024;

struct MapCase {
    std::string stage, op;
    SegmentForm form;
    int bits = 32;
};

std::string print(const MapCase& c)
{
    return c.stage + "_" + c.op + "_" + std::string(name(c.form)) + (c.bits == 64 ? "_wide" : "");
}

[[maybe_unused]] void PrintTo(const MapCase& c, std::ostream* out) { *out << print(c); }

Operator operator_of(const std::string& name)
{
    return name == "told_back"    ? told_back(true)
           : name == "told_alone" ? told_back(false)
           : name == "several"    ? several_outputs()
           : name == "in_parts"   ? in_parts()
           : name == "by_tables"  ? told_by_tables(true)
                                  : standard_operator(name);
}

/// Every stage that serves: exact operators in all forms, those of floats in two.
std::vector<MapCase> all_cases()
{
    using enum SegmentForm;
    std::vector<MapCase> cases;
    const auto& catalogue = Catalogue::native();
    const auto add = [&](const std::string& op, SegmentForm form, int bits = 32) {
        const Problem problem(operator_of(op), form, bits);
        for (const auto& stage : catalogue.stages())
            if (!catalogue.unmet(stage, problem))
                cases.push_back({stage.name, op, form, bits});
    };
    for (const auto form : {whole, uniform, offsets, ranges})
        for (const auto* op : {"told_back", "several", "by_tables"})
            add(op, form);
    for (const auto form : {offsets, ranges})
        for (const auto* op : {"told_alone", "in_parts", "softmax_f32", "centre_f64", "normalise_f32"})
            add(op, form);
    add("softmax_backward_f16", uniform);
    add("told_back", offsets, 64);
    add("by_tables", offsets, 64);
    return cases;
}

Emitted native_text(const Operator& op, const std::string& stage_name, SegmentForm form, int bits = 32)
{
    const auto& stage = Catalogue::native().stage(stage_name);
    Problem problem(op, form, bits);
    if (form != SegmentForm::ranges)
        problem.checked_tables = tables_of(op);
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
    std::vector<std::int64_t> ones(3 * n, 1), none(2 * n + 9, 0), mixed, few;
    none[n] = 2;
    for (int i = 0; i < 900; ++i)
        mixed.push_back(i % 5 == 0 ? 0 : i % 89 == 0 ? 300 : i % 61);
    for (int i = 0; i < 2500; ++i)
        few.push_back(i % 5 == 0 ? 0 : i % 701 == 0 ? 600 : i % 97 == 0 ? 40 : i % 7);
    return {few,
            {},
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

Segments segments_of(const MapCase& param, const std::vector<std::int64_t>& lengths)
{
    auto segments =
        param.form == SegmentForm::ranges ? ranges_apart(lengths) : segments_in_form(param.form, lengths);
    return with_index_bits(std::move(segments), param.bits);
}

class NativeMaps : public testing::TestWithParam<MapCase> {};

/// Over offsets texts are compiled as runs compile.
TEST_P(NativeMaps, AgreeWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    if (GetParam().form != SegmentForm::offsets)
        compile_briefly();
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto& param = GetParam();
    const auto op = operator_of(param.op);
    const auto emitted = native_text(op, param.stage, param.form, param.bits);
    for (auto lengths : lists_at_borders()) {
        if (!op.allows_empty())
            std::erase(lengths, 0);
        if (param.form == SegmentForm::uniform && !lengths.empty())
            lengths.assign(lengths.size(), 1 + lengths.front() % 77);
        if (param.form == SegmentForm::uniform && lengths.empty())
            continue;
        const auto workload = make_workload_with_tables(op, segments_of(param, lengths), 5);
        const auto comparison = Judge(workload).compare(run_native(workload, emitted));
        ASSERT_TRUE(comparison.agrees()) << lengths.size() << " segments: " << segfold::print(comparison);
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, NativeMaps, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

/// A bug that a person may make.
struct PlantedBug {
    const char* name;
    const char* from;
    const char* to;
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class NativeMapBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(NativeMapBugs, AreNoticed)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const MapCase param{"vector_per_segment", "told_back", SegmentForm::offsets};
    const auto op = operator_of(param.op);
    auto emitted = native_text(op, param.stage, param.form);
    const auto at = emitted.source.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    emitted.source.replace(at, std::strlen(GetParam().from), GetParam().to);
    bool is_found = false;
    for (const auto& lengths : lists_at_borders()) {
        const auto workload = make_workload(op, segments_of(param, lengths), 5);
        is_found = is_found || !Judge(workload).compare(run_native(workload, emitted)).agrees();
    }
    EXPECT_TRUE(is_found);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, NativeMapBugs,
    testing::Values(
        PlantedBug{"ASegmentTooEarly", "results.hash[segment],", "results.hash[segment - (segment > 0)],"},
        PlantedBug{"PositionOfTheShare", "begin - start + i, segment", "i, segment"},
        PlantedBug{"HeadLeftOut", "if (first < last && segment_begin(segments, first) < item)", "if (false)"},
        PlantedBug{"TailLeftOut", "if (begin < end)\n", "if (begin < item)\n"},
        PlantedBug{"TailFromTheSegmentsBegin", "begin < item ? item : begin, end", "begin, begin"},
        PlantedBug{"LastSegmentOfAShareLeftOut", "while (segment < end) {", "while (segment < end - 1) {"},
        PlantedBug{"OwnersOneBehindTheOther", "        from = to;\n", ""},
        PlantedBug{"OwnerIsTheNextSegment", "owners.at[from + lane] = segment;",
                   "owners.at[from + lane] = segment + 1 < end ? segment + 1 : segment;"},
        PlantedBug{"LastItemLeftOut", "i < end - begin; ++i)\n        map_item",
                   "i < end - begin - 1; ++i)\n        map_item"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace segfold::test::native_map_test
