// Texts in namespaces: what they become, which names are taken, and that several stand in one program.
#include "codegen/in_namespace.h"

#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "dsl/text/standard_operators.h"
#include "tests/cli/cli_program.h"

namespace segfold::in_namespace_test {
namespace {

TEST(InNamespace, TheHeadStaysInFront)
{
    EXPECT_EQ(
        in_namespace("// sum\n// of i32\n\nusing Index = int;\nextern \"C\" void fold(int x)\n{}\n", "a::b"),
        "// sum\n// of i32\n\nnamespace a::b {\n\nusing Index = int;\nvoid fold(int x)\n{}\n"
        "\n}  // namespace a::b\n");
}

TEST(InNamespace, ParametersStayBelowTheParenthesis)
{
    EXPECT_EQ(
        in_namespace(
            "extern \"C\" void fold(int x,\n                     int y)\n{\n    call(x,\n         y);\n}\n",
            "a"),
        "\nnamespace a {\nvoid fold(int x,\n          int y)\n{\n    call(x,\n         y);\n}\n\n}  // "
        "namespace a\n");
    EXPECT_EQ(in_namespace(
                  "extern \"C\" __global__ void __launch_bounds__(64)\nfold(int x,\n     int y)\n{}\n", "a"),
              "\nnamespace a {\n__global__ void __launch_bounds__(64)\nfold(int x,\n     int y)\n{}\n\n}  // "
              "namespace a\n");
}

TEST(InNamespace, NamesAreThoseOfCpp)
{
    for (const auto* name : {"mine", "Mine", "ours::sums", "a1::b_2"})
        EXPECT_TRUE(is_namespace(name)) << name;
    for (const auto* name : {"", "1a", "_a", "a b", "a::", "::a", "a:b", "a;}", "namespace", "a::int", "lift",
                             "exp", "NULL", "std", "a__b"})
        EXPECT_FALSE(is_namespace(name)) << name;
}

TEST(InNamespace, TheProgramPrintsIt)
{
    test::ProgramFolder program;
    const auto printed = program.run({"emit", "sum_i32", "--namespace", "ours::sums"}).output;
    EXPECT_NE(printed.find("\nnamespace ours::sums {\n"), std::string::npos);
    EXPECT_EQ(printed.find("extern \"C\""), std::string::npos);
    EXPECT_TRUE(printed.ends_with("\n}  // namespace ours::sums\n"));
}

}  // namespace
}  // namespace segfold::in_namespace_test
