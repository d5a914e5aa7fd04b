#pragma once
// Types of expressions: numbers take the type of their context, everything else states its own.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/message/complaints.h"
#include "dsl/operator.h"

namespace segfold {

/// The names that expressions of a block may use.
struct Scope {
    std::map<std::string, Type, std::less<>> names;  ///< parameters, locals, index and the like
    std::map<std::string, Type, std::less<>> tables;
    std::map<std::string, Operand, std::less<>> operands;   ///< combine's two
    std::map<std::string, Type, std::less<>> state_fields;  ///< finish names the fields directly
    std::set<std::string, std::less<>> set;                 ///< the fields that the block sets
    std::set<std::string, std::less<>> silent;  ///< names that have a message already; they get no other
    std::string part;                           ///< "lift"
};

/// True for a number with a fraction, inf or nan, and for an expression made of one.
bool has_fraction(const Expression& expression);

/// Resolves and types the expressions of one block. Throws PlacedError; Silence for an expression with a name
/// that has a complaint already.
class Typing {
public:
    Typing(const Operator& op, Scope scope) : op_(op), scope_(std::move(scope)) {}

    /// The expression with all names resolved and all types known, which must come out as `wanted`.
    /// `what` names the place in messages: "state field 'mean'".
    Expression value(const Expression& expression, Type wanted, const std::string& what);

    /// The same for a `let`; `context` is the type that its uses ask for, if they ask for any.
    Expression value(const Expression& expression, std::optional<Type> context);

    /// Makes a local known.
    void add(const std::string& name, Type type) { scope_.names.emplace(name, type); }
    /// Makes a name known that gets no further message.
    void silence(const std::string& name) { scope_.silent.insert(name); }
    [[nodiscard]] bool knows(std::string_view name) const;

    /// The type that an expression states by itself; nothing for numbers, for expressions of numbers alone,
    /// and for unknown names.
    [[nodiscard]] std::optional<Type> stated(const Expression& expression) const;

private:
    Expression resolve(const Expression& expression, std::optional<Type> context);
    Expression literal(const Expression& expression, std::optional<Type> context) const;
    Expression integer(const Expression& expression, Type type) const;
    Expression name(const Expression& expression);
    Expression field(const Expression& expression) const;
    [[noreturn]] void refuse_name(const Expression& expression);
    [[noreturn]] void refuse_function(const Expression& expression) const;
    Expression unary(const Expression& expression, std::optional<Type> context);
    Expression binary(const Expression& expression, std::optional<Type> context);
    Expression conditional(const Expression& expression, std::optional<Type> context);
    Expression call(const Expression& expression, std::optional<Type> context);
    Expression convert(const Expression& expression);
    Expression gather(const Expression& expression);

    [[nodiscard]] bool is_scalar(std::string_view name) const;
    [[nodiscard]] const StateField* find_field(std::string_view name) const;
    [[nodiscard]] std::vector<std::string_view> known_names() const;
    /// How to get at a name that is not known here; empty for a name known nowhere.
    [[nodiscard]] std::string way_to(std::string_view name) const;
    /// A type for examples: one of the operator's own, with fractions where `real`.
    [[nodiscard]] Type likely_type(bool real) const;
    /// Throws PlacedError: nothing says a type for `at`; `example` is a number to convert, for the message.
    [[noreturn]] void refuse_untyped(const Expression& at, const std::string& message,
                                     const Expression& example) const;
    /// True if names that have been complained about are in the expression.
    [[nodiscard]] bool is_silent(const Expression& expression) const;
    [[noreturn]] void fail(const Expression& at, const std::string& message,
                           const std::string& hint = {}) const;

    const Operator& op_;
    Scope scope_;
};

}  // namespace segfold
