// A check of a stage of one's own: without an operator, and what is said of what it gets wrong.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/check/operators/stage_operators.h"
#include "runtime/cli/views/json_schema.h"
#include "tests/cli/cli_program.h"
#include "tests/common/json_schema.h"
#include "tests/common/kernel_folder.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::check_stage_test {
namespace {

std::vector<std::string> names_of(const std::string& stage)
{
    const auto& catalogue = Catalogue::standard();
    std::vector<std::string> names;
    for (const auto& op : regress::stage_operators(catalogue.stage(stage), catalogue, {}))
        names.push_back(op.name);
    return names;
}

bool has(const std::vector<std::string>& names, const std::string& name)
{
    return std::ranges::find(names, name) != names.end();
}

/// Each stage, rungs too, meets an operator at least; those that serve all meet all kinds.
TEST(StageOperators, ShowWhatAStageMayGetWrong)
{
    for (const auto& stage : Catalogue::standard().stages())
        EXPECT_FALSE(names_of(stage.name).empty()) << stage.name;
    EXPECT_TRUE(has(names_of("group_tables"), "affine"));
    EXPECT_TRUE(has(names_of("running_rows"), "running_row_last"));
    const auto names = names_of("thread_per_segment");
    for (const auto* name : {"affine", "max_subarray", "keep_first", "sum", "placed_hash", "placed_sum",
                             "counted_hash", "counted_last", "appended_sum", "told_hash", "told_sum"})
        EXPECT_TRUE(has(names, name)) << name;
    EXPECT_TRUE(has(names_of("row_groups"), "row_hash"));
    EXPECT_FALSE(has(names_of("row_groups"), "sum"));
    EXPECT_FALSE(has(names_of("fused_tiles"), "placed_hash")) << "which has no output";
}

class CheckStage : public testing::Test {
protected:
    void SetUp() override
    {
        if (!has_compiler())
            GTEST_SKIP() << "there is no C++ compiler for simt";
        kernels_ = copy_kernels(folder_, "own");
    }

    /// segfold check of thread_per_segment as the test has it, with more words.
    ProgramResult check(std::vector<std::string> words) const
    {
        words.insert(words.begin(), "check");
        words.insert(words.end(), {"--stage", "thread_per_segment", "--kernels", "own", "--backend", "simt"});
        return folder_.run(words);
    }

    ProgramFolder folder_;
    std::string kernels_;
};

const std::string kStage = "stages/thread_per_segment.cu";
const std::string kFold = "total = combine(total, load_item(inputs, first + position, position, segment));";
const std::string kStore = "store(results, segment, length, total);";

TEST_F(CheckStage, WithoutAnOperatorOrderPlacesAndEmptiesAreSeen)
{
    const auto well = check({"--layout", "half_empty:mean=8", "--elements", "700"});
    EXPECT_EQ(well.exit_code, 0) << well.output << well.errors;
    for (const auto* part : {"affine(", "max_subarray(", "placed_hash(", "told_hash("})
        EXPECT_NE(well.output.find(part), std::string::npos) << part;
    EXPECT_EQ(well.output.find("keep_first("), std::string::npos) << "which has no result of empty segments";
    const auto last = well.output.substr(well.output.rfind("\n", well.output.size() - 2) + 1);
    EXPECT_TRUE(last.starts_with("not tried: ")) << last;
    EXPECT_NE(last.find("operators without identity"), std::string::npos) << last;
    for (const auto* part : {"the order of", "places of", "empty segments", "several fields"})
        EXPECT_EQ(last.find(part), std::string::npos) << last;

    const auto without_empties = check({"--layout", "uniform=7", "--elements", "700"});
    EXPECT_EQ(without_empties.exit_code, 0) << without_empties.errors;
    EXPECT_NE(without_empties.output.find("keep_first("), std::string::npos) << without_empties.output;
    EXPECT_EQ(without_empties.output.find("operators without identity"), std::string::npos);

    plant(kernels_, kStage, kFold,
          "total = combine(load_item(inputs, first + position, position, segment), total);");
    const auto swapped = check({"--json", "--layout", "half_empty:mean=8", "--elements", "700"});
    EXPECT_EQ(swapped.exit_code, 1) << swapped.errors;
    EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(swapped.output), "");
    const auto document = nlohmann::json::parse(swapped.output);
    EXPECT_EQ(document["document"], "checks");
    EXPECT_FALSE(document["agrees"]);
    std::map<std::string, bool> agrees;
    for (const auto& one : document["checks"])
        agrees[one["operator"]["name"]] = one["agrees"];
    EXPECT_FALSE(agrees.at("affine"));
    EXPECT_TRUE(agrees.at("sum"));
}

