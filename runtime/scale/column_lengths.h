#pragma once
// Whether the columns of a stream, which are read piece by piece, are of one length.
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/scale/stream.h"

namespace segfold {

/// The lengths of a stream's columns, some of which only reading tells.
class ColumnLengths {
public:
    /// Throws InputError for columns that do not agree with the operator or, as far as lengths are known,
    /// with each other. `op` must outlive this.
    ColumnLengths(const Operator& op, const StreamInput& input, bool has_engine);

    /// Elements, where a column tells before it is read.
    [[nodiscard]] std::optional<std::int64_t> known() const { return known_; }

    /// Refuses a column that has ended after `length` elements, where the others and the segments go on to
    /// element `read` at least. `all` are the elements where they are known. The first column may end where
    /// nothing else says how many elements there are.
    void require_end(std::size_t column, std::int64_t length, std::int64_t read,
                     std::optional<std::int64_t> all) const;
    /// Refuses columns that have an element behind the last of `all`.
    void require_no_more(const StreamInput& input, std::int64_t all) const;

private:
    void take(std::size_t column, const ArraySource& source);
    void require_no_more(std::size_t column, ArraySource& source, std::int64_t all) const;
    /// "column 'x' has 9 elements; they must agree", of what says how many there are.
    [[nodiscard]] std::string others(std::size_t column, std::int64_t length, bool is_exact) const;

    const Operator& op_;
    LayoutKind kind_;
    std::size_t first_ = 0;  ///< the first parameter that is a column
    std::optional<std::int64_t> known_;
    std::size_t known_by_ = 0;  ///< the column that tells `known_`
};

}  // namespace segfold
