// segfold with products of operators and values of scalars: output, and messages about mistakes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/data/formats/npy.h"
#include "tests/cli/cli_program.h"
#include "tests/common/small_workloads.h"

namespace segfold::test::cli_products_test {
namespace {

class ProductsTest : public testing::Test {
protected:
    void SetUp() override
    {
        write_npy(folder_.file("x.npy"), array_of<float>(Type::f32, {1, 2, 3, 4, 5, 6, 7, 8}));
        write_npy(folder_.file("offsets.npy"), array_of<std::int32_t>(Type::i32, {0, 0, 7, 8}));
    }

    /// Runs the verb run on the reference, which compiles nothing.
    [[nodiscard]] ProgramResult run(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), "run");
        arguments.insert(arguments.end(),
                         {"--input", "x=x.npy", "--layout", "offsets=offsets.npy", "--backend", "reference"});
        return folder_.run(std::move(arguments));
    }

    /// Returns the lines of the table of results.
    [[nodiscard]] std::string table(std::vector<std::string> arguments) const
    {
        const auto result = run(std::move(arguments));
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output.substr(result.output.find("segment  "));
    }

    [[nodiscard]] std::string refused(std::vector<std::string> arguments) const
    {
        const auto result = run(std::move(arguments));
        EXPECT_EQ(result.exit_code, 2) << result.output;
        return result.errors;
    }

    ProgramFolder folder_;
};

TEST_F(ProductsTest, TwoOperatorsFoldInOnePass)
{
    EXPECT_EQ(table({"mean_variance & argmax"}),
              "segment  length  mean  variance  value                index\n"
              "      0       0   nan       nan   -inf  9223372036854775807\n"
              "      1       7     4         4      7                    6\n"
              "      2       1     8         0      8                    7\n");
    EXPECT_EQ(table({"sum & max & min"}),
              "segment  length  sum   max  min\n"
              "      0       0    0  -inf  inf\n"
              "      1       7   28     7    1\n"
              "      2       1    8     8    8\n");
}

TEST_F(ProductsTest, FilesMayBeFactors)
{
    std::filesystem::create_directory(folder_.file("r&d"));
    for (const auto* name : {"w.seg", "r&d/w.seg"})
        std::ofstream(folder_.file(name))
            << "operator w(x: f32) -> f32 { state s: f32 = 0 lift 2 * x combine(a, b) a + b }\n";
    const std::string columns[] = {
        "segment  length   w  sum\n"
        "      0       0   0    0\n"
        "      1       7  56   28\n"
        "      2       1  16    8\n",
        "segment  length  sum   w\n"
        "      0       0    0   0\n"
        "      1       7   28  56\n"
        "      2       1    8  16\n"};
    for (const std::string path : {"w.seg", "./w.seg", "r&d/w.seg", "./r&d/w.seg"})
        for (const std::string sign : {"&", " & "}) {
            EXPECT_EQ(table({path + sign + "sum_f32"}), columns[0]) << path << sign;
            EXPECT_EQ(table({"sum_f32" + sign + path}), columns[1]) << path << sign;
        }
    EXPECT_EQ(table({"./r&d/w.seg"}), table({"w.seg"}));
    EXPECT_EQ(refused({"sum_f32 & ./v.seg"}),
              "segfold: ./v.seg: cannot be opened as an operator: No such file or directory\n");
}

/// Each factor takes its type from the columns that it has; --type is that of factors whose texts leave it
/// open.
TEST_F(ProductsTest, FactorsMayHaveColumnsOfTheirOwn)
{
    write_npy(folder_.file("y.npy"), array_of<double>(Type::f64, {1, 1, 1, 1, 2, 2, 2, 2}));
    std::ofstream(folder_.file("w.seg"))
        << "operator w(y: f64) -> f64 { state s: f64 = 0 lift 2 * y combine(a, b) a + b }\n";
    std::ofstream(folder_.file("g.seg"))
        << "operator g(y: T) -> T { state s: T = 0 lift 3 * y combine(a, b) a + b }\n";
    const std::string w =
        "segment  length   w  sum\n"
        "      0       0   0    0\n"
        "      1       7  20   28\n"
        "      2       1   4    8\n";
    EXPECT_EQ(table({"w.seg & sum", "--input", "y=y.npy"}), w);
    EXPECT_EQ(table({"w.seg & sum", "--input", "y=y.npy", "--type", "f32"}), w);
    EXPECT_EQ(table({"g.seg & sum", "--input", "y=y.npy"}),
              "segment  length   g  sum\n"
              "      0       0   0    0\n"
              "      1       7  30   28\n"
              "      2       1   6    8\n");
    EXPECT_EQ(refused({"w.seg & sum", "--input", "z=y.npy"}),
              "segfold: --input 'z=y.npy': operator w_and_sum has no input 'z'; it has y, x\n");
}

TEST_F(ProductsTest, ScalarsTakeTheirValues)
{
    const auto counts = [](const std::string& counts_of_7_and_1) {
        return "segment  length  result\n      0       0       0\n" + counts_of_7_and_1;
    };
    EXPECT_EQ(table({"count_above", "--scalar", "threshold=4.5"}),
              counts("      1       7       3\n      2       1       1\n"));
    EXPECT_EQ(table({"count_above", "--scalar", "threshold=-inf"}),
              counts("      1       7       7\n      2       1       1\n"));
    EXPECT_EQ(table({"count_above & sum", "--scalar", "threshold=7"}),
              "segment  length  count_above  sum\n"
              "      0       0            0    0\n"
              "      1       7            0   28\n"
              "      2       1            1    8\n");
}

