#pragma once
// Warns if the elements of a stream may overflow. Overflow breaks laws on which plans rely.
#include <span>
#include <string>
#include <vector>

#include "runtime/laws/overflow_laws.h"
#include "runtime/scale/segment_cursor.h"

namespace segfold {

/// Checks the elements of slices, in order, and warns once of a possible overflow.
class OverflowWatch {
public:
    /// Reads the elements' values only if a slice of `slice_elements` elements may overflow for some values.
    /// Otherwise assumes that elements have any value of their type.
    ///
    /// `slice_elements` is 0 for a device, because the host cannot read columns there. `tables` has one array
    /// for each parameter; arrays of columns are empty. `op` and `laws` must outlive the watch.
    OverflowWatch(const Operator& op, const OperatorLaws& laws, std::span<const Array> tables,
                  std::int64_t slice_elements);

    /// Adds a warning to `warnings` if the elements up to the window's end may overflow and no warning was
    /// added before. `columns` are the window's parts of the columns.
    void see(const SegmentWindow& window, std::span<const Array> columns, std::vector<std::string>& warnings);

private:
    void see_values(std::span<const Array> arrays);

    const Operator& op_;
    const OperatorLaws& laws_;
    bool looks_, has_warned_;
    KnownValues known_;
};

}  // namespace segfold
