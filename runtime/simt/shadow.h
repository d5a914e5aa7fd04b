#pragma once
// Shadow memory: for each word that kernels use, who wrote it and read it last.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "runtime/simt/knowledge.h"

namespace segfold::simt {

/// Access by an atomic function or through `volatile`: such accesses do not race with each other.
constexpr std::uint16_t kStrong = 1;
/// `Reads::who` when lanes of several warps have read; then `mask` holds warps.
constexpr std::uint16_t kSeveralWarps = 0xffff;

/// The last write of a word. Block numbers are unique over all launches of the process; 0: none yet.
struct Write {
    std::uint32_t block = 0;
    std::uint32_t time = 0;
    std::uint32_t site = 0;
    std::uint16_t thread = 0;
    std::uint16_t flags = 0;
};

/// Reads of a word since its last write by lanes of one warp at one time, or by several warps of a block.
struct Reads {
    std::uint32_t block = 0;
    std::uint32_t time = 0;
    std::uint32_t site = 0;
    std::uint32_t mask = 0;
    std::uint16_t who = 0;
    std::uint16_t flags = 0;
};

struct Extra;

/// What is kept for one word of four bytes, or for one byte of a word that is used in parts.
struct Cell {
    Write write;
    Reads reads[2];
    std::atomic<std::uintptr_t> extra{0};  ///< an `Extra*`; the lowest bit is a lock
};
static_assert(sizeof(Cell) == 64);

/// What has been published through a word, and the cells of its bytes: kept for few words.
struct Extra {
    Knowledge device;  ///< released for every block
    Knowledge block;   ///< released for threads of `block_number` only
    std::uint32_t block_number = 0;
    std::uint32_t launch = 0;  ///< the launch that the knowledge belongs to
    Cell* bytes = nullptr;     ///< four cells, or null
    Cell storage[4];
};

/// The cells of one buffer, or of one block's shared memory; memory is taken when a cell is first touched.
class Shadow {
public:
    explicit Shadow(std::size_t bytes);
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;
    ~Shadow();

    [[nodiscard]] Cell* cells() { return cells_; }
    /// A new `Extra`, owned by this shadow.
    Extra* make_extra();

private:
    Cell* cells_ = nullptr;
    std::size_t mapped_bytes_ = 0;
    std::mutex mutex_;
    std::deque<Extra> extras_;
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
            cell_.extra.fetch_and(~std::uintptr_t{1}, std::memory_order_release);
    }
    CellLock(const CellLock&) = delete;
    CellLock& operator=(const CellLock&) = delete;

private:
    Cell& cell_;
    bool needed_;
};

inline Extra* extra_of(const Cell& cell)
{
    return reinterpret_cast<Extra*>(cell.extra.load(std::memory_order_relaxed) & ~std::uintptr_t{1});
}

/// The cell of an address, with what is needed to use it.
struct Place {
    Cell* cell = nullptr;
    Shadow* shadow = nullptr;
    bool locked = false;  ///< whether other cores may use the cell
};

/// The word's `Extra`, made when it has none. The caller holds the cell.
Extra& require_extra(Cell& cell, Shadow& shadow);

/// The cells of the word's four bytes, made when it has none. The caller holds the cell.
Cell* require_bytes(Cell& cell, Shadow& shadow);

}  // namespace segfold::simt
