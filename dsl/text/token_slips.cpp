#include "dsl/text/token_slips.h"

#include <algorithm>
#include <array>

#include "dsl/lasting.h"
#include "dsl/message/slips.h"
#include "dsl/type.h"

namespace segfold {
namespace {

bool is_type(std::string_view word) { return find_type(word) || !type_like(word).empty(); }

/// Returns this language's name of the type `word`. `word` may be a name of this or of another language.
std::string type_here(std::string_view word) { return std::string(find_type(word) ? word : type_like(word)); }

/// Returns a name for an example in a message: the text of `token` if it is a word, else "n".
std::string example(const Token& token) { return token.kind == TokenKind::word ? token.text : "n"; }

}  // namespace

std::string advice_at(std::span<const Token> tokens, std::size_t at)
{
    static const auto& none = lasting([] { return Token(); });
    const auto token = [&](std::size_t i) -> const Token& { return i < tokens.size() ? tokens[i] : none; };
    const Token& here = token(at);
    const Token& before = token(at - 1);  // at the first token, `at - 1` wraps to an index past the end
    const Token& next = token(at + 1);
    const auto is = [](const Token& t, std::string_view text) { return t.text == text; };
    const auto one_of = [](const Token& t, std::initializer_list<std::string_view> texts) {
        return std::ranges::find(texts, t.text) != texts.end();
    };
    constexpr std::array<std::string_view, 10> arithmetic = {"+", "-", "*", "/",  "%",
                                                             "&", "|", "^", "<<", ">>"};
    const auto is_arithmetic = [&](const Token& t) {
        return t.kind == TokenKind::symbol && std::ranges::find(arithmetic, t.text) != arithmetic.end();
    };

    if (here.kind == TokenKind::word) {
        if (is(here, "as") && is_type(next.text))
            return "conversions are written " + type_here(next.text) + "(x)";
        if (auto advice = advice_on_word(here.text); !advice.empty())
            return advice;
        if (before.kind == TokenKind::word) {
            if (is_type(before.text))
                return "bind it with let: let " + here.text + " = VALUE;";
            if (auto advice = advice_on_word(before.text); !advice.empty())
                return advice;
        }
    }
    const bool starts_value = here.kind == TokenKind::word || here.kind == TokenKind::integer ||
                              here.kind == TokenKind::real || is(here, "(");
    if (starts_value && is(before, ")") && is_type(token(at - 2).text) && is(token(at - 3), "("))
        return "conversions are written " + type_here(token(at - 2).text) + "(" +
               (is(here, "(") ? "..." : here.text) + ")";
    if (here.kind != TokenKind::symbol)
        return "";
    if ((is(here, "=") && is_arithmetic(before)) || (is_arithmetic(here) && is(next, "=")))
        return "there is no '" + (is(here, "=") ? before : here).text +
               "='; write the value alone, or set each field: { FIELD = VALUE; ... }";
    if ((is(here, "+") && (is(before, "+") || is(next, "+"))) || (is(here, "-") && is(next, "-"))) {
        const auto& value = is(next, here.text) && token(at + 2).kind == TokenKind::word ? token(at + 2)
                            : before.kind == TokenKind::word                             ? before
                                                                                         : token(at - 2);
        return "there is no '" + here.text + here.text + "'; write " + example(value) + " " + here.text +
               " 1";
    }
    if (is(here, "+"))
        return "a plus sign stands between two values";
    if (is(here, "*") && is(before, "*"))
        return "powers are written pow(x, y), a square x * x";
    if (is(before, "/") && one_of(here, {"/", "*"}))
        return "a comment begins with #; integers are divided with /";
    if (is(here, "/") && one_of(next, {"/", "*"}))
        return "a comment begins with #";
    if (is(here, ">") && is(before, "<"))
        return "write !=";
    if (is(here, ",") && next.kind == TokenKind::word && one_of(token(at + 2), {"=", ":"}))
        return "write ';' between them";
    if (is(here, "->"))
        return is_type(before.text) ? "the list of parameters ends with )"
                                    : "write " + before.text + "." + example(next) + ": a state is a value";
    if (is(here, ":") && (is(next, ":") || is(before, ":"))) {
        const auto& name = is(next, ":") ? token(at + 2).text : next.text;
        const auto advice = advice_on_function(name);
        return advice.empty() ? "functions are named alone: " + name + "(...)" : advice;
    }
    if (is(here, ":") && is(next, "="))
        return "write =";
    if (is(here, ":") && is(token(at - 2), "let"))
        return "a let takes the type of its value: let " + before.text + " = " +
               (is_type(next.text) ? type_here(next.text) : "i32") + "(...)";
    if (is(here, "=") && is(before, "=="))
        return "write ==";
    if (is(here, "=") && one_of(next, {"<", ">"}))
        return "write " + next.text + "=";
    if (is(here, "=") && before.kind != TokenKind::symbol && !one_of(before, {"lift", "finish", "empty"}))
        return "comparison is ==";
    if (is(here, "(") && is(token(at - 2), ".")) {
        const auto advice = advice_on_function(before.text);
        return advice.empty() ? "functions are called as " + before.text + "(x)" : advice;
    }
    return "";
}

}  // namespace segfold
