// Archives of compiled kernels: nothing but what was written is read, and damage is refused. Needs no NVRTC.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "runtime/backends/cuda/compile/kernel_archive.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/data/formats/zip.h"
#include "runtime/support/files/cache_folder.h"
#include "tests/common/files.h"

namespace segfold::cuda::kernel_archive_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRoom = 1 << 20;
constexpr const char* kVersion = "13.0.88, CL-1";

KernelEntry kernel(char digit, const std::string& architecture = "sm_90")
{
    KernelEntry entry{.key = std::string(64, digit),
                      .name = std::string("stage_") + digit + ".cu",
                      .architecture = architecture,
                      .compiler = kVersion,
                      .compiled = {}};
    entry.compiled.cubin = std::vector<char>(1000, digit);
    entry.compiled.resources = {{"fold", 32}};
    return entry;
}

KernelArchive archive_of(std::vector<int> architectures = {90}, const std::string& architecture = "sm_90")
{
    return {{kVersion, std::move(architectures), "/lib/elsewhere", "1"},
            {kernel('a', architecture), kernel('b', architecture)}};
}

class KernelArchiveTest : public testing::Test {
protected:
    /// Returns the message with which an archive of these members is refused.
    [[nodiscard]] std::string refusal_of(const std::vector<std::pair<std::string, std::string>>& members,
                                         std::uint64_t most_bytes = kRoom) const
    {
        const auto path = temporary_.file("bad.zip");
        {
            OutputFile file(path);
            ZipWriter writer(file, false, false);
            for (const auto& [name, bytes] : members)
                writer.add(name, {}, std::as_bytes(std::span(bytes)));
            writer.finish();
            file.commit();
        }
        return refusal([&] { (void)read_archive(path, most_bytes); }, path);
    }

    [[nodiscard]] cache::Settings settings() const
    {
        return {.is_on = true, .folder = temporary_.file("kernels"), .most_bytes = kRoom};
    }

    TemporaryFolder temporary_;
};

TEST_F(KernelArchiveTest, WhatIsWrittenIsRead)
{
    const auto path = temporary_.file("kernels.zip");
    const auto written = archive_of();
    write_archive(path, written);
    const auto read = read_archive(path, kRoom);
    EXPECT_EQ(read.compiler, written.compiler);
    ASSERT_EQ(read.kernels.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read.kernels[i].key, written.kernels[i].key);
        EXPECT_EQ(read.kernels[i].compiled.cubin, written.kernels[i].compiled.cubin);
        EXPECT_EQ(read.kernels[i].compiled.resources, written.kernels[i].compiled.resources);
    }
    write_archive(temporary_.file("again.zip"), written);
    EXPECT_EQ(read_text(temporary_.file("again.zip")), read_text(path)) << "no time, no path";
}

TEST_F(KernelArchiveTest, ForeignMembersAreRefused)
{
    const auto record = encode(archive_of().compiler);
    const auto digest = std::string(64, 'c');
    const auto entry = encode(kernel('a'));
    const auto name = std::string(64, 'a') + ".kernel";
    const std::vector<std::string> foreign_names = {"../" + name,
                                                    "folder/" + name,
                                                    "/" + name,
                                                    "kernel",
                                                    name + "x",
                                                    std::string(64, 'A') + ".kernel",
                                                    std::string(64, 'a') + ".library"};
    for (const auto& foreign : foreign_names)
        EXPECT_EQ(refusal_of({{digest + ".nvrtc", record}, {foreign, entry}}),
                  ": has a member '" + foreign +
                      "', which no archive of compiled kernels has; take one that 'segfold cache export' has "
                      "written");
    EXPECT_EQ(refusal_of({{name, entry}}),
              ": holds no record of the compiler; take an archive that 'segfold cache export' has written");
    EXPECT_EQ(refusal_of({{digest + ".nvrtc", record}}),
              ": holds no kernels; take an archive that 'segfold cache export' has written");
    EXPECT_EQ(
        refusal_of({{digest + ".nvrtc", record}, {std::string(64, 'd') + ".nvrtc", record}, {name, entry}}),
        ":record: is a second record of a compiler; an archive has one");
    EXPECT_EQ(refusal_of({{digest + ".nvrtc", record}, {std::string(64, 'b') + ".kernel", entry}}),
              ":bbbbbbbbbbbb: holds the kernel of the key " + std::string(64, 'a'));
    auto other = kernel('a');
    other.compiler = "12.9.1";
    EXPECT_EQ(refusal_of({{digest + ".nvrtc", record}, {name, encode(other)}}),
              ": holds a kernel of NVRTC 12.9.1 beside a record of NVRTC 13.0.88, CL-1");
    for (const auto* architecture : {"sm_80", "sm_9", "sm_900", "90", ""})
        EXPECT_EQ(refusal_of({{digest + ".nvrtc", record}, {name, encode(kernel('a', architecture))}}),
                  std::string(": holds a kernel for '") + architecture + "' beside a record of sm_90");
    EXPECT_EQ(refusal_of({{digest + ".nvrtc", record}, {name, encode(kernel('a', "compute_90"))}}),
              "nothing was refused");
    auto damaged = entry;
    damaged[damaged.size() / 2] ^= 1;
    EXPECT_EQ(refusal_of({{digest + ".nvrtc", record}, {name, damaged}}),
              ":aaaaaaaaaaaa: its SHA-256 does not hold");
}

