// The program's environment: terminals, signals, limits, folders, pipes, variables.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>

#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/leftovers.h"
#include "tests/cli/cli_program.h"
#include "tests/common/kernel_folder.h"

namespace segfold::test::cli_surroundings_test {
namespace {

namespace fs = std::filesystem;

class Surroundings : public testing::Test {
protected:
    void SetUp() override
    {
        write_npy(folder_.file("x.npy"), make_array<float>(Type::f32, {1, 2, 3, 4, 5, 6, 7, 8}));
    }

    /// Runs a shell's command line in the folder. `segfold` is the program.
    [[nodiscard]] ProcessResult shell(const std::string& command) const
    {
        return run_process(
            {"/bin/sh", "-c",
             "segfold() { '" SEGFOLD_PROGRAM "' \"$@\"; }; cd '" + folder_.file("") + "' && " + command});
    }

    /// Returns the names in the folder that contain `part`.
    [[nodiscard]] std::vector<std::string> names_with(const std::string& part) const
    {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_.file("")))
            if (entry.path().filename().string().find(part) != std::string::npos)
                names.push_back(entry.path().filename());
        return names;
    }

    ProgramFolder folder_;
};

using Names = std::vector<std::string>;

TEST_F(Surroundings, ATableShowsControlCharactersOfLabels)
{
    (void)folder_.write("labels.txt",
                        "\x1b[31mred\nb\xc2\x9b"
                        "c\n");
    const auto result = folder_.run({"run", "sum", "--input", "x.npy", "--layout", "uniform=4", "--labels",
                                     "labels.txt", "--backend", "reference"});
    EXPECT_NE(result.output.find("segment  label        length  result\n"
                                 "      0  \\x1b[31mred       4      10\n"
                                 "      1  b\\u009bc          4      26\n"),
              std::string::npos)
        << result.output;
}

TEST_F(Surroundings, MessagesAndFactsShowControlCharactersOfNames)
{
    EXPECT_EQ(folder_.run({"run", "sum", "--input", "\x1b[2J.npy"}).errors,
              "segfold: \\x1b[2J.npy: cannot be opened for --input x: No such file or directory\n");
    write_npy(folder_.file("a\x1b\nb.npy"), make_array<float>(Type::f32, {1}));
    const auto result = folder_.run({"run", "sum", "--input", "a\x1b\nb.npy", "--backend", "reference"});
    EXPECT_NE(result.output.find("\ninputs    x: a\\x1b\\x0ab.npy\n"), std::string::npos) << result.output;
}

TEST_F(Surroundings, TemporaryFolderThatIsNoneIsTheUsersInput)
{
    EXPECT_EQ(shell("TMPDIR=/nowhere segfold run sum --input x.npy --backend simt").output,
              "segfold: TMPDIR is '/nowhere', which is no folder; set it to one that can be written, such as "
              "/tmp\n");
    EXPECT_EQ(shell("TMPDIR=/nowhere segfold run sum --input x.npy --backend simt").status, 2);
}

TEST_F(Surroundings, ALimitOnFileSizesGivesAMessage)
{
    const auto result =
        shell("ulimit -f 1; segfold run sum --backend reference --layout uniform=1 --output r.npy");
    EXPECT_EQ(result.output, "segfold: r.npy: cannot be written: File too large\n");
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(names_with("r.npy"), Names());
}

TEST_F(Surroundings, AFullDiskGivesAMessage)
{
    if (!fs::exists("/dev/full"))
        GTEST_SKIP() << "no /dev/full";
    auto result = shell(
        "ln -s /dev/full full.npy; segfold run sum --input x.npy --backend reference --output full.npy");
    EXPECT_EQ(result.output, "segfold: full.npy: cannot be written: No space left on device\n");
    EXPECT_EQ(result.status, 3);
    result = shell("segfold emit sum > /dev/full");
    EXPECT_EQ(result.output, "segfold: standard output cannot be written: No space left on device\n");
    EXPECT_EQ(result.status, 3);
}

