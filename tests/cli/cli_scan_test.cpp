// segfold scan: running results.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/data/formats/npz.h"

#include "tests/cli/cli_program.h"

namespace segfold::test::cli_scan_test {
namespace {

class ScanTest : public testing::Test {
protected:
    [[nodiscard]] ProgramResult scan(std::vector<std::string> words) const
    {
        words.insert(words.begin(), "scan");
        words.insert(words.end(), {"--backend", "reference"});
        return folder_.run(std::move(words));
    }

    /// The values of the field `result`, of which there is one for each element.
    [[nodiscard]] std::vector<double> values(std::vector<std::string> words) const
    {
        words.insert(words.end(), {"--show", "all", "--json"});
        const auto result = scan(std::move(words));
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        std::vector<double> all;
        const auto document = nlohmann::json::parse(result.output);
        for (const auto& element : document["elements"])
            all.push_back(element["outputs"]["result"]);
        return all;
    }

    ProgramFolder folder_;
};

const std::vector<std::string> kData = {"--input",         "x=[1,2,3,4,5]", "--layout",
                                        "lengths=[3,0,2]", "--type",        "i32"};

std::vector<std::string> on_data(std::vector<std::string> words)
{
    words.insert(words.end(), kData.begin(), kData.end());
    return words;
}

using Values = std::vector<double>;

TEST_F(ScanTest, GivesEachElementTheResultsUpToIt)
{
    EXPECT_EQ(values(on_data({"sum"})), (Values{1, 3, 6, 4, 9}));
    EXPECT_EQ(values(on_data({"sum", "--exclusive"})), (Values{0, 1, 3, 0, 4}));
    EXPECT_EQ(values(on_data({"sum", "--reverse"})), (Values{6, 5, 3, 9, 5}));
    EXPECT_EQ(values(on_data({"sum", "--reverse", "--exclusive"})), (Values{5, 3, 0, 5, 0}));
    EXPECT_EQ(values(on_data({"--op", "a * b", "--identity", "1"})), (Values{1, 2, 6, 4, 20}));
    EXPECT_EQ(values(on_data({"sum", "--slices", "4", "--reverse"})), (Values{6, 5, 3, 9, 5}));
}

TEST_F(ScanTest, RunDoesWhatAPartSays)
{
    (void)folder_.write("back.seg",
                        "operator back(x: i32) -> each i32 { state s: i32 = 0 lift x combine(a, b) a + b "
                        "scan reverse(before, through) before }");
    const std::vector<std::string> words = {"--input", "x=[1,2,3]", "--show",   "all",
                                            "--json",  "--backend", "reference"};
    auto run = words;
    run.insert(run.begin(), {"run", "back.seg"});
    const auto result = folder_.run(run);
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    const auto document = nlohmann::json::parse(result.output);
    EXPECT_EQ(document["elements"].size(), 3u);
    EXPECT_EQ(document["elements"][0]["outputs"]["result"], 5);
    EXPECT_EQ(values({"back.seg", "--input", "x=[1,2,3]"}), (Values{5, 3, 0}));
    EXPECT_EQ(values({"back.seg", "--input", "x=[1,2,3]", "--reverse"}), (Values{0, 1, 3}));
}

TEST_F(ScanTest, Checks)
{
    const auto result =
        scan({"sum", "--type", "f32", "--elements", "5000", "--layout", "geometric:mean=32", "--check"});
    EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
    EXPECT_NE(result.output.find("agree with thrust"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("reference"), std::string::npos) << result.output;
}

/// Inclusive, of an operator without identity: empty segments are tried.
TEST_F(ScanTest, ChecksScansOfSemigroups)
{
    (void)folder_.write("least.seg",
                        "operator least(x: i32) -> each i32 { state s: i32 lift x combine(a, b) min(a, b) "
                        "scan(before, through) through }");
    const auto result = folder_.run({"check", "least.seg", "--backend", "simt", "--stage", "running_tiles",
                                     "--elements", "700", "--prove", "off"});
    EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
    EXPECT_NE(result.output.find("empty_runs"), std::string::npos) << result.output;
    EXPECT_EQ(result.output.find("which the operator refuses"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("agree with the reference and with Thrust"), std::string::npos)
        << result.output;
}

TEST_F(ScanTest, StreamsWriteAndShowIt)
{
    EXPECT_EQ(values({"sum", "--input", "x=[1,2,3,4,5]", "--layout", "lengths=[3,2]", "--memory", "200"}),
              (Values{1, 3, 6, 4, 9}));
    EXPECT_EQ(values({"sum", "--input", "x=[1,2,3,4,5]", "--layout", "lengths=[3,2]", "--memory", "200",
                      "--reverse"}),
              (Values{6, 5, 3, 9, 5}));
    const std::vector<std::string> words = {
        "trace", "--type", "u64", "--elements", "20000", "--layout", "geometric:mean=300"};
    const auto write = [&](const std::string& output, std::vector<std::string> more) {
        more.insert(more.begin(), words.begin(), words.end());
        more.insert(more.end(), {"--output", output, "--show", "2"});
        const auto result = scan(more);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    };
    for (const bool is_reverse : {false, true}) {
        const std::vector<std::string> direction(is_reverse ? 1 : 0, "--reverse");
        (void)write("once.npz", direction);
        auto in_parts = direction;
        in_parts.insert(in_parts.end(), {"--memory", "20K"});
        const auto shown = write("parts.npz", in_parts);
        EXPECT_NE(shown.find("... and 19998 more elements"), std::string::npos) << shown;
        EXPECT_EQ(read_text(folder_.file("parts.npz")).size(), read_text(folder_.file("once.npz")).size());
        for (const auto* field : {":hash", ":power"}) {
            const auto once = read_array(folder_.file("once.npz") + field);
            const auto parts = read_array(folder_.file("parts.npz") + field);
            ASSERT_EQ(once.length(), 20000U);
            ASSERT_EQ(parts.length(), 20000U);
            EXPECT_EQ(std::memcmp(once.data(), parts.data(), once.bytes()), 0) << field;
        }
    }
}

/// The flags make the operator that a text with the part would be.
TEST_F(ScanTest, OtherVerbsTakeItsFlags)
{
    const auto write = [&](const std::string& name, const std::string& results, const std::string& part) {
        (void)folder_.write(name, "operator total(x: i32) -> " + results +
                                      " { state s: i32 = 0 lift x combine(a, b) a + b " + part + " }");
    };
    write("fold.seg", "i32", "");
    const auto text = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "emit");
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    };
    write("through.seg", "each i32", "scan(before, through) through");
    write("before.seg", "each i32", "scan(before, through) before");
    write("later.seg", "each i32", "scan reverse(before, through) before");
    EXPECT_EQ(text({"fold.seg", "--scan"}), text({"through.seg"}));
    EXPECT_EQ(text({"fold.seg", "--exclusive"}), text({"before.seg"}));
    EXPECT_EQ(text({"fold.seg", "--scan", "--reverse", "--exclusive"}), text({"later.seg"}));
    EXPECT_EQ(text({"later.seg", "--reverse"}), text({"before.seg"}));
    EXPECT_NE(text({"fold.seg"}), text({"through.seg"}));

    const auto stages = folder_.run({"stages", "fold.seg", "--reverse", "--layout", "offsets", "--json"});
    const auto all = nlohmann::json::parse(stages.output)["stages"].dump();
    EXPECT_NE(all.find("gives no running results, and operator total has a scan"), std::string::npos);
    for (const auto* verb : {"bench", "tune", "check", "emit", "regress", "stages"})
        EXPECT_EQ(
            folder_.run({verb, "softmax", "--exclusive"}).errors,
            "segfold: operator softmax has a map, which needs the results of whole segments; only without "
            "the map it can be scanned\n")
            << verb;
    EXPECT_EQ(folder_.run({"check", "--stage", "running_tiles", "--reverse"}).errors,
              "segfold: --reverse speaks of an operator, and none is named\n");
    EXPECT_EQ(folder_.run({"regress", "--scan"}).errors,
              "segfold: --scan scans an operator, and none is named\n");
    EXPECT_EQ(folder_.run({"check", "fold.seg", "--scan", "--tree"}).errors,
              "segfold: --scan has no meaning beside --tree, which folds a hash in the operator's place\n");
}

TEST_F(ScanTest, OtherVerbsJudgeAndTimeIt)
{
    if (!has_compiler())
        GTEST_SKIP() << "no C++ compiler";
    const auto check =
        folder_.run({"check", "affine", "--type", "u32", "--exclusive", "--reverse", "--stage",
                     "running_tiles", "--backend", "simt", "--elements", "300", "--prove", "off"});
    EXPECT_EQ(check.exit_code, 0) << check.errors;
    EXPECT_NE(check.output.find("affine(scale: u32, shift: u32) -> (each scale: u32, each shift: u32)"),
              std::string::npos)
        << check.output;
    const auto bench =
        folder_.run({"bench", "sum", "--type", "u32", "--reverse", "--elements", "1000", "--backend", "cpu",
                     "--stage", "scan_shares", "--peers", "none", "--repeat", "1", "--json"});
    EXPECT_EQ(bench.exit_code, 0) << bench.errors;
    EXPECT_NE(bench.output.find("scan_shares"), std::string::npos) << bench.output;
}

TEST_F(ScanTest, SaysWhatItCannot)
{
    EXPECT_EQ(scan({"softmax"}).errors,
              "segfold: operator softmax has a map, which needs the results of whole segments; only without "
              "the map it "
              "can be scanned\n");
    EXPECT_EQ(
        scan(on_data({"sum", "--memory", "1M", "--reverse", "--resume", "--output", "x.npy"})).errors,
        "segfold: --resume goes on with later elements, and operator sum scans segments from their end; "
        "leave --resume out\n");
    EXPECT_EQ(
        scan(on_data({"sum", "--sort", "result"})).errors,
        "segfold: --sort: operator sum keeps no results of segments, which the flag puts in order; it gives "
        "elements 'result'\n");
    EXPECT_EQ(scan(on_data({"sum", "--labels", "nowhere.txt"})).errors,
              "segfold: --labels: operator sum keeps no results of segments, which the flag names; it gives "
              "elements 'result'\n");
    (void)folder_.write("rows.seg",
                        "operator rows(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }");
    const std::vector<std::string> words = {"scan", "rows.seg", "--layout", "uniform=8", "--elements", "64"};
    auto on_simt = words;
    on_simt.insert(on_simt.end(), {"--backend", "simt"});
    on_simt.insert(on_simt.end(), {"--features", "5", "--check", "--explain"});
    if (has_compiler()) {
        const auto scanned = folder_.run(on_simt);
        EXPECT_EQ(scanned.exit_code, 0) << scanned.errors;
        EXPECT_NE(scanned.output.find("agree with the reference"), std::string::npos) << scanned.output;
        EXPECT_NE((scanned.output + scanned.errors).find("running_rows"), std::string::npos)
            << scanned.output;
    }
    EXPECT_EQ(scan({words.begin() + 1, words.end()}).exit_code, 0);
    EXPECT_NE(folder_.run({"run", "sum", "--exclusive"}).exit_code, 0);
    EXPECT_NE(folder_.run({"scan", "--help"}).output.find("--exclusive"), std::string::npos);
}

}  // namespace
}  // namespace segfold::test::cli_scan_test
