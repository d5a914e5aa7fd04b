#include "runtime/simt/execution/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "dsl/error.h"
#include "dsl/lasting.h"
#include "runtime/simt/execution/region.h"

namespace segfold::simt {

Arena arena;

namespace {

constexpr std::size_t kArenaPageBytes = std::size_t{1} << kArenaPageBits;
// A freed range is reused only after this many more ranges of its size have been freed. Until then, a stale
// pointer hits no new buffer.
constexpr std::size_t kQuarantine = 64;

/// The free and the used ranges of the arena.
struct Allocator {
    std::mutex mutex;
    std::size_t next_page = 1;
    std::map<std::size_t, std::deque<std::size_t>>
        free_pages;                          ///< first pages of free ranges, by number of pages
    std::map<std::uintptr_t, Region*> live;  ///< live buffers by address
};

Allocator& allocator()
{
    static auto& instance = lasting([] { return Allocator(); });
    return instance;
}

void* reserve(std::size_t bytes, int protection)
{
    return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void reserve_arena()
{
    for (std::size_t bits = 38; bits >= 32; --bits) {
        const std::size_t bytes = std::size_t{1} << bits;
        void* memory = reserve(bytes, PROT_NONE);
        void* pages = reserve((bytes >> kArenaPageBits) * sizeof(Region*), PROT_READ | PROT_WRITE);
        if (memory != MAP_FAILED && pages != MAP_FAILED) {
            arena = {reinterpret_cast<std::uintptr_t>(memory), bytes, static_cast<Region**>(pages)};
            return;
        }
        if (memory != MAP_FAILED)
            munmap(memory, bytes);
        if (pages != MAP_FAILED)
            munmap(pages, (bytes >> kArenaPageBits) * sizeof(Region*));
    }
    throw DeviceError("simt: cannot reserve 4 GiB of addresses for device memory");
}

std::size_t take_pages(Allocator& state, std::size_t pages, const std::string& name)
{
    auto& rested = state.free_pages[pages];
    if (rested.size() > kQuarantine) {
        const std::size_t first = rested.front();
        rested.pop_front();
        return first;
    }
    if ((state.next_page + pages + 1) << kArenaPageBits > arena.bytes)
        throw DeviceError("simt: device memory is full at buffer '" + name + "' of " +
                          std::to_string(pages * kArenaPageBytes) + " bytes");
    const std::size_t first = state.next_page;
    state.next_page += pages + 1;
    return first;
}

void poison(std::byte* memory, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; i += sizeof kPoison)
        std::memcpy(memory + i, &kPoison, std::min(sizeof kPoison, bytes - i));
}

void release(Region& region)
{
    Allocator& state = allocator();
    const std::lock_guard lock(state.mutex);
    state.live.erase(reinterpret_cast<std::uintptr_t>(region.base));
    std::fill_n(arena.pages + region.first_page, region.pages, nullptr);
    madvise(region.base, region.pages * kArenaPageBytes, MADV_DONTNEED);
    mprotect(region.base, region.pages * kArenaPageBytes, PROT_NONE);
    state.free_pages[region.pages].push_back(region.first_page);
}

}  // namespace

Neighbour nearest_buffer(std::uintptr_t address)
{
    Allocator& state = allocator();
    const std::lock_guard lock(state.mutex);
    const auto describe = [address](const Region& region) {
        return Neighbour{
            true, region.name, region.bytes,
            static_cast<std::ptrdiff_t>(address - reinterpret_cast<std::uintptr_t>(region.base))};
    };
    const auto after = state.live.upper_bound(address);
    if (after == state.live.end())
        return state.live.empty() ? Neighbour{} : describe(*state.live.rbegin()->second);
    if (after == state.live.begin())
        return describe(*after->second);
    const Region& before = *std::prev(after)->second;
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(before.base) + before.bytes;
    return describe(address < end || address - end <= after->first - address ? before : *after->second);
}

Buffer::Buffer() = default;
Buffer::Buffer(Buffer&& other) noexcept
    : region_(std::move(other.region_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0))
{}

Buffer& Buffer::operator=(Buffer&& other) noexcept
{
    std::swap(region_, other.region_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Buffer::Buffer(std::string name, std::size_t bytes) : region_(std::make_unique<Region>()), bytes_(bytes)
{
    Allocator& state = allocator();
    region_->name = std::move(name);
    region_->bytes = bytes;
    region_->shadow = std::make_unique<Shadow>(bytes);
    region_->pages = std::max<std::size_t>(1, (bytes + kArenaPageBytes - 1) >> kArenaPageBits);
    {
        const std::lock_guard lock(state.mutex);
        if (arena.base == 0)
            reserve_arena();
        region_->first_page = take_pages(state, region_->pages, region_->name);
        region_->base = reinterpret_cast<std::byte*>(arena.base + (region_->first_page << kArenaPageBits));
        if (mprotect(region_->base, region_->pages * kArenaPageBytes, PROT_READ | PROT_WRITE) != 0)
            throw DeviceError("simt: no memory for buffer " + shown_name(region_->name) + " of " +
                              std::to_string(bytes) + " bytes");
        std::fill_n(arena.pages + region_->first_page, region_->pages, region_.get());
        state.live[reinterpret_cast<std::uintptr_t>(region_->base)] = region_.get();
    }
    data_ = region_->base;
    poison(data_, bytes);
}

Buffer::~Buffer()
{
    if (region_ != nullptr)
        release(*region_);
}

void Buffer::forget_writes()
{
    if (region_)
        region_->shadow = std::make_unique<Shadow>(bytes_);
}

bool Buffer::is_written(std::size_t begin, std::size_t count) const
{
    for (std::size_t i = begin; i < begin + count; ++i) {
        const Cell& cell = region_->shadow->cells()[i / 4];
        const Extra* extra = region_->shadow->extra_of(cell);
        if ((extra != nullptr && extra->split ? extra->bytes[i % 4] : cell).write.block == 0)
            return false;
    }
    return true;
}

const std::string& Buffer::name() const
{
    static const auto& none = lasting([] { return std::string(); });
    return region_ ? region_->name : none;
}

Buffer allocate(std::string name, std::size_t bytes) { return {std::move(name), bytes}; }

}  // namespace segfold::simt
