#pragma once
// Finds the type T of an operator from its input arrays.
#include <optional>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The possible types of T.
struct InputType {
    std::vector<Type> candidates;  ///< the best type first; only one type if an array determines T
    std::string file;              ///< the file that determines T
};

/// Finds the type T of `parameters` from the files of --input, or else of --layout rows=FILE.
///
/// Returns nothing if no parameter has type T, or if there is no file for such a parameter. Numbers in a
/// Matrix Market file have no width: integers become i64 if the operator takes it; all other numbers become
/// f32. Throws InputError if two files disagree.
std::optional<InputType> type_of_inputs(const Arguments& arguments, const std::string& operator_name,
                                        const std::vector<DeclaredParameter>& parameters);

}  // namespace segfold::cli
