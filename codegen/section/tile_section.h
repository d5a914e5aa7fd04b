#pragma once
// The part of an emitted file that moves raw elements through shared memory, for stages that work on tiles.
#include <vector>

#include "codegen/section/operator_section.h"

namespace segfold {

/// The columns that `lift` reads, in the order of the parameters.
std::vector<const Parameter*> lifted_columns(const Operator& op);

/// The column whose elements are the states: `lift` is its element, of the one field's type. Null where lift
/// does anything else, and without an identity.
const Parameter* kept_column(const Operator& op);

/// True where items may be copied to where their states go, past registers: each state is an element of four
/// or eight bytes, and the target copies asynchronously.
bool copies_items(const Problem& problem);

/// The items that a lane takes at a time, where a stage does not say.
constexpr int kFewestStepItems = 4;

/// Pieces that follow the parts, because they call parts/elements/warp_tile.cuh: Tile, copy_tile(), Items,
/// take_items(), load_items(), is_aligned(), load_vectors(), lift_item(), lift_at(), take_map_items();
/// element_address() where there is a kept_column(). `step_items` is 4, 8 or 16. With more than 4 of single
/// bytes, load_items() is not to be used: they are held as words.
std::vector<Piece> tile_section(const Problem& problem, int step_items = kFewestStepItems);

}  // namespace segfold
