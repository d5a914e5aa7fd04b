#pragma once
// The section of an emitted file that defines the operator: types, constants, and its functions.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/configuration.h"
#include "codegen/dialect.h"
#include "codegen/problem.h"

namespace segfold {

/// A declaration that an emitted file may need, with the name by which others mention it.
struct Piece {
    std::string name;
    std::string text;  ///< ends with a line end
    enum class Kind { alias, constant, declaration } kind;
    std::string second_name = {};  ///< of something else that the text declares; may be empty
};

/// "block_threads" -> "kBlockThreads"
std::string constant_name(const std::string& name);

/// The struct of a checked table.
std::string table_name(Type type);

/// True if store() asks whether a segment is empty, and nothing else of its length.
bool tells_empty(const Operator& op);

/// True if `lift` reads the parameter, which may be a column or a table.
bool lift_uses(const Operator& op, const Parameter& parameter);

/// True if `lift` looks something up in a table that is no scalar.
bool lift_gathers(const Operator& op);

/// A constant of the text, such as {"kBlockThreads", 256}.
using NamedConstant = std::pair<std::string, int>;

/// Every piece of the operator's section in the order in which it must stand.
///
/// `read_type` gives the text of parts/f16.cuh and parts/bf16.cuh, woven; CUDA alone asks for them.
std::vector<Piece> operator_section(const Problem& problem, const std::vector<NamedConstant>& constants,
                                    const std::function<std::string(std::string_view)>& read_type,
                                    Dialect dialect = Dialect::cuda);

}  // namespace segfold
