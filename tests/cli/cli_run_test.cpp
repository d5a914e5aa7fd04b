// segfold run: input data, results and reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "tests/cli/cli_program.h"

namespace segfold::test::cli_run_test {
namespace {

class RunTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!has_compiler())
            GTEST_SKIP() << "simt needs a C++ compiler";
        write_npy(folder_.file("x.npy"), make_array<float>(Type::f32, {1, 2, 3, 4, 5, 6, 7, 8}));
        write_npy(folder_.file("offsets.npy"), make_array<std::int32_t>(Type::i32, {0, 0, 7, 8}));
        write_npy(folder_.file("keys.npy"), make_array<std::int64_t>(Type::i64, {5, 5, 2, 2, 2, 9, 9, 5}));
    }

    /// Runs on simt, where the results do not depend on the machine, unless another back end is named.
    [[nodiscard]] ProgramResult run(std::vector<std::string> arguments) const
    {
        if (std::ranges::find(arguments, "--backend") == arguments.end())
            arguments.insert(arguments.end(), {"--backend", "simt"});
        return folder_.run(std::move(arguments));
    }

    [[nodiscard]] nlohmann::json run_json(std::vector<std::string> arguments) const
    {
        arguments.emplace_back("--json");
        const auto result = run(std::move(arguments));
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return nlohmann::json::parse(result.output);
    }

    ProgramFolder folder_;
};

constexpr const char* kSum =
    "operator s(x: i32) -> i32 {\n  state s: i32 = 0\n  lift x\n  combine(a, b) a + b\n}\n";

/// Squares of values far from zero: their variance in f32 is only noise.
TEST_F(RunTest, WhatTheDataDoNotDetermineCannotBeJudged)
{
    (void)folder_.write("v.seg",
                        "operator v(x: f32) -> f32 {\n"
                        "  state { n: i64 = 0; s: f32 = 0; q: f32 = 0 }\n"
                        "  lift { n = 1; s = x; q = x * x }\n"
                        "  combine(a, b) { n = a.n + b.n; s = a.s + b.s; q = a.q + b.q }\n"
                        "  finish q / f32(n) - s / f32(n) * (s / f32(n))\n"
                        "}\n");
    std::vector<float> far(4096);
    for (std::size_t i = 0; i < far.size(); ++i)
        far[i] = i % 2 == 0 ? 1013.25F : 1013.375F;
    write_npy(folder_.file("far.npy"), Array::of<float>(Type::f32, far));
    const std::vector<std::string> words = {"run", "v.seg", "--input", "far.npy", "--check"};
    const auto document = run_json(words);
    EXPECT_EQ(document["agrees"], true);
    const auto& comparison = document["comparisons"][0];
    EXPECT_EQ(comparison["num_unjudged"], 1);
    EXPECT_EQ(comparison["num_wrong"], 0);
    EXPECT_EQ(comparison["precision"], "wide");
    EXPECT_FALSE(document.contains("precision"));
    const auto text = run(words).output;
    EXPECT_NE(text.find("\njudged     by a reference in long double ("), std::string::npos) << text;
    EXPECT_NE(text.find(" cannot be judged: result is "), std::string::npos) << text;
    EXPECT_NE(text.find(": the data leave no digit\n"), std::string::npos) << text;
    // Results of the reference itself are not in doubt; the report names its precision.
    const std::vector<std::string> by_reference = {"run",     "v.seg",     "--input",
                                                   "far.npy", "--backend", "reference"};
    const auto right = run_json(by_reference);
    EXPECT_EQ(right["precision"], "wide");
    EXPECT_EQ(right["results"][0]["fields"]["result"], 0.00390625);
    EXPECT_NE(run(by_reference).output.find("; in long double ("), std::string::npos);
    EXPECT_EQ(run_json({"run", "sum_i32", "--elements", "8", "--backend", "reference"})["precision"],
              "working");
}

