#pragma once
// Expressions in which equal subterms share one node. They are simplified while they are built.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// Terms that replace the names and fields of a block.
struct TermNames {
    std::map<std::string, Expression> names;
    std::map<std::pair<Operand, std::string>, Expression> fields;
};

/// Builds typed expressions and keeps them. Two terms are equal if and only if they are the same node.
///
/// A term is simplified if this keeps its value for all finite numbers: 0 + x, 1 * x, `true ? x : y`. Facts
/// stated by functions such as state_order() allow further simplifications.
class TermGraph {
public:
    [[nodiscard]] Expression number(double value, Type type);
    [[nodiscard]] Expression name(const std::string& name, Type type);
    [[nodiscard]] Expression field(Operand operand, const std::string& field, Type type);
    [[nodiscard]] Expression limit(const std::string& name, Type type);
    [[nodiscard]] Expression unary(const std::string& symbol, const Expression& argument);
    [[nodiscard]] Expression binary(const std::string& symbol, const Expression& left,
                                    const Expression& right);
    [[nodiscard]] Expression call(const std::string& function, std::vector<Expression> arguments);
    [[nodiscard]] Expression convert(Type type, const Expression& argument);
    [[nodiscard]] Expression select(const Expression& condition, const Expression& yes, const Expression& no);
    [[nodiscard]] Expression gather(const std::string& table, const Expression& index, Type type);

    /// Returns the term of a checked expression. Names that are not in `names` stay.
    [[nodiscard]] Expression term(const Expression& checked, const TermNames& names);
    /// Returns the values of a checked block by field. Names of its locals become hints, that is, proposed
    /// names for terms. Remembers which terms the block computes unconditionally: they read no table past its
    /// end.
    [[nodiscard]] std::map<std::string, Expression> values(const Block& block, TermNames names);
    /// Returns the term with some terms replaced. `may_be_of_another` must be true if the term may belong to
    /// another graph.
    [[nodiscard]] Expression replaced(const Expression& term,
                                      const std::map<const ExpressionNode*, Expression>& by,
                                      bool may_be_of_another = true);
    /// Returns the term, simplified for places where `condition` is known to be true or false.
    [[nodiscard]] Expression assuming(const Expression& term, const Expression& condition, bool is_true);

    /// States that `lesser` is never above `greater`, and that `greater` is never NaN.
    void state_order(const Expression& lesser, const Expression& greater);
    /// States that an integer is above 0, or that a bool is true.
    void state_positive(const Expression& term) { positive_.insert(&*term); }
    /// Also simplifies x - x, x / x, exp(0) and x == x. This is right only if all numbers are finite and
    /// nonzero.
    void take_all_for_finite() { finite_ = true; }

    /// Proposes a name for the local that may hold the term.
    void hint(const Expression& term, const std::string& name);
    [[nodiscard]] std::string hint_of(const Expression& term) const;

    /// Returns a block that sets fields to terms. Shared subterms become locals with names outside of
    /// `taken`. Reads of tables in `unconditional` also become locals, ahead of any condition.
    [[nodiscard]] Block block(const std::vector<std::pair<std::string, Expression>>& values,
                              std::set<std::string> taken,
                              const std::set<std::string>& unconditional = {}) const;

private:
    Expression keep(ExpressionNode node);
    Expression simplified(ExpressionNode node);
    Expression simplified_unary(ExpressionNode node);
    Expression simplified_binary(ExpressionNode node);
    Expression simplified_comparison(ExpressionNode node);
    Expression simplified_call(ExpressionNode node);
    [[nodiscard]] bool is_never_above(const Expression& lesser, const Expression& greater) const;

    std::map<std::string, Expression> terms_;
    std::map<const ExpressionNode*, std::string> hints_;
    std::set<std::pair<const ExpressionNode*, const ExpressionNode*>> never_above_;
    std::set<const ExpressionNode*> positive_, no_nan_;
    std::set<const ExpressionNode*> computed_;  ///< terms that blocks compute unconditionally
    bool finite_ = false;
};

/// True for the symbols of comparisons.
[[nodiscard]] bool is_comparison(const std::string& symbol);

/// True if the term reads a name.
[[nodiscard]] bool reads_name(const Expression& term, const std::string& name);

/// Returns the value of a literal number or bool of any type; none for other terms.
[[nodiscard]] std::optional<double> literal_value(const Expression& term);

/// True if `holds` returns true for a node of the term.
template <class Holds>
bool any_subterm(const Expression& term, const Holds& holds, std::set<const ExpressionNode*>& seen)
{
    if (!seen.insert(&*term).second)
        return false;
    if (holds(*term))
        return true;
    for (const auto& argument : term->arguments)
        if (any_subterm(argument, holds, seen))
            return true;
    return false;
}

template <class Holds>
bool any_subterm(const Expression& term, const Holds& holds)
{
    std::set<const ExpressionNode*> seen;
    return any_subterm(term, holds, seen);
}

}  // namespace segfold
