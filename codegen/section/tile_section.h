#pragma once
// Emits pieces for elements that are not lifted yet. Some move them through shared memory, for stages that
// work on tiles. The struct Columns is for stages that move elements and lift them later.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// Returns the columns that `lift` reads, in the order of the parameters.
std::vector<const Parameter*> lifted_columns(const Operator& op);

/// Returns the column whose elements `lift` returns unchanged as states. Returns null if there is none, or if
/// the operator has no identity.
const Parameter* kept_column(const Operator& op);

/// True if kernels may copy elements straight to the shared memory of their states, bypassing registers. For
/// this, each state must be an element of four or eight bytes, and the target must have asynchronous copies.
bool copies_items(const Problem& problem);

/// Number of items that a lane takes in one step, unless the stage has a `let` size `step_items`.
constexpr int kFewestStepItems = 4;

/// The number of items that a lane takes in one step.
struct StepItems {
    int items = kFewestStepItems;
    bool are_mapped = false;  ///< true if the kernel also maps this number of items at a time
};

/// Returns the pieces for tiles: Tile, copy_tile(), Items, take_items(), load_items(), is_aligned(),
/// load_vectors(), SharedVectors, copy_vectors(), shared_vectors(), lift_item(), lift_at(), take_map_items(),
/// map_items_of(), and element_address() if there is a kept_column(). A text must define them after
/// parts/elements/warp_tile.cuh, whose functions they call.
///
/// `step.items` is 4, 8 or 16. If it is above 4 and a column has elements of one byte, Items holds them as
/// 32-bit words, and kernels must not call load_items().
std::vector<Piece> tile_section(const Problem& problem, const StepItems& step = {});

/// Returns the C++ expression for element k of a step of `column`. `items` is the expression for the array
/// that holds the step.
std::string item_of_step(const Parameter& column, const StepItems& step, const std::string& items);

/// Returns the pieces Columns, load_columns() and lift_columns(); none if `lift` reads no column.
/// lift_columns() takes neither `index` nor `position`. It is omitted if `lift` needs one of them.
std::vector<Piece> columns_section(const Operator& op);

}  // namespace segfold
