#pragma once
// Reads operators and expressions from text.
#include <optional>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// Reads the text form of one operator and checks its names and types.
///
/// Messages begin with `name`, such as the path of a file, or with "operator" if `name` is empty. In a
/// generic text, the type name `T` means `generic`; without `generic`, `T` is an error. Throws SpecError,
/// which points at the place and reports the first ten faults.
Operator parse_operator(std::string name, std::string text, std::optional<Type> generic = {});

/// Reads a text that print() wrote. It may be longer than a user's text, because print() repeats long names.
Operator parse_printed(std::string text);

/// A parameter as its text declares it.
struct DeclaredParameter {
    std::string name;
    std::optional<Type> type;  ///< none for `T`, or if no type is given
    bool table = false;        ///< true for a scalar as well
    bool scalar = false;
    bool row = false;  ///< true for a column or a table of rows
};

/// Reads only the parameters of the operator in `text`. Throws SpecError.
std::vector<DeclaredParameter> declared_parameters(std::string name, std::string text);

/// The short form of an operator on the command line. It has one column `x` and one state field `value`;
/// combine is an expression of `a` and `b`. The other parts are optional: an empty text omits the part.
struct ShortForm {
    std::string combine = {};   ///< "max(a, b)"
    Type type = Type::f32;      ///< type of the column and the state
    std::string identity = {};  ///< "lowest(f32)"; empty: a semigroup
    std::string lift = {};      ///< expression of x; empty: x itself
    std::string finish = {};    ///< expression that makes the result of `value`; empty: the result is `value`
    bool commutative = false;
};

/// Names of the parts in messages. The command line uses the names of its flags.
struct ShortFormNames {
    std::string combine = "combine";
    std::string identity = "identity";
    std::string lift = "lift";
    std::string finish = "finish";
};

/// Builds the operator of a short form. Messages name the faulty part: "combine:1:5: ...". Throws SpecError.
Operator parse_short_form(const ShortForm& form, const ShortFormNames& names = {});

/// Reads an expression without resolving its names. Stage files use it for sizes and conditions.
Expression parse_expression(std::string name, std::string text);

}  // namespace segfold
