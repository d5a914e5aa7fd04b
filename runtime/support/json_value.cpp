#include "runtime/support/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "dsl/error.h"

namespace segfold {
namespace {

/// Parses a text and records the end of the first number that is too large for a 64-bit float.
class OverflowFinder : public nlohmann::json_sax<Json> {
public:
    std::size_t place = 0;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(Json::number_integer_t) override { return true; }
    bool number_unsigned(Json::number_unsigned_t) override { return true; }
    bool number_float(Json::number_float_t, const std::string&) override { return true; }
    bool string(std::string&) override { return true; }
    bool binary(Json::binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(std::string&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override
    {
        place = position;
        return false;
    }
};

}  // namespace

Json parse_json(const std::string& place, std::string_view text)
{
    std::vector<std::set<std::string>> open;
    return Json::parse(text, [&](int, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start)
            open.emplace_back();
        else if (event == Json::parse_event_t::object_end)
            open.pop_back();
        else if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
            throw InputError(
                fmt::format("{}: one object has two members '{}'", place, parsed.get<std::string>()));
        return true;
    });
}

Json read_json(const std::string& place, std::string_view text)
{
    try {
        return parse_json(place, text);
    } catch (const Json::parse_error& error) {
        throw InputError(fmt::format("{}: no JSON at byte {}", place, error.byte));
    } catch (const Json::out_of_range&) {
        const JsonOverflow overflow(text);
        throw InputError(fmt::format("{}:{}: the number {} is beyond what a 64-bit float holds", place,
                                     overflow.line, overflow.number));
    }
}

JsonOverflow::JsonOverflow(std::string_view text)
{
    OverflowFinder finder;
    Json::sax_parse(text, &finder);
    const auto end = std::min(finder.place, text.size());
    line = 1 + std::ranges::count(text.substr(0, end), '\n');
    constexpr std::string_view kOfNumbers = "0123456789+-.eE";
    const auto last = text.substr(0, end).find_last_of(kOfNumbers);
    const auto before = text.substr(0, last).find_last_not_of(kOfNumbers);
    const auto first = before == text.npos ? 0 : before + 1;
    number = last == text.npos ? "" : text.substr(first, std::min<std::size_t>(last + 1 - first, 40));
}

void JsonValue::refuse(const std::string& right) const
{
    constexpr std::size_t kMostShown = 60;
    auto found = value_->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (found.size() > kMostShown)
        found = found.substr(0, kMostShown) + "...";
    throw InputError(fmt::format("{} is {}; {}", place_, found, right));
}

bool JsonValue::has(const char* key) const { return value_->is_object() && value_->contains(key); }

JsonValue JsonValue::at(const char* key) const
{
    if (!value_->is_object())
        refuse("an object is needed");
    const auto found = value_->find(key);
    if (found == value_->end())
        throw InputError(fmt::format("{} has no '{}'", place_, key));
    return {fmt::format("{}.{}", place_, key), *found};
}

std::optional<JsonValue> JsonValue::find(const char* key) const
{
    if (!value_->is_object())
        refuse("an object is needed");
    return value_->contains(key) ? std::optional(at(key)) : std::nullopt;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const
{
    if (!value_->is_object())
        refuse("an object is needed");
    std::vector<std::pair<std::string, JsonValue>> all;
    for (const auto& [key, value] : value_->items())
        all.emplace_back(key, JsonValue(fmt::format("{}.{}", place_, key), value));
    return all;
}

std::vector<JsonValue> JsonValue::elements() const
{
    if (!value_->is_array())
        refuse("a list is needed");
    std::vector<JsonValue> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
        all.emplace_back(fmt::format("{}[{}]", place_, i), (*value_)[i]);
    return all;
}

std::string JsonValue::text() const
{
    if (!value_->is_string())
        refuse("a text is needed");
    return value_->get<std::string>();
}

std::size_t JsonValue::choice(std::span<const std::string_view> words) const
{
    const auto found =
        value_->is_string() ? std::ranges::find(words, value_->get<std::string>()) : words.end();
    if (found == words.end())
        refuse(
            fmt::format("{} or {} is needed", fmt::join(words.first(words.size() - 1), ", "), words.back()));
    return static_cast<std::size_t>(found - words.begin());
}

bool JsonValue::truth() const
{
    if (!value_->is_boolean())
        refuse("true or false is needed");
    return value_->get<bool>();
}

std::int64_t JsonValue::integer() const
{
    const bool fits = value_->is_number_unsigned() ? std::in_range<std::int64_t>(value_->get<std::uint64_t>())
                                                   : value_->is_number_integer();
    if (!fits)
        refuse("an integer of 64 bits is needed");
    return value_->get<std::int64_t>();
}

std::int64_t JsonValue::count(std::int64_t most) const
{
    // An unsigned value above 2^63 - 1 becomes negative here.
    const auto integer = value_->is_number_integer() ? value_->get<std::int64_t>() : -1;
    if (integer < 0 || integer > most)
        refuse(fmt::format("an integer from 0 to {} is needed", most));
    return integer;
}

int JsonValue::small() const { return static_cast<int>(count(std::numeric_limits<int>::max())); }

double JsonValue::number() const
{
    if (!value_->is_number())
        refuse("a number is needed");
    return value_->get<double>();
}

}  // namespace segfold
