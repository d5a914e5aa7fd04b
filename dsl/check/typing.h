#pragma once
// Finds the types of expressions. A number takes its type from the context; every other expression states its
// own type.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/message/complaints.h"
#include "dsl/operator.h"

namespace segfold {

/// The names that the expressions of a block may use.
struct Scope {
    std::map<std::string, Type, std::less<>> names;  ///< parameters, locals, and places such as index
    std::map<std::string, Type, std::less<>> tables;
    std::map<std::string, Operand, std::less<>> operands;   ///< the states of combine, scan or append
    std::map<std::string, Type, std::less<>> state_fields;  ///< finish names the fields of the state directly
    std::set<std::string, std::less<>> set;                 ///< the fields that the block sets
    std::set<std::string, std::less<>> silent;  ///< names that already have a message; no other follows
    std::string part;                           ///< the part's name, such as "lift"
};

/// True for a number with a fraction, inf or nan, and for expressions made of such numbers.
bool has_fraction(const Expression& expression);

/// Resolves and types the expressions of one block. Throws PlacedError, or Silence if an expression uses a
/// name that already has a message.
class Typing {
public:
    Typing(const Operator& op, Scope scope) : op_(op), scope_(std::move(scope)) {}

    /// Returns the expression with all names resolved and all types known. Its type must be `wanted`. `what`
    /// names the target in messages: "state field 'mean'".
    Expression value(const Expression& expression, Type wanted, const std::string& what);

    /// Resolves and types the value of a `let`. `context` is the type that the uses of the local require, if
    /// any.
    Expression value(const Expression& expression, std::optional<Type> context);

    /// Adds a local.
    void add(const std::string& name, Type type) { scope_.names.emplace(name, type); }
    /// Adds a name that is to cause no further message.
    void silence(const std::string& name) { scope_.silent.insert(name); }
    [[nodiscard]] bool knows(std::string_view name) const;

    /// Returns the type that an expression states by itself. Returns none if it is made of numbers alone, or
    /// if the type is unknown.
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
    /// Returns a hint on how to reach a name that is unknown in this block; empty if it is unknown
    /// everywhere.
    [[nodiscard]] std::string way_to(std::string_view name) const;
    /// Returns a type that the operator uses, for examples in messages. Floating-point if `real` is true.
    [[nodiscard]] Type likely_type(bool real) const;
    /// Throws PlacedError because the type of `at` is unknown. The message shows how to convert `example`.
    [[noreturn]] void refuse_untyped(const Expression& at, const std::string& message,
                                     const Expression& example) const;
    /// True if the expression uses a name that already has a message.
    [[nodiscard]] bool is_silent(const Expression& expression) const;
    [[noreturn]] void fail(const Expression& at, const std::string& message,
                           const std::string& hint = {}) const;

    const Operator& op_;
    Scope scope_;
};

}  // namespace segfold
