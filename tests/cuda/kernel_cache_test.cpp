// Kernels on disk: what is loaded is what was asked for, whatever happened to the files and to NVRTC.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "runtime/backends/cuda/compile/cubin.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/sha256.h"
#include "tests/common/files.h"
#include "tests/common/needs_nvrtc.h"

namespace segfold::cuda::kernel_cache_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMebibyte = 1 << 20;

CompileRequest store(int value, const std::string& architecture = "sm_90")
{
    return {"extern \"C\" __global__ void store(int* p)\n{\n    *p = " + std::to_string(value) + ";\n}\n",
            "store.cu",
            architecture,
            {}};
}

class KernelCacheTest : public test::NeedsNvrtc {
protected:
    [[nodiscard]] cache::Settings settings(std::uint64_t most_bytes = 64 * kMebibyte) const
    {
        return {.is_on = true, .folder = folder(), .most_bytes = most_bytes};
    }
    [[nodiscard]] std::string folder() const { return temporary_.file("kernels"); }

    [[nodiscard]] std::vector<std::string> files_of(std::string_view kind) const
    {
        std::vector<std::string> paths;
        for (const auto& file : fs::directory_iterator(folder()))
            if (file.path().extension() == "." + std::string(kind))
                paths.push_back(file.path().string());
        return paths;
    }

    /// Asks a new cache, as a new process would; `loaded` says whether the disk must have answered.
    void expect_right(const CompileRequest& request, bool loaded, const std::string& what = "") const
    {
        KernelCache cache(settings());
        const Compiled compiled = cache.get(request);
        EXPECT_EQ(compiled.cubin, compile(request).cubin) << what;
        EXPECT_EQ(compiled.is_from_disk, loaded) << what;
        EXPECT_EQ(cache.counts().loaded, loaded ? 1u : 0u) << what;
        EXPECT_EQ(cache.counts().compiled, loaded ? 0u : 1u) << what;
        EXPECT_EQ(cache.take_note(), std::nullopt) << what;
    }

    TemporaryFolder temporary_;
};

TEST_F(KernelCacheTest, SecondProcessLoadsWhatTheFirstCompiled)
{
    const CompileRequest request = {
        "extern \"C\" __global__ void store(int* p)\n{\n    int unused = 1;\n    *p = 1;\n}\n",
        "store.cu",
        "sm_90",
        {}};
    const Compiled first = KernelCache(settings()).get(request);
    const Compiled second = KernelCache(settings()).get(request);
    EXPECT_FALSE(first.is_from_disk);
    EXPECT_TRUE(second.is_from_disk);
    EXPECT_EQ(second.cubin, first.cubin);
    EXPECT_EQ(second.resources, first.resources);
    EXPECT_FALSE(second.resources.empty());
    EXPECT_EQ(second.log, first.log);
    EXPECT_NE(second.log.find("never referenced"), std::string::npos);
    EXPECT_EQ(second.seconds, first.seconds);
    EXPECT_TRUE(KernelCache(settings()).get({request.source, "other.cu", "sm_90", {}}).is_from_disk);
}

TEST_F(KernelCacheTest, EveryPartOfARequestMakesAnotherKey)
{
    const CompileRequest request = store(1);
    std::vector<std::string> keys = {kernel_key(request, "13.0.88"), kernel_key(request, "13.0.89"),
                                     kernel_key(store(2), "13.0.88"),
                                     kernel_key(store(1, "sm_80"), "13.0.88")};
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{{"--fmad=false"},
                                               {"--fmad=true"},
                                               {"--fmad=false", "--maxrregcount=32"},
                                               {"--maxrregcount=32", "--fmad=false"},
                                               {"--std=c++20"},
                                               {"-DA", "-DB"},
                                               {"-DA\n3:-DB"}})
        keys.push_back(kernel_key({request.source, request.name, request.architecture, options}, "13.0.88"));
    for (std::size_t i = 0; i < keys.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_NE(keys[i], keys[j]) << i << " " << j;
    EXPECT_EQ(keys[0], kernel_key({request.source, "other.cu", "sm_90", {}}, "13.0.88"));
}

