#pragma once
// Bounds the values of a block's expressions, given the values of operands and elements. Finds expressions
// that may overflow.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/laws/data/affine.h"
#include "dsl/laws/data/fold_growth.h"
#include "dsl/laws/data/overflow_matters.h"

namespace segfold {

/// All values of a type.
[[nodiscard]] inline GrowingValues whole(Type type) { return GrowingValues(values_of(type)); }

/// Bounds the expressions of one block, given bounds on the operands' fields and on the elements.
class BlockValues {
public:
    using Sites = std::set<const ExpressionNode*>;

    BlockValues(const KnownValues& tables, const Corners& corners) : tables_(tables), corners_(corners) {}

    void know(std::string name, GrowingValues values) { known_.emplace_back(std::move(name), values); }

    /// Returns bounds on the value of each assignment. Adds to `sites` the nodes that may overflow, if their
    /// overflow matters.
    std::vector<GrowingValues> run(const Block& block, const std::vector<bool>& field_matters, Sites& sites);

private:
    using Bounds = std::pair<Affine, Affine>;

    struct LetValues {
        Expression value;
        GrowingValues values;
        bool may_overflow = false;
    };

    [[nodiscard]] const GrowingValues* find(std::string_view name) const;

    /// Analyses the integers inside of a float expression. The expression itself has no bounds.
    void see_arguments(const Expression& value);

    GrowingValues overflow(const Expression& at, bool matters);

    /// Returns `exact` if the type holds all of its values. Otherwise records an overflow at `at`.
    GrowingValues bounded(const Expression& at, bool matters, const GrowingValues& exact);

    GrowingValues of(const Expression& value, bool matters);

    GrowingValues name(const Expression& value, bool matters);

    GrowingValues conditional(const Expression& value, bool matters);

    /// Narrows known values, given that the condition has the value `holds`. Returns false if the condition
    /// cannot have this value.
    bool assume(const Expression& condition, bool holds);

    /// Narrows the values of `left` by the fact `left SYMBOL right`, if `left` is a name or a field.
    bool compare(std::string_view symbol, const Expression& left, const Expression& right);

    GrowingValues operation(const Expression& value, bool matters);

    GrowingValues connective(const Expression& value);

    GrowingValues unary(const Expression& value, bool matters, const GrowingValues& argument);

    /// Applies `operation` to each pair of ranges or isolated values.
    template <class Operation>
    GrowingValues each_with_each(Type type, const GrowingValues& left, const GrowingValues& right,
                                 const Operation& operation);

    GrowingValues binary(const Expression& value, bool matters, const GrowingValues& left,
                         const GrowingValues& right);

    /// True if `value` is a call of `function` (min or max) with `one` as an argument.
    [[nodiscard]] bool is_of(const Expression& value, std::string_view function, const Expression& one) const;

    /// Returns a lower bound of `left - right`; none if unknown. It is 0 if `right` is min(left, y) or `left`
    /// is max(right, y). If `left` is x + z and `right` is min(x, y), it is the least value of z.
    std::optional<WideInteger> least_difference(const Expression& left, const Expression& right);

    GrowingValues product(const Expression& value, bool matters, const GrowingValues& left,
                          const GrowingValues& right);

    static Affine scaled(const Affine& bound, WideInteger factor)
    {
        return {bound.constant * factor, bound.earlier * factor, bound.later * factor};
    }

    GrowingValues converted(const Expression& value, bool matters, const GrowingValues& argument);

    GrowingValues function(const Expression& value, bool matters,
                           const std::vector<GrowingValues>& arguments);

    /// Bounds min or max. Each operand bounds a min from above. Both together bound it from below.
    GrowingValues extreme(Type type, const GrowingValues& left, const GrowingValues& right, bool least);

    const KnownValues& tables_;
    Corners corners_;
    std::vector<std::pair<std::string, GrowingValues>> known_;
    std::map<std::string, LetValues, std::less<>> lets_;
    Sites* sites_ = nullptr;
    int again_ = 0;
};

}  // namespace segfold
