#include "dsl/check/let_types.h"

#include <algorithm>
#include <tuple>

namespace segfold {
namespace {

bool compares(std::string_view symbol)
{
    return symbol == "==" || symbol == "!=" || symbol == "<" || symbol == "<=" || symbol == ">" ||
           symbol == ">=";
}

/// A use of a local. `takes_any` is true if the use accepts any type.
struct Demand {
    LetUse use;
    bool takes_any;
};

/// Walks over expressions as Typing does, and records the types that they require of untyped locals.
class Demands {
public:
    explicit Demands(const Typing& typing) : typing_(typing) {}

    void expect(const std::string& local) { demands_[local]; }

    /// Walks over an expression. `context` is the type that a bare number would take in the same place.
    void walk(const Expression& expression, std::optional<Type> context)
    {
        const auto& node = *expression;
        const auto all = [&](std::optional<Type> type) {
            for (const auto& argument : node.arguments)
                walk(argument, type);
        };
        switch (node.kind) {
            case ExpressionKind::name: note(node, context, false); return;
            case ExpressionKind::unary: return all(node.symbol == "!" ? Type::boolean : context);
            case ExpressionKind::binary:
                return all(common(node, compares(node.symbol) ? std::nullopt : context));
            case ExpressionKind::conditional: {
                const auto stated = typing_.stated(expression);
                walk(node.arguments[0], Type::boolean);
                walk(node.arguments[1], stated ? stated : context);
                walk(node.arguments[2], stated ? stated : context);
                return;
            }
            case ExpressionKind::call: {
                const auto* function = find_function(node.name);
                return all(common(node, function == nullptr || function->result ? std::nullopt : context));
            }
            case ExpressionKind::convert:
            case ExpressionKind::gather: {
                const bool converts = node.kind == ExpressionKind::convert;
                const Type own = !converts ? Type::i64 : *node.type == Type::boolean ? Type::i32 : *node.type;
                if (node.arguments[0]->kind == ExpressionKind::name)
                    note(*node.arguments[0], own, true);
                else
                    walk(node.arguments[0], typing_.stated(node.arguments[0]));
                return;
            }
            default: return;
        }
    }

    [[nodiscard]] LetUses uses(const std::string& local) const
    {
        auto found = demands_.at(local);
        std::ranges::stable_sort(found, {}, [](const Demand& demand) {
            const auto& place = demand.use.position;
            return std::tuple(demand.takes_any, place.line, place.column);
        });
        LetUses result;
        for (const auto& demand : found) {
            if (result.first && demand.takes_any)
                break;
            if (!result.first)
                result.first = demand.use;
            else if (demand.use.type != result.first->type && !result.other)
                result.other = demand.use;
        }
        return result;
    }

private:
    void note(const ExpressionNode& name, std::optional<Type> type, bool takes_any)
    {
        const auto local = demands_.find(name.name);
        if (local != demands_.end() && type)
            local->second.push_back({{*type, name.position}, takes_any});
    }

    /// Returns the common type of the operands of `node`: the first type that an operand states, else
    /// `context`.
    [[nodiscard]] std::optional<Type> common(const ExpressionNode& node, std::optional<Type> context) const
    {
        if (node.symbol == "&&" || node.symbol == "||")
            return Type::boolean;
        for (const auto& argument : node.arguments)
            if (const auto stated = typing_.stated(argument))
                return stated;
        return context;
    }

    const Typing& typing_;
    std::map<std::string, std::vector<Demand>> demands_;
};

}  // namespace

std::map<std::string, LetUses> let_uses(Typing typing, const std::vector<Let>& lets,
                                        const std::vector<TypedValue>& assigned)
{
    std::vector<std::string> untyped;
    for (const auto& let : lets) {
        const auto type = let.value.has_value() ? typing.stated(let.value) : std::nullopt;
        if (type)
            typing.add(let.name, *type);
        else
            untyped.push_back(let.name);
    }
    std::map<std::string, LetUses> result;
    if (untyped.empty())
        return result;
    Demands demands(typing);
    for (const auto& local : untyped)
        demands.expect(local);
    for (const auto& [value, wanted] : assigned)
        if (value.has_value())
            demands.walk(value, wanted);
    // Goes from the last local to the first, because a local is used only after its definition.
    for (auto at = lets.rbegin(); at != lets.rend(); ++at) {
        const Let& let = *at;
        std::optional<Type> context;
        if (std::ranges::find(untyped, let.name) != untyped.end()) {
            const auto uses = demands.uses(let.name);
            context = uses.first ? std::optional(uses.first->type) : std::nullopt;
            result.emplace(let.name, uses);
        }
        if (let.value.has_value())
            demands.walk(let.value, context);
    }
    return result;
}

}  // namespace segfold
