#pragma once
// Stacks on which CUDA threads run, and the switch between two stacks.
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace segfold::simt {

/// A stack, and the point at which the code on it will continue.
struct Fiber {
    boost::context::detail::fcontext_t context = nullptr;
    std::uintptr_t low = 0;  ///< lowest usable address
    std::uintptr_t high = 0;
};

// The address sanitizer must be told of every switch between stacks.
#if defined(__SANITIZE_ADDRESS__)
inline void announce_switch(void** from_fake_stack, const Fiber& to)
{
    __sanitizer_start_switch_fiber(from_fake_stack, reinterpret_cast<void*>(to.low), to.high - to.low);
}
inline void confirm_switch(void* fake_stack, Fiber* from)
{
    const void* low = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &low, &bytes);
    from->low = reinterpret_cast<std::uintptr_t>(low);
    from->high = from->low + bytes;
}
#else
inline void announce_switch(void**, const Fiber&) {}
inline void confirm_switch(void*, Fiber*) {}
#endif

/// Leaves the stack `from` and continues on the stack `to`. Returns when another switch continues `from`.
inline void switch_fiber(Fiber& from, Fiber& to)
{
    void* fake_stack = nullptr;
    announce_switch(&fake_stack, to);
    const auto arrival = boost::context::detail::jump_fcontext(to.context, &from);
    auto* previous = static_cast<Fiber*>(arrival.data);
    previous->context = arrival.fctx;
    confirm_switch(fake_stack, previous);
}

/// Stores the point at which the fiber that switched to this stack will continue. Must be the first call on a
/// new stack.
inline void begin_fiber(boost::context::detail::transfer_t arrival)
{
    auto* from = static_cast<Fiber*>(arrival.data);
    from->context = arrival.fctx;
    confirm_switch(nullptr, from);
}

/// The fibers of one OS thread. They are made on demand and reused.
class FiberPool {
public:
    using Entry = void (*)(boost::context::detail::transfer_t);

    explicit FiberPool(Entry entry) : entry_(entry) {}
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;
    ~FiberPool();

    /// Returns an idle fiber. A new fiber begins at the entry; a used fiber continues where its last CUDA
    /// thread ended.
    Fiber& take();
    void give_back(Fiber& fiber) { idle_.push_back(&fiber); }
    /// Makes every fiber begin at the entry again, wherever it stopped.
    void reset();

private:
    void add_stacks();

    Entry entry_;
    std::deque<Fiber> fibers_;
    std::vector<Fiber*> idle_;
    std::vector<void*> mappings_;
};

}  // namespace segfold::simt
