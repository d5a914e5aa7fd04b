// SHA-256, the variables of the kernel cache, and its folder: whose it must be, what is read, what is
// removed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/cache_settings.h"
#include "runtime/support/files/sha256.h"
#include "runtime/support/files/user_folders.h"
#include "tests/common/files.h"

namespace segfold::cache::cache_folder_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMebibyte = 1 << 20;

std::string name(char digit) { return file_name(std::string(64, digit), "kernel"); }

/// Runs `work` in a process of its own; true where it returned true.
bool in_child(const std::function<bool()>& work)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(work() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A small disk of its own, where the machine lets this user mount one.
class SmallDisk {
public:
    SmallDisk(std::string path, const char* options) : path_(std::move(path))
    {
        fs::create_directories(path_);
        is_there_ = mount("none", path_.c_str(), "tmpfs", 0, options) == 0;
    }
    ~SmallDisk()
    {
        if (is_there_)
            umount2(path_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    [[nodiscard]] bool is_there() const { return is_there_; }
    [[nodiscard]] bool make_read_only() const
    {
        return mount("none", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
    }

private:
    std::string path_;
    bool is_there_ = false;
};

class CacheFolder : public testing::Test {
protected:
    [[nodiscard]] std::string path() const { return temporary_.file("kernels"); }
    [[nodiscard]] std::string refusal_of_folder() const
    {
        return refusal([&] { const Folder folder(path(), kMebibyte); }, path() + " ");
    }

    TemporaryFolder temporary_;
};

// The examples of FIPS 180-4, and lengths around the border of a block.
TEST(Sha256, KnownDigests)
{
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(
        sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnop"
                   "qrlmnopqrsmnopqrstnopqrstu"),
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(sha256_hex(std::string(55, 'a')),
              "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(sha256_hex(std::string(56, 'a')),
              "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    EXPECT_EQ(sha256_hex(std::string(64, 'a')),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

class CacheSettings : public testing::Test {
protected:
    CacheSettings()
    {
        for (const char* variable : kVariables)
            unsetenv(variable);
        setenv("HOME", "/home/someone", 1);
    }
    ~CacheSettings() override
    {
        for (const char* variable : kVariables)
            unsetenv(variable);
        setenv("SEGFOLD_CACHE", "off", 1);
    }

    static constexpr const char* kVariables[] = {"SEGFOLD_CACHE",  "SEGFOLD_CACHE_DIR", "SEGFOLD_CACHE_BYTES",
                                                 "XDG_CACHE_HOME", "XDG_DATA_HOME",     "HOME"};
};

TEST_F(CacheSettings, FolderFollowsTheVariables)
{
    EXPECT_EQ(settings_from_environment().folder, "/home/someone/.cache/segfold/kernels");
    setenv("XDG_CACHE_HOME", "/caches", 1);
    EXPECT_EQ(settings_from_environment().folder, "/caches/segfold/kernels");
    setenv("SEGFOLD_CACHE_DIR", "/kept", 1);
    EXPECT_EQ(settings_from_environment().folder, "/kept");
    EXPECT_TRUE(settings_from_environment().is_on);
    setenv("SEGFOLD_CACHE", "off", 1);
    EXPECT_FALSE(settings_from_environment().is_on);
    for (const char* variable : {"SEGFOLD_CACHE_DIR", "XDG_CACHE_HOME", "HOME"})
        unsetenv(variable);
    EXPECT_EQ(settings_from_environment().folder, "");
}

TEST_F(CacheSettings, UsersFoldersAreAbsolute)
{
    EXPECT_EQ(user_cache_folder("peers"), "/home/someone/.cache/segfold/peers");
    EXPECT_EQ(user_data_folder("tuning"), "/home/someone/.local/share/segfold/tuning");
    setenv("XDG_CACHE_HOME", "caches", 1);
    setenv("XDG_DATA_HOME", "data", 1);
    EXPECT_EQ(user_cache_folder("peers"), "/home/someone/.cache/segfold/peers");
    EXPECT_EQ(user_data_folder("tuning"), "/home/someone/.local/share/segfold/tuning");
    setenv("XDG_DATA_HOME", "/data", 1);
    EXPECT_EQ(user_data_folder("tuning"), "/data/segfold/tuning");
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "here", 1);
    EXPECT_EQ(user_cache_folder("peers"), "");
    EXPECT_EQ(user_data_folder("tuning"), "");
}

TEST_F(CacheSettings, SizesAreNumbersWithUnits)
{
    EXPECT_EQ(settings_from_environment().most_bytes, 256 * kMebibyte);
    for (const auto& [text, bytes] : std::vector<std::pair<const char*, std::uint64_t>>{
             {"1", 1}, {"1000", 1000}, {"3K", 3072}, {"64M", 64 * kMebibyte}, {"2G", 2048 * kMebibyte}}) {
        setenv("SEGFOLD_CACHE_BYTES", text, 1);
        EXPECT_EQ(settings_from_environment().most_bytes, bytes) << text;
    }
}

TEST_F(CacheSettings, WrongValuesAreNamed)
{
    for (const char* text : {"0", "-1", "12x", "M", "1.5G", "99999999999999999999", "2000000G", " 1"}) {
        setenv("SEGFOLD_CACHE_BYTES", text, 1);
        EXPECT_EQ(refusal(settings_from_environment),
                  "SEGFOLD_CACHE_BYTES is '" + std::string(text) +
                      "'; it takes a number of bytes from 1 to 2^50, e.g. 268435456 or 256M (K, M, G are "
                      "powers of 1024)");
    }
    unsetenv("SEGFOLD_CACHE_BYTES");
    setenv("SEGFOLD_CACHE_DIR", "kept", 1);
    EXPECT_EQ(refusal(settings_from_environment),
              "SEGFOLD_CACHE_DIR is 'kept'; it takes an absolute path, e.g. /var/tmp/kept");
    setenv("SEGFOLD_CACHE", "no", 1);
    EXPECT_EQ(refusal(settings_from_environment), "SEGFOLD_CACHE is 'no'; it takes on or off");
}

TEST_F(CacheFolder, IsPrivateAndKeepsFiles)
{
    Folder folder(temporary_.file("a/b/kernels"), kMebibyte);
    struct stat status = {};
    ASSERT_EQ(stat(temporary_.file("a/b/kernels").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    EXPECT_EQ(folder.read(name('1')), std::nullopt);
    const std::string bytes("one\0two", 7);
    EXPECT_EQ(folder.write(name('1'), bytes), "");
    EXPECT_EQ(folder.read(name('1')), bytes);
    EXPECT_EQ(folder.write(name('1'), ""), "");
    EXPECT_EQ(folder.read(name('1')), "");
    EXPECT_TRUE(folder.remove(name('1')));
    EXPECT_TRUE(folder.remove(name('1')));
    EXPECT_TRUE(fs::is_empty(temporary_.file("a/b/kernels")));
}

TEST_F(CacheFolder, RefusesFoldersThatOthersMayWrite)
{
    for (const mode_t mode : {0777, 01777, 0770, 0702}) {
        mkdir(path().c_str(), 0700);
        chmod(path().c_str(), mode);
        EXPECT_TRUE(refusal_of_folder().starts_with("may be written by others (mode "))
            << refusal_of_folder();
    }
    EXPECT_EQ(refusal_of_folder(), "may be written by others (mode 0702); chmod 0700 makes it private");
}

TEST_F(CacheFolder, RefusesWhatIsNoFolder)
{
    (void)temporary_.write("kernels", "a file");
    EXPECT_EQ(refusal_of_folder(), "is a link or no folder; a folder is needed");
    fs::remove(path());
    fs::create_directory(temporary_.file("elsewhere"));
    fs::create_symlink(temporary_.file("elsewhere"), path());
    EXPECT_EQ(refusal_of_folder(), "is a link or no folder; a folder is needed");
    EXPECT_EQ(refusal([&] { const Folder folder("/proc/kernels", kMebibyte); }),
              "/proc/kernels cannot be made: No such file or directory");
}

TEST_F(CacheFolder, RefusesTheFolderOfAnotherUser)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can give a folder away";
    mkdir(path().c_str(), 0700);
    ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
    EXPECT_EQ(refusal_of_folder(), "belongs to user 65534, and this is user 0");
}

TEST_F(CacheFolder, ReadsNoLinksPipesFoldersOrOpenFiles)
{
    Folder folder(path(), kMebibyte);
    const auto secret = temporary_.write("secret", "another file");
    fs::create_symlink(secret, path() + "/" + name('1'));
    ASSERT_EQ(mkfifo((path() + "/" + name('2')).c_str(), 0600), 0);
    fs::create_directory(path() + "/" + name('3'));
    ASSERT_EQ(folder.write(name('4'), "four"), "");
    chmod((path() + "/" + name('4')).c_str(), 0666);
    for (const char digit : {'1', '2', '3', '4'})
        EXPECT_EQ(folder.read(name(digit)), std::nullopt) << digit;
    for (const char digit : {'1', '2', '4'}) {
        EXPECT_EQ(folder.write(name(digit), "anew"), "") << digit;
        EXPECT_EQ(folder.read(name(digit)), "anew") << digit;
    }
    EXPECT_EQ(folder.write(name('3'), "anew"), "Is a directory");
    EXPECT_EQ(read_text(secret), "another file");
}

TEST_F(CacheFolder, LeastRecentlyUsedGoFirst)
{
    Folder folder(path(), 1000);
    const std::string bytes(200, 'x');
    for (const char digit : {'1', '2', '3', '4', '5'}) {
        ASSERT_EQ(folder.write(name(digit), bytes), "");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_TRUE(folder.read(name('1')).has_value());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_TRUE(folder.peek(name('2')).has_value());
    (void)temporary_.write("kernels/thesis.txt", std::string(5000, 'x'));
    ASSERT_EQ(folder.write(name('6'), bytes), "");
    std::string left;
    for (const auto& file : folder.list())
        left += file.name[0];
    EXPECT_EQ(left, "6154") << "1 was read, 2 only looked at; room for one more is made";
    EXPECT_TRUE(fs::exists(temporary_.file("kernels/thesis.txt"))) << "not ours to remove";
    EXPECT_EQ(folder.write(name('7'), std::string(1001, 'x')),
              "1001 bytes are more than the 1000 that the folder may hold");
    EXPECT_EQ(folder.list().size(), 4u);
}

TEST_F(CacheFolder, TwoWritersKeepToTheBound)
{
    Folder one(path(), 1000), other(path(), 1000);
    for (int i = 0; i < 40; ++i)
        ASSERT_EQ((i % 2 == 0 ? one : other)
                      .write(file_name(sha256_hex(std::to_string(i)), "kernel"), std::string(100, 'x')),
                  "");
    std::uint64_t bytes = 0;
    for (const auto& file : one.list())
        bytes += file.bytes;
    EXPECT_LE(bytes, 1500u) << "each counts what it wrote itself until it counts all";
    EXPECT_GE(bytes, 500u);
}

TEST_F(CacheFolder, ReadOnlyFoldersAreReadAndSayWhy)
{
    const SmallDisk disk(temporary_.file("disk"), "size=1m");
    if (!disk.is_there())
        GTEST_SKIP() << "mounting a small disk takes root and a kernel that lets it";
    Folder folder(temporary_.file("disk/kernels"), kMebibyte);
    ASSERT_EQ(folder.write(name('1'), "one"), "");
    ASSERT_TRUE(disk.make_read_only());
    EXPECT_EQ(folder.write(name('2'), "two"), "Read-only file system");
    EXPECT_EQ(folder.read(name('1')), "one");
    EXPECT_EQ(refusal([&] { const Folder none(temporary_.file("disk/more"), kMebibyte); }),
              temporary_.file("disk/more") + " cannot be made: Read-only file system");
}

TEST_F(CacheFolder, FoldersWithoutTheRightToWriteAreReadAndSayWhy)
{
    mkdir(path().c_str(), 0700);
    chmod(temporary_.file("").c_str(), 0755);
    if (geteuid() == 0) {
        ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
    }
    EXPECT_TRUE(in_child([&] {
        if (geteuid() == 0 && setuid(65534) != 0)
            return false;
        Folder folder(path(), kMebibyte);
        const bool wrote = folder.write(name('1'), "one").empty();
        chmod(path().c_str(), 0500);
        const bool refused = folder.write(name('2'), "two") == "Permission denied";
        const bool read =
            folder.read(name('1')) == "one" && Folder(path(), kMebibyte).read(name('1')) == "one";
        chmod(path().c_str(), 0700);
        return wrote && refused && read;
    }));
}

TEST_F(CacheFolder, FullDisksSayWhyAndLeaveNothing)
{
    const SmallDisk disk(temporary_.file("disk"), "size=64k");
    if (!disk.is_there())
        GTEST_SKIP() << "mounting a small disk takes root and a kernel that lets it";
    Folder folder(temporary_.file("disk/kernels"), kMebibyte);
    ASSERT_EQ(folder.write(name('1'), "one"), "");
    EXPECT_EQ(folder.write(name('1'), std::string(100'000, 'x')), "No space left on device");
    EXPECT_EQ(folder.read(name('1')), "one") << "the old file stands";
    EXPECT_EQ(std::distance(fs::directory_iterator(temporary_.file("disk/kernels")), {}), 1);
}

TEST_F(CacheFolder, LimitOnFilesIsNoSignal)
{
    EXPECT_TRUE(in_child([&] {
        Folder folder(path(), kMebibyte);
        const rlimit limit = {1000, 1000};
        return setrlimit(RLIMIT_FSIZE, &limit) == 0 && folder.write(name('1'), "one").empty() &&
               folder.write(name('2'), std::string(1001, 'x')) ==
                   "1001 bytes are more than this process may write to a file (ulimit -f)" &&
               !folder.read(name('2'));
    }));
}

// What a killed writer leaves has no name that a reader asks for, and goes when it is old.
TEST_F(CacheFolder, KilledWritersLeaveWholeFilesOnly)
{
    Folder folder(path(), 64 * kMebibyte);
    const std::string bytes(500'000, 'x');
    std::size_t unfinished = 0;
    for (int round = 0; round < 30; ++round) {
        const pid_t child = fork();
        if (child == 0)
            for (int i = 0;; ++i)
                (void)folder.write(file_name(sha256_hex(std::to_string(i % 50)), "kernel"), bytes);
        std::this_thread::sleep_for(std::chrono::milliseconds(3 + round));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        for (const auto& file : folder.list())
            ASSERT_EQ(folder.peek(file.name), bytes) << file.name;
    }
    for (const auto& file : fs::directory_iterator(path()))
        if (file.path().filename().string().starts_with(".segfold-unfinished-")) {
            ++unfinished;
            fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(20));
        }
    EXPECT_GT(unfinished, 0u) << "no writer was killed at work: the test has seen nothing";
    folder.remove_unfinished(false);
    EXPECT_EQ(static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), {})),
              folder.list().size());
}

}  // namespace
}  // namespace segfold::cache::cache_folder_test
