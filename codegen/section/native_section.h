#pragma once
// Emits pieces that only native texts need, such as the states and items of all lanes of a vector.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// Constants that all native texts share: lanes of a vector, columns that take_items() reads at a time, and
/// distances of prefetches.
std::vector<NamedConstant> native_constants();

/// Returns the 16-bit formats, and the small functions that printed expressions call, in the order in which
/// they must stand.
std::vector<Piece> native_helper_pieces(const Target& target);

/// Returns the struct of a checked table, and gather(); see kernels/vocabulary/native.h.
Piece native_table_piece(const std::string& table_name, Type type, const std::string& zero);

/// Returns `States`, `choose`, `Items`, `take_items` and `lift_item`. They must stand after the operator's
/// functions.
///
/// `present` is the name of the flag of an operator without identity.
std::vector<Piece> native_lane_pieces(const Operator& op, const std::string& present);

}  // namespace segfold
