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

/// A function that computes the outputs of an element. `source` names its sources in a comment.
struct ElementFunction {
    const char* type;  ///< name of the struct that it returns
    const char* name;
    std::vector<std::string> parameters;
    const char* source;
};
/// Emits the function that returns the values assigned in a block of `map` or `scan`.
std::string element_function(const Problem& problem, const Operator& op, const Block& block,
                             const ElementFunction& function, Dialect dialect);

/// Values for the holes in kernels/vocabulary/map.cuh that concern one array, and for each memory access to
/// `num_items` of its elements.
Holes holes_of_array(const std::string& name, Type type, const char* chunk, int num_items = kMapItems);

/// Values for the list `output` in map.cuh: the outputs that a block of `map` or `scan` sets, `num_items` of
/// each.
Holes holes_of_outputs(const Operator& op, const Block& block, int num_items = kMapItems);

/// Returns the function map_element() with the given parameters. It maps one element to its outputs.
std::string map_element_function(const Problem& problem, const std::vector<std::string>& parameters,
                                 Dialect dialect);

/// The operator whose `map` is emitted. An operator over rows becomes the operator on one feature, with a
/// column in place of each read of a table of rows. Other operators stay unchanged.
Operator mapped_operator(const Operator& op);

/// True if map reads a table or a scalar.
bool map_uses_tables(const Operator& op);

/// The tables and scalars of numbers that map reads, as parameters and arguments of emitted functions.
struct TablesOfMap {
    std::vector<std::string> parameters, arguments;
    bool gathers = false;  ///< true if one of them is a table, not a scalar
};
TablesOfMap tables_of_map(const Problem& problem, const std::set<std::string>& needed);

/// The names that a map uses, directly or through its locals; names of tables are included. Locals that read
/// a table count as used.
std::set<std::string> names_of_map(const Block& map);

/// Bytes that a stage with a fused map keeps for each segment of a tile: the results and the segment's locals
/// that map needs. 0 without a map.
std::int64_t value_bytes(const Operator& op);

/// The pieces that write-back may use; none for an operator without `map`. A thread takes `num_items`
/// consecutive elements at a time.
std::vector<Piece> map_section(const Problem& problem, int num_items = kMapItems);

/// The piece that reads elements of a tile for map, in stages that fold and map tiles. It must come after the
/// pieces of tile_section().
std::vector<Piece> map_tile_section(const Problem& problem, const StepItems& step);

}  // namespace segfold
