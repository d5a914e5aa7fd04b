// Rows of features on the host's cores, folded and mapped: the native stage over every length of rows and
// form of segments, against the reference; planted bugs.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/judge/compare.h"
#include "runtime/support/processes/process.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"
#include "tests/stages/row_cases.h"

namespace segfold::test::native_rows_test {
namespace {

constexpr const char* kStage = "lane_per_feature";
constexpr std::int64_t kLengths[] = {1, 2, 3, 7, 8, 16, 33, 64, 100};
constexpr SegmentForm kForms[] = {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                                  SegmentForm::ranges};

struct NativeRowCase {
    std::string op;
    SegmentForm form;
    int feature_lanes;
    int bits = 32;
};

std::string print(const NativeRowCase& c)
{
    return c.op + "_" + std::string(name(c.form)) + "_" + std::to_string(c.feature_lanes) +
           (c.bits == 64 ? "_wide" : "");
}

[[maybe_unused]] void PrintTo(const NativeRowCase& c, std::ostream* out) { *out << print(c); }

/// Exact, not commutative, and of odd factors alone: no element makes a total forget those before it.
Operator affine_rows()
{
    return parse_operator("affine_rows", R"(
        operator affine_rows(x: row u32) -> (a: u32, b: u32) {
            state { a: u32 = 1; b: u32 = 0 }
            lift { a = x * 2 + 1; b = x * x + 5 }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
        })");
}

Operator operator_of(const std::string& name)
{
    return name == "affine"       ? affine_rows()
           : name == "everything" ? everything_at_once()
           : name == "spmm"       ? spmm()
           : name == "told_back"  ? rows_told_back(true)
           : name == "told_alone" ? rows_told_back(false)
           : name == "several"    ? rows_of_several()
           : name == "by_tables"  ? rows_by_tables()
                                  : over_rows(standard_operator(name));
}

/// Every operator in some block of features, and one that does not commute in all of them.
std::vector<NativeRowCase> all_cases()
{
    std::vector<NativeRowCase> cases;
    // Catalogue::stage reads the stages of GPUs too, which every process of this program would wait for.
    const auto stage = std::ranges::find(Catalogue::native().stages(), kStage, &Stage::name);
    const auto widths = std::ranges::find(stage->tunables, "feature_lanes", &Tunable::name)->values;
    for (const auto form : kForms) {
        for (const int width : widths)
            cases.push_back({"affine", form, width});
        for (const std::string op : {"everything", "keep_first_i16", "max_subarray_i64"})
            for (const int width : {1, 8, 64})
                cases.push_back({op, form, width});
        for (const std::string op :
             {"spmm", "sum_i8", "sum_f16", "max_bf16", "min_f64", "mean_variance_f32", "argmax_f32"})
            cases.push_back({op, form, 16});
        for (const std::string op : {"told_back", "told_alone", "several", "by_tables"})
            for (const int width : {1, 8, 32})
                cases.push_back({op, form, width});
        for (const std::string op : {"softmax_f32", "softmax_backward_f64", "centre_f16"})
            cases.push_back({op, form, 8});
        cases.push_back({"everything", form, 16, 64});
        cases.push_back({"told_back", form, 8, 64});
        cases.push_back({"affine", form, 4, 64});
    }
    return cases;
}

Emitted native_text(const Operator& op, SegmentForm form, int feature_lanes, int bits = 32)
{
    Problem problem(op, form, bits);
    for (const auto& parameter : op.parameters)
        if (parameter.table && !parameter.scalar && form != SegmentForm::ranges)
            problem.checked_tables.push_back(parameter.name);
    const auto& stage = Catalogue::native().stage(kStage);
    return emit(problem, stage, configure(stage, {{"feature_lanes", feature_lanes}, {"share_steps", 64}}),
                Catalogue::native());
}

Results run_native(const Workload& workload, const Emitted& emitted)
{
    return make_backend("cpu")->run(workload, &emitted,
                                    {.launches = 2, .shifted_elements = 1, .scratch_poison = 0xa5});
}

class NativeRows : public testing::TestWithParam<NativeRowCase> {};

/// An operator that does not commute is compiled as runs compile for all blocks of features and forms, and
/// every one over offsets.
TEST_P(NativeRows, AgreeWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    if (GetParam().op != "affine" && GetParam().form != SegmentForm::offsets)
        compile_briefly();
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto& param = GetParam();
    const RowCase row_case{kStage, param.form, operator_of(param.op), {}, {}, param.bits};
    const auto emitted = native_text(row_case.op, param.form, param.feature_lanes, param.bits);
    for (const auto num_features : kLengths) {
        const auto workload = workload_of(row_case, num_features);
        const auto comparison = Judge(workload).compare(run_native(workload, emitted));
        ASSERT_TRUE(comparison.agrees()) << num_features << " features: " << segfold::print(comparison);
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, NativeRows, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

/// Segments that begin and end at the borders of shares, longer than several of them, and empty ones there.
std::vector<std::vector<std::int64_t>> lists_at_borders()
{
    std::vector<std::int64_t> ones(200, 1), none(300, 0), mixed;
    none[150] = 2;
    for (int i = 0; i < 150; ++i)
        mixed.push_back(i % 5 == 0 ? 0 : i % 29 == 0 ? 90 : i % 11);
    return {{},
            {0},
            {1},
            {62},
            {63},
            {64},
            {65},
            {63, 63, 64, 1, 62, 0, 65},
            {0, 1000, 0},
            {62, 0, 0, 62},
            {300, 1, 700},
            ones,
            none,
            mixed};
}

TEST(NativeRowBorders, AgreeWithTheReference)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = affine_rows();
    for (const auto form : {SegmentForm::offsets, SegmentForm::flags, SegmentForm::keys}) {
        const auto emitted = native_text(op, form, 8);
        for (auto lengths : lists_at_borders()) {
            if (form != SegmentForm::offsets)
                std::erase(lengths, 0);
            for (const std::int64_t num_features : {1, 8, 130}) {
                const auto workload = rows_of_numbers(op, segments_in_form(form, lengths), num_features, 7);
                const auto comparison = Judge(workload).compare(run_native(workload, emitted));
                ASSERT_TRUE(comparison.agrees()) << lengths.size() << " segments, " << num_features
                                                 << " features: " << segfold::print(comparison);
            }
        }
    }
}

TEST(NativeRowTables, ReadsOutsideAreRefused)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = spmm();
    const auto emitted = native_text(op, SegmentForm::offsets, 8);
    for (const std::int64_t num_features : {3, 8}) {
        auto workload = rows_of_numbers(op, segments_in_form(SegmentForm::offsets, {5, 70}), num_features, 7);
        workload.arrays[1].as<std::int32_t>()[60] = 41;
        try {
            (void)run_native(workload, emitted);
            ADD_FAILURE() << "a read outside of the table is not noticed";
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("x"), std::string::npos) << error.what();
        }
    }
}

/// A bug that a person may make.
struct PlantedBug {
    const char* name;
    const char* from;
    const char* to;
};

[[maybe_unused]] void PrintTo(const PlantedBug& bug, std::ostream* out) { *out << bug.name; }

class NativeRowBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(NativeRowBugs, AreNoticed)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = affine_rows();
    auto emitted = native_text(op, SegmentForm::offsets, 8);
    const auto at = emitted.source.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << "the text has changed; plant the bug anew";
    emitted.source.replace(at, std::strlen(GetParam().from), GetParam().to);
    bool is_found = false;
    for (const auto& lengths : lists_at_borders())
        for (const std::int64_t num_features : {8, 13, 130}) {
            const auto workload =
                rows_of_numbers(op, segments_in_form(SegmentForm::offsets, lengths), num_features, 7);
            is_found = is_found || !Judge(workload).compare(run_native(workload, emitted)).agrees();
        }
    EXPECT_TRUE(is_found);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, NativeRowBugs,
    testing::Values(
        PlantedBug{"SwappedAppend", "combine(get(totals, lane), later)", "combine(later, get(totals, lane))"},
        PlantedBug{"SwappedJoinOfShares", "combine(carries[k], heads[k])", "combine(heads[k], carries[k])"},
        PlantedBug{"SwappedTails", "combine(carries[k], tails[k])", "combine(tails[k], carries[k])"},
        PlantedBug{"HeadOfAnotherSegment", "segment < end && is_open", "segment < end"},
        PlantedBug{"DroppedCarry", "goes_on ? combine(carries[k], tails[k]) : tails[k]", "tails[k]"},
        PlantedBug{"PartsOutOfOrder", "totals[part * vectors + v]);\n",
                   "totals[(kParts - part) * vectors + v]);\n"},
        PlantedBug{"RowOfAPartTwice", "done = part_rows * kParts", "done = part_rows * kParts - 1"},
        PlantedBug{"LastBlockLeftOut", "next < last_block ? next : last_block",
                   "next < last_block ? next : 0"},
        PlantedBug{"HeadStored", "first < item", "first > item"},
        PlantedBug{"RowsOneTooFar", "index + done, position", "index + done + 1, position"}),
    [](const auto& info) { return std::string(info.param.name); });

/// Where shares begin does not depend on how many threads take them.
TEST(NativeRowThreads, GiveTheSameBits)
{
    const auto taskset = find_program("taskset");
    if (!taskset || !cpu::reason_without_compiler().empty())
        GTEST_SKIP() << "no taskset on PATH, or no compiler";
    const TemporaryFolder folder;
    const auto op = folder.write(
        "sum.seg", "operator sum(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }\n");
    const auto results = [&](const std::string& name, std::vector<std::string> command) {
        const std::vector<std::string> fold = {
            SEGFOLD_PROGRAM, "run",        op,     "--values", "uniform",        "--backend",
            "cpu",           "--stage",    kStage, "--set",    "share_steps=64", "--layout",
            "giant:half",    "--elements", "9999", "--output", folder.file(name)};
        command.insert(command.end(), fold.begin(), fold.end());
        const auto result = run_process(command);
        EXPECT_EQ(result.status, 0) << result.output;
        return read_text(folder.file(name));
    };
    const auto all = results("all.npy", {});
    EXPECT_EQ(all, results("one.npy", {*taskset, "-c", "0"}));
    EXPECT_GT(all.size(), 1000u);
}

}  // namespace
}  // namespace segfold::test::native_rows_test
