#pragma once
// Stacks on which CUDA threads run, and the switch from one to another.
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace segfold::simt {

/// A stack and the place where its code goes on.
struct Fiber {
    boost::context::detail::fcontext_t context = nullptr;
    std::uintptr_t low = 0;  ///< lowest usable address
    std::uintptr_t high = 0;
};

/// Leaves `from`, goes on in `to`; returns when something switches back to `from`.
inline void switch_fiber(Fiber& from, Fiber& to)
{
    const auto arrival = boost::context::detail::jump_fcontext(to.context, &from.context);
    *static_cast<boost::context::detail::fcontext_t*>(arrival.data) = arrival.fctx;
}

/// To be called first on a new stack: notes where the fiber that switched here goes on.
inline void begin_fiber(boost::context::detail::transfer_t arrival)
{
    *static_cast<boost::context::detail::fcontext_t*>(arrival.data) = arrival.fctx;
}

/// Fibers of one OS thread, made when first needed and used again.
class FiberPool {
public:
    using Entry = void (*)(boost::context::detail::transfer_t);

    explicit FiberPool(Entry entry) : entry_(entry) {}
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;
    ~FiberPool();

    /// A fiber without work: it waits where it once ended a thread, or begins at the entry.
    Fiber& take();
    void give_back(Fiber& fiber) { idle_.push_back(&fiber); }
    /// Forgets what all fibers were doing: each will begin at the entry again.
    void reset();

private:
    void add_stacks();

    Entry entry_;
    std::deque<Fiber> fibers_;
    std::vector<Fiber*> idle_;
    std::vector<void*> mappings_;
};

}  // namespace segfold::simt
