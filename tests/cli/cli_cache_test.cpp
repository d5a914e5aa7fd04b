// segfold cache: listing the folder, finding damaged files, removing files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runtime/backends/cpu/module.h"
#include "runtime/backends/cuda/compile/compiler_identity.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/cli/views/json_schema.h"
#include "runtime/support/files/cache_folder.h"
#include "tests/cli/cli_program.h"
#include "tests/common/json_schema.h"

namespace segfold::test::cli_cache_test {
namespace {

namespace fs = std::filesystem;

class CacheVerb : public testing::Test {
protected:
    CacheVerb()
    {
        unsetenv("SEGFOLD_CACHE");
        setenv("SEGFOLD_CACHE_DIR", path().c_str(), 1);
    }
    ~CacheVerb() override
    {
        unsetenv("SEGFOLD_CACHE_DIR");
        unsetenv("SEGFOLD_CACHE_BYTES");
        setenv("SEGFOLD_CACHE", "off", 1);
    }

    [[nodiscard]] std::string path() const { return folder_.file("kernels"); }

    /// Writes two kernels and a record like the cache; returns the first kernel's path.
    [[nodiscard]] std::string fill() const
    {
        cache::Folder kept(path(), 1 << 20);
        for (const char digit : {'a', 'b'}) {
            const std::string key(64, digit);
            cuda::KernelEntry entry{.key = key,
                                    .name = std::string("stage_") + digit + ".cu",
                                    .architecture = "sm_90",
                                    .compiler = "13.0.88, CL-1",
                                    .compiled = {}};
            entry.compiled.cubin = {'E', 'L', 'F'};
            entry.compiled.seconds = 0.05;
            entry.compiled.resources = {{"fold", 32}};
            EXPECT_EQ(kept.write(cache::file_name(key, cuda::kKernelKind), cuda::encode(entry)), "");
        }
        EXPECT_EQ(kept.write(cache::file_name(std::string(64, 'c'), cuda::kCompilerKind),
                             cuda::encode(cuda::CompilerIdentity{"13.0.88, CL-1", {75, 90}, "/lib", "1"})),
                  "");
        (void)folder_.write("kernels/notes.txt", "not ours");
        return path() + "/" + cache::file_name(std::string(64, 'a'), cuda::kKernelKind);
    }

    [[nodiscard]] nlohmann::json json(const std::string& action, int exit_code = 0) const
    {
        const auto result = folder_.run({"cache", action, "--json"});
        EXPECT_EQ(result.exit_code, exit_code) << result.errors;
        EXPECT_EQ(result.errors, "");
        EXPECT_EQ(SchemaJudge(cli::json_schema()).faults(result.output), "");
        return nlohmann::json::parse(result.output);
    }