TEST_F(RunTest, CarriageReturnsAreRefusedBeforeAnythingIsCompiled)
{
    (void)folder_.write("cr.seg",
                        "# sum\r extern \"C\" int system(const char*); struct E{E(){system(\"touch "
                        "PWNED\");}}e;\n" +
                            std::string(kSum));
    const auto result = run({"run", "cr.seg", "--elements", "16"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.errors,
              "segfold: cr.seg:1:6: a carriage return that no newline follows\n"
              "    # sum\\x0d extern \"C\" int system(const char*); struct E{E(){system(\"touch "
              "PWNED\");}}e;\n"
              "         ^^^^  lines end with a newline, or with a carriage return and a newline\n");
    EXPECT_FALSE(std::filesystem::exists(folder_.file("PWNED")));
}

TEST_F(RunTest, CommentsThatLookLikeKernelsStayComments)
{
    const std::string evil =
        "extern \"C\" int system(const char*); struct E{E(){system(\"touch PWNED\");}}e;\n";
    const std::string headings[] = {
        "# asm volatile(\"cp.async.wait_all;\" : : \"r\"(x\n# )); " + evil,
        "# __global__ void __cluster_dims__(evil) reduce(\n",
        "# extern __shared__ int evil[];\n",
        "# ends with a backslash \\\n# and with a trigraph ?\?/\n# " + evil,
    };
    for (const auto& heading : headings) {
        (void)folder_.write("sum.seg", heading + kSum);
        const auto result = run({"run", "sum.seg", "--elements", "16", "--check"});
        EXPECT_EQ(result.exit_code, 0) << heading << result.errors;
        EXPECT_FALSE(std::filesystem::exists(folder_.file("PWNED"))) << heading;
    }
}

/// Returns the lines from the line that begins with `begin` to the next empty line or the end.
std::string paragraph(const std::string& text, const std::string& begin)
{
    const auto from = text.find("\n" + begin) + 1;
    const auto end = text.find("\n\n", from);
    return from == 0 ? text : text.substr(from, end == std::string::npos ? end : end + 1 - from);
}

TEST_F(RunTest, GeneratedDataAgreeWithTheReference)
{
    const auto result =
        run({"run", "sum_i32", "--layout", "uniform=32", "--elements", "2^10", "--check", "--show", "2"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "");
    EXPECT_NE(result.output.find("data      1024 elements in 32 segments (uniform=32), 32-bit indices\n"),
              std::string::npos)
        << result.output;
    EXPECT_NE(result.output.find("\nreference  all 32 segments agree with the reference bit for bit\n"),
              std::string::npos)
        << result.output;
}

TEST_F(RunTest, TableShowsSegmentsLengthsAndResults)
{
    const auto result = run({"run", "sum", "--input", "x.npy", "--layout", "offsets=offsets.npy"});
    EXPECT_EQ(paragraph(result.output, "segment "),
              "segment  length  result\n"
              "      0       0       0\n"
              "      1       7      28\n"
              "      2       1       8\n");
}

TEST_F(RunTest, TableShowsKeysLabelsAndTheLargestFirst)
{
    (void)folder_.write("labels.txt", "first\nsecond\nthird\nl\xc3\xa4st\n");
    const auto result = run({"run", "mean_variance", "--input", "x=x.npy", "--layout", "keys=keys.npy",
                             "--labels", "labels.txt", "--sort", "mean", "--show", "3"});
    EXPECT_EQ(paragraph(result.output, "segment "),
              "segment  label   key  length  mean   variance\n"
              "      3  l\xc3\xa4st      5       1     8          0\n"
              "      2  third     9       2   6.5       0.25\n"
              "      1  second    2       3     4  0.6666667\n"
              "... and 1 more segment\n");
}

TEST_F(RunTest, JsonHoldsWhatTheTextSays)
{
    const auto document =
        run_json({"run", "sum", "--input", "x.npy", "--layout", "keys=keys.npy", "--check", "--show", "1",
                  "--stage", "thread_per_segment", "--set", "block_threads=64"});
    EXPECT_EQ(document["operator"]["name"], "sum");
    EXPECT_EQ(document["layout"], "keys=keys.npy");
    EXPECT_EQ(document["num_elements"], 8);
    EXPECT_EQ(document["num_segments"], 4);
    EXPECT_EQ(document["index_bits"], 32);
    EXPECT_EQ(document["inputs"]["x"], "x.npy");
    EXPECT_EQ(document["backend"], "simt");
    EXPECT_EQ(document["stage"], "thread_per_segment");
    EXPECT_EQ(document["chosen_by"], "asked for");
    EXPECT_EQ(document["configuration"]["block_threads"], 64);
    EXPECT_EQ(document["results"].dump(), R"([{"fields":{"result":3.0},"key":5,"length":2,"segment":0}])");
    EXPECT_EQ(document["comparisons"][0]["against"], "the reference");
    EXPECT_TRUE(document["thrust"]["ran"].is_boolean());
    EXPECT_EQ(document["agrees"], true);
}

TEST_F(RunTest, NumbersThatJsonLacksAreStrings)
{
    const auto document =
        run_json({"run", "max", "--input", "x.npy", "--layout", "offsets=offsets.npy", "--show", "1"});
    EXPECT_EQ(document["results"][0]["fields"]["result"], "-Infinity");
}

TEST_F(RunTest, JsonSaysHowManyResultsItLeavesOut)
{
    const auto shown = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"run", "sum", "--elements", "64", "--layout", "uniform=4"});
        const auto document = run_json(more);
        EXPECT_EQ(document["num_segments"], 16);
        EXPECT_EQ(document["num_shown"], document["results"].size());
        return std::pair(document["results"].size(), document["truncated"].get<bool>());
    };
    EXPECT_EQ(shown({}), std::pair(std::size_t{8}, true));
    EXPECT_EQ(shown({"--show", "15"}), std::pair(std::size_t{15}, true));
    EXPECT_EQ(shown({"--show", "16"}), std::pair(std::size_t{16}, false));
    EXPECT_EQ(shown({"--show", "all"}), std::pair(std::size_t{16}, false));
}

