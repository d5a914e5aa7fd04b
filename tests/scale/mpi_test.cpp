// Ranks started by mpirun: the order of elements, equal bits for any number of ranks, and ends of runs.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "dsl/printer.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"
#include "tests/scale/rank_cases.h"

namespace segfold::test::mpi_test {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr int kSizes[] = {1, 2, 3, 4, 7};

bool is_wanted_whole() { return std::getenv("SEGFOLD_RANK_CASES") != nullptr; }

/// The number of times that `text` contains `part`.
int count(const std::string& text, const std::string& part)
{
    int found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// False for a process that has ended, even if nobody has waited for it.
bool is_running(int process)
{
    const auto text = read_text("/proc/" + std::to_string(process) + "/stat");
    const auto state = text.rfind(") ");
    return state != std::string::npos && text[state + 2] != 'Z' && text[state + 2] != 'X';
}

/// A folder in which programs run.
class Programs : public TemporaryFolder {
public:
    /// Starts a command in the folder. `environment` has entries NAME=VALUE. Output and errors go to files.
    [[nodiscard]] pid_t start(const Words& words, const Words& environment = {}) const
    {
        std::string line = "cd '" + file("") + "' && exec env";
        for (const auto* group : {&environment, &words})
            for (const auto& word : *group)
                line += " '" + word + "'";
        SpawnActions actions;
        actions.open("/dev/null", O_RDONLY, STDIN_FILENO);
        actions.open(file(".output").c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
        actions.open(file(".errors").c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
        return spawn({"/bin/sh", "-c", line}, actions);
    }
    [[nodiscard]] ProgramResult wait(pid_t process) const
    {
        int status = 0;
        waitpid(process, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(file(".output")),
                read_text(file(".errors"))};
    }
    [[nodiscard]] ProgramResult run(const Words& words, const Words& environment = {}) const
    {
        return wait(start(words, environment));
    }
    [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(file(name)); }
};

class Mpi : public testing::Test {
protected:
    void SetUp() override
    {
#ifndef SEGFOLD_MPI
        GTEST_SKIP() << "the program is built without MPI: SEGFOLD_MPI is OFF";
#endif
        if (!find_program("mpirun"))
            GTEST_SKIP() << "there is no mpirun";
        // Allows more ranks than cores, and root, who may be the only user in containers.
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
        setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
        setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    }

    [[nodiscard]] static Words ranks(int size, const Words& words)
    {
        Words all = {"mpirun", "-n", std::to_string(size)};
        all.insert(all.end(), words.begin(), words.end());
        return all;
    }
    [[nodiscard]] static Words run_words(const Words& words)
    {
        Words all = {SEGFOLD_PROGRAM, "run"};
        all.insert(all.end(), words.begin(), words.end());
        return all;
    }
    /// A run that takes hours: 2^33 elements, in small slices.
    [[nodiscard]] static Words long_run()
    {
        return run_words({"sum", "--type", "i32", "--backend", "reference", "--elements", "2^33", "--layout",
                          "uniform=1024", "--memory", "1M", "--output", "out.npy"});
    }
    void expect_nothing_written() const
    {
        EXPECT_FALSE(folder_.has("out.npy"));
        EXPECT_FALSE(folder_.has("out.npy.partial"));
    }

    Programs folder_;
};

TEST_F(Mpi, AnyNumberOfRanksKeepsTheOrderAndTheBits)
{
    std::string bits;
    for (const int size : kSizes) {
        const auto share = is_wanted_whole() ? "1" : "6";
        const auto done = folder_.run(
            ranks(size, {SEGFOLD_RANK_CASES_PROGRAM, std::to_string(size), share, folder_.file("bits")}));
        EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
        EXPECT_NE(done.output.find(" cases by " + std::to_string(size) + " ranks"), std::string::npos)
            << done.output;
        const auto these = read_text(folder_.file("bits"));
        EXPECT_GT(these.size(), 100U);
        bits = bits.empty() ? these : bits;
        EXPECT_TRUE(these == bits) << "the bits of " << size << " ranks are others than those of one";
    }
}

TEST_F(Mpi, ACommunicatorOfTheCallersIsTaken)
{
#ifdef SEGFOLD_OWN_COMMUNICATOR_PROGRAM
    const auto done = folder_.run(ranks(3, {SEGFOLD_OWN_COMMUNICATOR_PROGRAM}));
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    EXPECT_NE(done.output.find(" cases, first at rank 2 of 3"), std::string::npos) << done.output;
#endif
}

/// Writes a workload to files, and returns the flags that pass the files to the program.
Words flags_of(const Programs& folder, const RankCase& one)
{
    const auto& op = one.workload.op;
    const auto& arrays = one.workload.arrays;
    const auto& segments = one.workload.segments;
    Words flags = {folder.write("op.seg", print(op)), "--backend", "reference"};
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto path = folder.file(parameter.name + ".npy");
        write_npy(path, arrays[i]);
        if (parameter.scalar)
            flags.insert(flags.end(), {"--scalar", parameter.name + "=" +
                                                       std::to_string(arrays[i].as<std::uint64_t>()[0])});
        else
            flags.insert(flags.end(), {"--input", parameter.name + "=" + path});
    }
    const auto layout = folder.file("layout.npy");
    std::string text = "whole";
    if (one.lengths) {
        write_npy(layout, *one.lengths);
        text = "lengths=" + layout;
    } else if (segments.form == SegmentForm::uniform) {
        text = "uniform=" + std::to_string(segments.uniform_length);
    } else if (segments.form != SegmentForm::whole) {
        const auto& array = segments.form == SegmentForm::flags  ? segments.flags
                            : segments.form == SegmentForm::keys ? segments.item_keys
                                                                 : segments.offsets;
        write_npy(layout, array);
        text = std::string(name(segments.form)) + "=" + layout;
    }
    flags.insert(flags.end(), {"--layout", text, "--output", folder.file("out.npy")});
    return flags;
}

/// Returns the files of a run: the bytes of each field, then those of the keys.
std::vector<std::vector<std::byte>> written(const Programs& folder, const Workload& workload)
{
    std::vector<std::string> names;
    for (const auto& field : returned_fields(workload.op))
        names.push_back(field.name);
    if (workload.segments.keys && workload.op.keeps_results)
        names.emplace_back("keys");
    std::vector<std::vector<std::byte>> fields;
    for (const auto& name : names) {
        const auto array = read_array(folder.file(names.size() == 1 ? "out.npy" : "out." + name + ".npy"));
        fields.emplace_back(array.data(), array.data() + array.bytes());
    }
    if (workload.segments.num_segments == 0)
        fields.clear();
    return fields;
}

TEST_F(Mpi, TheProgramWritesWhatTheReferenceGives)
{
    std::size_t which = 0, tried = 0;
    for_each_rank_case([&](const RankCase& one) {
        // The sample covers other sizes, operators, layouts and borders in turn.
        const bool is_sampled = which++ % 37 == 5;
        for (const int size : kSizes) {
            if (!is_wanted_whole() && !(is_sampled && size == kSizes[tried % std::size(kSizes)]))
                continue;
            const auto done = folder_.run(ranks(size, run_words(flags_of(folder_, one))));
            ASSERT_EQ(done.exit_code, 0) << one.name << done.errors;
            auto right = wanted(one.workload);
            if (one.workload.segments.keys && !one.workload.op.keeps_results)
                right.pop_back();  // keys belong to results of segments
            EXPECT_EQ(written(folder_, one.workload), right) << one.name << " by " << size << " ranks";
        }
        tried += is_sampled ? 1 : 0;
    });
    EXPECT_GT(tried, 5U);
}

TEST_F(Mpi, AKilledRankEndsTheRun)
{
    Words words = {"sh", "-c", "echo $$ > pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec \"$@\"", "sh"};
    const auto run = long_run();
    words.insert(words.end(), run.begin(), run.end());
    const auto started = folder_.start(ranks(3, words));
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const auto pid_of = [&](int rank) {
        return std::stoi("0" + read_text(folder_.file("pid." + std::to_string(rank))));
    };
    ASSERT_GT(pid_of(1), 1);
    ASSERT_EQ(kill(pid_of(1), SIGKILL), 0);
    const auto killed = Clock::now();
    const auto done = folder_.wait(started);
    EXPECT_LT(Clock::now() - killed, std::chrono::seconds(10));
    EXPECT_NE(done.exit_code, 0);
    EXPECT_EQ(count(done.errors, "signal 9"), 1) << done.errors;
    EXPECT_EQ(count(done.errors, "segfold:"), 0) << done.errors;
    for (int rank = 0; rank < 3; ++rank) {
        // mpirun may end before the ranks that it ends.
        const auto latest = Clock::now() + std::chrono::seconds(5);
        while (is_running(pid_of(rank)) && Clock::now() < latest)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_FALSE(is_running(pid_of(rank))) << "rank " << rank << " lives on";
    }
    expect_nothing_written();
}

TEST_F(Mpi, WhatRanksWarnOfWhileTheyFoldIsSaidOnce)
{
    // Only the last two of three ranks read values that may overflow.
    std::vector<std::int64_t> values(30000, 1);
    std::fill(values.begin() + 15000, values.end(), std::int64_t{1} << 62);
    write_npy(folder_.file("x.npy"), index_array(values));
    const auto words = run_words({"max_subarray", "--type", "i64", "--input", "x.npy", "--backend",
                                  "reference", "--layout", "uniform=100"});
    const auto done = folder_.run(ranks(3, words));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(count(done.errors, "warning: operator max_subarray obeys its laws while nothing overflows"), 1)
        << done.errors;
    std::ranges::fill(values, 1);
    write_npy(folder_.file("x.npy"), index_array(values));
    EXPECT_EQ(count(folder_.run(ranks(3, words)).errors, "warning"), 0);
}

TEST_F(Mpi, AnErrorOnOneRankEndsAllWithOneMessage)
{
    // Only the last of three ranks reads the offsets that decrease.
    std::vector<std::int64_t> offsets;
    for (std::int64_t s = 0; s <= 3000; ++s)
        offsets.push_back(s * 10);
    std::swap(offsets[2800], offsets[2801]);
    write_npy(folder_.file("offsets.npy"), index_array(offsets));
    auto done =
        folder_.run(ranks(3, run_words({"sum", "--type", "i32", "--backend", "reference", "--elements",
                                        "30000", "--layout", "offsets=offsets.npy", "--output", "out.npy"})));
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_EQ(count(done.errors, "segfold:"), 1) << done.errors;
    EXPECT_EQ(count(done.errors, "rank 2 of 3: offsets.npy: offsets decrease at segment 2800"), 1)
        << done.errors;
    expect_nothing_written();

    // Only rank 0 writes.
    done = folder_.run(
        ranks(3, run_words({"sum", "--type", "i32", "--backend", "reference", "--elements", "30000",
                            "--layout", "offsets=offsets.npy", "--output", "offsets.npy"})));
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_EQ(count(done.errors, "--output would replace 'offsets.npy', which --layout reads"), 1)
        << done.errors;

    // An error that all ranks find is printed once.
    for (const Words& wrong : {Words{"sum", "--input", "x=none.npy"},
                               {"softmax"},
                               {"sum", "--check"},
                               {"sum", "--layout", "uniform=7", "--elements", "20"}}) {
        done = folder_.run(ranks(3, run_words(wrong)));
        EXPECT_EQ(done.exit_code, 2) << done.errors;
        EXPECT_EQ(count(done.errors, "segfold:"), 1) << done.errors;
    }
}

/// States of groups are joined in the order of ranks, for running results and keys too.
TEST_F(Mpi, GroupsInAnyOrderAreThoseOfOneProcess)
{
    std::vector<std::int16_t> numbers;
    std::vector<std::uint32_t> values;
    for (unsigned i = 0; i < 700; ++i) {
        numbers.push_back(static_cast<std::int16_t>(static_cast<int>(i * i % 11) - 1));
        values.push_back(i * 2654435761U);
    }
    write_npy(folder_.file("n.npy"), Array::of<std::int16_t>(Type::i16, numbers));
    write_npy(folder_.file("v.npy"), Array::of<std::uint32_t>(Type::u32, values));
    const auto run = [&](Words words, const Words& layout, const std::string& verb = "run") {
        words.insert(words.begin(), {SEGFOLD_PROGRAM, verb});
        words.insert(words.end(),
                     {"--input", "scale=v.npy", "--input", "shift=v.npy", "--backend", "reference"});
        words.insert(words.end(), layout.begin(), layout.end());
        return words;
    };
    for (const std::string verb : {"run", "scan"})
        for (const Words& layout : {Words{"--layout", "groups=n.npy", "--num-groups", "12"},
                                    {"--layout", "keys=n.npy", "--sort-keys"}}) {
            auto done = folder_.run(run({"affine_u32", "--output", "whole.npz"}, layout, verb));
            ASSERT_EQ(done.exit_code, 0) << done.errors;
            for (const int size : {2, 5}) {
                done = folder_.run(ranks(
                    size, run({"affine_u32", "--memory", "4K", "--output", "parts.npz"}, layout, verb)));
                ASSERT_EQ(done.exit_code, 0) << done.errors;
                const auto names = npz_names(folder_.file("whole.npz"));
                EXPECT_EQ(npz_names(folder_.file("parts.npz")), names);
                for (const auto& name : names) {
                    const auto right = read_array(folder_.file("whole.npz:" + name));
                    const auto found = read_array(folder_.file("parts.npz:" + name));
                    ASSERT_EQ(found.bytes(), right.bytes()) << verb << " " << name;
                    EXPECT_EQ(std::memcmp(found.data(), right.data(), right.bytes()), 0)
                        << verb << " " << name;
                }
            }
        }
    numbers.back() = 12;
    write_npy(folder_.file("n.npy"), Array::of<std::int16_t>(Type::i16, numbers));
    const auto done = folder_.run(ranks(
        2, run({"affine_u32", "--output", "no.npz"}, {"--layout", "groups=n.npy", "--num-groups", "12"})));
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_EQ(count(done.errors, "is 12, and there are 12 groups"), 1) << done.errors;
}

TEST_F(Mpi, AFullDiskIsRefusedInWords)
{
    std::filesystem::create_symlink("/dev/full", folder_.file("out.npy.partial"));
    const auto done = folder_.run(ranks(2, run_words({"sum", "--backend", "reference", "--elements", "30000",
                                                      "--layout", "uniform=3", "--output", "out.npy"})));
    EXPECT_EQ(done.exit_code, 3) << done.errors;
    EXPECT_EQ(count(done.errors, "No space left on device"), 1) << done.errors;
    EXPECT_EQ(count(done.errors, "segfold:"), 1) << done.errors;
    expect_nothing_written();
}

TEST_F(Mpi, AFileThatShrinksIsRefusedInWords)
{
    // A sparse file of 2^30 zeros, whose last elements are removed during the run.
    const auto header = npy_header(Type::i32, std::uint64_t{1} << 30, 0, 128);
    const auto path = folder_.write("x.npy", header);
    std::filesystem::resize_file(path, 128 + (std::uint64_t{4} << 30));
    const auto started = folder_.start(
        ranks(2, run_words({"sum", "--backend", "reference", "--input", "x.npy", "--type", "i32", "--memory",
                            "1M", "--layout", "uniform=1024", "--output", "out.npy"})));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    std::filesystem::resize_file(path, 5000);
    const auto done = folder_.wait(started);
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_GE(count(done.errors, "x.npy: ends after"), 1) << done.errors;
    expect_nothing_written();
}

TEST_F(Mpi, CheckAndRegressJudgeRanks)
{
    if (!has_compiler())
        GTEST_SKIP() << "there is no C++ compiler for simt";
    for (const int size : {1, 3, 4}) {  // every rank compiles all texts
        if (size != 3 && is_left_out("ranks " + std::to_string(size), 2))
            continue;
        auto done =
            folder_.run(ranks(size, {SEGFOLD_PROGRAM, "check", "trace", "--type", "u64", "--backend", "simt",
                                     "--elements", "1500", "--stage", "warp_per_segment", "--prove", "off"}));
        EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
        const auto parts = std::to_string(size) + (size == 1 ? " rank, " : " ranks, ") + "joined in order";
        EXPECT_EQ(count(done.output, parts), 1) << done.output;
        EXPECT_EQ(count(done.output, "runs agree with the reference"), 1) << done.output;
        done = folder_.run(
            ranks(size, {SEGFOLD_PROGRAM, "regress", "trace_i32,sum_f32", "--relations", "--backend", "simt",
                         "--elements", "700", "--stage", "warp_per_segment"}));
        EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
        EXPECT_EQ(count(done.output, "2 relations tried with the smallest tiles alone, all hold"), 1)
            << done.output;
    }
}

/// Verbs that ranks do not share run on rank 0 alone.
TEST_F(Mpi, OtherVerbsAreThoseOfRankZero)
{
    auto done = folder_.run(ranks(3, {SEGFOLD_PROGRAM, "emit", "sum", "--type", "i32"}));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(count(done.output, "__global__"), 1) << done.output;
    done = folder_.run(ranks(3, {SEGFOLD_PROGRAM, "run", "--help"}));
    EXPECT_EQ(count(done.output, "segfold run OP [flags]"), 1) << done.output;
    done = folder_.run(ranks(3, {SEGFOLD_PROGRAM, "bench", "nothing"}));
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(count(done.errors, "unknown operator 'nothing'"), 1) << done.errors;
}

TEST_F(Mpi, AVerdictIsSaidOnceAndIsThatOfAllRanks)
{
    if (!has_compiler())
        GTEST_SKIP() << "there is no C++ compiler for simt";
    // If a law is refuted, rank 0 prints the input that shows it.
    const Words refuted = {SEGFOLD_PROGRAM, "check",     "--op", "a - b",      "--type",
                           "i32",           "--backend", "simt", "--elements", "200"};
    auto done = folder_.run(ranks(3, refuted));
    EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
    EXPECT_EQ(count(done.output, "combine is not associative:"), 1) << done.output;
    EXPECT_EQ(count(done.errors, "segfold:"), 0) << done.errors;
    // If one rank fails, all ranks end with its error.
    auto words = ranks(2, {SEGFOLD_PROGRAM, "check", "sum", "--backend", "simt", "--elements", "500"});
    words.insert(words.end(), {":", "-n", "1", SEGFOLD_PROGRAM, "check", "sun", "--backend", "simt"});
    done = folder_.run(words);
    EXPECT_EQ(done.exit_code, 2) << done.output << done.errors;
    EXPECT_EQ(count(done.errors, "segfold:"), 1) << done.errors;
    EXPECT_EQ(count(done.errors, "rank 2 of 3: "), 1) << done.errors;
    EXPECT_EQ(count(done.errors, "'sun'"), 1) << done.errors;
    // Wrong flags are reported once, not by each rank.
    for (const Words& wrong : {Words{"check", "sum", "--devices", "0,1"},
                               {"check", "sum", "--tree"},
                               {"check", "sum", "--nonsense"},
                               {"regress", "sum", "--static"},
                               {"regress", "sum", "--relation", "slices"}}) {
        Words all = {SEGFOLD_PROGRAM};
        all.insert(all.end(), wrong.begin(), wrong.end());
        done = folder_.run(ranks(3, all));
        EXPECT_EQ(done.exit_code, 2) << done.output << done.errors;
        EXPECT_EQ(count(done.errors, "segfold:"), 1) << done.errors;
    }
}

/// Several processes of a starter that MPI does not know are refused.
TEST(Starters, ThatMpiDoesNotKnowAreRefused)
{
    const Programs folder;
    const Words run = {SEGFOLD_PROGRAM, "run", "sum", "--backend", "reference", "--elements", "10"};
    const auto refused = [&](const Words& environment, const std::string& words) {
        const auto done = folder.run(run, environment);
        EXPECT_EQ(done.exit_code, 2) << done.output;
        EXPECT_NE(done.errors.find(words), std::string::npos) << done.errors;
        EXPECT_EQ(count(done.errors, "segfold:"), 1) << done.errors;
    };
    refused({"RANK=1", "WORLD_SIZE=4", "MASTER_ADDR=localhost"}, "one of 4 processes of torchrun");
    refused({"TORCHELASTIC_RUN_ID=none", "WORLD_SIZE=2"}, "one of 2 processes of torchrun");
    refused({"SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=8"}, "srun --mpi=pmix");
    // The starter of another MPI, or a program that was built without MPI.
    refused({"PMI_RANK=1", "PMI_SIZE=3"}, "one of 3 processes");
    EXPECT_EQ(folder.run(run, {"WORLD_SIZE=1", "RANK=0", "MASTER_ADDR=localhost"}).exit_code, 0);
    EXPECT_EQ(folder.run(run, {"SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=1"}).exit_code, 0);
}

}  // namespace
}  // namespace segfold::test::mpi_test
