#include "dsl/check/warnings.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "dsl/printer.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<", "<=", ">", ">="};

/// True for nan, -nan and f32(nan).
bool is_nan(const Expression& expression)
{
    const auto& node = *expression;
    if (node.kind == ExpressionKind::unary || node.kind == ExpressionKind::convert)
        return is_nan(node.arguments[0]);
    return node.kind == ExpressionKind::constant && node.name == "nan";
}

class Warnings {
public:
    explicit Warnings(const Operator& op) : op_(op) {}

    void look_at(const Expression& expression)
    {
        const auto& node = *expression;
        for (const auto& argument : node.arguments)
            look_at(argument);
        if (node.kind != ExpressionKind::binary ||
            std::ranges::find(kComparisons, node.symbol) == kComparisons.end())
            return;
        const auto& left = node.arguments[0];
        const auto& right = node.arguments[1];
        if (is_nan(left) || is_nan(right))
            warn(expression, is_nan(right) ? left : right);
    }

    void look_at(const Block& block)
    {
        for (const auto& let : block.lets)
            look_at(let.value);
        for (const auto& assignment : block.assignments)
            look_at(assignment.value);
    }

    std::vector<std::string> take() && { return std::move(texts_); }

private:
    void warn(const Expression& comparison, const Expression& compared)
    {
        const bool differs = comparison->symbol == "!=";
        const auto what =
            "'" + print(comparison, &op_) + "' is always " + (differs ? "true" : "false") +
            (differs || comparison->symbol == "==" ? ": NaN compares unequal to everything, to itself too"
                                                   : ": NaN is neither below nor above anything");
        texts_.push_back(
            spec_error(op_.source, comparison->position,
                       what + "; write " + (differs ? "!" : "") + "isnan(" + print(compared, &op_) + ")", "")
                .what());
    }

    const Operator& op_;
    std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> warnings(const Operator& op)
{
    Warnings warnings(op);
    for (const auto& field : op.state)
        if (field.identity)
            warnings.look_at(*field.identity);
    warnings.look_at(op.lift);
    warnings.look_at(op.combine);
    if (op.append)
        warnings.look_at(*op.append);
    for (const auto* block : {&op.finish, &op.empty, &op.map})
        if (*block)
            warnings.look_at(**block);
    auto texts = std::move(warnings).take();
    if (op.scan) {
        auto named = op;  // prints the states by the names that scan gives them
        named.earlier = op.scan->before;
        named.later = op.scan->through;
        Warnings of_scan(named);
        of_scan.look_at(op.scan->block);
        std::ranges::move(std::move(of_scan).take(), std::back_inserter(texts));
    }
    return texts;
}

}  // namespace segfold
