#pragma once
// Host memory into which slices of a stream are read, over and over.
#include <array>
#include <cstddef>
#include <vector>

#include "dsl/array.h"
#include "runtime/backends/cuda/pinned_buffer.h"

namespace segfold {

/// Two sets of columns: one is read while the other is folded.
///
/// With a GPU they are page-locked, so that copies run at the rate of the link; where the system does not
/// give such memory, they are not.
class SliceBuffers {
public:
    /// `context` is null without a GPU, and must outlive the buffers. Memory is taken when it is asked for.
    SliceBuffers(const cuda::Context* context, std::size_t num_columns, std::int64_t slice_elements);

    /// The next slice is read into the other set.
    void turn() { set_ = 1 - set_; }
    /// Room for `count` elements of a column, borrowed; it holds until the turn after the next.
    [[nodiscard]] Array room(std::size_t column, Type type, std::int64_t count);

private:
    struct Column {
        cuda::PinnedBuffer pinned;
        Array array;  ///< where it is not
    };

    const cuda::Context* context_;
    std::int64_t slice_elements_;
    std::array<std::vector<Column>, 2> sets_;
    std::size_t set_ = 0;
};

}  // namespace segfold
