#pragma once
// The part of an emitted file that moves raw elements through shared memory, for stages that work on tiles.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// The columns that `lift` reads, in the order of the parameters.
std::vector<const Parameter*> lifted_columns(const Operator& op);

/// The items that a lane takes at a time, where a stage does not say.
constexpr int kFewestStepItems = 4;

/// Pieces that follow the parts, because they call parts/elements/warp_tile.cuh: Tile, copy_tile(), Items,
/// take_items(), load_items(), is_aligned(), load_vectors(), lift_item(), lift_at(), take_map_items().
/// `step_items` is 4, 8 or 16. With more than 4 of single bytes, load_items() is not to be used: they are
/// held as words.
std::vector<Piece> tile_section(const Problem& problem, int step_items = kFewestStepItems);

}  // namespace segfold
