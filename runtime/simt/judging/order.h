#pragma once
// Orders threads that share no barrier, by fences, flags, and the knowledge that flags carry.
#include <span>

#include "runtime/simt/execution/worker.h"

namespace segfold::simt {

/// Executes a fence of the running thread. The thread acquires the knowledge that it has read from flags.
/// Flags that the thread writes from now on publish its knowledge.
void fence(Worker& worker, unsigned scope);

/// Must be called before the running thread writes to a flag. Publishes in the flag the knowledge that the
/// thread's last fence made public, so that a reader of the flag can acquire this knowledge.
void publish(Worker& worker, const Place& flag);

/// Must be called after the running thread has read a flag. The thread's next fence or barrier acquires the
/// knowledge that is published there.
void note_flag(Worker& worker, const Place& flag);

/// Must be called after a read with acquire order. The thread acquires the published knowledge at once.
void acquire(Worker& worker, const Place& flag);

/// Must be called when a volatile read of `flag` begins. The thread takes the published knowledge later, when
/// the read is certainly over.
void defer_flag(Worker& worker, const Place& flag);

/// Merges the knowledge of all threads of the block. All threads must be at a barrier.
void order_block(Worker& worker, Block& block);

/// Orders all earlier accesses of a cluster's blocks before all their later accesses. All threads must have
/// been released from the cluster's barrier.
void order_cluster(std::span<Block> blocks);

/// Orders all earlier accesses of the lanes in `mask` before all their later accesses.
void order_warp(Worker& worker, Block& block, Warp& warp, std::uint32_t mask);

/// True if an access at `time` by `thread`, which is in the running thread's block, is ordered before the
/// running thread's next access.
bool ordered_in_block(Worker& worker, unsigned thread, std::uint32_t time);

/// True if flags order an access at `time` by `thread` of block `number` before the running thread's next
/// access.
bool known(Worker& worker, std::uint32_t number, unsigned thread, std::uint32_t time);

/// True if the running thread may know of accesses at `time` by several warps of block `number`. The lanes of
/// these accesses are not recorded, so the answer is true as soon as any lane has published something.
bool perhaps_known(Worker& worker, std::uint32_t number, std::uint32_t time);

}  // namespace segfold::simt