/// A slow compiler, so that a signal comes while it works.
TEST_F(Surroundings, ASignalLeavesNoFilesAndNoCompilerBehind)
{
    (void)folder_.write(
        "slow", "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho $$ >pid\nmv pid begun\nexec sleep 5\n");
    fs::permissions(folder_.file("slow"), fs::perms::owner_all);
    fs::create_directory(folder_.file("temporary"));
    // SIGINT is not tried: a shell makes commands in the background ignore it.
    for (const int signal : {SIGTERM, SIGHUP}) {
        const auto name = std::to_string(signal);
        const auto result = shell(
            "export TMPDIR=$PWD/temporary CXX=$PWD/slow; rm -f begun\n"
            "'" SEGFOLD_PROGRAM
            "' run sum --input x.npy --backend simt >/dev/null 2>&1 </dev/null &\n"
            "program=$!\nwhile ! [ -e begun ]; do sleep 0.02; done\nls temporary >seen\n"
            "kill -" +
            name +
            " $program; wait $program; ended=$?\nsleep 0.1\n"
            "case $(cut -d' ' -f3 /proc/$(cat begun)/stat 2>/dev/null) in [RSD]) echo the compiler lives;; "
            "esac\nexit $ended");
        EXPECT_TRUE(read_text(folder_.file("seen")).starts_with("segfold-simt-")) << name;
        EXPECT_EQ(result.status, 128 + signal);
        EXPECT_EQ(result.output.find("the compiler lives"), std::string::npos) << name;
        EXPECT_TRUE(fs::is_empty(folder_.file("temporary"))) << name;
    }
}

/// A tuning that a signal ends reports its findings so far, and exits with the signal's status.
TEST_F(Surroundings, ATuningEndsWithTheSignalsStatus)
{
    if (!has_compiler())
        GTEST_SKIP() << "the back end cpu needs a C++ compiler";
    const auto result = shell(
        "export SEGFOLD_TUNING_DIR=$PWD/records\n"
        "'" SEGFOLD_PROGRAM
        "' tune sum --type i32 --backend cpu --elements 4096 --every --json >tuned 2>&1 </dev/null &\n"
        "program=$!\nfor i in $(seq 500); do [ -s records/*.jsonl ] && break; sleep 0.02; done\n"
        "kill -TERM $program; wait $program");
    EXPECT_EQ(result.status, 128 + SIGTERM) << read_text(folder_.file("tuned"));
    EXPECT_NE(read_text(folder_.file("tuned")).find("\"interrupted\": true"), std::string::npos)
        << read_text(folder_.file("tuned"));
}

/// A stream that a signal ends writes its state, and can be resumed.
TEST_F(Surroundings, AStreamEndsWithTheSignalsStatusAndGoesOn)
{
    const std::string run =
        "'" SEGFOLD_PROGRAM
        "' run sum --type i32 --backend reference --elements 30000000 --layout uniform=1000 "
        "--memory 64K --output ";
    const auto stopped = shell("true\n" + run +
                               "out.npy >report 2>&1 </dev/null &\nprogram=$!\n"
                               "for i in $(seq 500); do [ -s out.npy.resume ] && break; sleep 0.01; done\n"
                               "kill -TERM $program; wait $program; code=$?; cat report; exit $code");
    EXPECT_EQ(stopped.status, 128 + SIGTERM) << stopped.output;
    EXPECT_TRUE(stopped.output.starts_with("segfold: stopped after ")) << stopped.output;
    EXPECT_NE(stopped.output.find("left in out.npy.partial: --resume goes on from them with the same flags"),
              std::string::npos)
        << stopped.output;
    const auto note = nlohmann::json::parse(read_text(folder_.file("out.npy.resume")));
    const auto resumed = shell(run + "out.npy --resume --show 2");
    EXPECT_EQ(resumed.status, 0) << resumed.output;
    EXPECT_NE(
        resumed.output.find("from element " + std::to_string(note["element"].get<std::int64_t>()) + " on"),
        std::string::npos)
        << resumed.output;
    const auto segment = note["element"].get<std::int64_t>() / 1000;
    for (const auto shown : {segment, segment + 1})
        EXPECT_NE(resumed.output.find(" " + std::to_string(shown) + "    1000 "), std::string::npos)
            << "the table begins with the first segment that this run has folded\n"
            << resumed.output;
    EXPECT_EQ(shell(run + "whole.npy >report && cmp out.npy whole.npy").status, 0);
}

/// Output files are tried before long work, and the trial leaves no file.
TEST_F(Surroundings, WhatCannotBeWrittenIsFoundBefore)
{
    EXPECT_NO_THROW(require_writable(folder_.file("later")));
    EXPECT_EQ(names_with("later"), Names());
    (void)folder_.write("there", "1");
    EXPECT_NO_THROW(require_writable(folder_.file("there")));
    EXPECT_EQ(read_text(folder_.file("there")), "1");
    EXPECT_THROW(require_writable(folder_.file("missing/later")), InputError);
    EXPECT_THROW(require_writable(folder_.file("")), InputError);
    ASSERT_EQ(mkfifo(folder_.file("pipe").c_str(), 0600), 0);
    EXPECT_NO_THROW(require_writable(folder_.file("pipe"))) << "waits for no reader";
}

