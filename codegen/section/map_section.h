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

/// Paths of the parts with the kernel that runs `map`, for columns of numbers and for rows. kMapKernel is the
/// name of this kernel, which is launched last.
inline constexpr std::string_view kMapPart = "parts/map_elements.cuh";
inline constexpr std::string_view kMapRowsPart = "parts/map_rows.cuh";
inline constexpr std::string_view kMapKernel = "map_elements";

/// Number of consecutive elements that a thread loads and stores at a time. A stage's `let` size `map_items`
/// overrides it.
inline constexpr int kMapItems = 4;

/// Describes an emitted function that computes the outputs of one element.
struct ElementFunction {
    const char* type;  ///< name of the struct that the function returns
    const char* name;
    std::vector<std::string> parameters;
    const char* source;  ///< data from which the outputs are computed, for the emitted comment
};
/// Returns the text of `function`. It evaluates the block of a `map` or `scan` for one element and returns
/// the values that the block assigns to outputs.
std::string element_function(const Problem& problem, const Operator& op, const Block& block,
                             const ElementFunction& function, Dialect dialect);

/// Returns the values for the holes of one array in kernels/vocabulary/map.cuh. The list `chunk` has one item
/// for each memory access. The accesses together load or store `num_items` elements of the array.
Holes holes_of_array(const std::string& name, Type type, const char* chunk, int num_items = kMapItems);

/// Returns the values for the list `output` in map.cuh: holes_of_array() for each output that the block of a
/// `map` or `scan` sets.
Holes holes_of_outputs(const Operator& op, const Block& block, int num_items = kMapItems);

/// Returns the function map_element() with the given parameters. It maps one element to its outputs.
std::string map_element_function(const Problem& problem, const std::vector<std::string>& parameters,
                                 Dialect dialect);

/// Returns the operator whose `map` is emitted. If `op` is over rows, this is the operator on one feature,
/// with a column in place of each read of a table of rows. Otherwise it is `op` itself.
Operator mapped_operator(const Operator& op);

/// True if the block of a `map` or `scan` reads a table or a scalar.
bool uses_tables(const Block& block);

/// The tables and scalars that map reads, as parameters and arguments of emitted functions.
struct TablesOfMap {
    std::vector<std::string> parameters, arguments;
    bool gathers = false;  ///< true if one of them is a table, not a scalar
};
TablesOfMap tables_of_map(const Problem& problem, const std::set<std::string>& needed);

/// Returns the names that the outputs of a map use, directly or through the map's locals. Includes the names
/// of tables. A local that reads a table counts as used.
std::set<std::string> names_of_map(const Block& map);

/// Returns the bytes that a stage must keep for each segment of a tile if its kernel also runs `map`. They
/// hold the results and the segment's locals that map needs. 0 for an operator without a map.
std::int64_t value_bytes(const Operator& op);

/// Returns the pieces that write-back may use; none for an operator without `map`. A thread takes `num_items`
/// consecutive elements at a time.
std::vector<Piece> map_section(const Problem& problem, int num_items = kMapItems);

/// Returns the piece that reads a tile's elements for map, in stages that both fold and map tiles. A text
/// must define it after the pieces of tile_section().
std::vector<Piece> map_tile_section(const Problem& problem, const StepItems& step);

}  // namespace segfold
