#include "runtime/simt/shadow.h"

#include <sys/mman.h>

#include "dsl/error.h"

namespace segfold::simt {

Shadow::Shadow(std::size_t bytes)
{
    const std::size_t words = (bytes + 3) / 4;
    if (words == 0)
        return;
    mapped_bytes_ = words * sizeof(Cell);
    // Zero pages are cells that nobody has touched; most stay unmapped.
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

Extra* Shadow::make_extra()
{
    const std::lock_guard lock(mutex_);
    return &extras_.emplace_back();
}

Extra& require_extra(Cell& cell, Shadow& shadow)
{
    Extra* extra = extra_of(cell);
    if (extra == nullptr) {
        extra = shadow.make_extra();
        cell.extra.fetch_or(reinterpret_cast<std::uintptr_t>(extra), std::memory_order_relaxed);
    }
    return *extra;
}

Cell* require_bytes(Cell& cell, Shadow& shadow)
{
    Extra& extra = require_extra(cell, shadow);
    if (extra.bytes == nullptr) {
        for (Cell& byte : extra.storage) {
            byte.write = cell.write;
            byte.reads[0] = cell.reads[0];
            byte.reads[1] = cell.reads[1];
        }
        extra.bytes = extra.storage;
    }
    return extra.bytes;
}

}  // namespace segfold::simt
