#pragma once
// Finds the type T of an operator from its input arrays.
#include <optional>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// Types that an operator's type parameter T may have.
struct InputType {
    std::vector<Type> candidates;  ///< best type first; a single type if an array determines T
    std::string file;              ///< the file from which the types come
};

/// Determines the type T of `parameters` from the files of --input, or else from --layout rows=FILE.
///
/// Returns nothing if no parameter has type T, or if no such parameter has a file. Numbers in a Matrix Market
/// file have no width. Integers become i64 if the operator accepts this type; all other numbers become f32.
/// Throws InputError if two files disagree.
std::optional<InputType> type_of_inputs(const Arguments& arguments, const std::string& operator_name,
                                        const std::vector<DeclaredParameter>& parameters);

}  // namespace segfold::cli
