// Stands in for libnccl.so.2 where there is no GPU: its ranks are devices of one process, of one thread or of
// several, and what it gathers is memory of the host.
//
// Environment: FALSE_NCCL_VERSION is the number that it says, FALSE_NCCL_FAILS the call that fails.
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

extern "C" {

struct ncclUniqueId {
    char internal[128];
};

/// What the ranks of one id share.
struct World {
    explicit World(int size) : given(static_cast<std::size_t>(size)) {}

    std::mutex mutex;
    std::condition_variable change;
    int num_joined = 0;
    std::vector<std::vector<unsigned char>> given;  ///< of the gathering under way
    std::size_t num_given = 0, num_taken = 0;
    long gathering = 0;
};

struct ncclComm {
    std::shared_ptr<World> world;
    std::size_t rank = 0;
};

}  // extern "C"

namespace {

constexpr int kInvalidArgument = 4;

std::mutex worlds_mutex;
std::map<std::string, std::shared_ptr<World>> worlds;
int num_ids = 0;

thread_local int group_depth = 0;
/// What a group does at its end: first all begin, then all wait.
thread_local std::vector<std::function<void()>> begins, ends;

bool fails(const char* call)
{
    const char* const asked = std::getenv("FALSE_NCCL_FAILS");
    return asked != nullptr && std::strcmp(asked, call) == 0;
}

void run_group()
{
    for (auto* part : {&begins, &ends}) {
        for (const auto& step : *part)
            step();
        part->clear();
    }
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version)
{
    const char* const asked = std::getenv("FALSE_NCCL_VERSION");
    *version = asked != nullptr ? std::atoi(asked) : 22803;
    return 0;
}

const char* ncclGetErrorString(int result) { return result == 0 ? "no error" : "false argument"; }

int ncclGetUniqueId(ncclUniqueId* id)
{
    const std::lock_guard lock(worlds_mutex);
    std::memset(id, 0, sizeof *id);
    const auto name = "world " + std::to_string(num_ids++);
    std::memcpy(id->internal + 64, name.data(), name.size());
    return 0;
}

int ncclGroupStart()
{
    ++group_depth;
    return 0;
}

int ncclGroupEnd()
{
    if (--group_depth == 0)
        run_group();
    return 0;
}

int ncclCommInitRank(ncclComm** comm, int num_ranks, ncclUniqueId id, int rank)
{
    if (fails("ncclCommInitRank") || rank < 0 || rank >= num_ranks)
        return kInvalidArgument;
    std::shared_ptr<World> world;
    {
        const std::lock_guard lock(worlds_mutex);
        auto& place = worlds[std::string(id.internal + 64)];
        if (!place)
            place = std::make_shared<World>(num_ranks);
        world = place;
    }
    if (world->given.size() != static_cast<std::size_t>(num_ranks))
        return kInvalidArgument;
    *comm = new ncclComm{world, static_cast<std::size_t>(rank)};
    begins.emplace_back([world] {
        const std::lock_guard lock(world->mutex);
        ++world->num_joined;
        world->change.notify_all();
    });
    ends.emplace_back([world, num_ranks] {
        std::unique_lock lock(world->mutex);
        world->change.wait(lock, [&] { return world->num_joined == num_ranks; });
    });
    if (group_depth == 0)
        run_group();
    return 0;
}

int ncclCommDestroy(ncclComm* comm)
{
    delete comm;
    return 0;
}

int ncclAllGather(const void* mine, void* all, std::size_t count, int type, ncclComm* comm, void*)
{
    if (fails("ncclAllGather") || type != 1 || group_depth == 0)
        return kInvalidArgument;
    auto world = comm->world;
    const auto rank = comm->rank;
    auto turn = std::make_shared<long>(0);
    begins.emplace_back([=] {
        std::unique_lock lock(world->mutex);
        // What was gathered before must be taken.
        world->change.wait(lock, [&] { return world->num_given < world->given.size(); });
        const auto* const bytes = static_cast<const unsigned char*>(mine);
        world->given[rank].assign(bytes, bytes + count);
        *turn = world->gathering;
        if (++world->num_given == world->given.size())
            ++world->gathering;
        world->change.notify_all();
    });
    ends.emplace_back([=] {
        std::unique_lock lock(world->mutex);
        world->change.wait(lock, [&] { return world->gathering > *turn; });
        for (std::size_t i = 0; i < world->given.size(); ++i)
            std::memcpy(static_cast<unsigned char*>(all) + i * count, world->given[i].data(), count);
        if (++world->num_taken == world->given.size()) {
            world->num_taken = 0;
            world->num_given = 0;
            world->change.notify_all();
        }
    });
    return 0;
}

#ifdef FALSE_NCCL_GATHERS_HOST_MEMORY
/// By this it is known as a stand-in.
int segfoldGathersHostMemory() { return 1; }
#endif

}  // extern "C"
