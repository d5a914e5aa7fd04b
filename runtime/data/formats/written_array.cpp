#include "runtime/data/formats/written_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "dsl/laws/elements.h"
#include "dsl/message/visible.h"
#include "dsl/rounding.h"
#include "runtime/data/formats/number_text.h"

namespace segfold {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 20;
constexpr std::string_view kTimes = " x ";
constexpr std::size_t kLeastRepeated = 3;

/// A written value and its number of repetitions.
struct Written {
    std::string_view value;
    std::int64_t count = 1;
};

std::string_view without_blanks(std::string_view text)
{
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

/// Throws InputError for a well-formed text in which a value, or the number of values, is too large.
[[noreturn]] void refuse_value(std::string_view text, const std::string& what)
{
    constexpr std::size_t kShown = 60;
    const auto shown =
        text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
    throw InputError(fmt::format("'{}': {}", visible(shown), what));
}

/// Throws InputError for a text that is not an array.
[[noreturn]] void refuse_array(std::string_view text, const std::string& what)
{
    refuse_value(text, what + "; write [1, 2, 3], or [0 x 32, 1] with 32 zeros");
}

/// Reads a decimal fraction or a power of integers, rounded to `type`; infinite if the number is too large.
std::optional<double> parse_real(std::string_view text, Type type)
{
    if (text.find('^') == text.npos)
        return rounded_real(text, type);
    const auto power = parse_integer(text);
    return power ? std::optional(round_to(type, near_integer(false, static_cast<std::uint64_t>(*power))))
                 : std::nullopt;
}

/// True if the text is a number that is too large for the floating-point type `type`; false for other types.
bool is_beyond(std::string_view text, Type type)
{
    if (!is_float(type))
        return false;
    const auto number = parse_real(text, type);
    return number && std::isinf(*number) && text.find_first_of("0123456789") != text.npos;
}

/// True if the text is an integer: digits, possibly after a minus sign, or a power such as -2^10.
bool is_whole(std::string_view text)
{
    const auto are_digits = [](std::string_view part) {
        return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    };
    const auto caret = text.find('^');
    const auto base = text.substr(text.starts_with('-') ? 1 : 0, text.starts_with('-') ? text.npos : caret);
    return are_digits(base) && (caret == text.npos || are_digits(text.substr(caret + 1)));
}

/// True for an integer of any length, with or without an exponent.
bool is_number(std::string_view text)
{
    return is_whole(text) || parse_integer(text) || parse_unsigned_integer(text);
}

std::vector<Written> split(std::string_view text)
{
    if (text.size() < 2 || text.back() != ']')
        refuse_array(text, "the closing bracket is missing");
    auto rest = without_blanks(text.substr(1, text.size() - 2));
    std::vector<Written> list;
    std::int64_t total = 0;
    for (bool more = !rest.empty(); more;) {
        const auto comma = rest.find(',');
        auto value = without_blanks(rest.substr(0, comma));
        more = comma != rest.npos;
        if (more)
            rest.remove_prefix(comma + 1);
        Written one;
        if (const auto times = value.find(kTimes); times != value.npos) {
            const auto digits = without_blanks(value.substr(times + kTimes.size()));
            const auto count = parse_integer(digits);
            if (!count || *count < 0 || *count > kMostValues) {
                const auto refuse = is_number(digits) ? refuse_value : refuse_array;
                refuse(text, fmt::format("'{}' is no count from 0 to {}", visible(std::string(digits)),
                                         kMostValues));
            }
            one.count = *count;
            value = without_blanks(value.substr(0, times));
        }
        if (value.empty())
            refuse_array(text, "a value is missing");
        one.value = value;
        total += one.count;
        if (total > kMostValues)
            refuse_value(text, fmt::format("there are more than {} values; longer arrays belong in a file",
                                           kMostValues));
        list.push_back(one);
    }
    return list;
}

/// True for an integer beyond both i64 and u64.
bool is_beyond_64_bits(std::string_view text)
{
    return is_whole(text) && !parse_integer(text) && !parse_unsigned_integer(text);
}

/// Returns the bits of a value in `type`, in the low bits; nothing if the value is beyond the type.
std::optional<std::uint64_t> bits_of(std::string_view value, Type type)
{
    if (type == Type::boolean)
        return value == "true" || value == "1"    ? std::optional<std::uint64_t>(1)
               : value == "false" || value == "0" ? std::optional<std::uint64_t>(0)
                                                  : std::nullopt;
    if (is_unsigned_integer(type)) {
        const auto number = parse_unsigned_integer(value);
        return number && *number <= highest_integer(type) ? number : std::nullopt;
    }
    if (!is_float(type)) {
        const auto number = parse_integer(value);
        const bool fits = number && *number <= static_cast<std::int64_t>(highest_integer(type)) &&
                          *number >= static_cast<std::int64_t>(lowest_integer(type));
        return fits ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
    }
    const auto number = parse_real(value, type);
    if (!number || is_beyond(value, type))
        return std::nullopt;
    return bits_of_real(type, *number);
}

/// Returns the reason, for a message, why a number is beyond `type`; empty if the text is no number or the
/// type holds it.
std::string misfit_of_number(std::string_view value, Type type)
{
    if (is_beyond(value, type))
        return fmt::format("'{}' is beyond the numbers of type {}, which holds {}", visible(value),
                           name(type), range_text(type));
    const auto none = fmt::format("'{}' is no value of type {}", visible(value), name(type));
    if (type == Type::boolean && is_number(value))
        return none + ", which holds false and true, or 0 and 1";
    return is_integer(type) && is_number(value) ? none + ", which holds " + range_text(type) : "";
}

/// Throws InputError, because the value is not of `type`. If the value is a number, the message gives the
/// type's range.
[[noreturn]] void refuse_value_of(std::string_view text, std::string_view value, Type type)
{
    if (is_beyond_64_bits(value))
        refuse_value(text, fmt::format("'{}' is beyond 64 bits", visible(value)));
    if (const auto misfit = misfit_of_number(value, type); !misfit.empty())
        refuse_value(text, misfit);
    refuse_array(text, fmt::format("'{}' is no value of type {}", visible(value), name(type)));
}

}  // namespace

bool is_written_array(std::string_view text) { return text.starts_with('['); }

Array read_written_array(const std::string& text, Type type)
{
    const auto list = split(text);
    std::int64_t length = 0;
    for (const auto& one : list)
        length += one.count;
    Array array(type, static_cast<std::size_t>(length));
    auto* at = array.data();
    for (const auto& [value, count] : list) {
        const auto bits = bits_of(value, type);
        if (!bits)
            refuse_value_of(text, value, type);
        for (std::int64_t i = 0; i < count; ++i, at += size_bytes(type))
            std::memcpy(at, &*bits, size_bytes(type));
    }
    return array;
}

Array read_written_array(const std::string& text)
{
    const auto list = split(text);
    const auto are_all = [&](Type type) {
        return std::ranges::all_of(list,
                                   [&](const Written& one) { return bits_of(one.value, type).has_value(); });
    };
    for (const auto& one : list)
        if (one.value != "true" && one.value != "false" && !is_number(one.value) &&
            !bits_of(one.value, Type::f64) && !is_beyond(one.value, Type::f64))
            refuse_array(text, fmt::format("'{}' is no number", visible(one.value)));
    const bool has_words = std::ranges::any_of(
        list, [](const Written& one) { return one.value == "true" || one.value == "false"; });
    // Integers written in digits never become f64, because f64 rounds large integers. An integer beyond u64
    // is refused.
    const bool are_whole = std::ranges::all_of(list, is_whole, &Written::value);
    return read_written_array(text, are_all(Type::i64) ? Type::i64
                                    : has_words        ? Type::boolean
                                    : are_whole        ? Type::u64
                                                       : Type::f64);
}

std::optional<Array> read_written_number(const std::string& text, Type type)
{
    const auto bits = bits_of(text, type);
    if (!bits) {
        if (const auto misfit = misfit_of_number(text, type); !misfit.empty())
            throw InputError(misfit);
        return std::nullopt;
    }
    Array array(type, 1);
    std::memcpy(array.data(), &*bits, size_bytes(type));
    return array;
}

std::string written_array(const std::vector<std::string>& values)
{
    std::string text = "[";
    for (std::size_t i = 0; i < values.size();) {
        auto end = i + 1;
        while (end < values.size() && values[end] == values[i])
            ++end;
        const bool is_repeated = end - i >= kLeastRepeated;
        text += (i == 0 ? "" : ", ") + values[i] + (is_repeated ? fmt::format("{}{}", kTimes, end - i) : "");
        i = is_repeated ? end : i + 1;
    }
    return text + "]";
}

}  // namespace segfold
