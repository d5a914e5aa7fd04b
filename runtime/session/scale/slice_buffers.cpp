#include "runtime/session/scale/slice_buffers.h"

#include <algorithm>

#include "dsl/error.h"

namespace segfold {

SliceBuffers::SliceBuffers(const cuda::Context* context, std::size_t num_columns, std::int64_t slice_elements)
    : context_(context), slice_elements_(slice_elements)
{
    for (auto& set : sets_)
        set = std::vector<Column>(num_columns);
}

Array SliceBuffers::room(std::size_t column, Type type, std::int64_t count)
{
    auto& own = sets_[set_][column];
    const auto length = static_cast<std::size_t>(std::max(slice_elements_, count));
    const auto bytes = length * size_bytes(type);
    if (context_ != nullptr && own.pinned.bytes().size() < bytes) {
        try {
            own.pinned = cuda::PinnedBuffer(*context_, bytes);
        } catch (const DeviceError&) {
            context_ = nullptr;  // the system has no more of it
        }
    }
    if (own.pinned.bytes().size() >= bytes)
        return Array::borrow(type, own.pinned.bytes().data(), static_cast<std::size_t>(count));
    if (own.array.length() < length)
        own.array = Array(type, length);
    return Array::borrow(type, own.array.data(), static_cast<std::size_t>(count));
}

}  // namespace segfold
