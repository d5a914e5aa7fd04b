// segfold run and other verbs: an operator takes the type of its arrays, with warnings.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "tests/cli/cli_program.h"

namespace segfold::test::cli_input_type_test {
namespace {

class InputTypeTest : public testing::Test {
protected:
    void SetUp() override
    {
        write_npy(folder_.file("f32.npy"), make_array<float>(Type::f32, {1, 2, 3}));
        write_npy(folder_.file("f64.npy"), make_array<double>(Type::f64, {1, 2, 3}));
        write_npy(folder_.file("i32.npy"), make_array<std::int32_t>(Type::i32, {1, 2, 3}));
        write_npy(folder_.file("u8.npy"), make_array<std::uint8_t>(Type::u8, {1, 2, 3}));
        write_npy(folder_.file("bool.npy"), make_array<std::uint8_t>(Type::boolean, {1, 0, 1}));
        std::vector<NamedArray> arrays;
        arrays.push_back({"x", make_array<std::int16_t>(Type::i16, {1, 2, 3})});
        arrays.push_back({"y", make_array<std::int64_t>(Type::i64, {1, 2, 3})});
        write_npz(folder_.file("both.npz"), arrays, {true});
        const std::string entries = "2 3 3\n1 1 1\n1 3 2\n2 2 3\n";
        (void)folder_.write("integer.mtx", "%%MatrixMarket matrix coordinate integer general\n" + entries);
        (void)folder_.write("real.mtx", "%%MatrixMarket matrix coordinate real general\n" + entries);
        (void)folder_.write("pattern.mtx",
                            "%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 1\n1 2\n");
        (void)folder_.write("spmv.seg",
                            "operator spmv(value: T, column: i32, x: table T) -> T {\n  state sum: T = 0\n"
                            "  lift value * x[column]\n  combine(a, b) a + b\n}\n");
        (void)folder_.write("remainder.seg",
                            "operator remainder(x: T) -> T {\n  state sum: T = 0\n  lift x % 2\n"
                            "  combine(a, b) a + b\n}\n");
    }

    /// Returns the operator that ran, or the error message.
    [[nodiscard]] std::string operator_of(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), "run");
        arguments.insert(arguments.end(), {"--backend", "reference"});
        const auto result = folder_.run(std::move(arguments));
        const std::string begin = "operator  ";
        if (!result.output.starts_with(begin))
            return result.errors;
        return result.output.substr(begin.size(), result.output.find('\n') - begin.size());
    }

    ProgramFolder folder_;
};

TEST_F(InputTypeTest, StandardOperatorsTakeTheTypeOfTheirArrays)
{
    EXPECT_EQ(operator_of({"sum"}), "sum(x: f32) -> f32");
    EXPECT_EQ(operator_of({"sum", "--input", "i32.npy"}), "sum(x: i32) -> i32");
    EXPECT_EQ(operator_of({"max", "--input", "i32.npy"}), "max(x: i32) -> i32");
    EXPECT_EQ(operator_of({"max", "--input", "u8.npy"}), "max(x: u8) -> u8");
    EXPECT_EQ(operator_of({"mean", "--input", "u8.npy"}), "mean(x: u8) -> f64");
    EXPECT_EQ(operator_of({"any", "--input", "bool.npy"}), "any(x: bool) -> bool");
    EXPECT_EQ(operator_of({"count", "--input", "bool.npy"}), "count(x: bool) -> i64");
    EXPECT_EQ(
        operator_of({"sum", "--input", "bool.npy"}),
        "segfold: bool.npy: holds bool, but operator 'sum' is not defined for bool; it takes i8, i16, i32, "
        "i64, u8, u16, u32, u64, f16, bf16, f32 and f64\n");
    EXPECT_EQ(operator_of({"mean_variance", "--input", "f64.npy"}),
              "mean_variance(x: f64) -> (mean: f64, variance: f64)");
    EXPECT_EQ(operator_of({"dot", "--input", "x=f64.npy", "--input", "y=f64.npy"}),
              "dot(x: f64, y: f64) -> f64");
    EXPECT_EQ(operator_of({"dot", "--input", "y=i32.npy", "--values", "units"}),
              "dot(x: i32, y: i32) -> i32");
    EXPECT_EQ(operator_of({"sum", "--input", "both.npz:x"}), "sum(x: i16) -> i16");
    EXPECT_EQ(operator_of({"sum", "--input", "both.npz:y"}), "sum(x: i64) -> i64");
}

TEST_F(InputTypeTest, ExpressionsAndFilesDoToo)
{
    EXPECT_EQ(operator_of({"--op", "a + b", "--input", "i32.npy"}), "expression(x: i32) -> i32");
    EXPECT_EQ(operator_of({"--op", "a + b", "--input", "f64.npy", "--identity", "0.5"}),
              "expression(x: f64) -> f64");
    EXPECT_EQ(operator_of({"remainder.seg", "--input", "i32.npy"}), "remainder(x: i32) -> i32");
    EXPECT_EQ(operator_of({"spmv.seg", "--layout", "rows=real.mtx", "--input", "x=f64.npy"}),
              "spmv(value: f64, column: i32, x: table f64) -> f64");
}

