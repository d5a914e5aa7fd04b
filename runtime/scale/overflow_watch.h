#pragma once
// Whether the elements of a stream that have come may overflow, and break laws that are relied on.
#include <span>
#include <string>
#include <vector>

#include "runtime/laws/overflow_laws.h"
#include "runtime/scale/segment_cursor.h"

namespace segfold {

/// Looks at slices in their order, and warns once.
class OverflowWatch {
public:
    /// Values are looked at where slices of `slice_elements` alone may overflow; where they are not, as on a
    /// device, all of their types are possible. `op` and `laws` must outlive the watch; `tables` has an array
    /// for each parameter, those of columns empty.
    OverflowWatch(const Operator& op, const OperatorLaws& laws, std::span<const Array> tables,
                  std::int64_t slice_elements);

    /// Adds a warning where the elements to the end of `window` may overflow, and none was given before.
    /// `columns` are those of the window.
    void see(const SegmentWindow& window, std::span<const Array> columns, std::vector<std::string>& warnings);

private:
    void see_values(std::span<const Array> arrays);

    const Operator& op_;
    const OperatorLaws& laws_;
    bool looks_, has_warned_;
    KnownValues known_;
};

}  // namespace segfold
