#include <functional>

#include "dsl/check/check.h"
#include "dsl/text/parser.h"

namespace segfold {
namespace {

Block only(Expression value)
{
    const Position position = value->position;
    return {{}, {{"", std::move(value), position}}, position};
}

}  // namespace

Operator parse_short_form(const ShortForm& form, const ShortFormNames& names)
{
    Operator op;
    op.name = "expression";
    op.identity_word = names.identity;
    op.parameters = {{"x", form.type, false, {}}};
    op.results = {{kResultName, form.type, {}}};
    op.state = {{"value", form.type, std::nullopt, {}}};
    op.lift = only(make_name("x"));
    op.combine = only(make_name("a"));
    op.laws.commutative = form.commutative;
    // Adds the parts one by one, so that messages about a part refer to the text of that part.
    const auto add = [&](const std::string& part, const std::string& text,
                         const std::function<void(Expression)>& place) {
        if (text.empty())
            return;
        op.source = std::make_shared<const SourceText>(SourceText{part, text});
        place(parse_expression(part, text));
        op = check(op);
    };
    add(names.identity, form.identity, [&](Expression e) { op.state[0].identity = std::move(e); });
    add(names.combine, form.combine, [&](Expression e) { op.combine = only(std::move(e)); });
    add(names.lift, form.lift, [&](Expression e) { op.lift = only(std::move(e)); });
    add(names.finish, form.finish, [&](Expression e) { op.finish = only(std::move(e)); });
    op.source = nullptr;
    return op;
}

}  // namespace segfold
