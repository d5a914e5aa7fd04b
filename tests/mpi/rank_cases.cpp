// A rank of tests/scale/mpi_test.cpp, which mpirun starts: folds every case with the others, and holds what
// rank 0 has in the end against the reference.
//
//   rank_cases SEED SHARE FILE   the exact operators, of the cases one of SHARE, drawn by SEED; then those
//                                that round, reproducibly, of which rank 0 writes the bits
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "runtime/scale/ranks/mpi_world.h"
#include "tests/scale/rank_cases.h"

namespace segfold::test {
namespace {

Session session_on(const std::string& backend)
{
    SessionOptions options;
    options.backend = backend;
    return Session(options);
}

void fold_exact(Communicator& ranks, std::uint64_t seed, std::uint64_t share)
{
    auto session = session_on("reference");
    int tried = 0;
    std::uint64_t at = seed;
    for_each_rank_case([&](const RankCase& one) {
        if (at++ % share != 0)
            return;
        ++tried;
        StreamOptions options;
        options.memory_bytes = at % 3 == 0 ? 400 : 100000;
        const auto found =
            folded_by(ranks, session, one.workload, options, one.lengths ? &*one.lengths : nullptr);
        if (ranks.rank() == 0) {
            EXPECT_EQ(found, wanted(one.workload)) << one.name << " by " << ranks.size() << " ranks";
        }
    });
    if (ranks.rank() == 0)
        std::printf("%d cases by %d ranks\n", tried, ranks.size());
}

void write_bits(Communicator& ranks, const char* path)
{
    auto session = session_on("reference");
    std::ofstream file;
    if (ranks.rank() == 0)
        file.open(path, std::ios::binary);
    for_each_rounding_case([&](const std::string&, const Workload& workload) {
        StreamOptions options;
        options.plan.is_reproducible = true;
        for (const auto& field : folded_by(ranks, session, workload, options))
            file.write(reinterpret_cast<const char*>(field.data()), std::ssize(field));
    });
}

}  // namespace
}  // namespace segfold::test

int main(int argc, char** argv)
{
    using namespace segfold::test;
    try {
        testing::InitGoogleTest();
        const auto ranks = segfold::mpi_world();
        if (!ranks || argc != 4) {
            std::fputs("this is a rank of a test: mpirun -n N rank_cases SEED SHARE FILE\n", stderr);
            return 2;
        }
        fold_exact(*ranks, std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
        write_bits(*ranks, argv[3]);
        return testing::Test::HasFailure() ? 1 : 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 4;
    }
}