TEST_F(KernelCacheTest, SourcesThatDependOnMoreAreNotKept)
{
    const auto with = [](const std::string& line) {
        auto request = store(1);
        request.source = line + "\n" + request.source;
        return request;
    };
    for (const char* line : {"#include \"other.h\"", "  #  include <cstdint>", "%:include <cstdint>",
                             "#inc\\\nlude <cstdint>", "# /* a */ include <cstdint>", "#include_next <a>",
                             "const char* day = __DATE__;", "#if __has_include(<a>)", "/*\n#*/ #include <a>"})
        EXPECT_FALSE(is_self_contained(with(line))) << line;
    for (const char* line : {"// The text includes nothing.", "#define N 3", "#pragma unroll"})
        EXPECT_TRUE(is_self_contained(with(line))) << line;
    for (const char* option :
         {"-I.", "--include-path=/a", "--pre-include=a.h", "-include", "--no-such-option"}) {
        auto request = store(1);
        request.extra_options = {"--fmad=false", option};
        EXPECT_FALSE(is_self_contained(request)) << option;
    }
    const auto header = temporary_.write("value.h", "#define VALUE 1\n");
    CompileRequest request = {
        "#include \"value.h\"\nextern \"C\" __global__ void k(int* p) { *p = VALUE; }\n",
        "k.cu",
        "sm_90",
        {"-I" + temporary_.file("")}};
    const auto first = KernelCache(settings()).get(request);
    (void)temporary_.write("value.h", "#define VALUE 2\n");
    EXPECT_NE(KernelCache(settings()).get(request).cubin, first.cubin) << "a stale kernel";
}

TEST_F(KernelCacheTest, DamagedEntriesAreCompiledAnew)
{
    expect_right(store(1), false);
    const auto path = files_of(kKernelKind).at(0);
    const auto whole = read_text(path);
    const auto damage = [&](const std::string& bytes, const std::string& what) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        expect_right(store(1), false, what);
        EXPECT_EQ(decode_entry(read_text(path)).key, decode_entry(whole).key) << what << ": not replaced";
    };
    damage("", "zero length");
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{40}, whole.size() / 2, whole.size() - 1})
        damage(whole.substr(0, bytes), "cut to " + std::to_string(bytes));
    damage(whole + "x", "a byte more");
    damage(std::string(whole.size(), '\0'), "zeros");
    auto newer = whole;
    newer[16] = 2;
    newer.replace(newer.size() - 32, 32, [&] {
        const auto digest = cache::sha256(std::string_view(newer).substr(0, newer.size() - 32));
        return std::string(digest.begin(), digest.end());
    }());
    EXPECT_EQ(refusal([&] { (void)decode_entry(newer); }), "has format 2; this program reads format 1");
    damage(newer, "another format");
    expect_right(store(1), true, "after all of it");
}

TEST_F(KernelCacheTest, NoFlippedBitAndNoCutIsTrusted)
{
    KernelEntry entry{.key = std::string(64, 'a'),
                      .name = "k.cu",
                      .architecture = "sm_90",
                      .compiler = "13.0.88, CL-1",
                      .compiled = {.cubin = {'E', 'L', 'F'},
                                   .log = "a warning \xff",
                                   .seconds = 0.25,
                                   .resources = {{"k", 32, 8, 4, 16, 512}}}};
    const auto whole = encode(entry);
    const auto decoded = decode_entry(whole);
    EXPECT_EQ(decoded.compiled.resources, entry.compiled.resources);
    EXPECT_EQ(decoded.compiled.cubin, entry.compiled.cubin);
    EXPECT_EQ(decoded.compiled.seconds, 0.25);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
        EXPECT_THROW((void)decode_entry(whole.substr(0, bytes)), InputError) << bytes;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        auto flipped = whole;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_THROW((void)decode_entry(flipped), InputError) << bit;
    }
}