TEST_F(CheckStage, AnOperatorSaysWhatItDoesNotShow)
{
    const auto done = check({"sum", "--type", "i32", "--json", "--prove", "off", "--layout", "uniform=7"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(done.output), "");
    const auto left = nlohmann::json::parse(done.output)["not_tried"].dump();
    for (const auto* part : {"the order of operands", "places of elements", "states of several fields",
                             "operators without identity", "other layouts", "a GPU"})
        EXPECT_NE(left.find(part), std::string::npos) << part << " in " << left;
}

TEST_F(CheckStage, FlagsOfAnOperatorNeedOne)
{
    for (const auto* flag : {"--type", "--identity", "--scalar", "--assume", "--prove"}) {
        const auto done = check({flag, "u32"});
        EXPECT_EQ(done.exit_code, 2) << flag;
        EXPECT_NE(done.errors.find(std::string(flag) + " "), std::string::npos) << done.errors;
    }
    EXPECT_EQ(folder_.run({"check", "--stage", "all"}).exit_code, 2);
}

TEST_F(CheckStage, AResultThatNobodyStoresIsCalledThat)
{
    plant(kernels_, kStage, kStore, "if (segment != 3) " + kStore);
    for (const auto* op : {"sum", "any", "argmax"}) {
        const auto done = check({op, "--type", "i32", "--prove", "off", "--layout", "half_empty:mean=8",
                                 "--set", "segments_per_thread=1", "--elements", "700"});
        EXPECT_EQ(done.exit_code, 1) << op << done.errors;
        EXPECT_TRUE(std::regex_search(
            done.output,
            std::regex(
                "kernel reduce: no thread has stored '(result|value)' of segment 3 \\((empty|elements)")))
            << done.output;
    }
}

/// A second launch that stores nothing does not live on what the first has stored.
TEST(StoredResults, AreThoseOfTheLastLaunch)
{
    if (!has_compiler())
        GTEST_SKIP() << "there is no C++ compiler for simt";
    const auto workload = make_workload("sum_i32", whole_segments(1000), 11);
    const Problem problem(workload.op, SegmentForm::whole);
    const auto& stage = Catalogue::standard().stage("grid_reduce");
    auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
    const std::string from = "num_blocks - 1) == unsigned(num_blocks - 1)";
    const auto at = emitted.source.find(from);
    ASSERT_NE(at, std::string::npos);
    (void)simt::run(workload, emitted, {}, {}, 4, 2);
    emitted.source.replace(at, from.size(), "0x7fffffffu) == unsigned(num_blocks - 1)");
    EXPECT_THROW((void)simt::run(workload, emitted, {}, {}, 4, 2), simt::SimtError);
}

/// Inside of a function of the generator's or of a part, where the stage calls it.
TEST_F(CheckStage, AFaultNamesTheStagesLine)
{
    const auto text = read_text(kernels_ + "/" + kStage);
    const auto line_of = [&](const std::string& part) {
        return std::to_string(
            1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(text.rfind(part)), '\n'));
    };
    const auto message = [&](const std::string& from, const std::string& to, const std::string& op) {
        kernels_ = folder_.file("own");
        std::ofstream(kernels_ + "/" + kStage) << text;
        plant(kernels_, kStage, from, to);
        return check(
                   {op, "--prove", "off", "--layout", "half_empty:mean=8", "--set", "segments_per_thread=1"})
            .output;
    };
    const auto called = [&](const std::string& line) {
        return std::regex(
            "line \\d+ of the emitted text \\((own/[^ ]*, )?called in own/stages/thread_per_segment.cu:" +
            line + "\\)");
    };
    for (const auto* op : {"sum", "max_subarray", "moments"}) {
        const auto stored = message(kStore, "store(results, segment + 100000, length, total);", op);
        EXPECT_TRUE(std::regex_search(stored, called(line_of(kStore)))) << stored;
        const auto loaded =
            message("load_item(inputs, first + position, position, segment));",
                    "load_item(inputs, first + position + 10000000, position, segment));", op);
        EXPECT_TRUE(std::regex_search(loaded, called(line_of(kFold)))) << loaded;
        const auto raced = message(kStore, "store(results, 0, length, total);", op);
        EXPECT_TRUE(std::regex_search(raced, called(line_of(kStore)))) << raced;
    }
}

}  // namespace
}  // namespace segfold::test::check_stage_test
