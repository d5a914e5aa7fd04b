#pragma once
// Order between threads that share no barrier: fences, flags, and the knowledge that flags carry.
#include <span>

#include "runtime/simt/execution/worker.h"

namespace segfold::simt {

/// A fence of the running thread. The thread acquires what it has read from flags; from now on, the flags
/// that it writes publish what it knows.
void fence(Worker& worker, unsigned scope);

/// Called before the running thread writes to a flag: a reader of the flag can acquire what this thread's
/// last fence published.
void publish(Worker& worker, const Place& flag);

/// Called after the running thread has read a flag: its next fence or barrier acquires what was published
/// there.
void note_flag(Worker& worker, const Place& flag);

/// Called after a read with acquire order: the thread knows at once what was published there.
void acquire(Worker& worker, const Place& flag);

/// Called when a volatile read of `flag` begins. The thread takes what is published there once the read is
/// certainly over.
void defer_flag(Worker& worker, const Place& flag);

/// Merges the knowledge of all threads of the block, which are all at a barrier.
void order_block(Worker& worker, Block& block);

/// Orders all accesses of a cluster's blocks so far before their later ones. All threads have been released
/// from the cluster's barrier.
void order_cluster(std::span<Block> blocks);

/// Orders all accesses of the lanes in `mask` so far before their later ones.
void order_warp(Worker& worker, Block& block, Warp& warp, std::uint32_t mask);

/// Whether an access that `thread` of the running thread's block made at `time` is ordered before the running
/// thread's next one.
bool ordered_in_block(Worker& worker, unsigned thread, std::uint32_t time);

/// Whether flags order an access that `thread` of block `number` made at `time` before the running thread's
/// next one.
bool known(Worker& worker, std::uint32_t number, unsigned thread, std::uint32_t time);

/// Whether accesses of several warps of block `number` at `time` may be known to the running thread. Which
/// lanes made them is not kept, so it is true as soon as any lane has published something.
bool perhaps_known(Worker& worker, std::uint32_t number, std::uint32_t time);

}  // namespace segfold::simt
