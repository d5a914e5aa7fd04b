#pragma once
// Makes operators from other operators: products, running results, gradients.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/error.h"
#include "dsl/operator.h"

namespace segfold {

/// One of the operators of a product, with names for its results.
struct Factor {
    Operator op;
    std::string label = {};  ///< prefix of the names of its results; empty: only colliding names get a prefix
    std::map<std::string, Expression> arguments =
        {};  ///< parameter of `op` -> the expression of the product's parameters that replaces it
    Position position = {};  ///< place for messages in the product's text
};

/// Returns one operator that computes the results of all `factors`, in their order.
///
/// Parameters of the same name are one parameter and must have one type. Colliding fields, locals and results
/// get their operator's name as a prefix. A result without a name takes its operator's name. The product
/// claims a law only if all factors claim it. If one factor has no identity, the product has none. Throws
/// InputError if there is no factor, if a factor cannot be part of a product, or if parameters of one name
/// differ in type.
Operator product(std::vector<Factor> factors);

/// product() of two operators: `mean_variance & argmax`. If an operand is itself a product, its factors join
/// the new one: `a & b & c` has the same names as product() of the three.
Operator operator&(const Operator& left, const Operator& right);

/// How an operator is scanned.
struct ScanForm {
    bool exclusive = false;  ///< true: the results of an element leave out the element itself
    /// True: scans from the end of the segment. Combine's operands keep the order of the data.
    bool reverse = false;
};

/// Returns an operator that computes running results: each element gets the results of `op` over its segment
/// up to this element. `op` must be checked. These outputs have the names of the results. The operator
/// returns no results of segments.
///
/// An output is `finish` of the running state, where `length` is the number of elements so far. In an
/// exclusive scan, the first element gets the results of an empty segment. An operator with a `scan` of its
/// own stays as it is, except that `reverse` turns its direction round. Throws InputError for an operator
/// with a `map` and no scan. If `exclusive`, also throws for an operator with a scan of its own or without
/// results of empty segments.
[[nodiscard]] Operator scanned(Operator op, ScanForm form);

/// The operators that compute the gradient of an operator by one of its parameters.
///
/// They run one after another over the same segments. Each takes its parameters by name: columns, tables and
/// scalars of the forward operator, gradients of its results, and arrays that earlier operators returned.
/// Results of earlier operators are tables by segment. The last operator returns `result`. If the parameter
/// is a column, `result` has one value for each element. If it is a table, `result` has one value for each
/// segment, which belongs to the entry at [segment]. If it is a scalar, `result` has one value for each
/// segment, and the caller adds these up.
struct Gradient {
    std::string means;      ///< "sums", "totals", "places", "reverse scan", "scan" or "two scans"
    std::string parameter;  ///< a column, a table that is read at [segment] alone, or a scalar
    std::string result;     ///< the name of the gradient by the parameter, such as "grad_x"
    /// The results and outputs of the forward operator whose gradients are inputs. The gradient of a result
    /// is a table by segment. The gradient of an output is a column.
    std::vector<std::string> of;
    std::vector<Operator> operators;
    std::vector<std::string> names;  ///< names of the arrays that hold these gradients, such as "grad_mean"
};

/// Thrown if the gradient is 0: results change with the parameter only in steps, or not at all.
class ZeroGradient : public InputError {
public:
    using InputError::InputError;
};

/// Returns the gradient of a checked operator by `parameter`, by the cheapest method that works:
///
///     sums          the fields on which results depend are added up
///     places        each such field is copied from one element, as in max; the state also holds its index
///     totals        the derivative depends only on the total and the element, as in a softmax
///     reverse scan  the derivative also depends on the state of the elements after this element
///     two scans     it also depends on the state before the element, which the first scan writes
///
/// The gradient of a scan is a scan in the other direction, "reverse scan" or "scan". If it reads states,
/// another scan writes these first: "two scans".
///
/// The method totals is used only if its gradient agrees with the gradient by two scans at random points.
/// Throws ZeroGradient if the gradient is 0, and InputError with the reason if it cannot be made.
[[nodiscard]] Gradient gradient(const Operator& op, std::string_view parameter);

/// Returns the gradient by scans, which works for every operator that has a gradient.
[[nodiscard]] Gradient gradient_by_scans(const Operator& op, std::string_view parameter);

/// Prints the operators of a gradient.
[[nodiscard]] std::string print(const Gradient& gradient);

}  // namespace segfold
