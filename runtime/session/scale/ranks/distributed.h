#pragma once
// Arrays that are distributed over processes already, folded where they lie.
#include "runtime/session/scale/ranks/ranks.h"

namespace segfold {

/// Folds arrays of which each rank holds a part: consecutive elements, in the order of ranks. Collective.
///
///   inputs    an array for each parameter: of columns this rank's elements, on the host or on the GPU of
///             `session`, where what writes them is done; tables and scalars whole, on the host
///   segments  of the elements of all ranks together, the same on each of them: whole(), uniform(), offsets()
///             or lengths() on the host
///
/// Elements stay where they are, border states alone travel. Each rank has the results of the segments that
/// end in its part. With a reproducible plan parts begin and end where a segment begins, or a multiple of
/// kJoinBlock elements behind. Throws InputError for arrays and segments that are wrong; an error of one rank
/// is its own, and the caller ends the others (Communicator::abort()).
[[nodiscard]] RankResults fold_distributed(Communicator& ranks, Session& session, const Operator& op,
                                           std::span<const ArrayView> inputs, const SegmentsView& segments,
                                           StreamOptions options = {});

}  // namespace segfold
