#pragma once
// Emits the section of a file that defines the operator: types, constants and functions.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/configuration.h"
#include "codegen/dialect.h"
#include "codegen/problem.h"

namespace segfold {

/// A declaration that an emitted text may need. It is emitted only if later text mentions its name.
struct Piece {
    std::string name;
    std::string text;  ///< ends with a newline
    enum class Kind { alias, constant, declaration } kind;
    std::string second_name = {};  ///< another name that the text declares; may be empty
};

/// Turns "block_threads" into "kBlockThreads".
std::string constant_name(const std::string& name);

/// Returns the name of the struct that emitted text uses for a checked table with elements of `type`.
std::string table_name(Type type);

/// True if the emitted store() uses the length of a segment only to find out whether the segment is empty.
bool tells_empty(const Operator& op);

/// Returns the declaration of a function parameter in C++ for an operator's parameter: the value of a column,
/// or a table.
std::string function_parameter(const std::vector<std::string>& checked_tables, const Parameter& parameter);

/// True if `lift` reads `parameter`, which is a column or a table.
bool lift_uses(const Operator& op, const Parameter& parameter);

/// True if `lift` reads a table other than a scalar.
bool lift_gathers(const Operator& op);

/// A constant of the text, such as {"kBlockThreads", 256}.
using NamedConstant = std::pair<std::string, int>;

/// Returns every piece of the section on the operator, in the order in which a text must define them.
///
/// `read_type` returns the woven text of parts/f16.cuh or parts/bf16.cuh. Only CUDA texts need it.
/// `map_items` is the number of consecutive elements that a thread maps at a time.
std::vector<Piece> operator_section(const Problem& problem, const std::vector<NamedConstant>& constants,
                                    const std::function<std::string(std::string_view)>& read_type,
                                    Dialect dialect = Dialect::cuda, int map_items = 4);

}  // namespace segfold
