// Stages and parts of users: --kernels adds the files of a folder to the program's, stages --extract writes
// the program's files.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/embedded_kernels.h"
#include "tests/cli/cli_program.h"

namespace segfold::test::cli_kernels_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kUniform = "uniform=32";

class KernelsTest : public testing::Test {
protected:
    KernelsTest()
    {
        fs::create_directories(folder_.file("own/stages"));
        fs::create_directories(folder_.file("own/parts"));
    }

    static std::string embedded(const std::string& path)
    {
        const auto files = embedded_kernels();
        return std::string(std::ranges::find(files, path, &EmbeddedFile::path)->text);
    }

    static std::string replaced(std::string text, const std::string& from, const std::string& to)
    {
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return at == std::string::npos ? text : text.replace(at, from.size(), to);
    }

    /// Returns a stage that the program lacks and that a run prefers to all others.
    static std::string leap()
    {
        auto text = replaced(embedded("stages/thread_per_segment.cu"), "//% stage   thread_per_segment",
                             "//% stage   leap");
        return replaced(text, "//% tune", "//% suits   uniform ? 1000 : 0\n//% tune");
    }

    [[nodiscard]] std::string output(const std::vector<std::string>& words) const
    {
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    }

    [[nodiscard]] std::string refusal(const std::vector<std::string>& words) const
    {
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 2) << result.output;
        EXPECT_EQ(result.output, "");
        return result.errors;
    }

    ProgramFolder folder_;
};

TEST_F(KernelsTest, CompilersNameTheLinesOfAStage)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const std::string text =
        "//% stage   one\n//% title   One thread folds one segment\n//% source  none\n//% layout  offsets\n"
        "//% launch  reduce  grid = num_segments  block = 32\n//% use     parts/segments/segments.cuh\n\n"
        "extern \"C\" __global__ void reduce(Inputs inputs, Segments segments, Results results)\n{\n"
        "    State total = missing();\n}\n";
    (void)folder_.write("own/stages/one.cu", text);
    fs::create_directories(folder_.file("temporary"));
    setenv("TMPDIR", folder_.file("temporary").c_str(), 1);
    const auto simt = folder_.run({"run", "sum_i32", "--layout", "offsets=[0, 3]", "--elements", "3",
                                   "--backend", "simt", "--stage", "one", "--kernels", "own"});
    unsetenv("TMPDIR");
    EXPECT_EQ(simt.exit_code, 3);
    EXPECT_NE(simt.errors.find("\nown/stages/one.cu:10:19: error: "), std::string::npos) << simt.errors;
    EXPECT_EQ(simt.errors.find("/segfold-simt-"), std::string::npos) << simt.errors;
    EXPECT_TRUE(fs::is_empty(folder_.file("temporary"))) << "a folder is left behind";
}

TEST_F(KernelsTest, ANewStageIsTakenWhereItSuitsBest)
{
    (void)folder_.write("own/stages/leap.cu", leap());
    const auto text = output({"emit", "sum_i32", "--layout", kUniform, "--kernels", "own"});
    EXPECT_TRUE(text.starts_with("// leap: One thread reduces one segment\n")) << text;
    EXPECT_EQ(output({"emit", "sum_i32", "--layout", "offsets", "--kernels", "own"}),
              output({"emit", "sum_i32", "--layout", "offsets"}))
        << "over offsets its rank is 0";
    const auto document =
        Json::parse(output({"stages", "sum_i32", "--layout", kUniform, "--kernels", "own", "--json"}));
    std::size_t builtin = 0;
    for (const auto& stage : document["stages"]) {
        EXPECT_EQ(stage["serves"][0]["rule_of_thumb"], stage["stage"] == "leap") << stage;
        builtin += stage["stage"] == "leap" ? 0 : 1;
    }
    EXPECT_EQ(builtin, Json::parse(output({"stages", "--json"}))["stages"].size());
}

TEST_F(KernelsTest, ARunTakesANewStage)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    (void)folder_.write("own/stages/leap.cu", leap());
    const auto document =
        Json::parse(output({"run", "sum_i32", "--backend", "simt", "--elements", "320", "--layout", kUniform,
                            "--kernels", "own", "--check", "--json"}));
    EXPECT_EQ(document["stage"], "leap");
    EXPECT_EQ(document["chosen_by"], "rule of thumb");
}

TEST_F(KernelsTest, FilesOfTheSamePathReplace)
{
    const std::string mark = "// One's own way to join a warp's lanes.\n";
    (void)folder_.write("own/parts/reduce/warp_reduce.cuh", mark + embedded("parts/reduce/warp_reduce.cuh"));
    (void)folder_.write(
        "own/stages/tile_scan.cu",
        replaced(embedded("stages/tile_scan.cu"), "//% title   Equal tiles", "//% title   Tiles of ours"));
    const auto of = [&](const std::string& stage) {
        return output({"emit", "sum_i32", "--stage", stage, "--kernels", "own"});
    };
    EXPECT_NE(of("warp_per_segment").find(mark), std::string::npos);
    EXPECT_TRUE(of("tile_scan").starts_with("// tile_scan: Tiles of ours")) << of("tile_scan");
    EXPECT_EQ(of("thread_per_segment"), output({"emit", "sum_i32", "--stage", "thread_per_segment"}));
}

