#pragma once
// Gradients of operators, as operators that anyone can read, check and run.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// The backward of an operator by one of its columns.
///
/// The operators run in turn over the same segments. Each takes its parameters by name: the columns, tables
/// and scalars of the forward, gradients of its results, and what operators before it returned; results of
/// these are tables by segment. The last one returns `result`, a value for each element.
struct Gradient {
    std::string means;      ///< "sums", "totals", "places", "reverse scan" or "two scans"
    std::string parameter;  ///< the column
    std::string result;     ///< the name of the gradient by it, as "grad_x"
    /// The results and outputs of the forward whose gradients are taken: of a result a table by segment, of
    /// an output a column.
    std::vector<std::string> of;
    std::vector<Operator> operators;
    std::vector<std::string> names;  ///< of the arrays with these gradients, as "grad_mean"
};

/// Returns the backward of a checked operator by the column `parameter`, by the cheapest means that serve:
///
/// - sums: the fields on which results depend are added up, so that the gradient of an element needs at most
/// the total;
/// - totals: the derivative depends on the total and the element alone, as in a variance or a softmax. That
/// this holds
///   is tried at points by lot;
/// - places: each field is the value of one element, as in max. The state then also holds the index of that
/// element;
/// - two scans: one writes the state of the elements before each one, the other has the state of those behind
/// it.
///
/// Throws InputError with the reason if there is no such column or no derivative by it.
[[nodiscard]] Gradient gradient(const Operator& op, std::string_view parameter);

/// The same by scans, which serve for every operator that has a gradient.
[[nodiscard]] Gradient gradient_by_scans(const Operator& op, std::string_view parameter);

/// The operators as text.
[[nodiscard]] std::string print(const Gradient& gradient);

}  // namespace segfold
