#include "runtime/simt/execution/shadow.h"

#include <sys/mman.h>

#include <bit>
#include <string>
#include <utility>

#include "dsl/error.h"

namespace segfold::simt {

Shadow::Shadow(std::size_t bytes)
{
    const std::size_t words = (bytes + 3) / 4;
    if (words == 0)
        return;
    mapped_bytes_ = words * sizeof(Cell);
    // An untouched cell is all zero, so fresh pages need no initialisation, and most stay unmapped.
    void* memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw DeviceError("simt: no address space for the shadow of " + std::to_string(bytes) +
                          " bytes; use smaller buffers or launch without the shadow check");
    cells_ = static_cast<Cell*>(memory);
}

Shadow::~Shadow()
{
    if (cells_ != nullptr)
        munmap(cells_, mapped_bytes_);
}

Extra& Shadow::extra(std::uint32_t number) const
{
    const std::uint32_t index = number - 1;
    const auto chunk = static_cast<unsigned>(std::bit_width(index / kFirstChunk + 1)) - 1;
    return chunks_[chunk][index - kFirstChunk * ((1u << chunk) - 1)];
}

Extra& Shadow::require_extra(Cell& cell)
{
    if (Extra* existing = extra_of(cell))
        return *existing;
    const std::lock_guard lock(mutex_);
    const std::uint32_t index = num_extras_;
    const auto chunk = static_cast<unsigned>(std::bit_width(index / kFirstChunk + 1)) - 1;
    if (chunks_.at(chunk) == nullptr)
        chunks_[chunk] = std::make_unique<Extra[]>(std::size_t{kFirstChunk} << chunk);
    cell.extra.fetch_or(++num_extras_ << 1, std::memory_order_relaxed);
    return extra(num_extras_);
}

Cell* Shadow::require_bytes(Cell& cell)
{
    Extra& extra = require_extra(cell);
    if (!std::exchange(extra.split, true))
        for (Cell& byte : extra.bytes) {
            byte.write = cell.write;
            byte.reads = cell.reads;
        }
    return extra.bytes;
}

}  // namespace segfold::simt
