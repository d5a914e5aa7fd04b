#pragma once
// The type T of an operator, where the arrays it is given say it.
#include <optional>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The types that T may be.
struct InputType {
    std::vector<Type> candidates;  ///< best first; one alone where an array says it
    std::string file;              ///< that says it
};

/// The type T of `parameters`, by the files of --input, else of --layout rows=FILE.
///
/// Nothing if no parameter is of type T, or if no file is given for one. The numbers of a Matrix Market file
/// are text, and of no width: integers are i64 if the operator takes it, all else is f32. Throws InputError
/// if two files disagree.
std::optional<InputType> type_of_inputs(const Arguments& arguments, const std::string& operator_name,
                                        const std::vector<DeclaredParameter>& parameters);

}  // namespace segfold::cli