TEST_F(KernelsTest, FaultsNameTheFileOfTheFolder)
{
    const std::vector<std::string> stages = {"stages", "--kernels", "own"};
    const std::vector<std::string> emits = {"emit",      "sum_i32", "--stage", "thread_per_segment",
                                            "--kernels", "own/"};
    const auto place_of = [](const std::string& text, const std::string& words) {
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(words));
        return "segfold: own/stages/leap.cu:" + std::to_string(1 + std::count(text.begin(), end, '\n'));
    };
    const auto lunch = replaced(leap(), "//% launch", "//% lunch");
    (void)folder_.write("own/stages/leap.cu", lunch);
    EXPECT_EQ(refusal(stages),
              place_of(lunch, "//% lunch") + ": unknown directive 'lunch'; did you mean 'launch'?\n");
    const auto segment = replaced(leap(), "? 1000 :", "? 10000 / num_segment :");
    (void)folder_.write("own/stages/leap.cu", segment);
    const auto refused = refusal({"emit", "sum_i32", "--layout", "uniform=4", "--kernels", "own"});
    EXPECT_TRUE(refused.starts_with(place_of(segment, "//% suits") + ": in 'uniform ? ")) << refused;
    EXPECT_TRUE(refused.ends_with(
        "10000 / num_segment : 0': unknown name 'num_segment'; did you mean 'num_segments'?\n"))
        << refused;
    const auto scan = replaced(leap(), "//% stage   leap", "//% stage   tile_scan");
    (void)folder_.write("own/stages/leap.cu", scan);
    EXPECT_EQ(refusal(stages),
              place_of(scan, "//% stage") +
                  ": stage 'tile_scan' is in a file 'leap'; a stage has the name of its file: "
                  "write //% stage leap, or call the file tile_scan.cu\n");
    fs::remove(folder_.file("own/stages/leap.cu"));
    (void)folder_.write("own/ladder/tile_scan.cu", scan);
    EXPECT_EQ(refusal(stages),
              "segfold: own/ladder/tile_scan.cu: stage 'tile_scan' is already that of stages/tile_scan.cu\n");
    fs::remove(folder_.file("own/ladder/tile_scan.cu"));
    (void)folder_.write("own/stages/leap.cu", replaced(leap(), "//% source", "//% after leep\n//% source"));
    EXPECT_EQ(refusal(stages),
              "segfold: own/stages/leap.cu: comes after 'leep', which is no stage, or after itself\n");
    fs::remove(folder_.file("own/stages/leap.cu"));
    (void)folder_.write("own/parts/segments/segment_extent.cuh", "//% if offset\n//% end\n");
    EXPECT_EQ(refusal(emits),
              "segfold: own/parts/segments/segment_extent.cuh:1: in 'offset': unknown name 'offset'; did "
              "you mean 'offsets'?\n");
    (void)folder_.write("own/parts/segments/segment_extent.cuh", "// one \\\n");
    EXPECT_EQ(refusal(emits),
              "segfold: own/parts/segments/segment_extent.cuh:1: the comment ends with a backslash, which "
              "makes the next line a part of it\n");
}

/// Faults of affine, in which an input and a result have the same name.
TEST_F(KernelsTest, FaultsSayWhichOfTwoArraysOfANameTheyMean)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const auto fault_of = [&](const std::string& from, const std::string& to) {
        (void)folder_.write("own/stages/leap.cu", replaced(leap(), from, to));
        return folder_
            .run({"run", "affine", "--type", "u32", "--backend", "simt", "--elements", "320", "--layout",
                  "ranges=[0, 5],[5, 320]", "--kernels", "own", "--stage", "leap"})
            .errors;
    };
    const auto written =
        fault_of("store(results, segment, length, total);", "store(results, 0, length, total);");
    EXPECT_NE(written.find(" writes element 0 of the result 'scale'"), std::string::npos) << written;
    const auto read =
        fault_of("load_item(inputs, first + position,", "load_item(inputs, first + position + 1,");
    EXPECT_NE(read.find(" of the input 'shift' ("), std::string::npos) << read;
}

