#pragma once
// Emits the pieces that move raw elements through shared memory, for stages that work on tiles.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// The columns that `lift` reads, in the order of the parameters.
std::vector<const Parameter*> lifted_columns(const Operator& op);

/// The column that `lift` returns unchanged, so that its elements are states. Null if `lift` does anything
/// else, or if the operator has no identity.
const Parameter* kept_column(const Operator& op);

/// True if kernels may copy elements straight to the shared memory of their states, bypassing registers: each
/// state is an element of four or eight bytes, and the target has asynchronous copies.
bool copies_items(const Problem& problem);

/// Number of items that a lane takes at a time, unless the stage states a number.
constexpr int kFewestStepItems = 4;

/// Items that a lane takes in one step. If `are_mapped`, the kernel maps the same number at a time.
struct StepItems {
    int items = kFewestStepItems;
    bool are_mapped = false;
};

/// Pieces that must stand after the parts, because they call parts/elements/warp_tile.cuh: Tile, copy_tile(),
/// Items, take_items(), load_items(), is_aligned(), load_vectors(), SharedVectors, copy_vectors(),
/// shared_vectors(), lift_item(), lift_at(), take_map_items(), map_items_of(), and element_address() if there
/// is a kept_column(). `step.items` is 4, 8 or 16. If it is above 4 and a
/// column has single bytes, items are held as words, and load_items() must not be used.
std::vector<Piece> tile_section(const Problem& problem, const StepItems& step = {});

/// The expression for element k of a step of `column`, which `items` holds.
std::string item_of_step(const Parameter& column, const StepItems& step, const std::string& items);

}  // namespace segfold
