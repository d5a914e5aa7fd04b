#pragma once
// Checks that all columns of a stream have the same length. Columns are read slice by slice.
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/scale/stream.h"

namespace segfold {

/// The lengths of a stream's columns. A generated column may tell its length only at its end.
class ColumnLengths {
public:
    /// Throws InputError if columns have wrong types or different known lengths. `op` must outlive this
    /// object.
    ColumnLengths(const Operator& op, const StreamInput& input, bool has_engine);

    /// The number of elements of the stream; empty if no column's length is known.
    [[nodiscard]] std::optional<std::int64_t> known() const { return known_; }

    /// Reports that a column ended after only `length` elements. Throws InputError, because the stream has
    /// `all` elements, or at least `read` if `all` is empty. Does not throw if the layout is one whole
    /// segment of unknown length and the column is the first: the stream then ends with it.
    void require_end(std::size_t column, std::int64_t length, std::int64_t read,
                     std::optional<std::int64_t> all) const;
    /// Throws InputError if a column has more than `all` elements.
    void require_no_more(const StreamInput& input, std::int64_t all) const;

private:
    void take(std::size_t column, const ArraySource& source);
    void require_no_more(std::size_t column, ArraySource& source, std::int64_t all) const;
    /// Returns the end of a message about a wrong length. It names the array that has the right length, such
    /// as "column 'x' has 9; they must agree".
    [[nodiscard]] std::string others(std::size_t column, std::int64_t length, bool is_exact) const;

    const Operator& op_;
    LayoutKind kind_;
    std::size_t first_ = 0;  ///< index of the first parameter that is a column
    std::optional<std::int64_t> known_;
    std::size_t known_by_ = 0;  ///< the column whose length is `known_`
};

}  // namespace segfold
