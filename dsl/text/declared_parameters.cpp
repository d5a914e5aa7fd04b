#include "dsl/text/lexer.h"
#include "dsl/text/parser.h"
#include "dsl/text/token_cursor.h"

namespace segfold {

std::vector<DeclaredParameter> declared_parameters(std::string name, std::string text)
{
    const auto source = std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
    TokenCursor cursor(source, tokenize(source).tokens);
    cursor.expect_word("operator");
    cursor.name("the operator's name");
    cursor.expect("(");
    std::vector<DeclaredParameter> parameters;
    if (cursor.accept(")"))
        return parameters;
    do {
        auto parameter = cursor.name("a parameter's name");
        cursor.expect(":");
        const bool scalar = cursor.peek(1).kind == TokenKind::word && cursor.accept("scalar");
        const bool table = scalar || cursor.accept("table");
        const bool row = !scalar && cursor.peek(1).kind == TokenKind::word && cursor.accept("row");
        parameters.push_back({std::move(parameter), find_type(cursor.name("a type")), table, scalar, row});
    } while (cursor.accept(","));
    return parameters;
}

}  // namespace segfold
