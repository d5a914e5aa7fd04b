// segfold emit --cubin, --ptx, --sass, --resources; a warm kernel cache needs no NVRTC.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cerrno>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "runtime/backends/cuda/compile/cubin.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/cli/views/json_schema.h"
#include "tests/cli/cli_program.h"
#include "tests/common/json_schema.h"
#include "tests/common/needs_nvrtc.h"

namespace segfold::test::cli_emit_compiled_test {
namespace {

namespace fs = std::filesystem;

class EmitCompiled : public NeedsNvrtc {
protected:
    void SetUp() override
    {
        NeedsNvrtc::SetUp();
        if (IsSkipped())
            return;
        unsetenv("SEGFOLD_CACHE");
        setenv("SEGFOLD_CACHE_DIR", folder_.file("kernels").c_str(), 1);
    }
    void TearDown() override
    {
        unsetenv("SEGFOLD_CACHE_DIR");
        setenv("SEGFOLD_CACHE", "off", 1);
    }

    [[nodiscard]] ProgramResult emit(std::vector<std::string> more) const
    {
        std::vector<std::string> words = {"emit", "sum", "--stage", "warp_per_segment"};
        words.insert(words.end(), more.begin(), more.end());
        return folder_.run(words);
    }

    /// Compiles a text in a new process; true if it was loaded from the disk.
    [[nodiscard]] bool is_from_disk() const
    {
        const auto result = emit({"--resources", "--arch", "sm_90", "--json"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.exit_code == 0 && nlohmann::json::parse(result.output)["is_from_disk"] == true;
    }

    ProgramFolder folder_;
};

TEST_F(EmitCompiled, MessagesNameTheLinesOfAStage)
{
    fs::create_directories(folder_.file("own/stages"));
    (void)folder_.write(
        "own/stages/one.cu",
        "//% stage   one\n//% title   One thread folds one segment\n//% source  none\n//% layout  offsets\n"
        "//% launch  reduce  grid = num_segments  block = 32\n//% use     parts/segments/segments.cuh\n\n"
        "extern \"C\" __global__ void reduce(Inputs inputs, Segments segments, Results results)\n{\n"
        "    State total = missing();\n}\n");
    const auto refused = folder_.run({"emit", "sum", "--kernels", "own", "--stage", "one", "--layout",
                                      "offsets", "--cubin", "one.cubin", "--arch", "sm_90"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(
        refused.errors.starts_with("segfold: own/stages/one.cu:10: identifier \"missing\" is undefined\n"))
        << refused.errors;
    EXPECT_NE(refused.errors.find("\nown/stages/one.cu:10: error: identifier"), std::string::npos)
        << refused.errors;
}

TEST_F(EmitCompiled, CubinHoldsTheKernels)
{
    ASSERT_EQ(emit({"--cubin", "sum.cubin", "--arch", "sm_90"}).errors, "");
    const auto bytes = read_text(folder_.file("sum.cubin"));
    const auto document = nlohmann::json::parse(emit({"--json"}).output);
    EXPECT_EQ(cuda::instruction_counts(bytes).count(document["launches"][0]["kernel"]), 1u);
    ASSERT_EQ(emit({"--cubin", "again.cubin", "--arch", "sm_90"}).errors, "");
    EXPECT_EQ(read_text(folder_.file("again.cubin")), bytes) << "from the disk";
    EXPECT_TRUE(is_from_disk());
    EXPECT_EQ(folder_.run({"cache", "verify"}).exit_code, 0);
}

/// Only the device limits the shared memory of a block that joins rows: ptxas refuses one byte more.
TEST_F(EmitCompiled, LargeStatesOfRowsFitSharedMemory)
{
    std::string fields, lifted, combined;
    for (int i = 0; i < 23; ++i) {
        const auto f = "sum_" + std::to_string(i);
        fields += " " + f + ": f64 = 0;";
        lifted += " " + f + " = x;";
        combined += " " + f + " = a." + f + " + b." + f + ";";
    }
    (void)folder_.write("many.seg", "operator many(x: row f64) -> f64 { state {" + fields + " } lift {" +
                                        lifted + " } combine(a, b) {" + combined + " } finish sum_0 }");
    (void)folder_.write("two.seg",
                        "operator two(x: row f64) -> f64 { state { n: i64 = 0; s: f64 = 0 } lift { n = 1; "
                        "s = x } combine(a, b) { n = a.n + b.n; s = a.s + b.s } finish s / f64(n) }");
    for (const auto* op : {"two.seg", "many.seg"})
        for (const auto* bits : {"32", "64"})
            EXPECT_EQ(folder_
                          .run({"emit", op, "--stage", "row_stream", "--index-bits", bits, "--cubin",
                                "rows.cubin", "--arch", "sm_90"})
                          .errors,
                      "")
                << op << ", " << bits << " bits";
}

TEST_F(EmitCompiled, PtxIsText)
{
    const auto result = emit({"--ptx", "--arch", "sm_80"});
    EXPECT_NE(result.output.find("\n.target sm_80\n"), std::string::npos) << result.output << result.errors;
    EXPECT_EQ(emit({"--ptx", "--arch", "compute_80"}).output, result.output);
}

TEST_F(EmitCompiled, ResourcesAreATable)
{
    const auto result = emit({"--resources", "--arch", "sm_90"});
    EXPECT_TRUE(result.output.starts_with("kernel ")) << result.output << result.errors;
    const auto text = emit({"--resources", "--arch", "sm_90", "--json"}).output;
    EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(text), "");
    const auto document = nlohmann::json::parse(text);
    EXPECT_EQ(document["architecture"], "sm_90");
    EXPECT_GT(document["resources"][0]["registers"], 0);
    EXPECT_EQ(document["resources"][0]["kernel"], document["launches"][0]["kernel"]);
}

TEST_F(EmitCompiled, SassComesFromTheDisassembler)
{
    const auto fake = folder_.write("nvdisasm", "#!/bin/sh\nhead -c 4 \"$2\" | tail -c 3\n");
    fs::permissions(fake, fs::perms::owner_all);
    const std::string path = std::getenv("PATH");
    setenv("PATH", (folder_.file("") + ":" + path).c_str(), 1);
    const auto result = emit({"--sass", "--arch", "sm_90"});
    (void)folder_.write("nvdisasm", "#!/bin/sh\necho broken\nexit 3\n");
    const auto broken = emit({"--sass", "--arch", "sm_90"});
    setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(result.output, "ELF") << result.errors;
    EXPECT_EQ(broken.exit_code, 3);
    EXPECT_NE(broken.errors.find("nvdisasm ended with 3: broken"), std::string::npos) << broken.errors;
}

TEST_F(EmitCompiled, WrongArchitecturesAreNamed)
{
    const auto unknown = emit({"--resources", "--arch", "sm_42"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_TRUE(
        unknown.errors.starts_with("segfold: --arch: NVRTC does not compile for 'sm_42'; it knows sm_"))
        << unknown.errors;
    EXPECT_EQ(emit({"--cubin", "a", "--arch", "compute_90"}).errors,
              "segfold: --arch compute_90: gives PTX alone; take sm_90, or --ptx\n");
    EXPECT_EQ(emit({"--cubin", "none/a", "--arch", "sm_90"}).exit_code, 2);
}

TEST_F(EmitCompiled, UnusableCachesAreOneWarning)
{
    fs::create_directory(folder_.file("kernels"));
    fs::permissions(folder_.file("kernels"), fs::perms::all);
    const auto result = emit({"--resources", "--arch", "sm_90"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "segfold: warning: compiled kernels are not kept: " + folder_.file("kernels") +
                                 " may be written by others (mode 0777); chmod 0700 makes it private\n");
    setenv("SEGFOLD_CACHE", "of", 1);
    EXPECT_EQ(emit({"--resources", "--arch", "sm_90"}).errors,
              "segfold: SEGFOLD_CACHE is 'of'; it takes on or off\n");
}

/// Returns the folders of all NVRTCs that the program would find.
std::set<fs::path> folders_of_nvrtc()
{
    std::set<fs::path> folders;
    const auto add = [&](const fs::path& file) {
        std::error_code missing;
        if (const auto found = fs::canonical(file, missing); !missing)
            folders.insert(found.parent_path());
    };
    add(cuda::nvrtc().library.path());
    for (const auto& file : cuda::nvrtc_files())
        add(file);
    return folders;
}

/// Runs `work` in a process in whose mount namespace the folders of NVRTC are empty. Returns the value of
/// `work`; nothing if this takes root, or a kernel that allows it.
std::optional<bool> without_nvrtc(const std::function<bool()>& work)
{
    const auto folders = folders_of_nvrtc();
    constexpr int kNoMounts = 77;
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            _exit(kNoMounts);
        for (const auto& folder : folders)
            if (mount("none", folder.c_str(), "tmpfs", 0, nullptr) != 0 && errno != ENOENT)
                _exit(kNoMounts);
        _exit(work() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMounts)
        return std::nullopt;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

constexpr const char* kNoMountsHere = "hiding NVRTC takes root and a kernel that lets it mount";

TEST_F(EmitCompiled, WarmCacheNeedsNoToolkit)
{
    EXPECT_FALSE(is_from_disk());
    EXPECT_TRUE(is_from_disk());
    const auto is_right = without_nvrtc([&] {
        const auto missing = emit({"--resources", "--arch", "sm_80"});
        return missing.exit_code == 3 &&
               missing.errors.find("no CUDA compiler on this machine") != std::string::npos && is_from_disk();
    });
    if (!is_right)
        GTEST_SKIP() << kNoMountsHere;
    EXPECT_TRUE(*is_right) << "without NVRTC: what is kept must load, what is not must say so";
    EXPECT_TRUE(is_from_disk()) << "and with NVRTC back";
}

/// A machine without NVRTC has what it has imported, and nothing of other architectures or operators.
TEST_F(EmitCompiled, ImportedKernelsNeedNoToolkit)
{
    const std::vector<std::string> stage = {"--stage", "warp_per_segment"};
    auto words = std::vector<std::string>{"cache", "export", "plans.zip", "sum", "--for", "sm_90", "--json"};
    words.insert(words.end(), stage.begin(), stage.end());
    const auto written = folder_.run(words);
    ASSERT_EQ(written.exit_code, 0) << written.errors;
    EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(written.output), "");
    EXPECT_GT(nlohmann::json::parse(written.output)["architectures"]["sm_90"]["kernels"], 1);
    setenv("SEGFOLD_CACHE_DIR", folder_.file("elsewhere").c_str(), 1);
    const auto is_right = without_nvrtc([&] {
        const auto before = emit({"--resources", "--arch", "sm_90"});
        EXPECT_EQ(before.exit_code, 3);
        EXPECT_NE(before.errors.find("no CUDA compiler on this machine"), std::string::npos) << before.errors;
        const auto read = folder_.run({"cache", "import", "plans.zip", "--json"});
        EXPECT_EQ(read.exit_code, 0) << read.errors;
        EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(read.output), "");
        EXPECT_TRUE(is_from_disk());
        const auto other = emit({"--resources", "--arch", "sm_80"});
        EXPECT_NE(other.errors.find("NVRTC does not compile for 'sm_80'; it knows sm_90"), std::string::npos)
            << other.errors;
        const auto missing = folder_.run({"emit", "max", "--resources", "--arch", "sm_90"});
        EXPECT_EQ(missing.exit_code, 3);
        EXPECT_NE(missing.errors.find(" for sm_90 is not among the kernels in " + folder_.file("elsewhere") +
                                      ", which are for sm_90, and nothing here can compile it; on a machine "
                                      "with NVRTC and this version of segfold, 'segfold cache export FILE "
                                      "OPERATOR --for sm_90' "),
                  std::string::npos)
            << missing.errors;
        return !testing::Test::HasFailure();
    });
    if (!is_right)
        GTEST_SKIP() << kNoMountsHere;
    EXPECT_TRUE(*is_right);
    EXPECT_TRUE(folder_.run({"cache", "import", "plans.zip"}).output.starts_with("file      plans.zip\n"));
    EXPECT_TRUE(is_from_disk()) << "an NVRTC of the same version takes them too";
}

/// Two imports make one record. What one of them holds for an older architecture is taken where the other
/// names the GPU's own.
TEST_F(EmitCompiled, ImportsOfOlderArchitecturesServe)
{
    const std::vector<std::string> stage = {"--stage", "warp_per_segment"};
    for (const auto& words :
         {std::vector<std::string>{"cache", "export", "older.zip", "sum", "--for", "sm_80"},
          {"cache", "export", "own.zip", "max", "--for", "sm_80,sm_86"}}) {
        auto all = words;
        all.insert(all.end(), stage.begin(), stage.end());
        ASSERT_EQ(folder_.run(all).errors, "");
    }
    setenv("SEGFOLD_CACHE_DIR", folder_.file("elsewhere").c_str(), 1);
    const auto is_right = without_nvrtc([&] {
        for (const auto* file : {"older.zip", "own.zip"})
            EXPECT_EQ(folder_.run({"cache", "import", file}).errors, "");
        const auto result = emit({"--resources", "--arch", "sm_86"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        const auto newer = emit({"--resources", "--arch", "sm_80"});
        EXPECT_EQ(newer.exit_code, 0) << newer.errors;
        const auto stat = folder_.run({"cache", "stat", "--json"});
        EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(stat.output), "");
        const auto document = nlohmann::json::parse(stat.output);
        EXPECT_GT(document["imported"], 3);
        EXPECT_EQ(document["imported"], document["kernels"]);
        EXPECT_NE(folder_.run({"cache", "stat"}).output.find(" bytes, until the cache is cleared\n"),
                  std::string::npos);
        return !testing::Test::HasFailure();
    });
    if (!is_right)
        GTEST_SKIP() << kNoMountsHere;
    EXPECT_TRUE(*is_right);
}

/// Plans over segments as they lie on a device have texts of their own: of ranges, and of unsorted groups.
TEST_F(EmitCompiled, PlansOfAllFormsAreExported)
{
    std::vector<std::string> words = {"cache",      "export", "plans.zip", "sum_i32",
                                      "--elements", "4",      "--for",     "sm_90"};
    for (const auto* layout : {"whole", "uniform", "ranges", "groups", "flags", "keys"}) {
        words.emplace_back("--layout");
        words.emplace_back(layout);
    }
    const auto result = folder_.run(words);
    EXPECT_EQ(result.errors, "");
    EXPECT_EQ(folder_
                  .run({"cache", "export", "ranges.zip", "sum_i32", "--layout", "ranges", "--stage",
                        "tile_scan", "--for", "sm_90"})
                  .errors,
              "")
        << "which counts items, and so takes no ends as they lie";
    const auto listed = folder_.run({"cache", "list"}).output;
    for (const auto* stage : {"thread_per_segment", "group_tables", "run_tiles", "item_offsets"})
        EXPECT_NE(listed.find(std::string(stage) + ".cu"), std::string::npos) << stage << "\n" << listed;
}

/// Nothing of a damaged archive is taken.
TEST_F(EmitCompiled, DamagedArchivesAreRefused)
{
    ASSERT_EQ(folder_
                  .run({"cache", "export", "plans.zip", "sum", "--for", "sm_90", "--stage",
                        "thread_per_segment", "--layout", "uniform=4"})
                  .errors,
              "");
    setenv("SEGFOLD_CACHE_DIR", folder_.file("elsewhere").c_str(), 1);
    const auto whole = read_text(folder_.file("plans.zip"));
    const auto refuse = [&](const std::string& bytes, const std::string& what) {
        (void)folder_.write("bad.zip", bytes);
        const auto result = folder_.run({"cache", "import", "bad.zip"});
        EXPECT_EQ(result.exit_code, 2) << what << result.output;
        EXPECT_TRUE(result.errors.starts_with("segfold: bad.zip")) << what << ": " << result.errors;
        EXPECT_FALSE(fs::exists(folder_.file("elsewhere"))) << what;
    };
    refuse("", "empty");
    refuse("no archive", "text");
    for (std::size_t part = 1; part < 8; ++part)
        refuse(whole.substr(0, whole.size() * part / 8), "cut");
    std::size_t refused = 0;
    for (std::size_t place = 0; place < whole.size(); place += 397) {
        auto flipped = whole;
        flipped[place] = static_cast<char>(flipped[place] ^ 0x10);
        (void)folder_.write("bad.zip", flipped);
        const auto result = folder_.run({"cache", "import", "bad.zip"});
        refused += result.exit_code == 2;
        EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 0) << result.errors;
    }
    EXPECT_GT(refused, whole.size() / 397 * 8 / 10) << "bits that nothing reads, such as times, may flip";
}

}  // namespace
}  // namespace segfold::test::cli_emit_compiled_test