TEST_F(RunTest, IndicesAreAsWideAsAskedFor)
{
    const auto document = run_json({"run", "sum", "--input", "x.npy", "--index-bits", "64", "--check"});
    EXPECT_EQ(document["index_bits"], 64);
    EXPECT_EQ(document["results"][0]["fields"]["result"], 36.0);
}

TEST_F(RunTest, OneFieldIsWrittenAsNpy)
{
    const auto result =
        run({"run", "sum", "--input", "x.npy", "--layout", "offsets=offsets.npy", "--output", "y.npy"});
    EXPECT_NE(result.output.find("\nwritten  y.npy\n"), std::string::npos);
    EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npy"))), (std::vector<float>{0, 28, 8}));
}

TEST_F(RunTest, SeveralFieldsAndKeysAreWrittenAsNpz)
{
    const auto result =
        run({"run", "argmax", "--input", "x.npy", "--layout", "keys=keys.npy", "--output", "y.npz"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(npz_names(folder_.file("y.npz")), (std::vector<std::string>{"value", "index", "keys"}));
    EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npz") + ":value")),
              (std::vector<float>{2, 5, 7, 8}));
    EXPECT_EQ(to_integers(read_array(folder_.file("y.npz") + ":keys")),
              (std::vector<std::int64_t>{5, 2, 9, 5}));
    const auto npy =
        run({"run", "sum", "--input", "x.npy", "--layout", "keys=keys.npy", "--output", "y.npy"});
    EXPECT_NE(npy.errors.find("holds results without their keys; an .npz file takes both"),
              std::string::npos);
}

TEST_F(RunTest, MatrixBringsItsColumns)
{
    (void)folder_.write("a.mtx",
                        "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1\n1 3 2\n2 2 3\n3 1 4\n"
                        "3 4 5\n");
    (void)folder_.write(
        "spmv.seg",
        "operator spmv(value: f32, column: i64, v: table f32) -> f32 {\n  state sum: f32 = 0\n"
        "  lift value * v[column]\n  combine(a, b) a + b\n  laws commutative\n}\n");
    write_npy(folder_.file("v.npy"), make_array<float>(Type::f32, {1, 10, 100, 1000}));
    const auto result =
        run({"run", "spmv.seg", "--layout", "rows=a.mtx", "--input", "v=v.npy", "--output", "y.npy"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npy"))), (std::vector<float>{201, 30, 5004}));
}

TEST_F(RunTest, TablesAndTheirPlacesAreGenerated)
{
    (void)folder_.write("gather.seg",
                        "operator o(x: i8, t: table i32) -> i32 {\n  state sum: i32 = 0\n  lift t[x]\n"
                        "  combine(a, b) a + b\n}\n");
    const auto document =
        run_json({"run", "gather.seg", "--elements", "1000", "--layout", "uniform=10", "--check"});
    EXPECT_EQ(document["inputs"]["x"], "generated places of t, seed 7");
    EXPECT_EQ(document["inputs"]["t"], "generated small_integers, seed 7");
    EXPECT_EQ(document["agrees"], true);
}

TEST_F(RunTest, IndicesCountAsConverted)
{
    (void)folder_.write("gather.seg",
                        "operator o(j: i32, t: table i32) -> i32 {\n  state sum: i32 = 0\n  lift t[u8(j)]\n"
                        "  combine(a, b) a + b\n}\n");
    write_npy(folder_.file("j.npy"), make_array<std::int32_t>(Type::i32, {-1, -1}));
    Array table(Type::i32, 300);
    std::ranges::fill(table.as<std::int32_t>(), 1);
    table.as<std::int32_t>()[255] = 50;
    write_npy(folder_.file("t.npy"), table);
    for (const std::string backend : {"simt", "thrust", "reference"}) {
        if (backend == "thrust" && !thrust_available(thrust_system()))
            continue;
        const auto document =
            run_json({"run", "gather.seg", "--input", "j=j.npy", "--input", "t=t.npy", "--backend", backend});
        EXPECT_EQ(document["results"][0]["fields"]["result"], 100) << backend;
    }
    if (!thrust_available(thrust_system()))
        GTEST_SKIP() << thrust_unavailable_reason(thrust_system());
}

/// More elements than the host checks: the kernel finds the read. Thrust and the reference give the same
/// message.
TEST_F(RunTest, ReadsOutsideOfTablesAreRefusedInTheSameWords)
{
    (void)folder_.write("gather.seg",
                        "operator o(j: i32, t: table i32) -> i32 {\n  state sum: i32 = 0\n  lift t[j + 1]\n"
                        "  combine(a, b) a + b\n}\n");
    Array places(Type::i32, 70000), table(Type::i32, 20);
    std::ranges::fill(places.as<std::int32_t>(), 18);
    std::ranges::fill(table.as<std::int32_t>(), 1);
    places.as<std::int32_t>()[69000] = places.as<std::int32_t>()[69998] = 19;
    write_npy(folder_.file("j.npy"), places);
    write_npy(folder_.file("t.npy"), table);
    for (const std::string backend : {"simt", "thrust", "reference"}) {
        if (backend == "thrust" && !thrust_available(thrust_system()))
            continue;
        const auto result = run({"run", "gather.seg", "--input", "j=j.npy", "--input", "t=t.npy", "--layout",
                                 "uniform=10", "--backend", backend});
        EXPECT_EQ(result.exit_code, 2) << backend;
        EXPECT_EQ(result.errors,
                  "segfold: table 't' has 20 entries; element 69000 reads t[20], and indices run from 0 to "
                  "19\n")
            << backend;
    }
    if (!thrust_available(thrust_system()))
        GTEST_SKIP() << thrust_unavailable_reason(thrust_system());
}

TEST_F(RunTest, EqualSeedsGiveEqualResults)
{
    const std::vector<std::string> command = {"run",        "trace", "--layout", "zipf:exponent=1.9",
                                              "--elements", "5000"};
    const auto with_seed = [&](const std::string& seed) {
        auto words = command;
        words.insert(words.end(), {"--seed", seed});
        return run_json(words)["results"].dump();
    };
    EXPECT_EQ(with_seed("1"), with_seed("1"));
    EXPECT_NE(with_seed("1"), with_seed("2"));
}

TEST_F(RunTest, ShortFormWorksLikeTheLongOne)
{
    const auto document = run_json({"run", "--op", "a + b", "--identity", "0", "--lift", "x * x", "--finish",
                                    "sqrt(value)", "--commutative", "--input", "x.npy", "--check"});
    EXPECT_NEAR(document["results"][0]["fields"]["result"].get<double>(), std::sqrt(204.0), 1e-5);
    EXPECT_EQ(document["agrees"], true);
}

TEST_F(RunTest, RefutedCommutativityIsNotUsed)
{
    const auto result =
        run({"run", "--op", "a", "--commutative", "--input", "x.npy", "--check", "--type", "f32"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors,
              "segfold: warning: operator expression is not commutative; the order of the elements "
              "is kept (--explain shows more)\n");
    EXPECT_NE(result.output.find("      0       8       1\n"), std::string::npos) << result.output;
}

/// max(-inf, nan) is -inf, so -inf is strictly no identity. These data contain no NaN.
TEST_F(RunTest, LawsThatNanAloneRefutesAreReliedOn)
{
    const auto result =
        run({"run", "--op", "max(a, b)", "--identity", "-inf", "--commutative", "--input", "x.npy"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "");
    EXPECT_NE(result.output.find("      0       8       8\n"), std::string::npos) << result.output;
}

TEST_F(RunTest, WrongResultsEndWithOne)
{
    namespace fs = std::filesystem;
    const fs::path kernels = fs::path(SEGFOLD_SOURCE_DIR) / "kernels";
    fs::create_directories(folder_.file("wrong/stages"));
    fs::copy(kernels / "parts", folder_.file("wrong/parts"));
    auto text = read_text((kernels / "stages/thread_per_segment.cu").string());
    const std::string start = "position = 0;";
    ASSERT_NE(text.find(start), std::string::npos);
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1))
        text[at + start.size() - 2] = '1';
    (void)folder_.write("wrong/stages/thread_per_segment.cu", text);
    write_npy(folder_.file("i.npy"), make_array<std::int32_t>(Type::i32, {1, 2, 3, 4, 5, 6, 7, 8}));
    const auto result = run({"run", "sum_i32", "--input", "i.npy", "--layout", "uniform=4", "--kernels",
                             "wrong", "--stage", "thread_per_segment", "--check"});
    EXPECT_EQ(result.exit_code, 1);
    const std::string expected =
        "reference  2 of 2 segments are wrong, the first one:\n"
        "           segment 0 (elements 0 to 3, length 4): result is 9, reference says 10\n"
        "               x: 1, 2, 3, 4\n";
    EXPECT_EQ(paragraph(result.output, "reference").substr(0, expected.size()), expected);
}

TEST_F(RunTest, OtherBackEndsNeedNoStage)
{
    const auto result = folder_.run({"run", "sum", "--input", "x.npy", "--backend", "reference"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.output.find("      0       8      36\n"), std::string::npos) << result.output;
    EXPECT_EQ(result.output.find("stage "), std::string::npos) << result.output;
}

TEST_F(RunTest, ExplainSaysWhyAPlanIsTaken)
{
    const auto result = run({"run", "sum_i32", "--elements", "100", "--layout", "uniform=10", "--stage",
                             "tile_scan", "--explain", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const auto explanation = nlohmann::json::parse(result.output)["explanation"];
    EXPECT_EQ(explanation["plan"], "tile_scan block_threads=256 items_per_thread=8, asked for");
    EXPECT_EQ(explanation["lookup"], "none");
    EXPECT_EQ(explanation["reason"], "--stage chooses, and no record is asked");
    const std::string rule = explanation["rule_of_thumb"];
    EXPECT_EQ(explanation["expected"].get<std::string>().substr(0, rule.find(' ') + 1),
              rule.substr(0, rule.find(' ') + 1));
    EXPECT_EQ(explanation["compulsory_bytes"], 440);
    EXPECT_EQ(explanation["scratch_bytes"], 0) << "on the host";
    const auto emulated = run({"run", "sum_i32", "--elements", "100", "--backend", "simt", "--explain"});
    EXPECT_NE(emulated.output.find("records are of GPUs and of the back end cpu, and the back end is simt"),
              std::string::npos)
        << emulated.output;
    const auto untuned = run({"run", "sum_i32", "--elements", "100", "--no-tune", "--explain"});
    EXPECT_NE(untuned.output.find("--no-tune: no record is asked"), std::string::npos) << untuned.output;
    EXPECT_NE(
        untuned.output.find("\nleft out       scratch memory, which is counted on a GPU alone, and a time, "
                            "which only a tuning record predicts\n"),
        std::string::npos)
        << untuned.output;
}

TEST_F(RunTest, ACheckSaysWhatADashMeans)
{
    const std::string legend =
        "\n-: the stage takes no segments that are given so; 'segfold stages' says which it takes\n";
    const auto check = [&](const std::string& layout) {
        return run({"check", "sum_i32", "--backend", "cpu", "--elements", "30", "--layout", layout}).output;
    };
    const auto whole = check("whole");
    EXPECT_NE(whole.find("\nrow_tree            -\n"), std::string::npos) << whole;
    EXPECT_NE(whole.find(legend), std::string::npos) << whole;
}

TEST_F(RunTest, AFileWithoutANameIsThatOfTheOnlyColumnBesideScalars)
{
    const std::vector<std::string> rest = {"--scalar", "threshold=3", "--output", folder_.file("found.npy")};
    for (const std::string file : {"x.npy", "x=x.npy"}) {
        std::vector<std::string> words = {"run", "count_above", "--input", file};
        words.insert(words.end(), rest.begin(), rest.end());
        const auto result = run(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_EQ(read_array(folder_.file("found.npy")).as<std::int64_t>()[0], 5);
    }
}

TEST_F(RunTest, NoElementsAreNoError)
{
    for (const auto* layout : {"whole", "uniform=4", "zipf:exponent=1.9"}) {
        const auto result = run({"run", "sum_i32", "--elements", "0", "--layout", layout, "--check"});
        EXPECT_EQ(result.exit_code, 0) << layout << ": " << result.errors;
    }
}

TEST_F(RunTest, ABoundOnMemoryMayHaveAFractionAndAUnitInFull)
{
    for (const std::string bytes : {"65536", "2^16", "64K", "64KB", "64KiB", "0.0625M", "65536B"}) {
        const auto result = run({"run", "sum_i32", "--elements", "2^16", "--memory", bytes});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_NE(result.output.find(", within 65536 bytes\n"), std::string::npos) << bytes << "\n"
                                                                                   << result.output;
    }
    for (const std::string bytes : {"", "B", "K", "iB", "0K", "-1K", "1.5", "1.5.5G", "1.5Gi2", "64iB2",
                                    "1e3.5K", "8388608T", "9999999999.5T", ".K", "inf"}) {
        const auto result = run({"run", "sum_i32", "--memory", bytes});
        EXPECT_EQ(result.exit_code, 2) << bytes;
        EXPECT_EQ(result.errors, "segfold: --memory '" + bytes +
                                     "' is no number of bytes; write one such as 2G, 1.5G, 512M or 65536\n");
    }
}

TEST_F(RunTest, AStreamThatFailsSaysWhatItLeaves)
{
    Array ends(Type::i64, 10001);
    for (std::size_t i = 0; i < ends.length(); ++i)
        ends.as<std::int64_t>()[i] = i == 9000 ? 5 : 3 * static_cast<std::int64_t>(i);
    write_npy(folder_.file("o.npy"), ends);
    const auto run = [&](const std::string& layout) {
        return folder_.run({"run", "sum", "--type", "i32", "--backend", "reference", "--elements", "30000",
                            "--layout", layout, "--memory", "16K", "--output", "out.npy"});
    };
    const auto failed = run("offsets=o.npy");
    EXPECT_EQ(failed.exit_code, 2);
    EXPECT_NE(failed.errors.find(
                  "\nthe results before that are left in out.npy.partial: --resume goes on from them "
                  "once the cause is gone, if no file that is read has to change; else begin "
                  "anew without --resume, or remove them and out.npy.resume\n"),
              std::string::npos)
        << failed.errors;
    EXPECT_TRUE(std::filesystem::exists(folder_.file("out.npy.partial")));
    EXPECT_TRUE(std::filesystem::exists(folder_.file("out.npy.resume")));
    EXPECT_EQ(run("uniform=3").exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(folder_.file("out.npy.partial")));
    EXPECT_FALSE(std::filesystem::exists(folder_.file("out.npy.resume")));
    EXPECT_EQ(run("uniform=7").errors.find(".partial"), std::string::npos) << "nothing was written";
}

}  // namespace
}  // namespace segfold::test::cli_run_test
