// --json: each verb writes one object as the schema describes it, even if the verb fails.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/cli/regress/view.h"
#include "runtime/cli/views/json_schema.h"
#include "runtime/measure/bench/record_json.h"
#include "tests/cli/cli_program.h"
#include "tests/common/json_schema.h"

namespace segfold::test::cli_json_test {
namespace {

using Json = nlohmann::ordered_json;

class JsonTest : public testing::Test {
protected:
    JsonTest() { setenv("SEGFOLD_CACHE_DIR", folder_.file("kernels").c_str(), 1); }
    ~JsonTest() override { unsetenv("SEGFOLD_CACHE_DIR"); }

    /// Returns the document that a command writes. Expects nothing else on standard output, and a document
    /// that the schema allows.
    [[nodiscard]] Json document(std::vector<std::string> command, int exit_code = 0) const
    {
        command.emplace_back("--json");
        const auto result = folder_.run(command);
        EXPECT_EQ(result.exit_code, exit_code) << command[0] << ": " << result.errors;
        auto document = Json::parse(result.output, nullptr, false);
        EXPECT_FALSE(document.is_discarded()) << command[0] << ": " << result.output;
        EXPECT_EQ(judge_.faults(document), "") << command[0];
        return document;
    }

    /// Checks a document that only a GPU run writes, made by the same functions.
    void expect_valid(const std::string& name, const Json& body) const
    {
        Json whole = {{"segfold", "0.2.0"}, {"document", name}};
        whole.update(body);
        EXPECT_EQ(judge_.faults(whole), "") << name;
    }

