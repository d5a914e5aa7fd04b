#pragma once
// Host memory into which slices of a stream are read, over and over.
#include <array>
#include <cstddef>
#include <vector>

#include "dsl/array.h"

namespace segfold {

/// Two sets of columns: one is read while the other is folded.
class SliceBuffers {
public:
    /// Memory is taken when it is asked for.
    SliceBuffers(std::size_t num_columns, std::int64_t slice_elements);

    /// Room for `count` elements of a column, borrowed, in set 0 or 1.
    [[nodiscard]] Array room(std::size_t set, std::size_t column, Type type, std::int64_t count);

private:
    std::int64_t slice_elements_;
    std::array<std::vector<Array>, 2> sets_;
};

}  // namespace segfold
