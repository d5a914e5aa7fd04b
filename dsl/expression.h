#pragma once
// Expressions: the immutable trees that make up operators, and the C++ operators that build them.
#include <algorithm>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/message/source.h"
#include "dsl/rounding.h"
#include "dsl/type.h"

namespace segfold {

/// A hash of words and texts in the order in which they were added.
///
/// Sequences with equal digests count as equal. Among 2^32 sequences, two share a digest with a probability
/// of 2^-65. No file holds a digest, so the hash may change from one version to the next.
class Digest {
public:
    void add(std::uint64_t word)
    {
        first_ = (first_ ^ word) * 0x9e3779b97f4a7c15U;
        first_ ^= first_ >> 32U;
        second_ = (second_ + word) * 0xd6e8feb86659fd93U;
        second_ ^= second_ >> 31U;
    }
    void add(std::string_view text)
    {
        add(text.size());
        for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)))) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
            add(word);
        }
    }
    void add(const Digest& part)
    {
        add(part.first_);
        add(part.second_);
    }

    [[nodiscard]] std::uint64_t first() const { return first_; }
    [[nodiscard]] std::uint64_t second() const { return second_; }
    auto operator<=>(const Digest&) const = default;

private:
    std::uint64_t first_ = 0x243f6a8885a308d3U, second_ = 0x13198a2e03707344U;
};

/// The constructs of the language, one enumerator for each.
enum class ExpressionKind : std::uint8_t {
    boolean,      ///< true, false
    integer,      ///< 17, -1: magnitude and sign; type from the context
    real,         ///< 0.5, 1e-3: type from the context
    constant,     ///< inf, nan: type from the context
    limit,        ///< lowest(T), highest(T), epsilon(T)
    name,         ///< a parameter, a `let`, or index, position, segment, length
    field,        ///< a field of the earlier or later operand, or of the state to finish
    unary,        ///< !x, ~x, -x
    binary,       ///< x + y and so on
    conditional,  ///< c ? x : y
    call,         ///< sqrt(x), min(x, y)
    convert,      ///< f32(x)
    gather,       ///< table[index]
};

/// The state that a field node reads.
enum class Operand : std::uint8_t { earlier, later, state };

/// Limits of check(): deepest nesting of one expression, and most nodes in one operator.
inline constexpr int kDeepestExpression = 256;
inline constexpr int kMostNodes = 20000;

class Expression;

/// A node of an expression tree. The comment of each member lists the kinds that use it.
struct ExpressionNode {
    ExpressionKind kind = ExpressionKind::integer;
    /// Name of a name, constant, limit or field node; of a call, its function; of a gather, its table.
    std::string name;
    /// Symbol of a unary or binary node, such as "+" or "<="; for a convert node see kGenericConversion.
    std::string symbol;
    Operand operand = Operand::state;  ///< field: the state that it reads
    bool negative = false;             ///< integer: below zero; boolean: unused
    std::uint64_t magnitude = 0;       ///< integer: |value|; boolean: 0 or 1
    double real = 0;                   ///< real: the nearest double
    int rest = 0;  ///< real: the side of `real` on which the exact number lies, as in NearReal
    std::vector<Expression> arguments;  ///< operands or arguments, in the order of the text
    std::optional<Type> type;  ///< type of the value, set by check(); limit and convert have it before
    Position position;
    int depth = 1;  ///< number of levels of the subtree
    int size = 1;   ///< nodes of the subtree, at most kMostNodes + 1; a shared node counts at each use
    Digest digest;  ///< of the subtree without positions; equal if and only if same() holds
};

/// A handle to an immutable expression tree; cheap to copy.
///
/// Numbers convert to literals, so `x * 2 + 0.5` builds the same tree as the text form. `==` builds a
/// comparison; `same()` compares trees.
class Expression {
public:
    Expression() = default;
    /// Takes only a bool. A plain bool parameter would also take pointers.
    template <std::same_as<bool> Bool>
    Expression(Bool value) : Expression(from_bool(value))
    {}
    Expression(int value);
    Expression(std::int64_t value);
    Expression(std::uint64_t value);
    Expression(double value);
    explicit Expression(ExpressionNode node);