TEST_F(Surroundings, LeftoversGoWithTheProcess)
{
    const auto end_by = [&](int signal) {
        std::signal(signal, SIG_DFL);
        remove_leftovers_at_signals();
        const Leftover own(folder_.file("own"));
        const Leftover c(folder_.file("c"));
        {
            const Leftover d(folder_.file("d"));
        }
        raise(signal);
    };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        fs::create_directory(folder_.file("own"));
        for (const auto* name : {"own/a", "own/b", "c", "d"})
            (void)folder_.write(name, "1");
        EXPECT_EXIT(end_by(signal), testing::KilledBySignal(signal), "");
        EXPECT_EQ(names_with("own"), Names());
        EXPECT_EQ(names_with("c"), Names());
        EXPECT_EQ(names_with("d"), Names{"d"});
    }
}

TEST_F(Surroundings, PeersAreNotLoadedFromAFolderOfOthers)
{
    const auto peers = folder_.file("segfold/peers");
    fs::create_directories(peers);
    fs::permissions(peers, fs::perms::all);
    setenv("XDG_CACHE_HOME", folder_.file("").c_str(), 1);
    const auto message = [] {
        try {
            return bench::peer_directory().string();
        } catch (const DeviceError& error) {
            return std::string(error.what());
        }
    };
    const std::string begin = "no folder for compiled peers: ";
    const std::string end = "; set XDG_CACHE_HOME to a folder that can be written";
    const auto named = folder_.file("") + "segfold/peers";
    EXPECT_EQ(message(),
              begin + named + " may be written by others (mode 0777); chmod 0700 makes it private" + end);
    fs::remove(peers);
    fs::create_directory_symlink(folder_.file(""), peers);
    EXPECT_EQ(message(), begin + named + " is a link or no folder; a folder is needed" + end);
    fs::remove(peers);
    EXPECT_EQ(message(), named);
    // Without both variables, the process makes a new folder for itself.
    unsetenv("XDG_CACHE_HOME");
    const std::string home = getenv("HOME") != nullptr ? getenv("HOME") : "";
    unsetenv("HOME");
    const auto own = bench::peer_directory();
    setenv("HOME", home.c_str(), 1);
    struct stat status = {};
    ASSERT_EQ(stat(own.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    EXPECT_TRUE(own.filename().string().starts_with("segfold-peers-")) << own;
}

TEST_F(Surroundings, ArraysComeThroughPipes)
{
    write_npy(folder_.file("keys.npy"), make_array<std::int32_t>(Type::i32, {1, 1, 2, 2, 2, 2, 3, 3}));
    const std::string fold = "segfold run sum --backend reference --layout keys=keys.npy --input ";
    const auto expected = shell(fold + "x.npy").output;
    const auto table = expected.substr(expected.find("segment  "));
    const auto expect_table = [&](const std::string& command) {
        const auto output = shell(command).output;
        EXPECT_EQ(output.substr(std::min(output.find("segment  "), output.size())), table) << output;
    };
    expect_table("cat x.npy | " + fold + "-");
    expect_table(fold + "x=- < x.npy");
    expect_table("cat keys.npy | segfold run sum --backend reference --input x.npy --layout keys=-");
    expect_table("mkfifo pipe; cat x.npy > pipe & " + fold + "pipe");
    std::vector<NamedArray> arrays;
    arrays.push_back({"x", make_array<float>(Type::f32, {1, 2, 3, 4, 5, 6, 7, 8})});
    write_npz(folder_.file("x.npz"), arrays);
    expect_table("cat x.npz | " + fold + "-");
    arrays.push_back({"keys", read_array(folder_.file("keys.npy"))});
    write_npz(folder_.file("both.npz"), arrays);
    expect_table("cat both.npz | " + fold + "-:x");
    expect_table(fold + "x=-:x < both.npz");
    expect_table("cat both.npz | " + fold + "/dev/stdin:x");
    expect_table("cat both.npz | segfold run sum --backend reference --input -:x --layout keys=-:keys");
    EXPECT_EQ(shell("cat both.npz | " + fold + "-").output,
              "segfold: -: holds 2 arrays, x, keys; choose one, as in -:x\n");
    EXPECT_EQ(shell("cat both.npz | " + fold + "-:z").output,
              "segfold: -: has no array 'z'; its arrays are x, keys\n");
    EXPECT_EQ(shell("cat both.npz | segfold tune sum --input -:x").status, 2);
}

TEST_F(Surroundings, BadPipesAreRefused)
{
    const auto refusal_of = [&](const std::string& command) {
        const auto result = shell(command);
        EXPECT_EQ(result.status, 2) << command;
        return result.output;
    };
    EXPECT_EQ(refusal_of("cat x.npy | segfold run dot --input x=- --input y=-"),
              "segfold: -: standard input has been read already; it can be read once\n");
    EXPECT_EQ(refusal_of("head -c 100 x.npy | segfold run sum --input -"),
              "segfold: -: is truncated: its header takes 118 bytes, but 90 follow\n");
    EXPECT_EQ(refusal_of("segfold run sum --input - < /dev/null"),
              "segfold: -: is neither a regular file nor a pipe; one of them is needed\n");
    EXPECT_EQ(refusal_of("true | segfold run sum --input -"),
              "segfold: -: is empty; an .npy file is needed\n");
    EXPECT_EQ(refusal_of("segfold run sum --input /dev/zero"),
              "segfold: /dev/zero: is neither a regular file nor a pipe; one of them is needed\n");
    EXPECT_EQ(refusal_of("cat x.npy | segfold tune sum --input -"),
              "segfold: tune cannot read standard input, because a process of its own reads the data; write "
              "them to "
              "a file\n");
}

TEST_F(Surroundings, TheFirstFlagMayBeZero)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    write_npy(folder_.file("flags.npy"), make_array<std::uint8_t>(Type::u8, {0, 0, 0, 1, 0, 1, 1, 0}));
    const bool has_thrust = thrust_available(thrust_system());
    for (const std::string how : {"reference", "simt --stage run_stream", "thrust"}) {
        if (how == "thrust" && !has_thrust)
            continue;
        const auto result =
            shell("segfold run sum_f32 --input x.npy --layout flags=flags.npy --backend " + how);
        EXPECT_NE(
            result.output.find("      0       3       6\n      1       2       9\n      2       1       6\n"
                               "      3       2      15\n"),
            std::string::npos)
            << result.output;
        EXPECT_EQ(result.status, 0) << how << result.output;
    }
    if (!has_thrust)
        GTEST_SKIP() << thrust_unavailable_reason(thrust_system());
}

TEST_F(Surroundings, TheCompilersVariableIsHonoured)
{
    if (!find_program("g++"))
        GTEST_SKIP() << "no g++ on PATH";
    (void)folder_.write("spy", "#!/bin/sh\necho \"$@\" >>words\nexec g++ \"$@\"\n");
    fs::permissions(folder_.file("spy"), fs::perms::owner_all);
    const auto result = shell("CXX=\"$PWD/spy -O1 -DMINE\" segfold run sum --input x.npy --backend simt");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_NE(read_text(folder_.file("words")).find("\n-O1 -DMINE -O1 -std=c++20 "), std::string::npos)
        << read_text(folder_.file("words"));
    EXPECT_EQ(shell("CXX='no-such -O1' segfold run sum --input x.npy --backend simt").output,
              "segfold: simt: CXX is 'no-such -O1', and no such program is on PATH; set it to a C++ "
              "compiler, or unset "
              "it to take g++, c++ or clang++\n");
}

/// Arrays that begin anywhere show an alignment that clang ignores.
TEST_F(Surroundings, ClangCompilesNativeTexts)
{
    if (!find_program("clang++"))
        GTEST_SKIP() << "no clang++ on PATH";
    const auto held = shell("CXX=clang++ segfold regress sum --relation base_alignment --backend cpu");
    EXPECT_EQ(held.status, 0) << held.output;
    const auto checked = shell("CXX=clang++ segfold check mean_variance --backend cpu --layout uniform=37");
    EXPECT_EQ(checked.status, 0) << checked.output;
}

TEST_F(Surroundings, AFolderOfRecordsThatIsNotThereIsCalledSo)
{
    const auto text = shell("SEGFOLD_TUNING_DIR=$PWD/none segfold devices").output;
    EXPECT_TRUE(
        std::regex_search(text, std::regex("\ntuning        \\d+ rows of the program's own; \\S+/none, which "
                                           "'segfold tune' makes, is not there\n")))
        << text;
}

TEST_F(Surroundings, ARunSaysHowLongItTook)
{
    const auto result = folder_.run({"run", "sum", "--input", "x.npy", "--backend", "reference", "--json"});
    const auto seconds = nlohmann::json::parse(result.output).at("seconds");
    EXPECT_GT(seconds.at("run").get<double>(), 0);
    EXPECT_FALSE(seconds.contains("kernels"));
    if (!has_compiler())
        return;
    const auto simt = folder_.run({"run", "sum", "--input", "x.npy", "--backend", "simt", "--json"});
    const auto parts = nlohmann::json::parse(simt.output).at("seconds");
    EXPECT_GT(parts.at("kernels").get<double>(), 0);
    EXPECT_GT(parts.at("compile").get<double>(), 0);
    EXPECT_GE(parts.at("run").get<double>(),
              parts.at("compile").get<double>() + parts.at("kernels").get<double>());
}

TEST_F(Surroundings, ATerminalIsToldHowFarAndHowLong)
{
    if (!find_program("script") || !has_compiler())
        GTEST_SKIP() << "no 'script', which runs a program on a terminal, or no C++ compiler";
    if (shell("script -qec true /dev/null </dev/null").status != 0)
        GTEST_SKIP() << "there is no pseudo-terminal (/dev/pts)";
    const auto on_terminal = [&](const std::string& arguments) {
        return shell("script -qec \"'" SEGFOLD_PROGRAM "' " + arguments + "\" /dev/null </dev/null").output;
    };
    const auto run = on_terminal("run sum --input x.npy --backend reference");
    EXPECT_TRUE(std::regex_search(run, std::regex("\ntime  \\S+ (us|ms|s) in all\r?\n"))) << run;
    const auto regress = on_terminal(
        "regress sum_i32 --relation repetition --stage thread_per_segment --backend simt --elements 64");
    EXPECT_NE(regress.find("\rrelations: 1 of 1, sum_i32 thread_per_segment: repetition"), std::string::npos)
        << regress;
}

TEST_F(Surroundings, AFaultOfAKernelNamesTheLineOfItsStage)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const auto kernels = copy_kernels(folder_, "kernels");
    plant(kernels, "parts/reduce/block_reduce.cuh", "__syncthreads();", ";");
    const auto result = folder_.run({"run", "sum_i32", "--kernels", "kernels", "--stage", "block_per_segment",
                                     "--layout", "uniform=4096", "--elements", "2^13", "--backend", "simt"});
    EXPECT_EQ(result.exit_code, 3);
    const std::string line =
        "line \\d+ of the emitted text \\(kernels/parts/reduce/block_reduce\\.cuh:\\d+"
        "(, called in kernels/stages/block_per_segment\\.cu:\\d+)?\\)";
    const std::regex wanted(
        "^segfold: kernel reduce, block \\d, thread \\d+, " + line +
        ": reads element \\d+ of shared 'partials of block_reduce', which (no thread of the "
        "block has written|(warp|thread) \\d+ wrote in " +
        line + " with nothing to order the two)");
    EXPECT_TRUE(std::regex_search(result.errors, wanted)) << result.errors;
}

/// A change in any folder from which the program is built makes it stale.
TEST(Launcher, WatchesWhatTheBuildReads)
{
    const auto text = read_text(SEGFOLD_SOURCE_DIR "/segfold");
    const auto begin = text.find("watched=(") + 9;
    const auto watched = " " + text.substr(begin, text.find(')', begin) - begin) + " ";
    std::string read;
    for (const auto* list :
         {"CMakeLists.txt", "dsl/CMakeLists.txt", "codegen/CMakeLists.txt", "runtime/CMakeLists.txt"})
        read += read_text(std::string(SEGFOLD_SOURCE_DIR "/") + list);
    for (const auto* folder : {"dsl", "codegen", "kernels", "papers", "runtime", "tests", "benchmarks"}) {
        const bool is_read =
            read.find(std::string("${PROJECT_SOURCE_DIR}/") + folder + "/") != std::string::npos ||
            read.find(std::string("add_subdirectory(") + folder + ")") != std::string::npos;
        if (is_read && std::string(folder) != "tests") {
            EXPECT_NE(watched.find(std::string(" ") + folder + " "), std::string::npos) << folder;
        }
    }
}

}  // namespace
}  // namespace segfold::test::cli_surroundings_test
