// Texts of native stages: one of each stage whole, for people to review, the others by their SHA-256.
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "codegen/in_namespace.h"
#include "dsl/text/standard_operators.h"
#include "runtime/support/files/sha256.h"
#include "runtime/support/processes/host_compiler.h"
#include "runtime/support/processes/process.h"
#include "tests/common/files.h"
#include "tests/common/golden.h"
#include "tests/stages/row_cases.h"
#include "tests/stages/write_back_cases.h"

namespace segfold::test::native_golden_test {
namespace {

std::string text_of(const Stage& stage, const Operator& op, SegmentForm form = SegmentForm::offsets)
{
    const Problem problem(op, form);
    return emit(problem, stage, default_configuration(stage, plan_facts(problem)), Catalogue::native())
        .source;
}

std::string text_of(const Stage& stage, const std::string& op)
{
    return text_of(stage, standard_operator(op));
}

bool serves(const Stage& stage, const Operator& op, SegmentForm form = SegmentForm::offsets)
{
    return !Catalogue::native().unmet(stage, Problem(op, form));
}

/// Of stages over rows: affine_rows, and told_rows, which is mapped; scaled_share, of numbers; told_scan and
/// last_scan, which have running results; told_row_scan, which has those of rows.
Operator rows_operator(const std::string& name)
{
    return parse_operator(name, read_text(SEGFOLD_SOURCE_DIR "/tests/golden/" + name + ".seg"));
}

TEST(NativeGolden, TextsAreThoseOfTheFiles)
{
    for (const auto& stage : Catalogue::native().stages())
        if (serves(stage, standard_operator("sum_i32"), SegmentForm::groups))
            expect_golden("cpu_" + stage.name + "/sum_i32.cpp",
                          text_of(stage, standard_operator("sum_i32"), SegmentForm::groups));
        else if (serves(stage, rows_operator("affine_rows")))
            expect_golden("cpu_" + stage.name + "/affine_rows.cpp",
                          text_of(stage, rows_operator("affine_rows")));
        else if (serves(stage, rows_operator("told_scan")))
            expect_golden("cpu_" + stage.name + "/told_scan.cpp", text_of(stage, rows_operator("told_scan")));
        else if (serves(stage, rows_operator("told_row_scan")))
            expect_golden("cpu_" + stage.name + "/told_row_scan.cpp",
                          text_of(stage, rows_operator("told_row_scan")));
        else
            expect_golden("cpu_" + stage.name + "/sum_i32.cpp", text_of(stage, "sum_i32"));
}

/// Several fields; no identity; exact and not commutative; columns that are mapped; rows that are mapped; a
/// table and a scalar in map.
TEST(NativeGolden, OtherTextsHaveTheHashesOfTheFile)
{
    constexpr const char* kHashes = "native_hashes.csv";
    Hashes rows, commands;
    const auto add = [&](const std::string& stage, const std::string& text, const Operator& op) {
        const auto row = "cpu_" + stage + "," + text;
        rows[row] = cache::sha256_hex(text_of(Catalogue::native().stage(stage), op));
        commands[row] = "segfold emit " + text + " --backend cpu --stage " + stage;
    };
    for (const auto* op : {"mean_variance_f32", "keep_first_i32"})
        add("lane_scan", op, standard_operator(op));
    for (const auto* op : {"affine_u32", "softmax_f32"})
        add("vector_per_segment", op, standard_operator(op));
    add("lane_per_feature", "told_rows", rows_operator("told_rows"));
    add("vector_per_segment", "scaled_share", rows_operator("scaled_share"));
    add("scan_shares", "last_scan", rows_operator("last_scan"));
    expect_rows(kHashes, rows);
    const auto expected = read_hashes(kHashes);
    for (const auto& [row, hash] : rows) {
        const auto place = expected.find(row);
        EXPECT_EQ(hash_difference(kHashes, row, place == expected.end() ? "" : place->second, hash,
                                  commands.at(row)),
                  "");
    }
}

/// The texts of every stage for every form that it serves, of rows, write-back and columns of all kinds.
std::vector<std::string> many_texts()
{
    std::vector<Operator> operators = {rows_operator("told_rows"),
                                       spmm(),
                                       everything_at_once(),
                                       rows_of_several(),
                                       told_back(true),
                                       told_by_tables(true),
                                       rows_operator("told_scan"),
                                       rows_operator("last_scan"),
                                       rows_operator("told_row_scan"),
                                       rows_by_tables(),
                                       several_outputs(),
                                       standard_operator("softmax_f32")};
    for (const auto* op : {"sum_f16", "any", "argmax_f32", "mean_variance_f32", "trace_u64", "dot_f64"})
        operators.push_back(standard_operator(op));
    std::vector<std::string> texts;
    for (const auto& stage : Catalogue::native().stages())
        for (const auto& op : operators)
            for (const auto form : {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                                    SegmentForm::ranges, SegmentForm::groups})
                if (serves(stage, op, form)) {
                    texts.push_back(text_of(stage, op, form));
                    EXPECT_EQ(texts.back(), text_of(stage, op, form));
                }
    return texts;
}

TEST(NativeGolden, TextsAreTidyAndPure)
{
    for (const auto& text : many_texts()) {
        EXPECT_EQ(text.find("__device__"), std::string::npos);
        EXPECT_EQ(text.find("//%"), std::string::npos);
        EXPECT_EQ(text.find("\n\n\n"), std::string::npos);
        for (const auto& line : lines_of(text)) {
            EXPECT_LE(line.size(), 110U) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
        }
    }
}

// Many texts in one file, each in a namespace of its own, by the flags that `segfold help emit` names. The
// width of vectors is the processor's, and none of them is handed to code of other flags (-Wno-psabi). A
// text has all functions for words or none; clang++ names those that it does not call.
TEST(NativeGolden, TextsCompileWithoutAWarning)
{
    std::vector<std::string> words;
    try {
        words = find_host_compiler("cpu");
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
    std::string all;
    int count = 0;
    for (const auto& text : many_texts())
        all += in_namespace(text, "text_" + std::to_string(++count));
    ASSERT_GT(count, 20);
    const TemporaryFolder folder;
    const auto file = folder.write("texts.cpp", all);
    for (const auto* word :
         {"-std=c++20", "-march=native", "-fopenmp-simd", "-ffp-contract=off", "-fsyntax-only", "-Wall",
          "-Wextra", "-Wpedantic", "-Wno-psabi", "-Wno-unused-function", file.c_str()})
        words.emplace_back(word);
    const auto result = run_process(words);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.status, 0);
}

}  // namespace
}  // namespace segfold::test::native_golden_test
