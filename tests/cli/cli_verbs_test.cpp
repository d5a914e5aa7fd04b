// The other verbs, the help pages, and how the program treats its streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "dsl/expression.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "tests/cli/cli_program.h"
#include "tests/common/kernel_folder.h"

namespace segfold::test::cli_verbs_test {
namespace {

class VerbsTest : public testing::Test {
protected:
    [[nodiscard]] std::string output(const std::vector<std::string>& arguments) const
    {
        const auto result = folder_.run(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_EQ(result.errors, "");
        return result.output;
    }

    [[nodiscard]] nlohmann::json json(std::vector<std::string> arguments) const
    {
        arguments.emplace_back("--json");
        return nlohmann::json::parse(output(arguments));
    }

    ProgramFolder folder_;
};

const std::vector<std::string> kVerbs = {"run",     "scan",  "check",  "emit",    "bench",     "tune",
                                         "regress", "paper", "stages", "devices", "operators", "cache"};

TEST_F(VerbsTest, HelpListsTheVerbs)
{
    const auto page = output({"--help"});
    EXPECT_EQ(page, output({}));
    EXPECT_EQ(page, output({"help"}));
    for (const auto& verb : kVerbs)
        EXPECT_NE(page.find("    segfold " + verb + " "), std::string::npos) << verb;
}

TEST_F(VerbsTest, EveryVerbHasAPageThatAllWaysReach)
{
    for (const auto& verb : kVerbs) {
        const auto page = output({"help", verb});
        EXPECT_TRUE(page.starts_with("segfold " + verb + " ")) << page;
        EXPECT_EQ(page, output({verb, "--help"}));
        EXPECT_EQ(page, output({verb, "sum", "-h"}));
    }
}

TEST_F(VerbsTest, TheLanguageIsOnOnePage)
{
    const auto page = output({"help", "language"});
    EXPECT_EQ(page.find("]("), std::string::npos) << "a link of Markdown";
    EXPECT_NE(page.find("one value; row before a type: rows\n"), std::string::npos) << page;
    EXPECT_NE(output({"help"}).find("segfold help language "), std::string::npos);
    const auto has_word = [&](std::string_view word) {
        return std::regex_search(page, std::regex("(^|[^a-z0-9_])" + std::string(word) + "($|[^a-z0-9_])"));
    };
    for (const auto function : function_names())
        EXPECT_TRUE(has_word(function)) << function;
    for (const Type type : kTypes)
        EXPECT_TRUE(has_word(name(type))) << name(type);
    for (const auto* word :
         {"operator", "table", "state",    "lift",    "combine", "finish",      "empty",      "laws",
          "let",      "index", "position", "segment", "length",  "commutative", "idempotent", "true",
          "false",    "inf",   "nan",      "lowest",  "highest", "epsilon"})
        EXPECT_TRUE(has_word(word)) << word;
    // The line of precedence holds every symbol that the parser knows, in the parser's order.
    const auto line = page.find("Operators, tightest first");
    ASSERT_NE(line, std::string::npos);
    std::istringstream text(page.substr(line, page.find('.', line) - line));
    std::vector<int> levels;
    for (std::string word; text >> word;) {
        while (word.size() > 1 && word.ends_with(','))
            word.pop_back();
        if (const int level = precedence(word); level != 0 && word != "-")
            levels.push_back(level);
    }
    EXPECT_EQ(levels.size(), 17u) << "of 18, and '-' is not looked at, which stands for two operators";
    EXPECT_TRUE(std::ranges::is_sorted(levels, std::greater<>()));
    EXPECT_EQ(page.find('`'), std::string::npos);
    EXPECT_NE(page.find("\n    expression = binary "), std::string::npos);
}

TEST_F(VerbsTest, EmitTellsOfAnotherFormThanWasAsked)
{
    EXPECT_EQ(
        folder_.run({"emit", "sum", "--stage", "tile_scan", "--layout", "flags"}).errors,
        "segfold: note: stage tile_scan takes segments by offsets, and so does the text; a run makes them of "
        "flags\n");
    EXPECT_EQ(folder_.run({"emit", "sum", "--stage", "run_stream", "--layout", "flags"}).errors, "");
}

/// A verb knows every flag on its page, and refuses an unknown flag by name.
TEST_F(VerbsTest, PagesNameFlagsThatExist)
{
    const std::regex flag("--[a-z]+(-[a-z]+)*");
    for (const auto& verb : kVerbs) {
        const auto page = output({"help", verb});
        std::set<std::string> flags;
        for (std::sregex_iterator at(page.begin(), page.end(), flag); at != std::sregex_iterator(); ++at)
            flags.insert(at->str());
        EXPECT_TRUE(flags.contains("--json")) << verb;
        for (const auto& name : flags) {
            const auto result = folder_.run({verb, name + "=", "--no-such-flag"});
            EXPECT_EQ(result.errors.find("unknown flag '" + name), std::string::npos)
                << verb << ": " << result.errors;
        }
    }
}

/// Every flag that a verb declares is on some page.
TEST_F(VerbsTest, FlagsThatExistAreOnAPage)
{
    std::string pages;
    for (const auto& verb : kVerbs)
        pages += output({"help", verb});
    const std::regex declaration(R"re(\{"([a-z-]+)"(, "[^"]*")?(, true)?\})re");
    for (const auto& entry : std::filesystem::directory_iterator(SEGFOLD_SOURCE_DIR "/runtime/cli")) {
        const auto text = entry.is_regular_file() ? read_text(entry.path().string()) : "";
        std::istringstream lines(text);
        bool in_flags = false;
        for (std::string line; std::getline(lines, line);) {
            in_flags = in_flags || line.find(" Flag k") != std::string::npos;
            for (std::sregex_iterator at(line.begin(), line.end(), declaration);
                 in_flags && at != std::sregex_iterator(); ++at)
                EXPECT_NE(pages.find("--" + at->str(1)), std::string::npos)
                    << entry.path() << ": " << at->str(1);
            in_flags = in_flags && line.find(';') == std::string::npos;
        }
    }
}

TEST_F(VerbsTest, PapersAreListedAndShown)
{
    const auto list = output({"paper"});
    const auto page = output({"paper", "harris2007", "--measured", "--figure", "slide 34"});
    EXPECT_NE(list.find("Optimizing Parallel Reduction in CUDA"), std::string::npos) << list;
    EXPECT_NE(page.find("8.054 ms"), std::string::npos) << page;
    EXPECT_EQ(page.find("32 M elements"), std::string::npos) << page;
    const auto document = nlohmann::json::parse(output({"paper", "--json"}));
    EXPECT_EQ(document["document"], "papers");
    ASSERT_FALSE(document["papers"].empty());
    EXPECT_EQ(document["papers"][0]["paper"], "harris2007");
    EXPECT_EQ(nlohmann::json::parse(output({"paper", "harris2007", "--measured", "--json"}))["paper"],
              "harris2007");
}

TEST_F(VerbsTest, EmitIsDeterministic)
{
    for (const auto* name : {"sum", "mean_variance", "keep_first", "trace"}) {
        const auto text = output({"emit", name});
        EXPECT_EQ(text, output({"emit", name})) << name;
        EXPECT_NE(text.find("extern \"C\" __global__ void"), std::string::npos);
    }
}

TEST_F(VerbsTest, EmitTakesFormsWithoutFiles)
{
    for (const auto& [layout, form] :
         std::vector<std::pair<std::string, std::string>>{{"whole", "whole"},
                                                          {"uniform", "uniform"},
                                                          {"uniform=4", "uniform"},
                                                          {"offsets", "offsets"},
                                                          {"offsets=no_file.npy", "offsets"},
                                                          {"ranges", "ranges"},
                                                          {"keys", "keys"},
                                                          {"flags=no_file.npy", "flags"},
                                                          {"rows", "offsets"},
                                                          {"geometric", "offsets"},
                                                          {"giant:half", "offsets"}}) {
        const auto document = json({"emit", "sum", "--layout", layout});
        EXPECT_EQ(document["form"], form) << layout;
        EXPECT_FALSE(document["launches"].empty());
    }
}

TEST_F(VerbsTest, EmitKnowsTheWidthOfKeys)
{
    EXPECT_NE(output({"emit", "sum", "--layout", "keys"}).find("\nusing Key = unsigned;\n"),
              std::string::npos);
    EXPECT_NE(output({"emit", "sum", "--layout", "keys", "--key-bytes", "8"})
                  .find("\nusing Key = unsigned long long;\n"),
              std::string::npos);
    EXPECT_EQ(json({"emit", "sum", "--layout", "keys", "--stage", "tile_scan"})["form"], "offsets");
    EXPECT_EQ(folder_.run({"emit", "sum", "--layout", "flags", "--key-bytes", "2"}).errors,
              "segfold: --key-bytes is about keys, and segments are given as flags; leave it out, or write "
              "--layout keys\n");
}

TEST_F(VerbsTest, EmitTakesTheWidthOfKeysFromTheirFile)
{
    write_npy(folder_.file("narrow.npy"), make_array<std::uint16_t>(Type::u16, {1, 1, 2}));
    std::vector<NamedArray> arrays;
    arrays.push_back({"k", make_array<std::uint16_t>(Type::u16, {1, 1, 2})});
    write_npz(folder_.file("a.npz"), arrays);
    const auto has = [&](const std::string& layout, const std::string& key) {
        const auto text = output({"emit", "sum", "--layout", "keys=" + layout});
        return text.find("\nusing Key = " + key + ";\n") != text.npos;
    };
    EXPECT_TRUE(has("narrow.npy", "unsigned short"));
    EXPECT_TRUE(has("a.npz:k", "unsigned short"));
    EXPECT_TRUE(has("a.npz", "unsigned short"));
    EXPECT_TRUE(has("[1, 1, 2]", "unsigned long long"));
    EXPECT_TRUE(has("no_file.npy", "unsigned"));
    EXPECT_EQ(output({"emit", "sum", "--layout", "keys=narrow.npy", "--key-bytes", "2"}),
              output({"emit", "sum", "--layout", "keys=narrow.npy"}));
    EXPECT_EQ(folder_.run({"emit", "sum", "--layout", "keys=narrow.npy", "--key-bytes", "8"}).errors,
              "segfold: --key-bytes is 8, but the keys of --layout keys=narrow.npy have 2 bytes; leave "
              "--key-bytes out, or write --layout keys\n");
}

TEST_F(VerbsTest, EmitJsonHoldsTheTextAndItsLaunches)
{
    const auto document =
        json({"emit", "sum", "--layout", "whole", "--stage", "grid_reduce", "--index-bits", "64"});
    EXPECT_EQ(document["source"],
              output({"emit", "sum", "--layout", "whole", "--stage", "grid_reduce", "--index-bits", "64"}));
    EXPECT_EQ(document["stage"], "grid_reduce");
    EXPECT_EQ(document["index_bits"], 64);
    EXPECT_EQ(document["launches"][0]["kernel"], "reduce");
    EXPECT_EQ(document["launches"][0]["parameters"][0], "inputs");
    EXPECT_EQ(document["scratch"][0]["name"], "partials");
}

TEST_F(VerbsTest, EmitShowsTextsWhoseNumbersTheLaunchSays)
{
    const auto document =
        json({"emit", "sum", "--stage", "tile_scan", "--at-launch", "--set", "items_per_thread=4"});
    EXPECT_EQ(document["numbers"]["block_threads"], 256);
    EXPECT_EQ(document["numbers"]["items_per_thread"], 4);
    const auto source = document["source"].get<std::string>();
    EXPECT_NE(source.find("int items_per_thread,"), std::string::npos) << source;
    EXPECT_EQ(source.find("constexpr int items_per_thread"), std::string::npos) << source;
}

TEST_F(VerbsTest, EmitWritesEveryStageAndForm)
{
    const auto document = json({"emit", "keep_first", "--all", "all"});
    std::set<std::string> forms;
    for (const auto& entry : document["files"]) {
        forms.insert(entry["form"].get<std::string>());
        const std::string stage = entry["stage"], form = entry["form"];
        const auto path = "all/" + stage + "." + form + ".cu";
        EXPECT_EQ(entry["file"], path);
        EXPECT_EQ(read_text(folder_.file(path)),
                  output({"emit", "keep_first", "--stage", stage, "--layout", form}));
    }
    EXPECT_EQ(forms, (std::set<std::string>{"whole", "uniform", "offsets", "ranges", "flags", "keys"}));
    (void)output({"emit", "sum", "--all", "one", "--stage", "tile_scan", "--layout", "ranges", "--set",
                  "block_threads=128"});
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.file("one")), {}), 1);
}

