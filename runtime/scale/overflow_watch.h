#pragma once
// A warning if the elements of a stream may overflow and so break laws that plans rely on.
#include <span>
#include <string>
#include <vector>

#include "runtime/laws/overflow_laws.h"
#include "runtime/scale/segment_cursor.h"

namespace segfold {

/// Watches slices in order and warns once.
class OverflowWatch {
public:
    /// If a slice of `slice_elements` elements may overflow, the watch looks at the elements' values; else it
    /// assumes that an element may have any value of its type. `slice_elements` is 0 for a device, whose
    /// columns the host cannot read. `tables` has one array for each parameter, empty for columns. `op` and
    /// `laws` must outlive the watch.
    OverflowWatch(const Operator& op, const OperatorLaws& laws, std::span<const Array> tables,
                  std::int64_t slice_elements);

    /// Adds the warning if the elements up to the window's end may overflow. `columns` are the columns of the
    /// window.
    void see(const SegmentWindow& window, std::span<const Array> columns, std::vector<std::string>& warnings);

private:
    void see_values(std::span<const Array> arrays);

    const Operator& op_;
    const OperatorLaws& laws_;
    bool looks_, has_warned_;
    KnownValues known_;
};

}  // namespace segfold
