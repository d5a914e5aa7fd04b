#pragma once
// Order between threads that do not share a barrier: fences, flags, and knowledge that passes through them.
#include <span>

#include "runtime/simt/execution/worker.h"

namespace segfold::simt {

/// A fence of the running thread: acquires knowledge from the flags that it has read, and publishes its own
/// from now on.
void fence(Worker& worker, unsigned scope);

/// Before the running thread writes to a flag: its readers can acquire the knowledge of the last fence.
void publish(Worker& worker, const Place& flag);

/// After the running thread has read a flag: its next fence or barrier acquires the knowledge published
/// there.
void note_flag(Worker& worker, const Place& flag);

/// After a read with acquire order: acquires the knowledge published there at once.
void acquire(Worker& worker, const Place& flag);

/// A volatile read of `flag` begins. The knowledge published there is taken when the read is certain to be
/// over.
void defer_flag(Worker& worker, const Place& flag);

/// Joins the knowledge of the block's threads, which are all at a barrier.
void order_block(Worker& worker, Block& block);

/// Orders the accesses of a cluster's blocks so far before their later ones; all have been released from its
/// barrier.
void order_cluster(std::span<Block> blocks);

/// Orders the accesses of `mask`'s lanes so far before their later ones.
void order_warp(Worker& worker, Block& block, Warp& warp, std::uint32_t mask);

/// Whether an access of `thread` of the running thread's own block at `time` is over for the running thread.
bool ordered_in_block(Worker& worker, unsigned thread, std::uint32_t time);

/// Whether an access of `thread` of block `number` at `time` is known to the running thread through flags.
bool known(Worker& worker, std::uint32_t number, unsigned thread, std::uint32_t time);

/// Whether accesses of several warps of block `number` at `time` may be known. Which lanes of them published
/// what is not kept, so anything published by a lane counts.
bool perhaps_known(Worker& worker, std::uint32_t number, std::uint32_t time);

}  // namespace segfold::simt