TEST_F(VerbsTest, StagesShowWhatAnOperatorMayUse)
{
    const auto ladder = output({"stages"});
    EXPECT_NE(ladder.find("\n  warp_per_segment: One warp reduces one segment\n"), std::string::npos)
        << ladder;
    for (std::size_t at = 0; at < ladder.size(); at = ladder.find('\n', at) + 1)
        EXPECT_LE(ladder.find('\n', at) - at, 110U) << ladder.substr(at, 200);
    EXPECT_LT(ladder.find("Rungs of the literature"), ladder.find("tree_interleaved_modulo"));
    const auto offers = output({"stages", "affine"});
    EXPECT_LT(offers.find("block_per_segment"), offers.find("\nrung\n"));
    EXPECT_LT(offers.find("\nrung\n"), offers.find("\ntree_interleaved_modulo")) << offers;
    const std::regex refused(
        "tree_sequential +(-  +){6}needs a commutative operator, and operator affine does not "
        "declare that law\n");
    EXPECT_TRUE(std::regex_search(offers, refused)) << offers;
    EXPECT_TRUE(std::regex_search(offers, std::regex("pairs_sequential +(yes *){6}\n"))) << offers;
    const auto document = json({"stages", "keep_first", "--layout", "uniform=2"});
    for (const auto& stage : document["stages"])
        if (stage["stage"] == "thread_per_segment") {
            EXPECT_EQ(stage["serves"].dump(), R"([{"form":"uniform","rule_of_thumb":true,"serves":true}])");
        } else if (stage["stage"] == "lean_stream") {
            EXPECT_EQ(stage["serves"][0]["reason"],
                      "takes segments given as flags, keys, offsets, not as uniform");
        }
}