TEST_F(KernelArchiveTest, NoFlippedByteAndNoCutIsTrusted)
{
    const auto path = temporary_.file("kernels.zip");
    write_archive(path, archive_of());
    const auto whole = read_text(path);
    const auto kernels_of = [&](const std::string& bytes) -> std::optional<KernelArchive> {
        try {
            return read_archive(temporary_.write("bad.zip", bytes), kRoom);
        } catch (const InputError&) {
            return std::nullopt;
        }
    };
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7)
        EXPECT_FALSE(kernels_of(whole.substr(0, bytes))) << bytes;
    for (std::size_t place = 0; place < whole.size(); ++place) {
        auto flipped = whole;
        flipped[place] = static_cast<char>(flipped[place] ^ 4);
        if (const auto read = kernels_of(flipped)) {  // a byte that says nothing, such as of the time
            ASSERT_EQ(read->kernels.size(), 2u) << place;
            EXPECT_EQ(read->kernels[0].compiled.cubin, kernel('a').compiled.cubin) << place;
            EXPECT_EQ(read->compiler.architectures, std::vector<int>{90}) << place;
        }
    }
}

TEST_F(KernelArchiveTest, ImportsAddToTheFolder)
{
    import_archive(archive_of(), settings());
    import_archive(archive_of({80}, "sm_80"), settings());
    cache::Folder folder(settings().folder, 1 << 20);
    std::vector<CompilerIdentity> records;
    for (const auto& file : folder.list())
        if (file.name.ends_with(".imported.nvrtc"))
            records.push_back(decode_identity(*folder.read(file.name)));
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].architectures, (std::vector<int>{80, 90})) << "of both imports";
    EXPECT_EQ(records[0].path, "") << "no library is opened for it";
    EXPECT_EQ(folder.list().size(), 3u);
    EXPECT_EQ(decode_entry(*folder.read(std::string(64, 'a') + ".imported")).architecture, "sm_80");
}

/// Whatever is compiled afterwards, imported kernels and the record of their compiler stay.
TEST_F(KernelArchiveTest, ImportedKernelsAreNotDrivenOut)
{
    auto small = settings();
    small.most_bytes = 20'000;
    import_archive(archive_of(), small);
    cache::Folder folder(small.folder, small.most_bytes);
    for (const char digit : {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'})
        EXPECT_EQ(folder.write(cache::file_name(std::string(64, digit), "library"), std::string(9'000, 'x')),
                  "");
    std::vector<std::string> kinds;
    for (const auto& file : folder.list())
        kinds.push_back(file.name.substr(64));
    std::ranges::sort(kinds);
    EXPECT_EQ(kinds, (std::vector<std::string>{".imported", ".imported", ".imported.nvrtc", ".library"}))
        << "one library has room beside them";
}

TEST_F(KernelArchiveTest, ImportsLeaveHalfOfTheCacheToOthers)
{
    const auto bytes = encode(kernel('a')).size();
    auto small = settings();
    small.most_bytes = 6 * bytes;
    import_archive(archive_of(), small);
    import_archive(archive_of(), small);  // the same kernels again take no more room
    auto others = archive_of();
    others.kernels = {kernel('c'), kernel('d')};
    EXPECT_EQ(refusal([&] { import_archive(others, small); }, small.folder.string()),
              fmt::format(" has {} bytes of imported kernels, these have {}, and imports get half of the {} "
                          "that the cache may hold; set SEGFOLD_CACHE_BYTES to {} or more, here and for the "
                          "programs that use them",
                          2 * bytes, 2 * bytes, 6 * bytes, 8 * bytes));
    others.kernels.pop_back();
    import_archive(others, small);
}

/// Programs of an older GPU of the same major version run, and PTX of any older one.
TEST(KernelArchitectures, InsteadOfOneThatIsMissing)
{
    const std::vector<int> known = {75, 80, 86, 89, 90};
    EXPECT_EQ(architectures_instead("sm_86", known),
              (std::vector<std::string>{"sm_80", "compute_86", "compute_80", "compute_75"}));
    EXPECT_EQ(architectures_instead("compute_80", known), std::vector<std::string>{"compute_75"});
    EXPECT_EQ(architectures_instead("sm_75", known), std::vector<std::string>{"compute_75"});
    EXPECT_EQ(architectures_instead("sm_90", {}), std::vector<std::string>{});
}

/// The directory tells the sizes, so that no member of an archive without room is inflated: one that would be
/// found damaged is not looked at.
TEST_F(KernelArchiveTest, WhatHasNoRoomIsNotInflated)
{
    const std::vector<std::pair<std::string, std::string>> members = {
        {std::string(64, 'a') + ".kernel", std::string(1000, 'x')},
        {std::string(64, 'b') + ".kernel", std::string(1000, 'x')}};
    EXPECT_EQ(
        refusal_of(members, 3999),
        ": the kernels have 2000 bytes, and the cache may hold 3999; set SEGFOLD_CACHE_BYTES to 4000 or "
        "more, here and for the programs that use them");
    EXPECT_EQ(refusal_of(members, 4000), ":aaaaaaaaaaaa: does not begin as a kernel does");
}

TEST_F(KernelArchiveTest, ImportsNeedAFolder)
{
    auto off = settings();
    off.is_on = false;
    EXPECT_EQ(refusal([&] { import_archive(archive_of(), off); }),
              "SEGFOLD_CACHE is off, so nothing that is imported would be found; unset it");
}

}  // namespace
}  // namespace segfold::cuda::kernel_archive_test
