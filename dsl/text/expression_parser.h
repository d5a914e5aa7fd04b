#pragma once
// The grammar of expressions and types, one function per production.
#include <map>
#include <optional>
#include <string>

#include "dsl/expression.h"
#include "dsl/text/token_cursor.h"

namespace segfold {

/// Recursive descent over the tokens of `cursor`, which others read on.
class ExpressionParser {
public:
    /// `generic` is the type of the name `T`.
    ExpressionParser(TokenCursor& cursor, std::optional<Type> generic) : cursor_(cursor), generic_(generic) {}

    /// expression ::= binary ["?" expression ":" expression]
    Expression expression();
    /// A type's name.
    Type type();

    /// Meanings of names: the counter of a loop is a number, a local of its body that of one round.
    std::map<std::string, Expression> replaced;

    /// True once a limit of the whole text is passed, so that reading on is no use.
    [[nodiscard]] bool exhausted() const { return nodes_ > kMostNodes; }

private:
    class Nested;

    [[noreturn]] void too_deep(Position position) const;
    [[noreturn]] void refuse_generic(Position position);
    void refuse_foreign_word() const;
    Expression bounded(Expression made);
    Expression binary(int loosest);
    Expression unary();
    Expression primary();
    Expression called(const Token& token);
    Expression number();
    [[noreturn]] void refuse_real(const Token& token) const;

    TokenCursor& cursor_;
    /// The type of `word` in a generic text: `T`, or `Acc`, in which many values of `T` are added up.
    [[nodiscard]] std::optional<Type> generic_type(std::string_view word) const;

    std::optional<Type> generic_;
    bool refused_generic_ = false;
    int nesting_ = 0;
    int nodes_ = 0;
};

}  // namespace segfold