TEST_F(KernelCacheTest, EntriesUnderWrongNamesAreNotLoaded)
{
    expect_right(store(1), false);
    const auto sm_90 = files_of(kKernelKind).at(0);
    const auto version = KernelCache(settings()).compiler().version;
    const auto path = [&](const CompileRequest& request, const std::string& compiler) {
        return folder() + "/" + cache::file_name(kernel_key(request, compiler), kKernelKind);
    };
    EXPECT_EQ(sm_90, path(store(1), version));
    fs::copy_file(sm_90, path(store(1, "sm_80"), version));
    expect_right(store(1, "sm_80"), false, "wrong architecture");
    fs::copy_file(sm_90, path(store(2), version));
    expect_right(store(2), false, "another source");
    auto foreign = decode_entry(read_text(sm_90));
    foreign.architecture = "sm_80";
    std::ofstream(sm_90, std::ios::binary | std::ios::trunc) << encode(foreign);
    expect_right(store(1), false, "the key's, but of another architecture");
    // What another NVRTC compiled lies under another key.
    fs::rename(sm_90, path(store(1), "12.9.1"));
    expect_right(store(1), false, "wrong version");
}

TEST_F(KernelCacheTest, SymlinkedEntriesAreReplaced)
{
    expect_right(store(1), false);
    const auto path = files_of(kKernelKind).at(0);
    const auto elsewhere = temporary_.file("elsewhere");
    fs::rename(path, elsewhere);
    fs::create_symlink(elsewhere, path);
    expect_right(store(1), false);
    EXPECT_FALSE(fs::is_symlink(path));
    expect_right(store(1), true);
}

TEST_F(KernelCacheTest, FailuresAreNotKept)
{
    setenv("XDG_CACHE_HOME", temporary_.file("failed").c_str(), 1);
    KernelCache cache(settings());
    for (int i = 0; i < 2; ++i)
        EXPECT_THROW((void)cache.get({"broken", "broken.cu", "sm_90", {}}), DeviceError);
    unsetenv("XDG_CACHE_HOME");
    EXPECT_TRUE(files_of(kKernelKind).empty());
    EXPECT_EQ(cache.compiler(), ask_compiler(true)) << "which was asked beside the compilation";
}

