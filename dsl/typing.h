#pragma once
// Types of expressions: literals take the type of their context, everything else states its own.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

/// What the expressions of a block may name.
struct Scope {
    std::map<std::string, Type, std::less<>> names;  ///< parameters, locals, index and the like
    std::map<std::string, Type, std::less<>> tables;
    std::map<std::string, Operand, std::less<>> operands;   ///< combine's two
    std::map<std::string, Type, std::less<>> state_fields;  ///< finish names the fields directly
};

/// Resolves and types the expressions of one block.
class Typing {
public:
    Typing(const Operator& op, Scope scope) : op_(op), scope_(std::move(scope)) {}

    /// The expression with all names resolved and all types known, which must come out as `wanted`.
    /// `what` names the place in messages: "state field 'mean'".
    Expression value(const Expression& expression, Type wanted, const std::string& what);

    /// The same where the context says nothing, as in a `let`.
    Expression value(const Expression& expression);

    /// Makes a local known.
    void add(const std::string& name, Type type) { scope_.names.emplace(name, type); }
    [[nodiscard]] bool knows(std::string_view name) const;

private:
    Expression resolve(const Expression& expression, std::optional<Type> context);
    Expression literal(const Expression& expression, std::optional<Type> context) const;
    Expression integer(const Expression& expression, Type type) const;
    Expression name(const Expression& expression) const;
    Expression field(const Expression& expression) const;
    Expression unary(const Expression& expression, std::optional<Type> context);
    Expression binary(const Expression& expression, std::optional<Type> context);
    Expression conditional(const Expression& expression, std::optional<Type> context);
    Expression call(const Expression& expression, std::optional<Type> context);
    Expression convert(const Expression& expression);
    Expression gather(const Expression& expression);

    /// The type that an expression states by itself; nothing for literals and what is made of them alone.
    [[nodiscard]] std::optional<Type> stated(const Expression& expression) const;
    [[nodiscard]] const StateField* find_field(std::string_view name) const;
    [[nodiscard]] std::vector<std::string_view> known_names() const;
    /// Where a name is known that is not known here; empty for a name known nowhere.
    [[nodiscard]] std::string place_of(std::string_view name) const;
    [[noreturn]] void fail(const Expression& at, const std::string& message,
                           const std::string& hint = {}) const;

    const Operator& op_;
    Scope scope_;
};

}  // namespace segfold