    ProgramFolder folder_;
};

TEST_F(CacheVerb, ShowsNothingWhereNothingIs)
{
    EXPECT_EQ(folder_.run({"cache", "list"}).output, "nothing in " + path() + "\n");
    EXPECT_EQ(folder_.run({"cache", "verify"}).output, "0 files in " + path() + ", 0 damaged\n");
    EXPECT_EQ(folder_.run({"cache", "clear"}).output, "removed 0 files of 0 bytes from " + path() + "\n");
    EXPECT_EQ(json("stat")["state"], "on");
    EXPECT_FALSE(fs::exists(path())) << "looking makes no folder";
}

TEST_F(CacheVerb, ListsAndCounts)
{
    (void)fill();
    const auto table = folder_.run({"cache", "list"}).output;
    EXPECT_NE(table.find("\nstage_a.cu  sm_90         NVRTC 13.0.88, CL-1  "), std::string::npos) << table;
    EXPECT_NE(table.find("     50.0 ms  "), std::string::npos) << table;
    const auto list = json("list");
    EXPECT_EQ(list["files"].size(), 3u);
    EXPECT_EQ(list["files"][2]["name"], "stage_a.cu") << "the first written was used last";
    EXPECT_EQ(list["files"][2]["kernels"][0]["registers"], 32);
    setenv("SEGFOLD_CACHE_BYTES", "2M", 1);
    const auto stat = json("stat");
    EXPECT_EQ(stat["kernels"], 2);
    EXPECT_EQ(stat["bytes"], list["bytes"]);
    EXPECT_EQ(stat["most_bytes"], 1 << 21);
    setenv("SEGFOLD_CACHE", "off", 1);
    EXPECT_EQ(json("stat")["state"], "off (SEGFOLD_CACHE)");
}

TEST_F(CacheVerb, VerifyFindsWhatIsDamaged)
{
    const auto first = fill();
    EXPECT_EQ(json("verify")["damaged"], 0);
    auto bytes = read_text(first);
    bytes[bytes.size() / 2] ^= 1;
    (void)folder_.write("kernels/" + fs::path(first).filename().string(), bytes);
    const auto second = path() + "/" + cache::file_name(std::string(64, 'd'), cuda::kKernelKind);
    fs::copy_file(path() + "/" + cache::file_name(std::string(64, 'b'), cuda::kKernelKind), second);
    const auto result = folder_.run({"cache", "verify"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.output.find(first + ": its SHA-256 does not hold\n"), std::string::npos)
        << result.output;
    EXPECT_NE(result.output.find(second + ": holds the kernel of the key bbbb"), std::string::npos);
    EXPECT_NE(result.output.find("\n4 files in " + path() + ", 2 damaged; "), std::string::npos)
        << result.output;
    EXPECT_EQ(json("verify", 1)["files"].size(), 2u);
    EXPECT_NE(folder_.run({"cache", "list"}).output.find("(damaged)"), std::string::npos);
}

TEST_F(CacheVerb, ClearRemovesItsOwnFilesAlone)
{
    (void)fill();
    (void)folder_.write("kernels/.segfold-unfinished-1-0-00000000", "half");
    EXPECT_EQ(json("clear")["removed"], 3);
    EXPECT_EQ(std::distance(fs::directory_iterator(path()), {}), 1);
    EXPECT_EQ(read_text(path() + "/notes.txt"), "not ours");
}

TEST_F(CacheVerb, UnusableFoldersAreInputErrorsButForStat)
{
    fs::create_directory(path());
    fs::permissions(path(), fs::perms::all);
    const std::string why = path() + " may be written by others (mode 0777); chmod 0700 makes it private";
    for (const char* action : {"list", "clear", "verify"}) {
        const auto result = folder_.run({"cache", action});
        EXPECT_EQ(result.exit_code, 2) << action;
        EXPECT_EQ(result.errors, "segfold: " + why + "\n");
    }
    EXPECT_EQ(json("stat")["state"], "unusable: " + why);
    setenv("SEGFOLD_CACHE_DIR", "/proc/kernels", 1);
    EXPECT_EQ(json("stat")["state"], "unusable: /proc/kernels cannot be made: No such file or directory");
    setenv("SEGFOLD_CACHE_DIR", (folder_.file("new") + "/kernels").c_str(), 1);
    EXPECT_EQ(json("stat")["state"], "on");
    EXPECT_FALSE(fs::exists(folder_.file("new")));
    setenv("SEGFOLD_CACHE_BYTES", "lots", 1);
    EXPECT_EQ(
        folder_.run({"cache", "stat"}).errors,
        "segfold: SEGFOLD_CACHE_BYTES is 'lots'; it takes a number of bytes from 1 to 2^50, e.g. 268435456 "
        "or 256M (K, M, G are powers of 1024)\n");
}

TEST_F(CacheVerb, LibrariesOfTheBackEndCpuAreThereToo)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const std::vector<std::string> run = {"run",     "sum_i32",      "--layout",  "uniform=4",
                                          "--input", "[1, 2, 3, 4]", "--backend", "cpu"};
    ASSERT_EQ(folder_.run(run).errors, "");
    EXPECT_EQ(json("stat")["libraries"], 1);
    EXPECT_EQ(json("stat")["kernels"], 0);
    const auto file = json("list")["files"][0];
    EXPECT_EQ(file["kind"], "library");
    EXPECT_TRUE(file["name"].get<std::string>().ends_with(".cpp")) << file["name"];
    EXPECT_EQ(file["compiler"], cpu::compiler_version());
    EXPECT_GT(file["compile_seconds"], 0);
    const auto listed = folder_.run({"cache", "list"}).output;
    EXPECT_NE(listed.find(file["name"].get<std::string>() + "  host          " + cpu::compiler_version()),
              std::string::npos)
        << listed;
    const auto library = path() + "/" + file["file"].get<std::string>();
    auto bytes = read_text(library);
    bytes[bytes.size() / 2] ^= 1;
    (void)folder_.write("kernels/" + fs::path(library).filename().string(), bytes);
    EXPECT_EQ(json("verify", 1)["files"][0]["damage"], "its SHA-256 does not hold");
    ASSERT_EQ(folder_.run(run).errors, "") << "a damaged library is made anew";
    EXPECT_EQ(json("verify")["damaged"], 0);
    EXPECT_EQ(json("clear")["removed"], 1);
}

TEST_F(CacheVerb, LibrariesThatCannotBeKeptAreToldOfOnce)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    fs::create_directory(path());
    fs::permissions(path(), fs::perms::all);
    const auto result = folder_.run(
        {"run", "sum_i32", "--layout", "uniform=4", "--input", "[1, 2, 3, 4]", "--backend", "cpu"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "segfold: warning: compiled libraries are not kept: " + path() +
                                 " may be written by others (mode 0777); chmod 0700 makes it private\n");
}

}  // namespace
}  // namespace segfold::test::cli_cache_test
