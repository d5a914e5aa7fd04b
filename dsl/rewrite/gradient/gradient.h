#pragma once
// Gradients of operators, as operators that anyone can read, check and run.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/error.h"
#include "dsl/operator.h"

namespace segfold {

/// The backward of an operator by one of its parameters.
///
/// The operators run in turn over the same segments. Each takes its parameters by name: the columns, tables
/// and scalars of the forward, gradients of its results, and what operators before it returned; results of
/// these are tables by segment. The last one returns `result`: by a column a value for each element; by a
/// table a value for each segment, which is that of its entry; by a scalar a value for each segment, which
/// the caller adds up.
struct Gradient {
    std::string means;      ///< "sums", "totals", "places", "reverse scan", "scan" or "two scans"
    std::string parameter;  ///< a column, a table that is read at [segment] alone, or a scalar
    std::string result;     ///< the name of the gradient by it, as "grad_x"
    /// The results and outputs of the forward whose gradients are taken: of a result a table by segment, of
    /// an output a column.
    std::vector<std::string> of;
    std::vector<Operator> operators;
    std::vector<std::string> names;  ///< of the arrays with these gradients, as "grad_mean"
};

/// Thrown where no result changes with the parameter but by steps: the gradient is 0.
class ZeroGradient : public InputError {
public:
    using InputError::InputError;
};

/// Returns the backward of a checked operator by `parameter`, by the cheapest means that serve:
///
///     sums          the fields on which results depend are added up
///     places        each such field is that of one element, as in max; the state also holds its index
///     totals        the derivative depends on the total and the element alone, as in a softmax
///     reverse scan  it also depends on the elements behind the element
///     two scans     and on those before it, whose state the first scan writes
///
/// That of a scan is a scan the other way, "reverse scan" or "scan", before which another one may write the
/// states that it reads, "two scans".
///
/// Totals are taken only if the gradient agrees with two scans at points by lot.
/// Throws ZeroGradient if it is 0, and InputError with the reason if it cannot be made.
[[nodiscard]] Gradient gradient(const Operator& op, std::string_view parameter);

/// The same by scans, which serve for every operator that has a gradient.
[[nodiscard]] Gradient gradient_by_scans(const Operator& op, std::string_view parameter);

/// The operators as text.
[[nodiscard]] std::string print(const Gradient& gradient);

}  // namespace segfold
