// Turns blocks of operators into terms of a TermGraph, and terms into blocks with locals.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/rewrite/gradient/term_graph.h"

namespace segfold {
namespace {

/// Adds to `computed` the term and all subterms that are computed whenever the term is.
void add_computed(const Expression& term, std::set<const ExpressionNode*>& computed)
{
    if (!computed.insert(&*term).second)
        return;
    const bool is_guard =
        term->kind == ExpressionKind::conditional || term->symbol == "&&" || term->symbol == "||";
    for (std::size_t i = 0; i < (is_guard ? 1 : term->arguments.size()); ++i)
        add_computed(term.argument(i), computed);
}

/// True if the term may read outside of a table. Ignores terms in `computed`, which are computed anyway.
bool reads_at_risk(const Expression& term, const std::set<const ExpressionNode*>& computed,
                   std::set<const ExpressionNode*>& seen)
{
    if (computed.contains(&*term) || !seen.insert(&*term).second)
        return false;
    if (term->kind == ExpressionKind::gather && term.argument(0)->name != "segment" &&
        term.argument(0)->kind != ExpressionKind::integer)
        return true;
    return std::ranges::any_of(
        term->arguments, [&](const Expression& argument) { return reads_at_risk(argument, computed, seen); });
}

/// True for a term made of numbers only. It takes its type from its context.
bool is_of_numbers(const Expression& term)
{
    switch (term->kind) {
        case ExpressionKind::integer:
        case ExpressionKind::real:
        case ExpressionKind::constant: return true;
        case ExpressionKind::conditional:
            return is_of_numbers(term.argument(1)) && is_of_numbers(term.argument(2));
        case ExpressionKind::unary:
        case ExpressionKind::binary:
        case ExpressionKind::call: return std::ranges::all_of(term->arguments, is_of_numbers);
        default: return false;
    }
}

/// True if the arguments of the node differ in type from the node.
bool is_of_another_type(const ExpressionNode& node)
{
    return node.kind == ExpressionKind::convert ||
           (node.kind == ExpressionKind::binary && is_comparison(node.symbol)) ||
           (node.kind == ExpressionKind::call && find_function(node.name)->result);
}

/// True for a term that should become a local if it is used twice.
bool is_compound(const Expression& term)
{
    switch (term->kind) {
        case ExpressionKind::binary:
            return !is_comparison(term->symbol) || is_compound(term.argument(0)) ||
                   is_compound(term.argument(1));
        case ExpressionKind::call: return *term->type != Type::boolean || is_compound(term.argument(0));
        case ExpressionKind::conditional: return true;
        case ExpressionKind::convert:
        case ExpressionKind::unary: return is_compound(term.argument(0));
        case ExpressionKind::gather:
            return term.argument(0)->kind != ExpressionKind::name && !literal_value(term.argument(0));
        default: return false;
    }
}

}  // namespace

std::map<std::string, Expression> TermGraph::values(const Block& block, TermNames names)
{
    for (const auto& let : block.lets) {
        auto value = term(let.value, names);
        add_computed(value, computed_);
        hint(value, let.name);
        names.names.insert_or_assign(let.name, std::move(value));
    }
    std::map<std::string, Expression> found;
    for (const auto& assignment : block.assignments) {
        found[assignment.field] = term(assignment.value, names);
        add_computed(found[assignment.field], computed_);
    }
    return found;
}

void TermGraph::hint(const Expression& term, const std::string& name)
{
    if (is_compound(term))
        hints_.emplace(&*term, name);
}

std::string TermGraph::hint_of(const Expression& term) const
{
    const auto found = hints_.find(&*term);
    return found == hints_.end() ? "" : found->second;
}

Block TermGraph::block(const std::vector<std::pair<std::string, Expression>>& values,
                       std::set<std::string> taken, const std::set<std::string>& unconditional) const
{
    std::map<const ExpressionNode*, int> uses, depths;
    std::vector<Expression> order;  // terms, arguments before their users
    auto computed = computed_;
    const std::function<void(const Expression&)> count = [&](const Expression& term) {
        if (++uses[&*term] > 1)
            return;
        for (const auto& argument : term->arguments)
            count(argument);
        order.push_back(term);
    };
    for (const auto& value : values) {
        count(value.second);
        add_computed(value.second, computed);
    }

    const auto is_at_risk = [&](const Expression& term) {
        std::set<const ExpressionNode*> seen;
        return reads_at_risk(term, computed, seen);
    };
    constexpr int kDeep = 32;  // largest number of levels of an expression without a local
    Block block;
    std::map<const ExpressionNode*, std::string> locals;
    const std::function<Expression(const Expression&)> printed = [&](const Expression& term) -> Expression {
        if (const auto local = locals.find(&*term); local != locals.end())
            return make_name(local->second);
        ExpressionNode node = *term;
        if (node.kind != ExpressionKind::limit && node.kind != ExpressionKind::convert)
            node.type.reset();
        const bool has_no_type =
            is_of_another_type(node) && std::ranges::all_of(node.arguments, is_of_numbers);
        for (auto& argument : node.arguments) {
            const auto type = *argument->type;
            argument = printed(argument);
            if (has_no_type && type != Type::boolean)
                argument = make_convert(type, argument);
        }
        Expression made(std::move(node));
        if (made->size > kMostNodes)
            throw InputError(fmt::format(
                "a gradient has more than {} numbers, names and operations, since no local can hold what "
                "reads a table behind a condition",
                kMostNodes));
        return made;
    };
    for (const auto& term : order) {
        const bool is_read_first = term->kind == ExpressionKind::gather && unconditional.contains(term->name);
        const auto hinted = hint_of(term);
        int& depth = depths[&*term];
        for (const auto& argument : term->arguments)
            depth = std::max(depth, depths[&*argument] + 1);
        const bool is_shared = (uses[&*term] > 1 && is_compound(term)) || depth > kDeep;
        if (!is_read_first && (!is_shared || is_at_risk(term)))
            continue;
        depth = 0;
        const auto base = (!hinted.empty() ? hinted
                           : is_read_first ? "of_" + term->name
                                           : "part")
                              .substr(0, kLongestName - 8);
        auto name = base;
        for (int next = 2; is_taken(name) || taken.contains(name); ++next)
            name = base + std::to_string(next);
        taken.insert(name);
        block.lets.push_back({name, printed(term), {}});
        locals[&*term] = name;
    }
    for (const auto& [field, value] : values)
        block.assignments.push_back({field, printed(value), {}});
    return block;
}

}  // namespace segfold
