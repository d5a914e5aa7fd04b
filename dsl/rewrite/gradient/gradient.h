#pragma once
// Makes gradients of operators, as operators that anyone can read, check and run.
#include <string>
#include <string_view>
#include <vector>

#include "dsl/error.h"
#include "dsl/operator.h"

namespace segfold {

/// The backward of an operator by one of its parameters.
///
/// The operators run one after another over the same segments. Each takes its parameters by name: columns,
/// tables and scalars of the forward operator, gradients of its results, and arrays that earlier operators
/// returned. Results of earlier operators are tables by segment. The last operator returns `result`. If the
/// parameter is a column, `result` has one value for each element. If it is a table, `result` has one value
/// for each segment, which belongs to the entry at [segment]. If it is a scalar, `result` has one value for
/// each segment, and the caller adds these up.
struct Gradient {
    std::string means;      ///< "sums", "totals", "places", "reverse scan", "scan" or "two scans"
    std::string parameter;  ///< a column, a table that is read at [segment] alone, or a scalar
    std::string result;     ///< the name of the gradient by the parameter, such as "grad_x"
    /// The results and outputs of the forward operator whose gradients are inputs. The gradient of a result
    /// is a table by segment, that of an output a column.
    std::vector<std::string> of;
    std::vector<Operator> operators;
    std::vector<std::string> names;  ///< names of the arrays that hold these gradients, such as "grad_mean"
};

/// Thrown if the gradient is 0: results change with the parameter only in steps, or not at all.
class ZeroGradient : public InputError {
public:
    using InputError::InputError;
};

/// Returns the backward of a checked operator by `parameter`, by the cheapest means that work:
///
///     sums          the fields on which results depend are added up
///     places        each such field is copied from one element, as in max; the state also holds its index
///     totals        the derivative depends on the total and the element alone, as in a softmax
///     reverse scan  it also depends on the state of the elements behind the element
///     two scans     and on the state of those before it, which the first scan writes
///
/// The backward of a scan is a scan in the other direction, "reverse scan" or "scan". If it reads states,
/// another scan writes these first: "two scans".
///
/// Totals are taken only if their gradient agrees with that of two scans at random points. Throws
/// ZeroGradient if the gradient is 0, and InputError with the reason if it cannot be made.
[[nodiscard]] Gradient gradient(const Operator& op, std::string_view parameter);

/// Returns the backward by scans, which exists for every operator that has a gradient.
[[nodiscard]] Gradient gradient_by_scans(const Operator& op, std::string_view parameter);

/// Prints the operators of a gradient.
[[nodiscard]] std::string print(const Gradient& gradient);

}  // namespace segfold