TEST_F(ProductsTest, ScalarsAreNamedByTheirValues)
{
    const auto input = [&](const std::string& threshold, const std::vector<std::string>& more) {
        std::vector<std::string> words = {"run",
                                          "count_above",
                                          "--type",
                                          "i32",
                                          "--elements",
                                          "10",
                                          "--json",
                                          "--backend",
                                          "cpu",
                                          "--scalar",
                                          "threshold=" + threshold};
        words.insert(words.end(), more.begin(), more.end());
        return nlohmann::json::parse(folder_.run(words).output)
            .at("inputs")
            .at("threshold")
            .get<std::string>();
    };
    for (const auto& more : {std::vector<std::string>{}, {"--memory", "1M"}}) {
        EXPECT_EQ(input("2^10", more), "--scalar threshold=1024");
        EXPECT_EQ(input("\t2^10 ", more), "--scalar threshold=1024");
        EXPECT_EQ(input("1024 - 1", more), "--scalar threshold=1023");
    }
}

TEST_F(ProductsTest, ScalarsAreMadeUpInPartsAsInTheWhole)
{
    const auto made_up = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"run",       "count_above", "--layout",  "uniform=4", "--elements",
                                          "1000",      "--values",    "uniform",   "--seed",    "11",
                                          "--backend", "cpu",         "--no-tune", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto document = nlohmann::json::parse(folder_.run(words).output);
        const std::string text = document.at("inputs").at("threshold");
        return std::pair{text, document.at("results").dump()};
    };
    const auto whole = made_up({});
    EXPECT_TRUE(whole.first.ends_with("(generated uniform, seed 11; --scalar threshold=VALUE gives another)"))
        << whole.first;
    EXPECT_EQ(made_up({"--memory", "64K"}), whole);
}

TEST_F(ProductsTest, MistakesAreToldInWords)
{
    EXPECT_EQ(refused({"count_above", "--scalar", "treshold=4.5"}),
              "segfold: --scalar 'treshold=4.5': operator count_above has no scalar 'treshold'; it has "
              "threshold; did you mean 'threshold'?\n");
    EXPECT_EQ(refused({"count_above", "--scalar", "threshold"}),
              "segfold: --scalar 'threshold': the value is missing; write threshold=15\n");
    EXPECT_EQ(refused({"count_above", "--scalar", "threshold=", "--type", "f32"}),
              "segfold: --scalar 'threshold=': the value is missing; write threshold=15\n");
    EXPECT_EQ(refused({"count_above", "--scalar", "threshold=four"}),
              "segfold: --scalar threshold=four: 'four' is no value of type f32\n");
    const auto of_integers = [&](const std::string& threshold) {
        return folder_
            .run({"run", "count_above", "--input", "x=[1, 2, -60]", "--layout", "uniform=3", "--type", "i32",
                  "--backend", "reference", "--scalar", "threshold=" + threshold})
            .errors;
    };
    EXPECT_EQ(of_integers("99999999999"),
              "segfold: --scalar threshold=99999999999: '99999999999' is no value of type i32, which holds "
              "-2147483648 to 2147483647\n");
    EXPECT_EQ(of_integers("-5e-1"),
              "segfold: --scalar threshold=-5e-1: '-5e-1' is no value of type i32, which holds integers from "
              "-2147483648 to 2147483647\n");
    // `^` is a power only if it is the whole value; in an expression it is the exclusive or.
    for (const std::string threshold : {"2^10-1", "2^10+0", "(2^10)", "2 ^ 10", "2^-3"})
        EXPECT_EQ(of_integers(threshold),
                  "segfold: --scalar threshold=" + threshold + ": in '" + threshold +
                      "' ^ may be a power or an exclusive or; it is a power in a whole number alone, as "
                      "threshold=2^10; write the value itself, without ^\n");
    EXPECT_EQ(
        folder_
            .run({"run", "count_above", "--elements", "9", "--input", "threshold=[9]", "--scalar",
                  "threshold=2"})
            .errors,
        "segfold: 'threshold' is given twice, by --input threshold=[9] and --scalar threshold=2; once is "
        "enough\n");
    for (const auto* threshold : {"-5e1", "2^3", "lowest(i32)", "2^3 ", " 2^3"})
        EXPECT_EQ(of_integers(threshold), "");
    EXPECT_EQ(refused({"count_above", "--scalar", "threshold=1e400"}),
              "segfold: --scalar threshold=1e400: '1e400' is beyond the numbers of type f32, which holds "
              "-3.4028235e+38 to 3.4028235e+38\n");
    EXPECT_EQ(refused({"count_above", "--scalar", "threshold=1", "--scalar", "threshold=2"}),
              "segfold: --scalar: 'threshold' is given twice; once is enough\n");
    EXPECT_EQ(
        refused({"sum", "--scalar", "threshold=1"}),
        "segfold: --scalar 'threshold=1': operator sum has no scalars; a parameter is declared as one by "
        "threshold: scalar f32\n");
    EXPECT_EQ(refused({"sum_f32 & max_i32"}),
              "segfold: parameter 'x' of operator max is i32, but another operator of the product has it as "
              "f32; name their types, as in sum_f32 & max_f32\n");
    EXPECT_EQ(refused({"sum & maxx"}),
              "segfold: unknown operator 'maxx'; 'segfold operators' lists those that come with the program; "
              "did you mean 'max'?\n");
}

}  // namespace
}  // namespace segfold::test::cli_products_test