TEST_F(VerbsTest, OperatorsPrintTextsThatCanBeRead)
{
    const auto document = json({"operators"});
    EXPECT_GE(document["operators"].size(), 15u);
    for (const auto& entry : document["operators"]) {
        const std::string name = entry["name"];
        (void)folder_.write("own.seg", output({"operators", name}));
        EXPECT_EQ(output({"operators", "own.seg"}), output({"operators", name})) << name;
        EXPECT_NE(output({"operators"}).find("\n" + name + " "), std::string::npos);
    }
}

TEST_F(VerbsTest, DevicesWorkWithNone)
{
    const auto document = json({"devices"});
    EXPECT_TRUE(document["gpus"].is_array());
    EXPECT_TRUE(document["nvrtc"]["found"].is_boolean());
    EXPECT_TRUE(document["simt"]["compiler"]["found"].is_boolean());
    EXPECT_TRUE(document["thrust"]["cpu"]["found"].is_boolean());
    EXPECT_NE(output({"devices"}).find("NVRTC"), std::string::npos);
}

TEST_F(VerbsTest, CheckPassesWhatIsRight)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const auto result = folder_.run({"check", "trace", "--backend", "simt", "--elements", "2000", "--layout",
                                     "half_empty:mean=8", "--seeds", "2"});
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_EQ(result.errors, "");
    EXPECT_NE(result.output.find("\nstage               half_empty:mean=8\n"), std::string::npos)
        << result.output;
    EXPECT_NE(result.output.find("\ntile_scan           ok\n"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find(" runs agree with the reference"), std::string::npos) << result.output;
}

