#pragma once
// Emits pieces that only native texts need, such as the states and items of all lanes of a vector.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// Returns the constants that all native texts share: the number of lanes of a vector, the number of columns
/// that take_items() reads at a time, and the distances of prefetches.
std::vector<NamedConstant> native_constants();

/// Returns the pieces that define f16 and bf16, and the small functions that printed expressions call, in the
/// order in which a text must define them.
std::vector<Piece> native_helper_pieces(const Target& target);

/// Returns the struct of a checked table, and gather(); see kernels/vocabulary/native.h.
Piece native_table_piece(const std::string& table_name, Type type, const std::string& zero);

/// Returns `States`, `choose`, `Items`, `take_items` and `lift_item`. A text must define them after the
/// operator's functions.
///
/// For an operator without an identity, `present` is the name of the State's flag that is true if the state
/// holds an element.
std::vector<Piece> native_lane_pieces(const Operator& op, const std::string& present);

}  // namespace segfold
