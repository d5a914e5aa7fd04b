#include "runtime/scale/slices/slice_buffers.h"

#include <algorithm>

namespace segfold {

SliceBuffers::SliceBuffers(std::size_t num_columns, std::int64_t slice_elements)
    : slice_elements_(slice_elements)
{
    for (auto& set : sets_)
        set = std::vector<Array>(num_columns);
}

Array SliceBuffers::room(std::size_t set, std::size_t column, Type type, std::int64_t count)
{
    auto& own = sets_[set][column];
    const auto length = static_cast<std::size_t>(std::max(slice_elements_, count));
    if (own.length() < length)
        own = Array(type, length);
    return Array::borrow(type, own.data(), static_cast<std::size_t>(count));
}

}  // namespace segfold
