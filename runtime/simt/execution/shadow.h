#pragma once
// Shadow memory: records the last writer and the last readers of each word that kernels use.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/simt/execution/knowledge.h"

namespace segfold::simt {

/// The origin of an access to a word: index of the thread or warp, strong or not, and address of the code.
///
/// Accesses by atomic functions and through `volatile` are strong. Strong accesses do not race with each
/// other.
class Accessor {
public:
    Accessor() = default;
    Accessor(unsigned index, bool strong, std::uintptr_t site)
        : bits_(index | static_cast<std::uint32_t>(strong) << 10 |
                (site < kMaxSite ? static_cast<std::uint32_t>(site) << 11 : 0))
    {}
    [[nodiscard]] unsigned index() const { return bits_ & 1023; }
    [[nodiscard]] bool strong() const { return (bits_ >> 10 & 1) != 0; }
    /// Offset of the access from the start of the text's library; 0 if unknown.
    [[nodiscard]] std::uintptr_t site() const { return bits_ >> 11; }

private:
    static constexpr std::uintptr_t kMaxSite = 1u << 21;
    std::uint32_t bits_ = 0;
};

/// The last write of a word. Block numbers are unique over all launches of the process; `block` is 0 before
/// the first write.
struct Write {
    std::uint32_t block = 0;
    std::uint32_t time = 0;
    Accessor thread;
};

/// The warp index in `Reads::warp` that stands for several warps. `Reads::mask` then has a bit for each warp
/// that has read.
constexpr unsigned kSeveralWarps = 32;

/// The reads of a word since its last write, by the block that read the word last.
///
/// If all reading lanes belong to one warp, `mask` has a bit for each lane; else, a bit for each warp.
struct Reads {
    std::uint32_t block = 0;
    std::uint32_t time = 0;
    std::uint32_t mask = 0;
    Accessor warp;
};

/// The record of one word of four bytes. A word that is used in parts has a record for each byte.
struct Cell {
    Write write;
    Reads reads;
    /// Twice the number of the cell's `Extra`; 0 if the cell has none. The lowest bit is a lock.
    std::atomic<std::uint32_t> extra{0};
};
static_assert(sizeof(Cell) == 32);

/// Data that only few words need: the knowledge published through the word, and a cell for each of its bytes.
struct Extra {
    Knowledge device;  ///< published to every block
    Knowledge block;   ///< published to the threads of block `block_number` only
    std::uint32_t block_number = 0;
    std::uint32_t launch = 0;  ///< the launch to which the knowledge belongs
    bool split = false;        ///< true if the bytes have cells of their own
    Cell bytes[4];
};

/// The cells of one buffer, or of one block's shared memory. Cells take memory only after they are touched.
class Shadow {
public:
    explicit Shadow(std::size_t bytes);
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;
    ~Shadow();

    [[nodiscard]] Cell* cells() { return cells_; }
    /// Returns the cell's `Extra`; null if the cell has none. The caller must hold the cell's lock.
    [[nodiscard]] Extra* extra_of(const Cell& cell) const
    {
        const std::uint32_t number = cell.extra.load(std::memory_order_relaxed) >> 1;
        return number == 0 ? nullptr : &extra(number);
    }
    /// Returns the cell's `Extra`, and makes it if the cell has none. The caller must hold the cell's lock.
    Extra& require_extra(Cell& cell);
    /// Returns the cells of the word's four bytes, and makes them if there are none. The caller must hold the
    /// cell's lock.
    Cell* require_bytes(Cell& cell);

private:
    // Chunk k holds kFirstChunk << k objects of type `Extra`. A new chunk never moves an existing object.
    static constexpr std::uint32_t kFirstChunk = 64;
    static constexpr std::size_t kChunks = 25;

    [[nodiscard]] Extra& extra(std::uint32_t number) const;

    Cell* cells_ = nullptr;
    std::size_t mapped_bytes_ = 0;
    std::mutex mutex_;
    std::uint32_t num_extras_ = 0;
    std::array<std::unique_ptr<Extra[]>, kChunks> chunks_;
};

/// Locks a cell against other OS threads. Does nothing if `needed` is false.
class CellLock {
public:
    CellLock(Cell& cell, bool needed) : cell_(cell), needed_(needed)
    {
        while (needed_ && (cell_.extra.fetch_or(1, std::memory_order_acquire) & 1) != 0) {}
    }
    ~CellLock()
    {
        if (needed_)
            cell_.extra.fetch_and(~1u, std::memory_order_release);
    }
    CellLock(const CellLock&) = delete;
    CellLock& operator=(const CellLock&) = delete;

private:
    Cell& cell_;
    bool needed_;
};

/// The cell of an address, with the shadow that holds the cell.
struct Place {
    Cell* cell = nullptr;
    Shadow* shadow = nullptr;
    bool locked = false;  ///< true if the cell must be locked before use
};

}  // namespace segfold::simt
