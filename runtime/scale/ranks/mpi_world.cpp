#include "runtime/scale/ranks/mpi_world.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "dsl/error.h"
#include "dsl/integer_text.h"

#ifdef SEGFOLD_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#endif

namespace segfold {
namespace {

std::optional<std::int64_t> number_of(const char* variable)
{
    const char* const text = std::getenv(variable);
    return text == nullptr ? std::nullopt : parse_integer(text);
}

/// True if a starter such as mpirun has set variables that MPI_Init reads.
bool is_started_for_mpi()
{
    for (const auto* variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
        if (std::getenv(variable) != nullptr)
            return true;
    return false;
}

/// Returns the number of processes from the starter's environment variables; 1 if they have none.
std::int64_t announced_processes()
{
    for (const auto* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
        if (const auto number = number_of(variable))
            return *number;
    return 1;
}

/// Throws InputError if several processes were started by a launcher that does not serve MPI.
void refuse_other_starters()
{
    const auto refuse = [](std::int64_t count, const char* starter, const char* right) {
        throw InputError(
            fmt::format("this is one of {} processes of {}, which tells MPI nothing of the others; {}", count,
                        starter, right));
    };
    // Launchers like torchrun set the rank, the number of processes and the address of the first process.
    const bool has_torch = std::getenv("TORCHELASTIC_RUN_ID") != nullptr ||
                           (std::getenv("RANK") != nullptr && std::getenv("MASTER_ADDR") != nullptr);
    if (const auto count = number_of("WORLD_SIZE").value_or(1); has_torch && count > 1)
        refuse(count, "torchrun or a launcher like it",
               "start with mpirun -n N or srun --mpi=pmix, or unset WORLD_SIZE to run alone");
    if (const auto count = number_of("SLURM_STEP_NUM_TASKS").value_or(1);
        std::getenv("SLURM_STEP_ID") != nullptr && count > 1)
        refuse(count, "srun", "start with srun --mpi=pmix or --mpi=pmi2");
}

#ifdef SEGFOLD_MPI

/// Functions of libmpi, with the types of the mpi.h at build time.
struct Mpi {
    decltype(&MPI_Init_thread) init_thread;
    decltype(&MPI_Finalize) finalize;
    decltype(&MPI_Comm_rank) comm_rank;
    decltype(&MPI_Comm_size) comm_size;
    decltype(&MPI_Comm_split_type) comm_split_type;
    decltype(&MPI_Comm_free) comm_free;
    decltype(&MPI_Allgather) all_gather;
    decltype(&MPI_Allgatherv) all_gather_v;
    decltype(&MPI_Send) send;
    decltype(&MPI_Recv) receive;
    decltype(&MPI_Abort) abort;
    MPI_Comm world;
    MPI_Datatype byte;
    MPI_Datatype long_long;
    MPI_Info no_info;
};

/// The values of MPI's handles. They are numbers in MPICH, and addresses of the library's variables in Open
/// MPI.
#ifdef OPEN_MPI
constexpr const char* kLibrary = "libmpi.so.40";
constexpr const char* kOtherLibrary = nullptr;
#define SEGFOLD_MPI_HANDLE(constant, variable) reinterpret_cast<decltype(constant)>(symbol(variable))
#else
constexpr const char* kLibrary = "libmpich.so.12";
constexpr const char* kOtherLibrary = "libmpi.so.12";  // the name in other builds
#define SEGFOLD_MPI_HANDLE(constant, variable) constant
#endif

Mpi open_mpi()
{
    // RTLD_GLOBAL is needed, because Open MPI's plug-ins look up the library's symbols in the process.
    void* library = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr && kOtherLibrary != nullptr)
        library = dlopen(kOtherLibrary, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr)
        throw DeviceError(fmt::format("this process was started under MPI, and {} cannot be opened: {}",
                                      kLibrary, dlerror()));
    const auto symbol = [&](const char* name) {
        void* const found = dlsym(library, name);
        if (found == nullptr)
            throw DeviceError(
                fmt::format("{} has no {}; it is another MPI than the one that this program "
                            "was built with",
                            kLibrary, name));
        return found;
    };
    const auto take = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol(name));
    };
    Mpi mpi{};
    take(mpi.init_thread, "MPI_Init_thread");
    take(mpi.finalize, "MPI_Finalize");
    take(mpi.comm_rank, "MPI_Comm_rank");
    take(mpi.comm_size, "MPI_Comm_size");
    take(mpi.comm_split_type, "MPI_Comm_split_type");
    take(mpi.comm_free, "MPI_Comm_free");
    take(mpi.all_gather, "MPI_Allgather");
    take(mpi.all_gather_v, "MPI_Allgatherv");
    take(mpi.send, "MPI_Send");
    take(mpi.receive, "MPI_Recv");
    take(mpi.abort, "MPI_Abort");
    mpi.world = SEGFOLD_MPI_HANDLE(MPI_COMM_WORLD, "ompi_mpi_comm_world");
    mpi.byte = SEGFOLD_MPI_HANDLE(MPI_BYTE, "ompi_mpi_byte");
    mpi.long_long = SEGFOLD_MPI_HANDLE(MPI_LONG_LONG, "ompi_mpi_long_long_int");
    mpi.no_info = SEGFOLD_MPI_HANDLE(MPI_INFO_NULL, "ompi_mpi_info_null");
    return mpi;
}

#undef SEGFOLD_MPI_HANDLE

/// The ranks of an MPI communicator. Unless the caller sets an error handler, an error inside MPI ends all
/// ranks.
class MpiRanks : public Communicator {
public:
    /// Calls MPI_Init_thread and takes MPI_COMM_WORLD; the destructor calls MPI_Finalize.
    MpiRanks() : mpi_(open_mpi()), comm_(mpi_.world), owns_mpi_(true)
    {
        int provided = MPI_THREAD_SINGLE;
        if (mpi_.init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
            throw DeviceError("MPI_Init_thread failed");
        find_place();
    }
    explicit MpiRanks(MPI_Comm comm) : mpi_(open_mpi()), comm_(comm) { find_place(); }
    ~MpiRanks() override
    {
        if (owns_mpi_)
            mpi_.finalize();
    }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] int local_rank() const override { return local_rank_; }

