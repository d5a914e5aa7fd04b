#pragma once
// Turns an operator into one that gives its results as running results.
#include "dsl/operator.h"

namespace segfold {

/// How an operator is scanned.
struct ScanForm {
    bool exclusive = false;  ///< true: the results of an element leave out the element itself
    /// True: scans from the end of the segment. Combine's operands keep the order of the data.
    bool reverse = false;
};

/// Returns an operator that gives each element the results of a checked `op` over the elements of the segment
/// up to it. These are its only outputs, and have the names of the results. It returns no results of
/// segments.
///
/// Results are `finish` of the running state; `length` is the number of its elements. Exclusive results of
/// the first element are those of an empty segment. An operator with a `scan` of its own stays as it is, and
/// `reverse` turns its direction round. Throws InputError for an operator with a `map` and no scan. If
/// exclusive, also throws for an operator with a scan of its own or without results of empty segments.
[[nodiscard]] Operator scanned(Operator op, ScanForm form);

}  // namespace segfold