TEST_F(InputTypeTest, MatricesOfIntegersAreReadAsSuch)
{
    EXPECT_EQ(operator_of({"sum", "--layout", "rows=real.mtx"}), "sum(x: f32) -> f32");
    EXPECT_EQ(operator_of({"sum", "--layout", "rows=integer.mtx"}), "sum(x: i64) -> i64");
    EXPECT_EQ(operator_of({"sum", "--layout", "rows=pattern.mtx"}), "sum(x: i64) -> i64");
    EXPECT_EQ(operator_of({"log_sum_exp", "--layout", "rows=integer.mtx"}), "log_sum_exp(x: f32) -> f32");
    EXPECT_EQ(operator_of({"sum", "--type", "f64", "--layout", "rows=integer.mtx"}), "sum(x: f64) -> f64");
}

/// These verbs read only the arrays of the layout. They show the operator that a run would fold.
TEST_F(InputTypeTest, CheckAndEmitTakeTheTypeOfTheMatrixToo)
{
    const auto check = folder_.run({"check", "sum", "--layout", "rows=integer.mtx", "--stage", "tile_scan"});
    EXPECT_EQ(check.output.substr(0, check.output.find('\n')), "sum(x: i64) -> i64") << check.errors;
    EXPECT_EQ(check.exit_code, 0) << check.output;
    const auto emit = folder_.run({"emit", "sum", "--layout", "rows=integer.mtx"});
    EXPECT_NE(emit.output.find("\n// operator sum(x: i64) -> i64 {\n"), emit.output.npos) << emit.errors;
    const auto form = folder_.run({"emit", "sum", "--layout", "rows"});
    EXPECT_NE(form.output.find("\n// operator sum(x: f32) -> f32 {\n"), form.output.npos) << form.errors;
    const auto absent = folder_.run({"emit", "sum", "--layout", "rows=absent.mtx"});
    EXPECT_EQ(absent.errors,
              "segfold: absent.mtx: cannot be opened for --layout rows: No such file or directory\n");
}

/// The warning is on standard error of every verb, and in every document that describes the operator.
TEST_F(InputTypeTest, ComparisonsWithNanAreWarnedOf)
{
    const std::string text =
        "'x != nan' is always true: NaN compares unequal to everything, to itself too; write !isnan(x)";
    std::vector<std::string> words = {"run",        "--op", "a + b", "--lift", "x != nan ? x : 0",
                                      "--identity", "0"};
    for (const std::string verb : {"run", "check", "emit", "stages"}) {
        SCOPED_TRACE(verb);
        words[0] = verb;
        auto command = words;
        if (verb == "run")
            command.insert(command.end(), {"--backend", "reference"});
        if (verb == "check")
            command.insert(command.end(), {"--stage", "tile_scan", "--layout", "whole", "--elements", "100"});
        EXPECT_EQ(folder_.run(command).errors, "segfold: warning: " + text + "\n");
        command.emplace_back("--json");
        const auto result = folder_.run(command);
        EXPECT_EQ(result.errors, "segfold: warning: " + text + "\n");
        EXPECT_EQ(nlohmann::json::parse(result.output).at("operator").at("warnings"),
                  nlohmann::json::array({text}));
    }
}

TEST_F(InputTypeTest, NarrowSumsAreWarnedOf)
{
    const auto result = folder_.run({"run", "sum", "--input", "u8.npy", "--backend", "reference"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors,
              "segfold: warning: u8.npy holds u8, so sum is computed in u8 and may wrap; save it with "
              "array.astype(numpy.int64) to compute in i64\n");
    EXPECT_EQ(folder_.run({"run", "sum_u8", "--input", "u8.npy", "--backend", "reference"}).errors, "");
}

/// Sums of 16-bit floats stop growing about where sums of 16-bit integers wrap.
TEST_F(InputTypeTest, SumsOfHalvesAreWarnedOf)
{
    write_npy(folder_.file("f16.npy"), make_array<std::uint16_t>(Type::f16, {0x3c00, 0x4000}));
    const auto errors = [this](const std::string& op) {
        const auto result = folder_.run({"run", op, "--input", "f16.npy", "--backend", "reference"});
        EXPECT_EQ(result.exit_code, 0) << op;
        return result.errors;
    };
    EXPECT_EQ(
        errors("sum"),
        "segfold: warning: f16.npy holds f16, so sum is computed in f16 and rounds after each "
        "operation, and is infinite beyond 65504; save it with array.astype(numpy.float32) to compute in "
        "f32, or write an operator whose state is f32, with 'lift f32(x)'\n");
    EXPECT_EQ(errors("max"), "") << "adds nothing";
    EXPECT_EQ(errors("mean"), "") << "adds in f32";
    EXPECT_EQ(errors("sum_f16"), "") << "asked for";
    (void)folder_.write(
        "narrow.seg",
        "operator narrow(x: T) -> f16 {\n  state sum: f16 = 0\n  lift f16(x)\n  combine(a, b) a + b\n}\n");
    EXPECT_EQ(folder_.run({"run", "narrow.seg", "--input", "f32.npy", "--backend", "reference"}).errors, "")
        << "not the file's type";
}

}  // namespace
}  // namespace segfold::test::cli_input_type_test
