#pragma once
// Workloads made of arrays that a caller lends.
#include <span>

#include "runtime/data/workload.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// The workload of arrays of the host, which it borrows. Throws InputError for arrays of a device, and for
/// segments that are wrong.
Workload borrow_workload(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments);

/// Elements that a fold of these arrays has: the length of its first column, else what the segments say.
std::int64_t num_elements_of(const Operator& op, std::span<const ArrayView> inputs,
                             const SegmentsView& segments);

/// Throws InputError unless there is an array for each parameter.
void require_inputs(const Operator& op, std::size_t count);

}  // namespace segfold