    [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override
    {
        const auto ranks = static_cast<std::size_t>(size_);
        long long bytes = std::ssize(mine);
        std::vector<long long> each(ranks);
        mpi_.all_gather(&bytes, 1, mpi_.long_long, each.data(), 1, mpi_.long_long, comm_);
        std::vector<int> counts, places;
        long long sum = 0;
        for (const auto count : each) {
            counts.push_back(static_cast<int>(count));
            places.push_back(static_cast<int>(sum));
            sum += count;
            if (sum > std::numeric_limits<int>::max())
                throw InternalError("ranks gather " + std::to_string(sum) + " bytes in one call");
        }
        std::vector<std::byte> all(static_cast<std::size_t>(sum));
        mpi_.all_gather_v(mine.data(), static_cast<int>(bytes), mpi_.byte, all.data(), counts.data(),
                          places.data(), mpi_.byte, comm_);
        std::vector<std::vector<std::byte>> apart(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank)
            apart[rank].assign(all.begin() + places[rank], all.begin() + places[rank] + counts[rank]);
        return apart;
    }

    void send(int to, std::span<const std::byte> bytes) override
    {
        for (; !bytes.empty(); bytes = bytes.subspan(part(bytes.size())))
            mpi_.send(bytes.data(), static_cast<int>(part(bytes.size())), mpi_.byte, to, 0, comm_);
    }

    void receive(int from, std::span<std::byte> bytes) override
    {
        for (; !bytes.empty(); bytes = bytes.subspan(part(bytes.size())))
            mpi_.receive(bytes.data(), static_cast<int>(part(bytes.size())), mpi_.byte, from, 0, comm_,
                         MPI_STATUS_IGNORE);
    }

    [[noreturn]] void abort(int exit_code) override
    {
        mpi_.abort(comm_, exit_code);
        std::_Exit(exit_code);
    }

private:
    void find_place()
    {
        mpi_.comm_rank(comm_, &rank_);
        mpi_.comm_size(comm_, &size_);
        MPI_Comm host{};
        mpi_.comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, mpi_.no_info, &host);
        mpi_.comm_rank(host, &local_rank_);
        mpi_.comm_free(&host);
    }
    /// Returns the size of the next message, in bytes. MPI counts bytes in an int, so large sends are
    /// divided.
    static std::size_t part(std::size_t bytes) { return std::min(bytes, std::size_t{1} << 26); }

    Mpi mpi_;
    MPI_Comm comm_;
    bool owns_mpi_ = false;
    int rank_ = 0, size_ = 1, local_rank_ = 0;
};

#endif

}  // namespace

int announced_rank()
{
    for (const auto* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
        if (const auto number = number_of(variable))
            return static_cast<int>(*number);
    const bool is_step = std::getenv("SLURM_STEP_ID") != nullptr;
    return is_step ? static_cast<int>(number_of("SLURM_PROCID").value_or(0)) : 0;
}

std::unique_ptr<Communicator> mpi_world()
{
    if (!is_started_for_mpi()) {
        refuse_other_starters();
        return nullptr;
    }
    const auto announced = announced_processes();
#ifdef SEGFOLD_MPI
    auto world = std::make_unique<MpiRanks>();
    if (world->size() == 1 && announced > 1)
        throw InputError(
            fmt::format("this is one of {} processes, and {} finds it alone: their starter is of another MPI "
                        "than the one "
                        "that this program was built with; start with that one's mpirun",
                        announced, kLibrary));
    return world;
#else
    if (announced > 1)
        throw InputError(fmt::format(
            "this is one of {} processes that were started under MPI, and this program was "
            "built without it; build with SEGFOLD_MPI=ON (./segfold) or -DSEGFOLD_MPI=ON (CMake), "
            "or run one process",
            announced));
    return nullptr;
#endif
}

std::unique_ptr<Communicator> mpi_communicator([[maybe_unused]] const void* communicator)
{
#ifdef SEGFOLD_MPI
    return std::make_unique<MpiRanks>(*static_cast<const MPI_Comm*>(communicator));
#else
    throw InputError(
        "a communicator of MPI is given, and this library was built without it; build with -DSEGFOLD_MPI=ON");
#endif
}

}  // namespace segfold