TEST_F(VerbsTest, CheckFitsItsLayoutsToTheElements)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const auto result = folder_.run(
        {"check", "sum_i32", "--backend", "simt", "--elements", "1000", "--stage", "thread_per_segment"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_NE(result.output.find("\nstage               whole  uniform=25  zipf:exponent=1.9  "
                                 "half_empty:mean=8  ranges  flags  keys  groups  empty_runs  few  few_keys\n"
                                 "thread_per_segment  ok     ok          ok                 ok               "
                                 "  ok      ok     ok    -       ok          ok   ok\n"),
              std::string::npos)
        << result.output;
}

TEST_F(VerbsTest, CheckFindsThatSubtractionIsNotAssociative)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const auto result = folder_.run({"check", "--op", "a - b", "--type", "i32", "--backend", "simt",
                                     "--elements", "256", "--layout", "uniform=8"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.output.find("combine is not associative:\n    a = 0, b = 0, c = 1\n"), std::string::npos)
        << result.output;
    EXPECT_NE(result.output.find("\nthread_per_segment  ok\n"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find(
                  ": needs an associative operator, and combine of operator expression is refuted\n"),
              std::string::npos)
        << result.output;
}

TEST_F(VerbsTest, CheckReportsFaultsAndGoesOn)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    namespace fs = std::filesystem;
    const fs::path kernels = fs::path(SEGFOLD_SOURCE_DIR) / "kernels";
    fs::create_directories(folder_.file("k/stages"));
    auto text = read_text((kernels / "stages/thread_per_segment.cu").string());
    const std::string store = "store(results, begin + k";
    ASSERT_NE(text.find(store), std::string::npos);
    (void)folder_.write("k/stages/thread_per_segment.cu",
                        text.replace(text.find(store), store.size(), "store(results, begin + 1 + k"));
    const auto result = folder_.run({"check", "sum_i32", "--backend", "simt", "--elements", "256", "--layout",
                                     "uniform=8", "--kernels", "k", "--json"});
    EXPECT_EQ(result.exit_code, 1);
    const auto document = nlohmann::json::parse(result.output);
    EXPECT_EQ(document["agrees"], false);
    std::map<std::string, std::string> outcomes;
    for (const auto& check : document["checks"])
        outcomes[check["stage"]] = check["outcome"];
    EXPECT_EQ(outcomes["thread_per_segment"], "fault");
    EXPECT_EQ(outcomes["warp_per_segment"], "ok");
    EXPECT_EQ(document["laws"][0]["law"], "associative");
    const auto printed =
        folder_.run({"check", "sum_i32", "--backend", "simt", "--elements", "256", "--layout", "uniform=8",
                     "--kernels", "k", "--seed", "3", "--seeds", "2"});
    const std::string again = "    again: segfold ";
    const auto at = printed.output.find(again +
                                        "check sum_i32 --kernels k --backend simt --layout uniform=8 "
                                        "--stage thread_per_segment --set ");
    ASSERT_NE(at, std::string::npos) << printed.output;
    const auto begin = at + again.size();
    std::istringstream line(printed.output.substr(begin, printed.output.find('\n', begin) - begin));
    const std::vector<std::string> words(std::istream_iterator<std::string>(line), {});
    EXPECT_EQ(folder_.run(words).exit_code, 1);
    EXPECT_NE(printed.output.find(" --elements 256 --seed 3 --seeds 2\n"), std::string::npos)
        << printed.output;
}

TEST_F(VerbsTest, BenchSaysWhichPeersFoldElsewhere)
{
    if (!has_compiler())
        GTEST_SKIP() << "the back end cpu needs a C++ compiler";
    const auto result = folder_.run({"bench", "sum_i32", "--backend", "cpu", "--elements", "1024", "--peers",
                                     "cub", "--repeat", "1", "--stage", "lane_per_segment"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.errors,
              "segfold: warning: --peers cub: cub folds on a GPU alone, and the back end is cpu; it is not "
              "measured\n");
}

/// A bug in a barrier shows only if a loop has several rounds, so check must use few blocks.
TEST_F(VerbsTest, CheckMakesLoopsOverSegmentsGoRound)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const auto kernels = copy_kernels(folder_, "k");
    plant(kernels, "stages/block_per_segment.cu",
          "__syncthreads();  // the warps' totals have been read, so the next segment may write them", ";");
    const auto check = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"check", "sum_i32", "--backend",         "simt",      "--elements",
                                          "2000",  "--stage", "block_per_segment", "--kernels", "k"};
        words.insert(words.end(), more.begin(), more.end());
        return folder_.run(words);
    };
    const auto found = check({});
    EXPECT_EQ(found.exit_code, 1) << found.errors;
    EXPECT_NE(found.output.find("\nblock_per_segment  ok     fault "), std::string::npos) << found.output;
    EXPECT_NE(found.output.find("\nblock_per_segment over uniform=25, seed 7, block_threads=64 "
                                "blocks_per_multiprocessor=2 items_per_thread=1:\n"),
              std::string::npos)
        << found.output;
    const std::vector<std::string> uniform = {"--layout", "uniform=25", "--set", "block_threads=128"};
    EXPECT_EQ(check(uniform).exit_code, 0) << "a block for each segment";
    auto few = uniform;
    few.insert(few.end(), {"--set", "blocks_per_multiprocessor=2"});
    const auto chosen = check(few);
    EXPECT_EQ(chosen.exit_code, 1) << chosen.errors;
    EXPECT_NE(chosen.output.find(", seed 7, block_threads=128 blocks_per_multiprocessor=2 "),
              std::string::npos)
        << chosen.output;
}

