#pragma once
// Finds the type T of an operator from its input arrays.
#include <optional>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The types that T may be.
struct InputType {
    std::vector<Type> candidates;  ///< best first; only one if an array determines it
    std::string file;              ///< the file that determines it
};

/// Finds the type T of `parameters` from the files of --input, or else of --layout rows=FILE.
///
/// Returns nothing if no parameter has type T or no file is given for one. Numbers in a Matrix Market file
/// are text without a width: integers become i64 if the operator takes it, all others f32. Throws InputError
/// if two files disagree.
std::optional<InputType> type_of_inputs(const Arguments& arguments, const std::string& operator_name,
                                        const std::vector<DeclaredParameter>& parameters);

}  // namespace segfold::cli
