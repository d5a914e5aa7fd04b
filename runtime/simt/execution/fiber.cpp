#include "runtime/simt/execution/fiber.h"

#include <sys/mman.h>

#include "dsl/error.h"

namespace segfold::simt {
namespace {

constexpr std::size_t kGuardPageBytes = 4096;
constexpr std::size_t kStackPages = 16;
// An unmapped page below each stack turns an overflow into a crash. It also keeps stacks from lying a power
// of two apart, which would put all their tops into the same cache sets.
constexpr std::size_t kStrideBytes = (kStackPages + 1) * kGuardPageBytes;
constexpr std::size_t kStacksPerMapping = 32;
constexpr std::size_t kMappingBytes = kStacksPerMapping * kStrideBytes;
constexpr std::size_t kCacheLineBytes = 64;

}  // namespace

FiberPool::~FiberPool()
{
    for (void* mapping : mappings_)
        munmap(mapping, kMappingBytes);
}

Fiber& FiberPool::take()
{
    if (idle_.empty())
        add_stacks();
    Fiber& fiber = *idle_.back();
    idle_.pop_back();
    return fiber;
}

void FiberPool::reset()
{
    idle_.clear();
    for (Fiber& fiber : fibers_) {
#if defined(__SANITIZE_ADDRESS__)
        __asan_unpoison_memory_region(reinterpret_cast<void*>(fiber.low), fiber.high - fiber.low);
#endif
        fiber.context = boost::context::detail::make_fcontext(reinterpret_cast<void*>(fiber.high),
                                                              fiber.high - fiber.low, entry_);
        idle_.push_back(&fiber);
    }
}

void FiberPool::add_stacks()
{
    void* memory = mmap(nullptr, kMappingBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw DeviceError("simt: no memory for the stacks of more than " + std::to_string(fibers_.size()) +
                          " waiting threads; use fewer resident blocks");
    mappings_.push_back(memory);
    auto base = reinterpret_cast<std::uintptr_t>(memory);
    for (std::size_t i = 0; i < kStacksPerMapping; ++i, base += kStrideBytes) {
        // mprotect fails if the process has too many mappings. Kernels then run without guard pages.
        mprotect(reinterpret_cast<void*>(base), kGuardPageBytes, PROT_NONE);
        Fiber& fiber = fibers_.emplace_back();
        fiber.low = base + kGuardPageBytes;
        fiber.high = base + kStrideBytes - (fibers_.size() * 5 % 32) * kCacheLineBytes;
        fiber.context = boost::context::detail::make_fcontext(reinterpret_cast<void*>(fiber.high),
                                                              fiber.high - fiber.low, entry_);
        idle_.push_back(&fiber);
    }
}

}  // namespace segfold::simt