TEST_F(VerbsTest, ReadersOfStandardOutputMayLeave)
{
    const std::string command = "'" SEGFOLD_PROGRAM "' emit sum; echo $? > code";
    const auto script = "cd '" + folder_.file("") + "' && { " + command + "; } | true";
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(std::system(script.c_str()), 0);
        EXPECT_EQ(read_text(folder_.file("code")), "0\n");
    }
}

TEST_F(VerbsTest, FullDisksAreAnError)
{
    if (!std::filesystem::exists("/dev/full"))
        GTEST_SKIP() << "there is no /dev/full";
    const auto result = folder_.run({"operators"}, "/dev/full");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.errors, "segfold: standard output cannot be written: No space left on device\n");
}

TEST_F(VerbsTest, BackEndsThatAreNotThereEndWithThree)
{
    if (!json({"devices"})["gpus"].empty())
        GTEST_SKIP() << "there is a GPU";
    const auto result = folder_.run({"run", "sum", "--backend", "cuda"});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.output, "");
    EXPECT_TRUE(result.errors.starts_with("segfold: ")) << result.errors;
    const auto document =
        nlohmann::json::parse(folder_.run({"run", "sum", "--backend", "cuda", "--json"}).output);
    EXPECT_EQ(document["class"], "device");
    EXPECT_EQ("segfold: " + document["message"].get<std::string>() + "\n", result.errors);
}

TEST_F(VerbsTest, VersionIsOneLine)
{
    EXPECT_TRUE(std::regex_match(output({"--version"}), std::regex("segfold \\d+\\.\\d+\\.\\d+\n")));
}

}  // namespace
}  // namespace segfold::test::cli_verbs_test
