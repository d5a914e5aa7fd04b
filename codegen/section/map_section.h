#pragma once
// The pieces of the kernel of write-back: the operator's `map` as a function, the elements that it reads and
// writes.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"

namespace segfold {

/// The parts that hold the kernel, over numbers and over rows, and its name; its launch comes after all
/// others.
inline constexpr std::string_view kMapPart = "parts/map_elements.cuh";
inline constexpr std::string_view kMapRowsPart = "parts/map_rows.cuh";
inline constexpr std::string_view kMapKernel = "map_elements";

/// The function map_element() of these parameters, which gives an element's outputs.
std::string map_element_function(const Problem& problem, const std::vector<std::string>& parameters,
                                 Dialect dialect);

/// The names that a map needs, also by way of lets.
std::set<std::string> names_of_map(const Block& map);

/// The bytes of what stages that map a tile keep of a segment: the results and the lets that are the same for
/// all of its elements, as far as map needs them. 0 without a map.
std::int64_t value_bytes(const Operator& op);

/// The pieces that write-back may mention; none for an operator without `map`.
std::vector<Piece> map_section(const Problem& problem);

/// The piece that takes elements out of a tile, for stages that fold and map tiles; follows the pieces of
/// tile_section().
std::vector<Piece> map_tile_section(const Problem& problem);

}  // namespace segfold
