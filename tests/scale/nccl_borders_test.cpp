// Border states that devices gather by NCCL, of which a stand-in gathers the host's memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>

#include "runtime/judge/reference.h"
#include "runtime/session/nccl/nccl_library.h"
#include "runtime/session/scale/ranks/thread_ranks.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"
#include "tests/scale/resident_cases.h"

namespace segfold::test::nccl_borders_test {
namespace {

/// An environment variable for the life of this object.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

class NcclBorders : public testing::Test {
protected:
    Variable library_{"SEGFOLD_NCCL", SEGFOLD_FALSE_NCCL};
};

TEST_F(NcclBorders, AnyNumberOfPartsGivesWhatOnePieceGives)
{
    const Devices devices("reference", 9);
    int count = 0;
    for_each_case([&](const std::string& name, const Workload& workload) {
        const auto wanted = reduce_sequentially(workload);
        const auto parts = std::array<std::size_t, 4>{1, 2, 3, 9}[static_cast<std::size_t>(count++) % 4];
        const auto used = std::span(devices.pointers).first(parts);
        const DividedWorkload resident(used, workload, 0, std::ssize(used));
        ResidentFold fold(workload.op, resident.parts(), {}, BorderWay::nccl);
        for (int run = 0; run < 2; ++run) {
            auto all = blank_results(workload);
            const auto finished = fold.run();
            resident.gather(all);
            for (const auto& one : finished)
                one.store(all, one.segment);
            expect_equal(all, wanted, name + " in " + std::to_string(parts) + " parts");
        }
    });
    EXPECT_GT(count, 100);
}

TEST_F(NcclBorders, RanksGatherThoseOfAllTheirParts)
{
    int turn = 0;
    for_each_case([&](const std::string& name, const Workload& workload) {
        auto all = blank_results(workload);
        std::mutex mutex;
        // Ranks of uneven numbers of parts, in turn one rank without any.
        const std::vector<std::vector<std::int64_t>> shares = {{2, 2, 2}, {1, 3, 2}, {3, 0, 3}};
        const auto& share = shares[static_cast<std::size_t>(turn++) % shares.size()];
        run_thread_ranks(3, [&](Communicator& ranks) {
            std::int64_t first = 0;
            for (int rank = 0; rank < ranks.rank(); ++rank)
                first += share[static_cast<std::size_t>(rank)];
            const Devices devices("reference",
                                  static_cast<int>(share[static_cast<std::size_t>(ranks.rank())]));
            const DividedWorkload resident(devices.pointers, workload, first, 6);
            ResidentFold fold(workload.op, resident.parts(), {}, BorderWay::nccl);
            for (int run = 0; run < 2; ++run) {
                const auto finished = fold.run(ranks);
                const std::lock_guard lock(mutex);
                resident.gather(all);
                for (const auto& one : finished) {
                    one.store(all, one.segment);
                    EXPECT_TRUE(std::ranges::any_of(fold.parts(),
                                                    [&](const ResidentPart& part) {
                                                        return part.head && part.head->segment == one.segment;
                                                    }))
                        << name << ": segment " << one.segment << " ends elsewhere than at rank "
                        << ranks.rank();
                }
            }
        });
        expect_equal(all, reduce_sequentially(workload), name + " by ranks");
    });
}

/// Words of the error of a fold of two parts.
std::string refused(const std::string& library)
{
    const Variable variable("SEGFOLD_NCCL", library);
    const Devices devices("reference", 2);
    const auto workload = slice_workload(standard_operator("sum_i32"), whole_segments(100));
    const DividedWorkload resident(devices.pointers, workload, 0, 2);
    return message_of([&] {
        ResidentFold fold(workload.op, resident.parts(), {}, BorderWay::nccl);
        (void)fold.run();
    });
}

TEST(Nccl, WhatCannotBeOpenedIsRefusedInWords)
{
    const auto absent = refused("/nowhere/libnccl.so.2");
    EXPECT_NE(
        absent.find("border states are to go by NCCL, and /nowhere/libnccl.so.2 cannot be opened, which "
                    "SEGFOLD_NCCL names"),
        std::string::npos)
        << absent;
    const TemporaryFolder folder;
    const auto text = refused(folder.write("libnccl.so.2", "no library"));
    EXPECT_NE(text.find("name the path of a libnccl.so.2"), std::string::npos) << text;
    // A library that is another one, and a version that is not known.
    EXPECT_NE(refused("libm.so.6").find("ncclGetVersion"), std::string::npos) << refused("libm.so.6");
    {
        const Variable version("FALSE_NCCL_VERSION", "31204");
        const auto linked = folder.file("three.so");
        std::filesystem::create_symlink(SEGFOLD_FALSE_NCCL, linked);
        EXPECT_EQ(refused(linked), linked + " is NCCL 3.12.4; what is known here is NCCL 2");
    }
}

TEST(Nccl, SessionsWithoutAGpuAreRefused)
{
    EXPECT_EQ(refused(SEGFOLD_FALSE_NCCL_OF_GPUS),
              "border states are to go by NCCL, which gathers what lies on GPUs, and part 0 is folded by the "
              "back end reference; give a session of cuda, or let the states go by the host");
}

TEST(Nccl, ItsFailuresNameTheCall)
{
    for (const auto* call : {"ncclCommInitRank", "ncclAllGather"}) {
        const Variable fails("FALSE_NCCL_FAILS", call);
        EXPECT_EQ(refused(SEGFOLD_FALSE_NCCL), std::string(call) + " of " + SEGFOLD_FALSE_NCCL +
                                                   " failed: false argument (4); NCCL_DEBUG=INFO says more");
    }
    const Variable library("SEGFOLD_NCCL", SEGFOLD_FALSE_NCCL);
    EXPECT_EQ(nccl::library().version(), "2.28.3");
}

TEST_F(NcclBorders, RanksThatFoldByOtherOperatorsAreRefused)
{
    std::mutex mutex;
    std::vector<std::string> words;
    run_thread_ranks(3, [&](Communicator& ranks) {
        const auto op = standard_operator(ranks.rank() == 1 ? "mean_variance_f32" : "sum_f32");
        const Devices devices("reference", 1);
        const auto workload = slice_workload(op, whole_segments(90));
        const DividedWorkload resident(devices.pointers, workload, ranks.rank(), 3);
        ResidentFold fold(op, resident.parts(), {}, BorderWay::nccl);
        auto text = refusal([&] { (void)fold.run(ranks); });
        const std::lock_guard lock(mutex);
        words.push_back(std::move(text));
    });
    ASSERT_EQ(words.size(), 3U);
    for (const auto& text : words)
        EXPECT_EQ(text,
                  "rank 1 of 3 has border states of 32 bytes, and this one of 8; all fold by one operator");
}

}  // namespace
}  // namespace segfold::test::nccl_borders_test
