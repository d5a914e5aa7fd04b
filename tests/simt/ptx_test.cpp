// Inline PTX becomes calls: tests which statements are replaced, and that lines keep their numbers.
#include "runtime/simt/ptx.h"

#include <gtest/gtest.h>

namespace segfold::simt::ptx_test {
namespace {

TEST(ReplacePtx, ACopyTakesItsOperandsInOrder)
{
    EXPECT_EQ(replace_ptx(
                  "asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" : : \"r\"(shared), \"l\"(from) "
                  ": \"memory\");\n"),
              "__segfold_copy_async(shared, from);\n");
    EXPECT_EQ(
        replace_ptx("asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(place(a, (b))), "
                    "\"l\"(p + (i < 3 ? 1 : f(\")\"))));"),
        "__segfold_copy_async(place(a, (b)), p + (i < 3 ? 1 : f(\")\")));")
        << "operands may hold commas, parentheses and text";
    EXPECT_EQ(
        replace_ptx("asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" : : \"r\"(to), \"l\"(from));"),
        "__segfold_copy_word_async(to, from);");
    EXPECT_EQ(
        replace_ptx("asm volatile(\"cp.async.ca.shared.global [%0], [%1], 8;\" : : \"r\"(to), \"l\"(from));"),
        "__segfold_copy_double_async(to, from);");
}

TEST(ReplacePtx, CommentsStayAsTheyAre)
{
    const std::string source =
        "// asm volatile(\"cp.async.wait_all;\" : :\n// \"r\"(x)); evil(); asm(\n"
        "/* asm volatile(\"cp.async.wait_all;\"); */ int x; // asm(\"\n";
    EXPECT_EQ(replace_ptx(source), source);
    EXPECT_EQ(replace_ptx(source + "asm volatile(\"cp.async.wait_all;\");\n"),
              source + "__segfold_wait_for_copies(0);\n");
}

TEST(ReplacePtx, CommitsAndWaitsAreCalls)
{
    const auto call = [](const std::string& instruction) {
        return replace_ptx("    asm volatile(\"" + instruction + "\" : : : \"memory\");");
    };
    EXPECT_EQ(call("cp.async.commit_group;"), "    __segfold_commit_copies();");
    EXPECT_EQ(call("cp.async.wait_group 1;"), "    __segfold_wait_for_copies(1);");
    EXPECT_EQ(call("cp.async.wait_group 0;"), "    __segfold_wait_for_copies(0);");
    EXPECT_EQ(call("cp.async.wait_all;"), "    __segfold_wait_for_copies(0);");
    EXPECT_EQ(replace_ptx("asm volatile(\"cp.async.wait_all;\");"), "__segfold_wait_for_copies(0);")
        << "without operands";
}

TEST(ReplacePtx, AConversionIsAnAssignment)
{
    EXPECT_EQ(replace_ptx("asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(value) : \"h\"(half.bits));"),
              "value = __segfold_f16_to_f32(half.bits);");
    EXPECT_EQ(replace_ptx("asm volatile (\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(a[i]) : \"f\"(f(x, y)));"),
              "a[i] = __segfold_f32_to_bf16(f(x, y));");
    EXPECT_EQ(replace_ptx("asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(near) : \"f\"(y));"),
              "near = __segfold_reciprocal(y);");
    EXPECT_EQ(replace_ptx("asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(power) : \"f\"(x * 1.5f));"),
              "power = __segfold_power_of_two(x * 1.5f);");
    EXPECT_EQ(replace_ptx("plasma(1); asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(a) : \"f\"(b));"),
              "plasma(1); a = __segfold_f32_to_f16(b);");
}

TEST(ReplacePtx, ClustersAreCalls)
{
    EXPECT_EQ(
        replace_ptx("asm volatile(\"barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\" : : : "
                    "\"memory\");"),
        "__segfold_wait_for_cluster();");
    EXPECT_EQ(replace_ptx("asm(\"mapa.u64 %0, %1, %2;\" : \"=l\"(theirs) : \"l\"(mine), \"r\"(rank));"),
              "theirs = __segfold_in_block(mine, rank);");
}

TEST(ReplacePtx, LinesStayWhereTheyAre)
{
    const std::string source =
        "void f()\n{\n    asm volatile(\n        \"cp.async.cg.shared.global [%0], [%1], 16;\"\n        :\n  "
        "      : "
        "\"r\"(shared),\n          \"l\"(from)\n        : \"memory\");\n    after();\n}\n";
    const auto replaced = replace_ptx(source);
    EXPECT_EQ(std::count(replaced.begin(), replaced.end(), '\n'),
              std::count(source.begin(), source.end(), '\n'));
    EXPECT_NE(replaced.find("__segfold_copy_async(shared, from)"), std::string::npos) << replaced;
    EXPECT_TRUE(replaced.ends_with(";\n    after();\n}\n")) << replaced;
}

TEST(ReplacePtx, EveryStatementOfATextIsReplaced)
{
    EXPECT_EQ(replace_ptx("asm volatile(\"cp.async.commit_group;\" : : : \"memory\"); x();\n"
                          "asm volatile(\"cp.async.wait_group 1;\" : : : \"memory\");\n"),
              "__segfold_commit_copies(); x();\n__segfold_wait_for_copies(1);\n");
}

TEST(ReplacePtx, OtherStatementsStay)
{
    for (const std::string source :
         {"", "int asm_volatile = 1;\n", "asm volatile(\"fence.acq_rel.gpu;\" : : : \"memory\");\n",
          "asm volatile(\"cp.async.wait_group 2;\" : : : \"memory\");\n",
          "asm volatile(\"cp.async.cg.shared.global [%0], [%1], 8;\" : : \"r\"(a), \"l\"(b));\n",
          "asm volatile(\"cp.async.commit_group; cp.async.wait_all;\" : : : \"memory\");\n",
          "asm(\"cp.async.wait_all;\");\n", "asm volatile(kWait);\n"})
        EXPECT_EQ(replace_ptx(source), source);
    EXPECT_EQ(replace_ptx("asm volatile(\"nop;\" : :);\nasm volatile(\"cp.async.wait_all;\" : :);\n"),
              "asm volatile(\"nop;\" : :);\n__segfold_wait_for_copies(0);\n")
        << "what follows such a statement is read";
}

TEST(ReplacePtx, StatementsWithoutAnEndStay)
{
    for (const std::string source :
         {"asm volatile(", "asm volatile(\"cp.async.wait_all;\"", "asm volatile(\"cp.async.wait_all; );\n"})
        EXPECT_EQ(replace_ptx(source), source);
}

}  // namespace
}  // namespace segfold::simt::ptx_test
