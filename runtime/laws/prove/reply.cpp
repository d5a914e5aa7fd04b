#include "runtime/laws/prove/reply.h"

#include <bit>
#include <charconv>

#include "dsl/half.h"

namespace segfold::prove {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view without_space(std::string_view text)
{
    while (!text.empty() && is_space(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_space(text.back()))
        text.remove_suffix(1);
    return text;
}

/// Removes the next word or bracketed list from the front of `text` and returns it. Returns an empty text at
/// the end.
std::string_view take(std::string_view& text)
{
    text = without_space(text);
    std::size_t at = 0;
    int depth = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '(')
            ++depth;
        else if (text[at] == ')' && --depth < 0)
            break;
        else if (depth == 0 && is_space(text[at]))
            break;
        if (depth == 0 && text[at] == ')') {
            ++at;
            break;
        }
    }
    const auto taken = text.substr(0, at);
    text.remove_prefix(at);
    return taken;
}

/// Returns the text between the outer brackets of `list`; empty if it has none.
std::string_view inside(std::string_view list)
{
    list = without_space(list);
    return list.size() >= 2 && list.front() == '(' && list.back() == ')' ? list.substr(1, list.size() - 2)
                                                                         : std::string_view();
}

std::optional<long double> number(std::string_view text)
{
    text = without_space(text);
    if (const auto list = inside(text); !list.empty()) {
        auto rest = list;
        const auto head = take(rest);
        const auto first = number(take(rest));
        if (head == "-" && first)
            return -*first;
        const auto second = number(take(rest));
        if (head == "/" && first && second && *second != 0)
            return *first / *second;
        return std::nullopt;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<std::uint64_t> integer(std::string_view text)
{
    text = without_space(text);
    int base = 10;
    if (text.starts_with("#x") || text.starts_with("#b")) {
        base = text[1] == 'x' ? 16 : 2;
        text.remove_prefix(2);
    } else if (const auto list = inside(text); !list.empty()) {
        auto rest = list;
        if (take(rest) != "-")
            return std::nullopt;
        const auto magnitude = integer(rest);
        return magnitude ? std::optional(0 - *magnitude) : std::nullopt;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

}  // namespace

std::vector<std::string> values_of(std::string_view reply)
{
    std::vector<std::string> values;
    auto pairs = inside(take(reply));
    for (auto pair = take(pairs); !pair.empty(); pair = take(pairs)) {
        auto content = inside(pair);
        if (take(content).empty())
            return {};
        values.emplace_back(take(content));
    }
    return values;
}

std::optional<Slot<double>> slot_of(std::string_view value, Type type)
{
    Slot<double> slot{};
    value = without_space(value);
    if (type == Type::boolean) {
        slot.bits = value == "true";
        return value == "true" || value == "false" ? std::optional(slot) : std::nullopt;
    }
    if (!is_float(type)) {
        const auto bits = integer(value);
        if (bits)
            slot.bits = wrap(type, *bits);
        return bits ? std::optional(slot) : std::nullopt;
    }
    if (!value.starts_with('#')) {
        const auto real = number(value);
        if (real)
            Machine<double>::set_real(slot, type, static_cast<double>(*real));
        return real ? std::optional(slot) : std::nullopt;
    }
    const auto bits = integer(value);
    if (!bits)
        return std::nullopt;
    const double real = type == Type::f16    ? f16_to_f32(static_cast<std::uint16_t>(*bits))
                        : type == Type::bf16 ? bf16_to_f32(static_cast<std::uint16_t>(*bits))
                        : type == Type::f32  ? std::bit_cast<float>(static_cast<std::uint32_t>(*bits))
                                             : std::bit_cast<double>(*bits);
    Machine<double>::set_real(slot, type, real);
    return slot;
}

std::set<std::size_t> core_of(std::string_view reply)
{
    std::set<std::size_t> numbers;
    auto names = inside(take(reply));
    for (auto name = take(names); !name.empty(); name = take(names))
        if (name.starts_with("inv."))
            if (const auto number = integer(name.substr(4)))
                numbers.insert(static_cast<std::size_t>(*number));
    return numbers;
}

}  // namespace segfold::prove