TEST_F(KernelCacheTest, UnusableFoldersAreNotedOnceAndWorkGoesOn)
{
    fs::create_directory(folder());
    fs::permissions(folder(), fs::perms::all);
    KernelCache cache(settings());
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(cache.get(store(1)).cubin, compile(store(1)).cubin);
    EXPECT_EQ(cache.take_note(), "compiled kernels are not kept: " + folder() +
                                     " may be written by others (mode 0777); chmod 0700 makes it private");
    EXPECT_EQ(cache.take_note(), std::nullopt);
    EXPECT_TRUE(fs::is_empty(folder()));

    KernelCache nowhere({.is_on = true, .folder = "", .most_bytes = kMebibyte});
    EXPECT_EQ(nowhere.get(store(1)).cubin, compile(store(1)).cubin);
    EXPECT_NE(nowhere.take_note(), std::nullopt);
    KernelCache off({.is_on = false, .folder = folder(), .most_bytes = kMebibyte});
    EXPECT_EQ(off.get(store(1)).cubin, compile(store(1)).cubin);
    EXPECT_EQ(off.take_note(), std::nullopt);
    EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(KernelCacheTest, TooSmallABoundIsNotedOnce)
{
    KernelCache cache(settings(1000));
    for (int i = 0; i < 2; ++i)
        EXPECT_FALSE(cache.get(store(i)).is_from_disk);
    const auto note = cache.take_note();
    ASSERT_TRUE(note.has_value());
    EXPECT_NE(note->find(" bytes are more than the 1000 that the folder may hold"), std::string::npos)
        << *note;
    EXPECT_EQ(cache.take_note(), std::nullopt);
    EXPECT_TRUE(files_of(kKernelKind).empty());
}

// Every process asks for kernels that all want, and for one of its own; some files are damaged meanwhile.
TEST_F(KernelCacheTest, ThirtyTwoProcessesAtOnce)
{
    constexpr int kProcesses = 32;
    std::vector<Image> shared;
    for (int i = 0; i < 3; ++i)
        shared.push_back(compile(store(i)).cubin);
    std::vector<pid_t> children;
    for (int process = 0; process < kProcesses; ++process) {
        const pid_t child = fork();
        if (child == 0) {
            bool is_right = true;
            try {
                KernelCache cache(settings());
                for (int i = 0; i < 3; ++i)
                    is_right = is_right && cache.get(store((process + i) % 3)).cubin ==
                                               shared[static_cast<std::size_t>((process + i) % 3)];
                const auto own = cache.get(store(100 + process)).cubin;
                is_right = is_right && KernelCache(settings()).get(store(100 + process)).cubin == own &&
                           !cache.take_note();
            } catch (...) {
                is_right = false;
            }
            _exit(is_right ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    EXPECT_EQ(files_of(kKernelKind).size(), 3u + kProcesses);
    EXPECT_EQ(files_of(kCompilerKind).size(), 1u);
    for (const auto& path : files_of(kKernelKind))
        EXPECT_EQ(decode_entry(read_text(path)).key, fs::path(path).stem());
    for (int process = 0; process < kProcesses; process += 7)
        expect_right(store(100 + process), true);
}

TEST_F(KernelCacheTest, RecordsOfTheCompilerAreCheckedAgainstItsFile)
{
    const auto known = KernelCache(settings()).compiler();
    EXPECT_EQ(known, ask_compiler(true));
    EXPECT_TRUE(known.version.starts_with(nvrtc().version() + ".")) << known.version;
    EXPECT_NE(known.version.find(", CL-"), std::string::npos) << known.version;
    const auto record = files_of(kCompilerKind).at(0);
    expect_right(store(1), false);
    const auto forge = [&](CompilerIdentity identity) {
        std::ofstream(record, std::ios::binary | std::ios::trunc) << encode(identity);
        return KernelCache(settings()).compiler();
    };
    auto other = known;
    other.version = "12.9.1, CL-1";
    EXPECT_EQ(forge(other), other) << "an unchanged library is not opened";
    expect_right(store(1), false, "the other version's kernels are others");
    other.file = "another file";
    EXPECT_EQ(forge(other), known) << "an upgrade in place";
    other.file = kNoFile;
    other.path = temporary_.file("gone");
    EXPECT_EQ(forge(other), known) << "a library that is gone";
    expect_right(store(1), true, "the kernels of the version that is back");
    other = known;
    other.version = "12.9.1, CL-1";
    other.path = temporary_.write("libnvrtc.so.12", "another library");
    other.file = file_identity(other.path);
    (void)forge(other);
    KernelCache cache(settings());
    (void)cache.get(store(5));
    EXPECT_EQ(cache.compiler(), known) << "what compiled is what is recorded";
    expect_right(store(5), true);
    for (const std::string& bytes : {std::string(), std::string("x"), encode(known).substr(0, 100)}) {
        std::ofstream(record, std::ios::binary | std::ios::trunc) << bytes;
        EXPECT_EQ(KernelCache(settings()).compiler(), known);
    }
}

TEST_F(KernelCacheTest, ThreadsShareOneCache)
{
    KernelCache cache(settings());
    std::vector<Compiled> compiled(6);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < compiled.size(); ++i)
            threads.emplace_back([&, i] { compiled[i] = cache.get(store(static_cast<int>(i % 2))); });
    }
    for (std::size_t i = 2; i < compiled.size(); ++i)
        EXPECT_EQ(compiled[i].cubin, compiled[i % 2].cubin);
    EXPECT_EQ(instruction_counts(compiled[0].cubin).count("store"), 1u);
    EXPECT_EQ(cache.counts().loaded + cache.counts().compiled, compiled.size());
}

}  // namespace
}  // namespace segfold::cuda::kernel_cache_test
