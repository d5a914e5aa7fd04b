// Gradients on the command line: their text, their table, their check.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "dsl/derived.h"
#include "dsl/printer.h"
#include "dsl/text/standard_operators.h"
#include "tests/cli/cli_program.h"

namespace segfold::test::cli_gradient_test {
namespace {

nlohmann::json json_of(const ProgramFolder& folder, std::vector<std::string> arguments)
{
    arguments.emplace_back("--json");
    const auto result = folder.run(std::move(arguments));
    EXPECT_EQ(result.errors, "");
    return nlohmann::json::parse(result.output);
}

TEST(GradientVerbs, PrintWhatTheLibraryGives)
{
    const ProgramFolder folder;
    const auto printed = folder.run({"operators", "softmax", "--type", "f32", "--gradient", "x"});
    EXPECT_EQ(printed.exit_code, 0) << printed.errors;
    EXPECT_EQ(printed.output, print(gradient(standard_operator("softmax", Type::f32), "x")));
    const auto json = json_of(folder, {"operators", "softmax", "--type", "f32", "--gradient", "x"});
    EXPECT_EQ(json["means"], "totals");
    EXPECT_EQ(json["names"][0], "grad_result");
    EXPECT_EQ(json["operators"].size(), 2u);
    EXPECT_EQ(folder.run({"operators", "sum", "--type", "i32", "--gradient", "x"}).exit_code, 2);
}

TEST(GradientVerbs, ListTheMeansOfAllStandardOperators)
{
    const ProgramFolder folder;
    const auto json = json_of(folder, {"operators", "--gradients"});
    std::size_t num_made = 0;
    for (const auto& row : json["gradients"]) {
        EXPECT_NE(row["means"].is_null(), row["reason"].is_null()) << row.dump();
        num_made += !row["means"].is_null();
    }
    EXPECT_GE(num_made, 100u);
    const auto table = folder.run({"operators", "--gradients"}).output;
    EXPECT_NE(table.find("\nmean_variance          x            totals\n"), std::string::npos) << table;
    EXPECT_EQ(folder.run({"operators", "sum", "--gradients"}).exit_code, 2);
    EXPECT_EQ(folder.run({"operators", "--gradient", "x"}).exit_code, 2);
}

TEST(GradientVerbs, CheckAgainstDifferences)
{
    const ProgramFolder folder;
    const auto found = folder.run({"check", "product", "--type", "f32", "--gradient", "x"});
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    EXPECT_NE(found.output.find("gradient of product by x: two scans; agrees with differences at "),
              std::string::npos)
        << found.output;
    EXPECT_TRUE(json_of(folder, {"check", "product", "--type", "f32", "--gradient", "x"})["agrees"]);
    // Subtraction is not associative: the scans do not combine what the fold combines.
    const auto wrong =
        folder.run({"check", "--op", "a - b", "--type", "f32", "--identity", "0", "--gradient", "x"});
    EXPECT_EQ(wrong.exit_code, 1) << wrong.output;
    EXPECT_NE(wrong.output.find("; wrong: by element "), std::string::npos) << wrong.output;
    EXPECT_NE(wrong.output.find("import numpy as np, segfold as sf\n"), std::string::npos);
    EXPECT_EQ(folder.run({"check", "product", "--type", "f32", "--gradient", "x", "--slices", "2"}).exit_code,
              2);
}

}  // namespace
}  // namespace segfold::test::cli_gradient_test
