// What every stage emits for four operators, as files that people review.
#include <algorithm>
#include <filesystem>
#include <set>

#include "codegen/emit.h"
#include "dsl/parser.h"
#include "dsl/standard_operators.h"
#include "tests/golden.h"

namespace segfold {
namespace {

// The smallest; several fields; exact and not commutative; no identity and not commutative.
constexpr const char* kOperators[] = {"sum_i32", "mean_variance_f32", "affine_u32", "keep_first_i32"};

/// An operator with a table, whose reads its golden text checks.
constexpr const char* kSpmv = "spmv";
constexpr const char* kSpmvText =
    "operator spmv(value: f32, column: i32, x: table f32) -> f32 {\n  state sum: f32 = 0\n"
    "  lift value * x[column]\n  combine(a, b) a + b\n  laws commutative\n}\n";

struct Golden {
    const Stage* stage;
    std::string op;
    SegmentForm form;
    std::string file;  ///< below tests/golden
    Numbers numbers = Numbers::constant;
};

/// Offsets where the stage takes them, else its first form; tile_scan, whose text depends on the form, in
/// others too. Of stages whose numbers may come with the launch, that text as well.
std::vector<Golden> goldens()
{
    std::vector<Golden> all;
    const auto& catalogue = Catalogue::standard();
    for (const auto& stage : catalogue.stages()) {
        const bool offsets = std::ranges::find(stage.forms, SegmentForm::offsets) != stage.forms.end();
        const auto form = offsets ? SegmentForm::offsets : stage.forms.front();
        for (const std::string op : kOperators)
            if (!catalogue.unmet(stage, Problem(standard_operator(op), form)))
                all.push_back({&stage, op, form, stage.name + "/" + op + ".cu"});
        if (!stage.numbers.empty())
            all.push_back(
                {&stage, "sum_i32", form, stage.name + "/sum_i32_at_launch.cu", Numbers::at_launch});
        if (stage.name == "thread_per_segment")
            all.push_back({&stage, kSpmv, form, "thread_per_segment/spmv_checked.cu"});
        if (stage.is_rung)
            all.push_back({&stage, "sum_i32", SegmentForm::whole, stage.name + "/sum_i32_whole.cu"});
        if (stage.name == "run_stream")
            all.push_back({&stage, "sum_i32", SegmentForm::flags, "run_stream/sum_i32_flags.cu"});
        if (stage.name == "tile_scan")
            for (const auto other : {SegmentForm::uniform, SegmentForm::ranges})
                all.push_back(
                    {&stage, "sum_i32", other, "tile_scan/sum_i32_" + std::string(name(other)) + ".cu"});
    }
    return all;
}

std::string text_of(const Golden& golden)
{
    Problem problem(golden.op == kSpmv ? parse_operator("spmv.seg", kSpmvText) : standard_operator(golden.op),
                    golden.form);
    if (golden.op == kSpmv)
        problem.checked_tables = {"x"};
    return emit(problem, *golden.stage, default_configuration(*golden.stage, plan_facts(problem)),
                Catalogue::standard(), golden.numbers)
        .source;
}

class GoldenText : public testing::TestWithParam<Golden> {};

TEST_P(GoldenText, IsTheFile) { expect_golden(GetParam().file, text_of(GetParam())); }

std::string test_name(const testing::TestParamInfo<Golden>& info)
{
    auto text = info.param.file.substr(0, info.param.file.size() - 3);
    std::ranges::replace(text, '/', '_');
    return text;
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenText, testing::ValuesIn(goldens()), test_name);

TEST(GoldenFiles, EachBelongsToAStage)
{
    namespace fs = std::filesystem;
    const fs::path root = fs::path(SEGFOLD_SOURCE_DIR) / "tests" / "golden";
    std::set<std::string> known;
    for (const auto& golden : goldens())
        known.insert(golden.file);
    for (const auto& entry : fs::recursive_directory_iterator(root))
        if (entry.path().extension() == ".cu") {
            const auto file = entry.path().lexically_relative(root).generic_string();
            EXPECT_TRUE(known.contains(file)) << "tests/golden/" << file << " belongs to no stage; remove it";
        }
}

TEST(GoldenDifference, ShowsTheFirstLinesThatDiffer)
{
    EXPECT_EQ(first_difference("a\nb\nc\nd\ne\n", "a\nb\nc\nx\ne\n"),
              "line 4:\n  a\n  b\n  c\n- d\n- e\n+ x\n+ e\n");
    EXPECT_EQ(first_difference("a\n", "a\nb\n"), "line 2:\n  a\n+ b\n");
    EXPECT_EQ(first_difference("", "b\n"), "line 1:\n+ b\n");
}

}  // namespace
}  // namespace segfold
