#pragma once
// From text to operators and expressions.
#include <optional>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// Reads the text form of one operator and checks its names and types.
///
/// Messages begin with `name`, the path of a file for instance; without one with "operator". `generic` is the
/// type of the name `T` in this text, e.g. in the standard operators; without it a use of `T` is an error.
/// Throws SpecError pointing at the place; of a text with several faults it tells the first ten.
Operator parse_operator(std::string name, std::string text, std::optional<Type> generic = {});

/// Reads an operator that print() wrote, however long: long names make it longer than a user's text may be.
Operator parse_printed(std::string text);

/// A parameter as its text declares it.
struct DeclaredParameter {
    std::string name;
    std::optional<Type> type;  ///< nothing if it is `T`, or no type at all
    bool table = false;        ///< or a scalar
    bool scalar = false;
    bool row = false;  ///< a column or a table of rows
};

/// The parameters of the operator in `text`, of which no more is read. Throws SpecError.
std::vector<DeclaredParameter> declared_parameters(std::string name, std::string text);

/// The short form of the command line: one column `x`, one state field `value`, combine given as an
/// expression of `a` and `b`, the other parts optional (empty texts are left out).
struct ShortForm {
    std::string combine = {};   ///< "max(a, b)"
    Type type = Type::f32;      ///< of the column and the state
    std::string identity = {};  ///< "lowest(f32)"; empty: a semigroup
    std::string lift = {};      ///< of x; empty: x itself
    std::string finish = {};    ///< of value; empty: value itself
    bool commutative = false;
};

/// Names of the parts of a short form in messages; the command line calls them by its flags.
struct ShortFormNames {
    std::string combine = "combine";
    std::string identity = "identity";
    std::string lift = "lift";
    std::string finish = "finish";
};

/// Builds the operator that a short form says. Messages name the part at fault: "combine:1:5: ...". Throws
/// SpecError.
Operator parse_short_form(const ShortForm& form, const ShortFormNames& names = {});

/// Reads an expression and leaves its names unresolved, for sizes and conditions in stage files.
Expression parse_expression(std::string name, std::string text);

}  // namespace segfold