    [[nodiscard]] bool has_value() const { return node_ != nullptr; }
    const ExpressionNode& operator*() const { return *node_; }
    const ExpressionNode* operator->() const { return node_.get(); }

    [[nodiscard]] const Expression& argument(std::size_t i) const { return node_->arguments[i]; }

private:
    static Expression from_bool(bool value);

    std::shared_ptr<const ExpressionNode> node_;
};

/// True if both trees are equal, types included. Positions in the text do not count.
bool same(const Expression& left, const Expression& right);

/// Makes a literal with a fraction.
Expression make_real(NearReal number, Position position = {});
Expression make_name(std::string name, Position position = {});
Expression make_field(Operand operand, std::string field, Position position = {});
Expression make_constant(std::string name, Position position = {});
Expression make_limit(std::string name, Type type, Position position = {});
Expression make_unary(std::string symbol, Expression argument, Position position = {});
Expression make_binary(std::string symbol, Expression left, Expression right, Position position = {});
Expression make_conditional(Expression condition, Expression yes, Expression no, Position position = {});
Expression make_call(std::string function, std::vector<Expression> arguments, Position position = {});
Expression make_convert(Type type, Expression argument, Position position = {});

/// `symbol` of a conversion in a generic text, which works for any type and writes `T(x)` or `Acc(x)`.
/// check() removes the conversion if x already has the target type.
inline constexpr const char* kGenericConversion = "generic";
Expression make_gather(std::string table, Expression index, Position position = {});

/// Returns the value of an integer or real literal, rounded to a floating-point type.
[[nodiscard]] double rounded_literal(const ExpressionNode& node, Type type);

/// Returns a copy of the node with the given arguments and type.
Expression with_type(const Expression& expression, std::vector<Expression> arguments, Type type);

Expression operator+(const Expression& left, const Expression& right);
Expression operator-(const Expression& left, const Expression& right);
Expression operator*(const Expression& left, const Expression& right);
Expression operator/(const Expression& left, const Expression& right);
Expression operator%(const Expression& left, const Expression& right);
Expression operator&(const Expression& left, const Expression& right);
Expression operator|(const Expression& left, const Expression& right);
Expression operator^(const Expression& left, const Expression& right);
Expression operator<<(const Expression& left, const Expression& right);
Expression operator>>(const Expression& left, const Expression& right);
Expression operator==(const Expression& left, const Expression& right);
Expression operator!=(const Expression& left, const Expression& right);
Expression operator<(const Expression& left, const Expression& right);
Expression operator<=(const Expression& left, const Expression& right);
Expression operator>(const Expression& left, const Expression& right);
Expression operator>=(const Expression& left, const Expression& right);
Expression operator&&(const Expression& left, const Expression& right);
Expression operator||(const Expression& left, const Expression& right);
Expression operator-(const Expression& argument);
Expression operator!(const Expression& argument);
Expression operator~(const Expression& argument);

/// Makes `condition ? yes : no`. `yes` and `no` must have the same type. Only the chosen one is evaluated.
Expression select(const Expression& condition, const Expression& yes, const Expression& no);
/// Makes a call of a function of the language, as in call("sqrt", {x}).
Expression call(std::string function, std::vector<Expression> arguments);
/// Makes the conversion `T(x)`.
Expression convert(Type type, const Expression& argument);
Expression lowest(Type type);
Expression highest(Type type);
Expression epsilon(Type type);
Expression infinity();
Expression not_a_number();

/// A function of the language, with the number and kind of its arguments.
struct Function {
    enum class Domain : std::uint8_t { number, real, integer };
    std::string_view name;
    int arity;
    Domain domain;                    ///< kind of the arguments, which all have the same type
    std::optional<Type> result = {};  ///< type of the value; none: the arguments' type
};

/// Returns the function called `name`, or nullptr.
const Function* find_function(std::string_view name);

/// Returns the names of all functions, for messages and help.
std::vector<std::string_view> function_names();

/// True if the expression reads a table.
bool gathers(const Expression& expression);

/// True if the expression reads the table called `table`.
bool gathers(const Expression& expression, std::string_view table);

/// Returns the precedence of a binary operator; a higher one binds tighter. Returns 0 if `symbol` is no
/// binary operator.
int precedence(std::string_view symbol);

}  // namespace segfold
