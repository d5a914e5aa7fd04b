#pragma once
// Shadow memory: for each word that kernels use, who wrote it and read it last.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/simt/execution/knowledge.h"

namespace segfold::simt {

/// Who accessed a word, and from where: a thread or warp, whether strongly, and the place in the text's code.
///
/// Strong accesses, those by atomic functions and through `volatile`, do not race with each other.
class Accessor {
public:
    Accessor() = default;
    Accessor(unsigned index, bool strong, std::uintptr_t site)
        : bits_(index | static_cast<std::uint32_t>(strong) << 10 |
                (site < kMaxSite ? static_cast<std::uint32_t>(site) << 11 : 0))
    {}
    [[nodiscard]] unsigned index() const { return bits_ & 1023; }
    [[nodiscard]] bool strong() const { return (bits_ >> 10 & 1) != 0; }
    /// Offset from the start of the text's library; 0: not known.
    [[nodiscard]] std::uintptr_t site() const { return bits_ >> 11; }

private:
    static constexpr std::uintptr_t kMaxSite = 1u << 21;
    std::uint32_t bits_ = 0;
};

/// The last write of a word. Block numbers are unique over all launches of the process; 0: none yet.
struct Write {
    std::uint32_t block = 0;
    std::uint32_t time = 0;
    Accessor thread;
};

/// `Reads::warp` when lanes of several warps have read; then `mask` holds warps.
constexpr unsigned kSeveralWarps = 32;

/// Reads of a word since its last write by lanes of a warp, or by several warps, of the block that read it
/// last.
struct Reads {
    std::uint32_t block = 0;
    std::uint32_t time = 0;
    std::uint32_t mask = 0;
    Accessor warp;
};

/// The record of one word of four bytes, or of one byte of a word that is used in parts.
struct Cell {
    Write write;
    Reads reads;
    std::atomic<std::uint32_t> extra{
        0};  ///< twice the number of its `Extra`, 0: none; the lowest bit is a lock
};
static_assert(sizeof(Cell) == 32);

/// Knowledge published through a word, and the cells of its bytes: kept for few words.
struct Extra {
    Knowledge device;  ///< released for every block
    Knowledge block;   ///< released for threads of `block_number` only
    std::uint32_t block_number = 0;
    std::uint32_t launch = 0;  ///< the launch that the knowledge belongs to
    bool split = false;        ///< whether the bytes have cells of their own
    Cell bytes[4];
};

/// The cells of one buffer, or of one block's shared memory; memory is taken when a cell is first touched.
class Shadow {
public:
    explicit Shadow(std::size_t bytes);
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;
    ~Shadow();

    [[nodiscard]] Cell* cells() { return cells_; }
    /// The cell's `Extra`, or null. The caller holds the cell.
    [[nodiscard]] Extra* extra_of(const Cell& cell) const
    {
        const std::uint32_t number = cell.extra.load(std::memory_order_relaxed) >> 1;
        return number == 0 ? nullptr : &extra(number);
    }
    /// The cell's `Extra`, made when it has none. The caller holds the cell.
    Extra& require_extra(Cell& cell);
    /// The cells of the word's four bytes, made when it has none. The caller holds the cell.
    Cell* require_bytes(Cell& cell);

private:
    // Chunk k holds kFirstChunk << k extras, so that none moves when another is made.
    static constexpr std::uint32_t kFirstChunk = 64;
    static constexpr std::size_t kChunks = 25;

    [[nodiscard]] Extra& extra(std::uint32_t number) const;

    Cell* cells_ = nullptr;
    std::size_t mapped_bytes_ = 0;
    std::mutex mutex_;
    std::uint32_t num_extras_ = 0;
    std::array<std::unique_ptr<Extra[]>, kChunks> chunks_;
};

/// Holds a cell against other cores; does nothing when a launch uses one core.
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

/// The cell of an address, with the lock and the word that its use needs.
struct Place {
    Cell* cell = nullptr;
    Shadow* shadow = nullptr;
    bool locked = false;  ///< whether other cores may use the cell
};

}  // namespace segfold::simt
