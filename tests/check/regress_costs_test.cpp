// Static costs: what is counted, what counts as worse, and the baseline that comes with the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/compile/cubin.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/check/baseline.h"
#include "runtime/cli/views/json_schema.h"
#include "runtime/measure/times/static_costs.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"
#include "tests/common/json_schema.h"
#include "tests/common/kernel_folder.h"

namespace segfold::test::regress_costs_test {
namespace {

using regress::StaticCost;
using regress::StaticCosts;

class RegressCosts : public testing::Test {
protected:
    void SetUp() override
    {
        try {
            (void)cuda::nvrtc();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }

    /// The costs of one stage for sm_90.
    static StaticCosts costs(const Catalogue& catalogue, const std::string& stage, const std::string& op)
    {
        const auto checked = standard_operator(op);
        const regress::NamedOperator named{op, checked, {true, checked.laws.commutative, false}};
        const auto* one = &catalogue.stage(stage);
        const std::vector<std::string> architectures = {"sm_90", "sm_1"};
        return regress::static_costs({&named, 1}, {&one, 1}, catalogue, architectures);
    }

    ProgramFolder folder_;
};

TEST_F(RegressCosts, InstructionsAreCounted)
{
    const auto count = [](const std::string& body) {
        const auto compiled = cuda::compile(
            {"extern \"C\" __global__ void k(float* x)\n{\n" + body + "}\n", "k.cu", "sm_90", {}});
        return cuda::instruction_counts(compiled.cubin);
    };
    const auto few = count("    x[threadIdx.x] = 1.0f;\n");
    const auto many = count(
        "    float v = x[threadIdx.x];\n#pragma unroll\n    for (int i = 0; i < 100; ++i)\n"
        "        v = v * v + 1.0f;\n    x[threadIdx.x] = v;\n");
    ASSERT_EQ(few.size(), 1u);
    EXPECT_EQ(few.begin()->first, "k");
    EXPECT_GT(few.at("k"), 4);
    EXPECT_GE(many.at("k"), few.at("k") + 90);
}

TEST_F(RegressCosts, DamagedImagesAreRefused)
{
    const cuda::Image compiled =
        cuda::compile({"extern \"C\" __global__ void k(int* x) { *x = 1; }\n", "k.cu", "sm_90", {}}).cubin;
    const std::vector<char> image(compiled.begin(), compiled.end());
    const auto attempt = [](const std::vector<char>& damaged) {
        try {
            (void)cuda::instruction_counts(damaged);
            return false;
        } catch (const DeviceError&) {
            return true;
        }
    };
    EXPECT_FALSE(attempt(image));
    EXPECT_TRUE(attempt({}));
    EXPECT_TRUE(attempt(std::vector<char>(1000, 'x')));
    for (std::size_t size = 0; size < image.size(); size += 7)
        (void)attempt({image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size)});
    for (std::size_t byte = 0; byte < 64; ++byte)
        for (int bit = 0; bit < 8; ++bit) {
            auto damaged = image;
            damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
            (void)attempt(damaged);
        }
}

/// Blocks of which more are to be resident than registers suffice for.
TEST_F(RegressCosts, ASpillingConfigurationIsFound)
{
    const auto kernels = copy_kernels(folder_, "kernels");
    plant(kernels, "stages/warp_per_segment.cu", "__launch_bounds__(kMostBlockThreads)",
          "__launch_bounds__(kMostBlockThreads, 2048 / kMostBlockThreads)");
    const auto before = costs(Catalogue::standard(), "warp_per_segment", "mean_variance_f64");
    const auto now = costs(Catalogue::from_directory(kernels), "warp_per_segment", "mean_variance_f64");
    ASSERT_EQ(before.costs.size(), 2u) << "whole and offsets, and sm_1 is left out";
    const auto verdict = compare(now, before);
    EXPECT_TRUE(verdict.any_worse()) << now.costs[0].registers << " " << now.costs[1].registers;
    EXPECT_TRUE(std::ranges::any_of(verdict.changes, [](const auto& change) {
        return change.what == "spill_bytes" && change.then == 0 && change.now > 0;
    }));
    EXPECT_FALSE(compare(before, before).any_worse());
    EXPECT_EQ(compare(before, before).num_compared, 2);
}

StaticCosts example(std::int64_t registers, std::int64_t spill_bytes, std::int64_t instructions,
                    const std::string& compiler = "NVRTC 13.0")
{
    return {compiler, {{"sum", "s", "whole", "a=1", "sm_90", registers, spill_bytes, 0, 0, instructions}}};
}

TEST(StaticVerdict, CountsEverythingForTheSameCompiler)
{
    EXPECT_TRUE(compare(example(32, 0, 400), example(32, 0, 400)).changes.empty());
    EXPECT_TRUE(compare(example(33, 0, 400), example(32, 0, 400)).any_worse());
    EXPECT_TRUE(compare(example(32, 0, 401), example(32, 0, 400)).any_worse());
    const auto better = compare(example(32, 0, 399), example(32, 0, 400));
    EXPECT_FALSE(better.any_worse());
    EXPECT_EQ(better.changes.size(), 1u);
}

TEST(StaticVerdict, LeavesAMarginToAnotherCompiler)
{
    const auto then = example(32, 0, 400);
    EXPECT_FALSE(compare(example(40, 0, 500, "NVRTC 13.1"), then).any_worse());
    EXPECT_TRUE(compare(example(41, 0, 400, "NVRTC 13.1"), then).any_worse());
    EXPECT_TRUE(compare(example(32, 4, 400, "NVRTC 13.1"), then).any_worse());
    EXPECT_TRUE(compare(example(32, 0, 501, "NVRTC 13.1"), then).any_worse());
}

TEST(StaticVerdict, TellsWhatIsNewAndWhatIsMissing)
{
    auto now = example(32, 0, 400);
    now.costs[0].stage = "another";
    const auto verdict = compare(now, example(32, 0, 400));
    EXPECT_EQ(verdict.num_new, 1);
    EXPECT_EQ(verdict.num_missing, 1);
    EXPECT_EQ(verdict.num_compared, 0);
    // A tunable with another value is the same case.
    auto tuned = example(32, 0, 400);
    tuned.costs[0].configuration = "a=2";
    EXPECT_EQ(compare(tuned, example(32, 0, 400)).num_compared, 1);
}

std::vector<std::string> operators_of_baseline()
{
    const auto baseline =
        nlohmann::json::parse(read_text(SEGFOLD_SOURCE_DIR "/runtime/check/baseline/static_costs.json"));
    std::set<std::string> names;
    for (const auto& cost : baseline["static_costs"]["costs"])
        names.insert(cost["operator"]);
    return {names.begin(), names.end()};
}

/// What ./test and continuous integration ask of every build. A change of a kernel that is meant renews the
/// baseline: segfold regress --static --save runtime/check/baseline/static_costs.json
TEST_F(RegressCosts, NothingCostsMoreThanTheBaselineSays)
{
    // A run that draws looks at every stage with one of the operators; the costs of that one are all
    // compared.
    std::vector<std::string> words = {"regress", "--static", "--json"};
    if (!draw_text().empty()) {
        const auto operators = operators_of_baseline();
        words.push_back(operators.at(drawn_number("operator of static costs", operators.size())));
        std::cout << "tried " << words.back() << ", one of " << operators.size() << " operators\n";
    }
    const auto result = folder_.run(words);
    ASSERT_TRUE(result.exit_code == 0 || result.exit_code == 1) << result.errors;
    EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(result.output), "");
    const auto costs = nlohmann::json::parse(result.output)["static_costs"];
    if (costs["compiler"] != costs["baseline_compiler"])
        GTEST_SKIP() << "the baseline is that of " << costs["baseline_compiler"] << ", here is "
                     << costs["compiler"] << "; beyond the margins: " << costs["changes"].dump(1);
    EXPECT_EQ(result.exit_code, 0) << costs["changes"].dump(1);
    EXPECT_EQ(costs["num_missing"], 0);
    EXPECT_EQ(costs["num_new"], 0);
    EXPECT_GT(costs["num_compared"], 100);
}

TEST_F(RegressCosts, WhatIsSavedOfOthersStaysBeside)
{
    const auto save = [&](const std::string& op, const std::string& stage) {
        const auto result = folder_.run({"regress", op, "--static", "--stage", stage, "--save", "b.json"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    };
    const auto read = [&] { return regress::read_baseline(folder_.file("b.json")); };
    const auto saved = [&] {
        std::set<std::string> names;
        const auto baseline = read();
        for (const auto& cost : baseline.static_costs->costs)
            names.insert(cost.op + " " + cost.stage);
        return names;
    };
    save("max_i32", "thread_per_segment");
    const auto count = std::ssize(read().static_costs->costs);
    save("sum_i32", "thread_per_segment");
    EXPECT_EQ(save("sum_i32", "warp_per_segment").find("dropped"), std::string::npos);
    save("max_i32", "thread_per_segment");  // takes the place of its own
    EXPECT_EQ(saved(), (std::set<std::string>{"max_i32 thread_per_segment", "sum_i32 thread_per_segment",
                                              "sum_i32 warp_per_segment"}));
    EXPECT_EQ(std::ranges::count(read().static_costs->costs, "max_i32", &StaticCost::op), count);

    auto older = read();
    older.static_costs->compiler = "NVRTC 9.0";
    regress::write_baseline(folder_.file("b.json"), older);
    EXPECT_NE(save("max_i32", "thread_per_segment")
                  .find("cases that b.json had beside these are dropped: they are of another compiler\n"),
              std::string::npos);
    EXPECT_EQ(saved(), std::set<std::string>{"max_i32 thread_per_segment"});
}

}  // namespace
}  // namespace segfold::test::regress_costs_test