TEST_F(KernelsTest, LaunchesThatNoGpuTakesAreFaultsOfTheirLine)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const std::string line = "grid = ceil_div(num_segments, block_segments)  block = block_threads";
    struct Case {
        std::string launch, message;
    };
    for (const auto& [launch, message] :
         {Case{"grid = 1  block = 2048", "the block of reduce is 2048; a block has 1 to 1024 threads"},
          Case{"grid = 1  block = 0", "the block of reduce is 0; a block has 1 to 1024 threads"},
          Case{"grid = num_segments - 1000  block = 32",
               "the grid of reduce is -990, by 'num_segments - 1000'; a grid has 0 to 2147483647 blocks"},
          Case{"grid = 10000000000  block = 32",
               "the grid of reduce is 10000000000; a grid has 0 to 2147483647 blocks"}}) {
        const auto text = replaced(leap(), line, launch);
        (void)folder_.write("own/stages/leap.cu", text);
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find("//% launch"));
        EXPECT_EQ(refusal({"run", "sum_i32", "--backend", "simt", "--elements", "320", "--layout", kUniform,
                           "--kernels", "own"}),
                  "segfold: own/stages/leap.cu:" + std::to_string(1 + std::count(text.begin(), end, '\n')) +
                      ": " + message + "\n");
    }
}

TEST_F(KernelsTest, FoldersThatReplaceNothingAreRefused)
{
    EXPECT_EQ(refusal({"stages", "--kernels", "none"}),
              "segfold: none: is no folder; a folder of kernels has stages and parts as kernels/ has\n");
    EXPECT_EQ(refusal({"stages", "--kernels", "own"}),
              "segfold: own: holds no .cu and no .cuh file in a folder stages, ladder, measuring or parts\n");
    fs::copy(SEGFOLD_SOURCE_DIR "/kernels/vocabulary", folder_.file("own/vocabulary"));
    (void)folder_.write("own/vocabulary/table.cuh", "");
    EXPECT_EQ(refusal({"stages", "--kernels", "own"}),
              "segfold: own/vocabulary/table.cuh: is not the program's, and a folder of kernels does not "
              "replace the "
              "vocabulary\n");
    fs::remove_all(folder_.file("own/vocabulary"));
    (void)folder_.write("own/leap.cu", leap());
    EXPECT_EQ(refusal({"stages", "--kernels", "own"}),
              "segfold: own/leap.cu: is in none of the folders stages, ladder, measuring and parts of own\n");
}

TEST_F(KernelsTest, ExtractedFilesAreTheProgramsOwn)
{
    const auto first = output({"stages", "--extract", "out"});
    for (const auto& file : embedded_kernels()) {
        EXPECT_EQ(read_text(folder_.file("out/" + std::string(file.path))), file.text) << file.path;
        EXPECT_NE(first.find("out/" + std::string(file.path) + " "), std::string::npos) << file.path;
    }
    EXPECT_EQ(first.find("was there"), std::string::npos);
    fs::remove(folder_.file("out/stages/tile_scan.cu"));
    const auto document = Json::parse(output({"stages", "--extract", "out", "--json"}));
    EXPECT_EQ(document["folder"], "out");
    EXPECT_EQ(document["files"].size(), embedded_kernels().size());
    for (const auto& file : document["files"])
        EXPECT_EQ(file["written"], file["file"] == "out/stages/tile_scan.cu") << file;
    EXPECT_EQ(output({"emit", "sum", "--kernels", "out"}), output({"emit", "sum"}));
}

TEST_F(KernelsTest, ExtractingWritesNothingOverOtherFiles)
{
    (void)output({"stages", "--extract", "out"});
    fs::remove(folder_.file("out/parts/reduce/run.cuh"));
    (void)folder_.write("out/stages/tile_scan.cu", "mine");
    EXPECT_EQ(
        refusal({"stages", "--extract", "out"}),
        "segfold: --extract 'out': out/stages/tile_scan.cu is there and is not the program's; nothing was "
        "written; move it away, or name another folder\n");
    EXPECT_EQ(read_text(folder_.file("out/stages/tile_scan.cu")), "mine");
    EXPECT_FALSE(fs::exists(folder_.file("out/parts/reduce/run.cuh")));
    (void)folder_.write("file", "");
    EXPECT_EQ(refusal({"stages", "--extract", "file"}),
              "segfold: --extract 'file': the folder file/ladder cannot be made: Not a directory\n");
}

TEST_F(KernelsTest, ExtractingStandsAlone)
{
    EXPECT_EQ(
        refusal({"stages", "sum", "--extract", "out"}),
        "segfold: --extract writes the stages of the program, for any operator; leave the operator out\n");
    EXPECT_EQ(refusal({"stages", "--extract", "out", "--kernels", "own"}),
              "segfold: --kernels gives other stages, and --extract writes those of the program\n");
    EXPECT_EQ(refusal({"stages", "--extract", "out", "--layout", "offsets"}),
              "segfold: --layout asks what an operator may use, and --extract writes files\n");
    EXPECT_FALSE(fs::exists(folder_.file("out")));
}

}  // namespace
}  // namespace segfold::test::cli_kernels_test
