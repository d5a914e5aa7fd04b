#pragma once
// The grammar of expressions and types, one function per production.
#include <map>
#include <optional>
#include <string>

#include "dsl/expression.h"
#include "dsl/text/token_cursor.h"

namespace segfold {

/// A recursive-descent parser of expressions. It shares its `cursor` with the parsers of other constructs.
class ExpressionParser {
public:
    /// `generic` is the type that the type name `T` means.
    ExpressionParser(TokenCursor& cursor, std::optional<Type> generic) : cursor_(cursor), generic_(generic) {}

    /// expression ::= binary ["?" expression ":" expression]
    Expression expression();
    /// Reads the name of a type.
    Type type();

    /// Replacements of names in the current round of a loop: the counter's value, and this round's copy of
    /// each local of the body. A loop is unrolled while it is read.
    std::map<std::string, Expression> replaced;

    /// True if the text has more nodes than an operator may have. Reading then stops.
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
    /// Returns the type that `word` names in a generic text. `T` is the chosen type. `Acc` is the type in
    /// which many values of `T` are summed. None for any other word.
    [[nodiscard]] std::optional<Type> generic_type(std::string_view word) const;

    std::optional<Type> generic_;
    bool refused_generic_ = false;
    int nesting_ = 0;
    int nodes_ = 0;
};

}  // namespace segfold
