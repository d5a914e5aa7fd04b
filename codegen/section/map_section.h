#pragma once
// Emits the code for write-back: the operator's `map` as a function, and reads and writes of its elements.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/section/operator_section.h"
#include "codegen/section/vocabulary.h"

namespace segfold {

struct StepItems;

/// The parts that contain the kernel of write-back for numbers and for rows, and the kernel's name. The
/// kernel is launched last.
inline constexpr std::string_view kMapPart = "parts/map_elements.cuh";
inline constexpr std::string_view kMapRowsPart = "parts/map_rows.cuh";
inline constexpr std::string_view kMapKernel = "map_elements";

/// Consecutive elements that a thread of a kernel loads and stores at a time, unless the stage has a size
/// `map_items`.
inline constexpr int kMapItems = 4;

/// A function that gives an element its outputs. `source` says what it makes them of.
struct ElementFunction {
    const char* type;  ///< of the struct that it returns
    const char* name;
    std::vector<std::string> parameters;
    const char* source;
};
/// Emits the function that returns what a block of `map` or `scan` assigns.
std::string element_function(const Problem& problem, const Operator& op, const Block& block,
                             const ElementFunction& function, Dialect dialect);

/// Values for the holes of an array in kernels/vocabulary/map.cuh, and for each memory access to `num_items`
/// of its elements.
Holes holes_of_array(const std::string& name, Type type, const char* chunk, int num_items = kMapItems);

/// The list `output`: the outputs that a block of `map` or `scan` sets, `num_items` elements of each.
Holes holes_of_outputs(const Operator& op, const Block& block, int num_items = kMapItems);

/// Returns the function map_element() with the given parameters. It maps one element to its outputs.
std::string map_element_function(const Problem& problem, const std::vector<std::string>& parameters,
                                 Dialect dialect);

/// The operator as map sees it. An operator over rows becomes the operator on one feature, with a column in
/// place of every read of a table of rows.
Operator mapped_operator(const Operator& op);

/// True if map reads a table or a scalar.
bool map_uses_tables(const Operator& op);

/// The tables and scalars of numbers that map reads, as parameters and arguments of functions.
struct TablesOfMap {
    std::vector<std::string> parameters, arguments;
    bool gathers = false;  ///< true if one of them is a table, not a scalar
};
TablesOfMap tables_of_map(const Problem& problem, const std::set<std::string>& needed);

/// The names that a map uses, directly or through its locals, tables included. Locals that read a table count
/// as used.
std::set<std::string> names_of_map(const Block& map);

/// Bytes that a fused stage keeps for each segment of a tile: results, and locals that are the same for all
/// elements, if map needs them. 0 without a map.
std::int64_t value_bytes(const Operator& op);

/// The pieces that write-back may use; none for an operator without `map`. A thread takes `num_items`
/// consecutive elements at a time.
std::vector<Piece> map_section(const Problem& problem, int num_items = kMapItems);

/// The piece that takes elements out of a tile, for stages that fold and map tiles. It must stand after the
/// pieces of tile_section().
std::vector<Piece> map_tile_section(const Problem& problem, const StepItems& step);

}  // namespace segfold
