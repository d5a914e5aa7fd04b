#pragma once
// The operators that come with segfold, written in its language (dsl/standard/*.seg).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/operator.h"
#include "dsl/text/parser.h"

namespace segfold {

/// The text of a standard operator for some types.
struct StandardVersion {
    std::vector<Type> types;
    std::string text;  ///< the operator's text, without source and example
};

/// A standard operator before a type is chosen.
struct StandardOperator {
    std::string name;
    std::string summary;      ///< the first sentence of its description
    std::vector<Type> types;  ///< the types allowed for T, in the order of kTypes
    std::string source = {};  ///< author, year and title of its origin
    std::string example =
        {};  ///< "x = 1 2 3 -> 6": a segment's columns, then results and outputs; may be empty
    std::vector<StandardVersion> versions = {};  ///< one for all types, or one for each group of types
};

/// Returns all standard operators, ordered by name.
std::vector<StandardOperator> standard_operators();

/// True if `name` is a standard operator, alone ("sum") or with its type ("sum_i32").
bool is_standard_operator(std::string_view name);

/// Returns the parameters of a standard operator. A parameter of type T has a type only if `name` states one,
/// as in "sum_i32".
std::vector<DeclaredParameter> standard_parameters(std::string_view name);

/// Returns the standard operator `name` for `type`. The type may also be part of the name ("affine_u32"). If
/// both are given, they must agree. If neither is given, the type is f32, or i32 if the operator takes no
/// floating-point type.
///
/// Throws InputError for an unknown name, or for a type that the operator does not take.
Operator standard_operator(std::string_view name, std::optional<Type> type = {});

}  // namespace segfold