    ProgramFolder folder_;
    SchemaJudge judge_{cli::json_schema()};
};

TEST_F(JsonTest, DocumentsOfEveryVerbAreAsTheSchemaSays)
{
    const auto name_of = [&](const std::vector<std::string>& command, int exit_code = 0) {
        return document(command, exit_code)["document"].get<std::string>();
    };
    EXPECT_EQ(name_of({"operators"}), "operators");
    EXPECT_EQ(name_of({"operators", "mean_variance"}), "operator");
    EXPECT_EQ(name_of({"stages"}), "stages");
    EXPECT_EQ(name_of({"stages", "keep_first"}), "stages");
    EXPECT_EQ(name_of({"stages", "--extract", "kernels_here"}), "extracted_files");
    EXPECT_EQ(name_of({"emit", "sum", "--stage", "tile_scan"}), "emit");
    EXPECT_EQ(name_of({"emit", "sum", "--stage", "tile_scan", "--at-launch"}), "emit");
    EXPECT_EQ(name_of({"emit", "sum", "--all", "all"}), "emitted_files");
    (void)folder_.write("signed.seg",
                        "operator signed(x: i32, k: scalar i32) -> i32 {\n"
                        "  state { v: i32; k: i32 }\n"
                        "  lift { v = x; k = k }\n"
                        "  combine(a, b) { v = a.k < 0 ? a.v - b.v : a.v + b.v; k = a.k }\n"
                        "  finish v\n"
                        "}\n");
    EXPECT_TRUE(document({"emit", "signed.seg", "--scalar", "k=3"}).contains("scalars"));
    EXPECT_TRUE(document({"emit", "signed.seg", "--all", "all", "--scalar", "k=3"}).contains("scalars"));
    EXPECT_EQ(name_of({"devices"}), "devices");
    EXPECT_EQ(name_of({"paper"}), "papers");
    EXPECT_EQ(name_of({"bench", "sum", "--emit-peer", "thrust_reduce_by_key"}), "peer");
    EXPECT_EQ(name_of({"cache", "list"}), "cache_list");
    EXPECT_EQ(name_of({"cache", "stat"}), "cache_stat");
    EXPECT_EQ(name_of({"cache", "verify"}), "cache_verify");
    EXPECT_EQ(name_of({"cache", "clear"}), "cache_clear");
    EXPECT_EQ(name_of({"run", "mean_variance", "--backend", "reference", "--layout", "uniform=8"}), "run");
}

TEST_F(JsonTest, PapersAreAsTheSchemaSays)
{
    for (const auto& paper : document({"paper"})["papers"])
        EXPECT_EQ(document({"paper", paper["paper"], "--measured"})["document"], "paper") << paper;
}

TEST_F(JsonTest, DocumentsOfVerbsThatRunStagesAreAsTheSchemaSays)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    (void)folder_.write("labels.txt", "a\nb\n");
    const auto run =
        document({"run", "sum", "--backend", "simt", "--elements", "64", "--layout", "uniform=32", "--check",
                  "--explain", "--labels", "labels.txt", "--output", "out.npy"});
    EXPECT_EQ(run["truncated"], false);
    EXPECT_TRUE(run.contains("explanation"));
    const std::vector<std::string> check = {
        "check",    "--op",      "a - b",      "--type", "i32",     "--backend",         "simt",
        "--layout", "uniform=8", "--elements", "256",    "--stage", "thread_per_segment"};
    EXPECT_EQ(document(check, 1)["agrees"], false);
    const auto regress =
        document({"regress", "sum_i32", "--relations", "--relation", "repetition", "--backend", "simt",
                  "--elements", "256", "--stage", "thread_per_segment"});
    EXPECT_EQ(regress["relations"]["any_broken"], false);
}

TEST_F(JsonTest, MeasurementsAreAsTheSchemaSays)
{
    const auto kept = Json::parse(read_text(SEGFOLD_SOURCE_DIR "/tests/data/bench/measurements.json"));
    const JsonValue root("measurements.json: document", kept);
    Json bench = {{"machine", bench::json_of(bench::machine_from(root.at("machine")))}};
    for (const auto& workload : root.at("workloads").elements())
        bench["workloads"].push_back(bench::json_of(bench::workload_from(workload)));
    expect_valid("bench", bench);

    cli::RegressReport report;
    report.static_costs.emplace().left_out = "there is no NVRTC";
    report.times.emplace();
    regress::TimeOutcome outcome;
    outcome.now = {"sum_f32", "tile_scan", "whole", "read", "", {{1.25}}, ""};
    outcome.verdict = regress::Verdict::worse;
    report.times->outcomes = {outcome};
    report.times->selves = {{1, 0, 0}};
    expect_valid("regress", cli::json_of(report));
}

TEST_F(JsonTest, FailuresAreDocumentsToo)
{
    (void)folder_.write(
        "mine.seg",
        "operator mine(x: f32) -> f32 {\n  state sum: f32 = 0\n  lift y\n  combine(a, b) a + b\n}\n");
    const auto wrong = document({"run", "./mine.seg"}, 2);
    const auto message = folder_.run({"run", "./mine.seg"}).errors;
    EXPECT_EQ("segfold: " + wrong["message"].get<std::string>() + "\n", message);
    EXPECT_EQ(wrong["document"], "error");
    EXPECT_EQ(wrong["verb"], "run");
    EXPECT_EQ(wrong["class"], "specification");
    EXPECT_EQ(wrong["exit_code"], 2);
    EXPECT_EQ(wrong["places"].dump(), R"([{"file":"./mine.seg","line":3,"column":8}])");
    EXPECT_EQ(document({"run", "--op", "a +"}, 2)["places"][0]["file"], "--op");

    const auto unknown = document({"run", "sum", "--layot", "whole"}, 2);
    EXPECT_EQ(unknown["class"], "input");
    EXPECT_TRUE(unknown["places"].empty());
    EXPECT_EQ(unknown["message"],
              "unknown flag '--layot'; 'segfold help run' lists those of run; did you mean '--layout'?");
    EXPECT_EQ(document({"rnu", "sum"}, 2)["verb"], "rnu");
    EXPECT_EQ(folder_.run({"run", "sum", "--layot", "whole"}).output, "") << "without --json";
}

TEST_F(JsonTest, NumbersThatJsonLacksAreWhatOtherLanguagesRead)
{
    const auto values = document({"run", "--op", "a + b", "--finish", "value / 0.0", "--identity", "0",
                                  "--backend", "reference", "--layout", "uniform=1", "--elements", "64",
                                  "--values", "units", "--show", "all"});
    std::set<std::string> found;
    for (const auto& result : values["results"])
        found.insert(result["fields"]["result"].dump());
    EXPECT_EQ(found, (std::set<std::string>{R"("-Infinity")", R"("Infinity")", R"("NaN")"}));
}

TEST_F(JsonTest, CommandsWithoutAVerbWriteDocuments)
{
    const auto program = document({"--version"});
    EXPECT_EQ(program["document"], "program");
    EXPECT_EQ("segfold " + program["segfold"].get<std::string>() + "\n", folder_.run({"--version"}).output);
    const auto none = document({}, 2);
    EXPECT_EQ(none["class"], "input");
    EXPECT_TRUE(none["message"].get<std::string>().starts_with("'--json' stands where the verb belongs; "));
    EXPECT_EQ(document({"--elements", "9"}, 2)["verb"], "--elements");
    EXPECT_EQ(document({"--version", "--short"}, 2)["message"],
              "--version takes --json alone; '--short' is too much");
}

TEST_F(JsonTest, TheSchemaIsPrintedAndItsPageNamesEveryDocument)
{
    const auto schema = Json::parse(folder_.run({"help", "schema"}).output);
    EXPECT_EQ(schema, cli::json_schema());
    const auto page = folder_.run({"help", "json"}).output;
    for (const auto& reference : schema["oneOf"]) {
        const auto name = reference["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
        EXPECT_EQ(schema["$defs"][name]["properties"]["document"]["const"], name);
        EXPECT_NE(page.find(name), std::string::npos) << name;
    }
}

TEST_F(JsonTest, TheJudgeFindsFaults)
{
    Json good = {
        {"segfold", "0.2.0"}, {"document", "cache_clear"}, {"folder", "f"}, {"removed", 1}, {"bytes", 2}};
    EXPECT_EQ(judge_.faults(good), "");
    auto bad = good;
    bad["removed"] = -1;
    bad["more"] = nullptr;
    bad.erase("bytes");
    EXPECT_EQ(judge_.faults(bad),
              "cache_clear has no 'bytes'\n"
              "cache_clear.removed is -1: it has to be 0 at least\n"
              "cache_clear.more is not in the schema\n");
    bad = good;
    bad["folder"] = 3;
    EXPECT_EQ(judge_.faults(bad), "cache_clear.folder is 3: the type has to be \"string\"\n");
    EXPECT_EQ(judge_.faults(Json::array()), "the document does not begin with 'segfold' and 'document'\n");
    EXPECT_THROW(SchemaJudge(Json{{"pattern", "a"}}), std::runtime_error);
}

}  // namespace
}  // namespace segfold::test::cli_json_test
