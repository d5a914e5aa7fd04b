#include "runtime/session/nccl/device_gather.h"

#include "dsl/error.h"

namespace segfold::nccl {
namespace {

/// Calls for several devices by one thread, which NCCL takes as one.
class Group {
public:
    explicit Group(const Library& library) : library_(library)
    {
        library_.check(library_.ncclGroupStart(), "ncclGroupStart");
    }
    ~Group()
    {
        if (!is_ended_)
            (void)library_.ncclGroupEnd();
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    void end()
    {
        is_ended_ = true;
        library_.check(library_.ncclGroupEnd(), "ncclGroupEnd");
    }

private:
    const Library& library_;
    bool is_ended_ = false;
};

}  // namespace

DeviceGather::DeviceGather(const Library& library, std::vector<const cuda::Context*> contexts, int first,
                           int num_devices, const UniqueId& id)
    : library_(library), contexts_(std::move(contexts)), comms_(contexts_.size(), nullptr)
{
    for (const auto* context : contexts_)
        streams_.push_back(context != nullptr ? std::optional<cuda::Stream>(*context) : std::nullopt);
    Group group(library_);
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
        std::optional<cuda::CurrentContext> current;
        if (contexts_[i] != nullptr)
            current.emplace(*contexts_[i]);
        library_.check(library_.ncclCommInitRank(&comms_[i], num_devices, id, first + static_cast<int>(i)),
                       "ncclCommInitRank");
    }
    group.end();
}

DeviceGather::~DeviceGather()
{
    for (auto* comm : comms_)
        if (comm != nullptr)
            (void)library_.ncclCommDestroy(comm);
}

void DeviceGather::all_gather(std::span<const std::byte* const> mine, std::span<std::byte* const> all,
                              std::size_t bytes)
{
    Group group(library_);
    for (std::size_t i = 0; i < comms_.size(); ++i) {
        std::optional<cuda::CurrentContext> current;
        if (contexts_[i] != nullptr)
            current.emplace(*contexts_[i]);
        auto* const stream = streams_[i] ? streams_[i]->handle() : nullptr;
        library_.check(library_.ncclAllGather(mine[i], all[i], bytes, DataType::u8, comms_[i], stream),
                       "ncclAllGather");
    }
    group.end();
}

UniqueId new_id(const Library& library)
{
    UniqueId id{};
    library.check(library.ncclGetUniqueId(&id), "ncclGetUniqueId");
    return id;
}

}  // namespace segfold::nccl
