// Border states that GPUs gather by NCCL: two in one process, and one for each rank.
//
//     SEGFOLD_NCCL=.../nvidia/nccl/lib/libnccl.so.2 nccl_gpu_test
//     mpirun -n 2 nccl_gpu_test --gtest_filter='*Ranks*'
#include <gtest/gtest.h>

#include <cstdio>

#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/judge/reference.h"
#include "runtime/session/nccl/nccl_library.h"
#include "runtime/session/scale/ranks/mpi_world.h"
#include "tests/scale/resident_cases.h"

namespace segfold::test::nccl_gpu_test {
namespace {

/// The ranks that mpirun has started, for the life of the program.
class World : public testing::Environment {
public:
    void SetUp() override { ranks = mpi_world(); }
    void TearDown() override { ranks.reset(); }
    static inline std::unique_ptr<Communicator> ranks;
};

const auto* const world = testing::AddGlobalTestEnvironment(new World);

class NcclOnGpus : public testing::Test {
protected:
    void SetUp() override
    {
        if (cuda::devices().size() < 2)
            GTEST_SKIP() << "NCCL needs two GPUs, and there are " << cuda::devices().size();
        try {
            std::printf("NCCL %s, %s\n", nccl::library().version().c_str(),
                        nccl::library().library.path().c_str());
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }
};

Session session_on(int device)
{
    SessionOptions options;
    options.backend = "cuda";
    options.device = device;
    return Session(options);
}

/// One of `share` cases: each is compiled.
void for_some_cases(int share, const std::function<void(const std::string&, const Workload&)>& visit)
{
    int turn = 0;
    for_each_case([&](const std::string& name, const Workload& workload) {
        if (turn++ % share == 0)
            visit(name, workload);
    });
}

TEST_F(NcclOnGpus, InOneProcessGatherBorders)
{
    if (World::ranks)
        GTEST_SKIP() << "started by mpirun, where each rank has one GPU";
    auto first = session_on(cuda::devices()[0].ordinal), second = session_on(cuda::devices()[1].ordinal);
    Session* const devices[] = {&first, &second};
    int count = 0;
    for_some_cases(3, [&](const std::string& name, const Workload& workload) {
        const DividedWorkload resident(devices, workload, 0, 2);
        ResidentFold fold(workload.op, resident.parts(), {}, BorderWay::nccl);
        for (int run = 0; run < 2; ++run) {
            auto all = blank_results(workload);
            for (const auto& one : fold.run())
                one.store(all, one.segment);
            resident.gather(all);
            expect_equal(all, reduce_sequentially(workload), name);
        }
        ++count;
    });
    std::printf("%d cases\n", count);
    EXPECT_GT(count, 30);
}

TEST_F(NcclOnGpus, OfRanksGatherBorders)
{
    if (!World::ranks || World::ranks->size() < 2)
        GTEST_SKIP() << "not started by mpirun -n 2";
    auto& ranks = *World::ranks;
    const auto devices = cuda::devices();
    if (std::cmp_greater(ranks.size(), devices.size()))
        GTEST_SKIP() << ranks.size() << " ranks, and NCCL takes each of " << devices.size() << " GPUs once";
    auto session = session_on(devices[static_cast<std::size_t>(ranks.local_rank())].ordinal);
    Session* const own = &session;
    int count = 0;
    for_some_cases(5, [&](const std::string& name, const Workload& workload) {
        const DividedWorkload resident(std::span(&own, 1), workload, ranks.rank(), ranks.size());
        ResidentFold fold(workload.op, resident.parts(), {}, BorderWay::nccl);
        const auto right = reduce_sequentially(workload);
        auto all = reduce_sequentially(workload);  // of what ends elsewhere, and spoiled here
        const auto spoil = [&](std::int64_t segment) {
            for (auto& [field, array] : all) {
                const auto width = size_bytes(array.type());
                std::memset(array.data() + static_cast<std::size_t>(segment) * width, 0x5a, width);
            }
        };
        const auto& part = fold.parts().front();
        for (auto s = part.first_inner; s < part.first_inner + part.num_inner; ++s)
            spoil(s);
        if (part.head)
            spoil(part.head->segment);
        for (int run = 0; run < 2; ++run) {
            for (const auto& one : fold.run(ranks))
                one.store(all, one.segment);
            resident.gather(all);
            expect_equal(all, right, name + " at rank " + std::to_string(ranks.rank()));
        }
        ++count;
    });
    if (ranks.rank() == 0)
        std::printf("%d cases by %d ranks\n", count, ranks.size());
    EXPECT_GT(count, 15);
}

}  // namespace
}  // namespace segfold::test::nccl_gpu_test
