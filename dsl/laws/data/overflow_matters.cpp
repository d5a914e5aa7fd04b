#include "dsl/laws/data/overflow_matters.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace segfold {
namespace {

/// Collects the names and fields whose overflow would change a value.
class Reader {
public:
    void read(const Expression& value, bool matters)
    {
        if (value->kind == ExpressionKind::name && matters)
            names.insert(value->name);
        if (value->kind == ExpressionKind::field && matters)
            fields.insert(value->name);
        for (std::size_t i = 0; i < value->arguments.size(); ++i)
            read(value->arguments[i], OverflowMatters::of_argument(value, i, matters));
    }

    std::set<std::string, std::less<>> names, fields;
};

}  // namespace

std::string key_of(const Expression& field)
{
    return (field->operand == Operand::earlier ? "a."
            : field->operand == Operand::later ? "b."
                                               : "s.") +
           field->name;
}

bool OverflowMatters::of_argument(const Expression& value, std::size_t i, bool matters)
{
    const auto& from = value->arguments[i]->type;
    switch (value->kind) {
        case ExpressionKind::conditional: return i == 0 || matters;
        case ExpressionKind::unary: return matters || value->symbol == "!";
        case ExpressionKind::convert:
            return matters || !from || !is_integer(*from) || !is_integer(*value->type) ||
                   size_bytes(*value->type) > size_bytes(*from);
        case ExpressionKind::binary: {
            constexpr std::string_view kOfLowBits[] = {"+", "-", "*", "&", "|", "^"};
            const bool is_of_low_bits =
                std::ranges::find(kOfLowBits, value->symbol) != std::end(kOfLowBits) ||
                (value->symbol == "<<" && i == 0);
            return matters || !is_of_low_bits || !from || !is_integer(*from);
        }
        default: return true;
    }
}

OverflowMatters::OverflowMatters(const Operator& op) : fields_(op.state.size())
{
    while (see(op, op.combine) || (op.append && see(op, *op.append))) {}
}

bool OverflowMatters::see(const Operator& op, const Block& block)
{
    Reader reader;
    for (std::size_t i = 0; i < block.assignments.size(); ++i)
        reader.read(block.assignments[i].value, fields_[i]);
    for (auto let = block.lets.rbegin(); let != block.lets.rend(); ++let)
        reader.read(let->value, reader.names.contains(let->name));
    bool is_new = false;
    for (std::size_t i = 0; i < op.state.size(); ++i)
        if (!fields_[i] && reader.fields.contains(op.state[i].name))
            fields_[i] = is_new = true;
    return is_new;
}

}  // namespace segfold
