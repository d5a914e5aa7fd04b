// The interface between a compiled text and the executor. The executor includes this file; every text starts
// with its content.
#pragma once

/// Kinds of barriers. They differ in the value that the threads compute together.
enum SegfoldBarrier : unsigned {
    kSegfoldBarrier,
    kSegfoldBarrierOr,
    kSegfoldBarrierAnd,
    kSegfoldBarrierCount,
    kSegfoldBarrierCluster  ///< barrier of a cluster's blocks
};

/// Kinds of warp-wide functions. All lanes that meet in a warp must call the same function.
enum SegfoldMeeting : unsigned {
    kSegfoldSyncwarp,
    kSegfoldShuffle,
    kSegfoldShuffleUp,
    kSegfoldShuffleDown,
    kSegfoldShuffleXor,
    kSegfoldBallot,
    kSegfoldAny,
    kSegfoldAll,
    kSegfoldMatchAny,
    kSegfoldMatchAll,
    kSegfoldReduceAdd,
    kSegfoldReduceMinSigned,
    kSegfoldReduceMaxSigned,
    kSegfoldReduceMinUnsigned,
    kSegfoldReduceMaxUnsigned,
    kSegfoldReduceAnd,
    kSegfoldReduceOr,
    kSegfoldReduceXor
};

/// The threads that see a fence's writes.
enum SegfoldScope : unsigned { kSegfoldScopeBlock, kSegfoldScopeDevice };

/// Components of threadIdx, blockIdx, blockDim and gridDim, in this order; three of each.
enum SegfoldCoordinate : unsigned {
    kSegfoldThread = 0,
    kSegfoldBlock = 3,
    kSegfoldBlockDimension = 6,
    kSegfoldGridDimension = 9
};

/// The executor's functions. `site` is the return address of the call in the text, for line numbers.
struct SegfoldHooks {
    void (*read)(const void* address, unsigned long bytes, const void* site);
    void (*write)(const void* address, unsigned long bytes, const void* site);
    void (*volatile_read)(const void* address, unsigned long bytes, const void* site);
    void (*volatile_write)(const void* address, unsigned long bytes, const void* site);
    /// Must be called before and after an atomic read-modify-write. Between the two calls no other CUDA
    /// thread runs on this core.
    void (*atomic_begin)(const void* address, unsigned long bytes, const void* site);
    void (*atomic_end)(const void* address, unsigned changed);
    void (*acquire_begin)(const void* address, unsigned long bytes, const void* site);
    void (*acquire_end)(const void* address);
    void (*release)(const void* address, unsigned long bytes, const void* site);
    void (*fence)(unsigned scope);
    /// `statement` is the number of the call in the text. `site` cannot identify a call, because the compiler
    /// may copy or merge calls.
    unsigned (*barrier)(unsigned kind, unsigned value, unsigned statement, const void* site);
    /// `argument` describes a shuffle: its lowest byte is the lane, distance or lane mask, and the bits above
    /// are the width.
    unsigned long long (*meet)(unsigned mask, unsigned kind, unsigned long long value, unsigned argument,
                               const void* site);
    /// copy_async starts a copy of 4, 8 or 16 bytes, whose target is undefined until a wait. commit_copies
    /// puts the copies since the last commit into a group. wait_for_copies waits until at most `groups_left`
    /// groups are incomplete.
    void (*copy_async)(void* to, const void* from, unsigned bytes, const void* site);
    void (*commit_copies)();
    void (*wait_for_copies)(unsigned groups_left, const void* site);
    /// Returns the address of a shared variable in block `rank` of the cluster. `mine` is the variable's
    /// address in the caller's block.
    void* (*in_block)(const void* mine, unsigned rank, const void* site);
    unsigned (*coordinate)(unsigned which);
    unsigned (*lane)();
    void (*sleep)(const void* site);
    unsigned long long (*clock)();
    void (*trap)(const void* site);
    /// `data` is in the format of the undefined behaviour sanitizer, and begins with the position in the
    /// source.
    void (*undefined)(const char* what, const void* data, const void* site);
    /// `data` is in the sanitizer's format: a position in the source, then descriptions of the types.
    void (*outside_array)(const void* data, unsigned long index, const void* site);
    void (*misaligned)(const void* data, const void* address, const void* site);
    unsigned short (*f32_to_f16)(float value);
    float (*f16_to_f32)(unsigned short bits);
    unsigned short (*f32_to_bf16)(float value);
    float (*bf16_to_f32)(unsigned short bits);
};
