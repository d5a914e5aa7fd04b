#pragma once
// The values that a block's expressions can take if operands and elements are known, and the operations that
// may overflow.
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

/// The values of expressions of one block, where the operands' fields and the elements are known.
class BlockValues {
public:
    using Sites = std::set<const ExpressionNode*>;

    BlockValues(const KnownValues& tables, const Corners& corners) : tables_(tables), corners_(corners) {}

    void know(std::string name, GrowingValues values)
    {
        known_.emplace_back(std::move(name), std::move(values));
    }

    /// The values of each assignment. Adds operations that may overflow, where that matters, to `sites`.
    std::vector<GrowingValues> run(const Block& block, const std::vector<bool>& field_matters, Sites& sites);

private:
    using Bounds = std::pair<Affine, Affine>;

    struct LetValues {
        Expression value;
        GrowingValues values;
        bool may_overflow = false;
    };

    [[nodiscard]] const GrowingValues* find(std::string_view name) const;

    /// Floats have no bounds; the integers that they are made of count all the same.
    void see_arguments(const Expression& value);

    GrowingValues overflow(const Expression& at, bool matters);

    /// The values between bounds, where all of them are of the type.
    GrowingValues bounded(const Expression& at, bool matters, const GrowingValues& exact);

    GrowingValues of(const Expression& value, bool matters);

    GrowingValues name(const Expression& value, bool matters);

    GrowingValues conditional(const Expression& value, bool matters);

    /// False where the condition cannot be so.
    bool assume(const Expression& condition, bool holds);

    /// Takes note of `left SYMBOL right` where the left side is a name or a field.
    bool compare(std::string_view symbol, const Expression& left, const Expression& right);

    GrowingValues operation(const Expression& value, bool matters);

    GrowingValues connective(const Expression& value);

    GrowingValues unary(const Expression& value, bool matters, const GrowingValues& argument);

    /// Of ranges and single values, each with each.
    template <class Operation>
    GrowingValues each_with_each(Type type, const GrowingValues& left, const GrowingValues& right,
                                 const Operation& operation);

    GrowingValues binary(const Expression& value, bool matters, const GrowingValues& left,
                         const GrowingValues& right);

    /// Whether a value is the least, or the greatest, of `one` and another.
    [[nodiscard]] bool is_of(const Expression& value, std::string_view function, const Expression& one) const;

    /// A difference is not negative where the right side is the least of the left one and another, or the
    /// left side the greatest; so is that of a summand.
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

    /// Either bound of a least value bounds it from above; both together from below.
    GrowingValues extreme(Type type, const GrowingValues& left, const GrowingValues& right, bool least);

    const KnownValues& tables_;
    Corners corners_;
    std::vector<std::pair<std::string, GrowingValues>> known_;
    std::map<std::string, LetValues, std::less<>> lets_;
    Sites* sites_ = nullptr;
    int again_ = 0;
};

}  // namespace segfold
