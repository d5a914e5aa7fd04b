// A rank of tests/scale/mpi_test.cpp that sets up MPI by itself: its communicator has the world's ranks in
// reverse.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>

#include "runtime/scale/ranks/mpi_world.h"
#include "tests/scale/rank_cases.h"

namespace segfold::test {
namespace {

int fold_cases(Communicator& ranks)
{
    SessionOptions options;
    options.backend = "reference";
    Session session(options);
    std::size_t turn = 0;
    int tried = 0;
    for_each_rank_case([&](const RankCase& one) {
        if (turn++ % 2 != 0)
            return;
        ++tried;
        const auto found = folded_by(ranks, session, one.workload, {}, one.lengths ? &*one.lengths : nullptr);
        if (ranks.rank() == 0) {
            EXPECT_EQ(found, wanted(one.workload)) << one.name << " by " << ranks.size() << " ranks";
        }
    });
    return tried;
}

}  // namespace
}  // namespace segfold::test

int main(int argc, char** argv)
{
    testing::InitGoogleTest();
    MPI_Init(&argc, &argv);
    int world_rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
    try {
        const auto ranks = segfold::mpi_communicator(&reversed);
        EXPECT_EQ(ranks->rank(), size - 1 - world_rank);
        EXPECT_EQ(ranks->size(), size);
        const int tried = segfold::test::fold_cases(*ranks);
        if (ranks->rank() == 0)
            std::printf("%d cases, first at rank %d of %d\n", tried, world_rank, size);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    MPI_Comm_free(&reversed);  // still the caller's, as MPI is
    MPI_Finalize();
    return testing::Test::HasFailure() ? 1 : 0;
}
