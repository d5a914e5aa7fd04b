#include "runtime/cli/arguments/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "dsl/message/suggest.h"

namespace segfold::cli {
namespace {

namespace options = boost::program_options;

constexpr Flag kJson = {"json"};
constexpr std::size_t kLongestShownWord = 60;

/// Returns a word of the command line as it is shown in messages. Cuts off a very long word.
std::string shown(std::string_view word)
{
    return word.size() <= kLongestShownWord ? std::string(word)
                                            : std::string(word.substr(0, kLongestShownWord)) + "...";
}

options::options_description describe(std::span<const Flag> flags)
{
    options::options_description description;
    for (const auto& flag : flags) {
        const std::string name(flag.name);
        if (flag.value.empty())
            description.add_options()(name.c_str(), "");
        else
            description.add_options()(name.c_str(), options::value<std::string>(), "");
    }
    return description;
}

/// Returns a flag with the name of its value, such as "--elements N".
std::string usage(const Flag& flag)
{
    return fmt::format("--{}{}{}", flag.name, flag.value.empty() ? "" : " ", flag.value);
}

bool is_flag_like(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

}  // namespace

std::vector<Flag> join(std::initializer_list<std::span<const Flag>> groups)
{
    std::vector<Flag> all;
    for (const auto group : groups)
        all.insert(all.end(), group.begin(), group.end());
    return all;
}

Arguments::Arguments(std::string_view verb, const Words& words, std::vector<Flag> flags,
                     std::size_t most_operands, std::string_view operand)
    : verb_(verb), flags_(std::move(flags))
{
    flags_.push_back(kJson);
    read(words);
    check_repetition();
    if (operands_.size() > most_operands)
        throw InputError(most_operands == 0
                             ? fmt::format("{} takes flags alone; '{}' is none", verb_, shown(operands_[0]))
                             : fmt::format("{} takes one {}; '{}' is given beside '{}'", verb_, operand,
                                           shown(operands_[1]), shown(operands_[0])));
}

void Arguments::read(Words words)
{
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i)
        for (const auto& one : flags_)
            if (!one.otherwise.empty() && words[i] == fmt::format("--{}", one.name) &&
                (i + 1 == words.size() || !parse_integer(words[i + 1])))
                words[i] += fmt::format("={}", one.otherwise);
    namespace style = options::command_line_style;
    try {
        const auto description = describe(flags_);
        const auto parsed =
            options::command_line_parser(words)
                .options(description)
                .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                .allow_unregistered()
                .run();
        for (const auto& option : parsed.options) {
            if (option.position_key >= 0) {
                operands_.insert(operands_.end(), option.value.begin(), option.value.end());
                continue;
            }
            const auto& token = option.original_tokens.front();
            if (option.unregistered)
                refuse_unknown(token.substr(0, token.find('=')));
            const bool separate = option.original_tokens.size() == 2;
            if (separate && option.value.front().starts_with("--"))
                throw InputError(fmt::format("--{} has no value, '{}' follows; write {}", option.string_key,
                                             shown(option.value.front()), usage(flag(option.string_key))));
            given_.push_back({option.string_key, option.value.empty() ? "" : option.value.front()});
        }
    } catch (const options::invalid_command_line_syntax& error) {
        const auto& culprit = flag(error.get_option_name().substr(2));
        if (culprit.value.empty())
            throw InputError(fmt::format("--{} takes no value; leave out what follows '='", culprit.name));
        throw InputError(fmt::format("--{} has no value; write {}", culprit.name, usage(culprit)));
    }
    // Refuses words with a single hyphen. No flag has one, but the parser takes such words for operands.
    const auto end_of_flags = std::ranges::find(words, "--");
    for (auto word = words.begin(); word != end_of_flags; ++word)
        if (is_flag_like(*word) && std::ranges::find(operands_, *word) != operands_.end())
            refuse_unknown(*word);
}

void Arguments::check_repetition() const
{
    for (auto first = given_.begin(); first != given_.end(); ++first) {
        const auto& declared = flag(first->name);
        const auto second = std::find_if(std::next(first), given_.end(),
                                         [&](const Given& other) { return other.name == first->name; });
        if (second == given_.end() || declared.repeats)
            continue;
        const auto values = declared.value.empty()
                                ? std::string()
                                : fmt::format(" ('{}' and '{}')", shown(first->value), shown(second->value));
        throw InputError(fmt::format("--{} is given twice{}; once is enough", first->name, values));
    }
}

const Flag& Arguments::flag(std::string_view name) const
{
    const auto found = std::ranges::find(flags_, name, &Flag::name);
    if (found == flags_.end())
        throw InternalError(fmt::format("{} declares no flag '{}'", verb_, name));
    return *found;
}

void Arguments::refuse_unknown(std::string_view word) const
{
    const auto letters = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    std::vector<std::string_view> known;
    for (const auto& flag : flags_)
        known.push_back(flag.name);
    auto suggestion = did_you_mean(letters, known);
    if (const auto quote = suggestion.find('\''); quote != std::string::npos)
        suggestion.insert(quote + 1, "--");
    throw InputError(fmt::format("unknown flag '{}'; 'segfold help {}' lists those of {}{}", shown(word),
                                 verb_, verb_, suggestion));
}

bool Arguments::declares(std::string_view name) const
{
    return std::ranges::find(flags_, name, &Flag::name) != flags_.end();
}

bool Arguments::has(std::string_view name) const
{
    return std::ranges::find(given_, flag(name).name, &Given::name) != given_.end();
}

std::optional<std::string> Arguments::value(std::string_view name) const
{
    const auto found = std::ranges::find(given_, flag(name).name, &Given::name);
    return found == given_.end() ? std::nullopt : std::optional(found->value);
}

std::vector<std::string> Arguments::values(std::string_view name) const
{
    std::vector<std::string> all;
    for (const auto& given : given_)
        if (given.name == flag(name).name)
            all.push_back(given.value);
    return all;
}

std::optional<std::int64_t> Arguments::integer(std::string_view name, std::int64_t lowest,
                                               std::int64_t highest) const
{
    const auto text = value(name);
    if (!text)
        return std::nullopt;
    const auto number = parse_integer(*text);
    constexpr std::int64_t kLeastExample = 1 << 20;  // limits from this on get an example in the message
    if (!number && highest < kLeastExample)
        throw InputError(
            fmt::format("--{}: '{}' is no integer from {} to {}", name, shown(*text), lowest, highest));
    if (!number)
        throw InputError(
            fmt::format("--{}: '{}' is not an integer of 64 bits; write one such as {}, 2^20 or 1e6", name,
                        shown(*text), std::max<std::int64_t>(lowest, 4096)));
    if (*number < lowest || *number > highest)
        throw InputError(fmt::format("--{} is {}; it must be from {} to {}", name, *text, lowest, highest));
    return number;
}

std::optional<std::size_t> Arguments::choice(std::string_view name,
                                             std::span<const std::string_view> known) const
{
    const auto text = value(name);
    if (!text)
        return std::nullopt;
    const auto found = std::ranges::find(known, *text);
    if (found == known.end())
        throw InputError(fmt::format("--{}: unknown '{}'; it is one of {}{}", name, shown(*text),
                                     fmt::join(known, ", "), did_you_mean(*text, known)));
    return static_cast<std::size_t>(found - known.begin());
}

void Arguments::refuse(std::string_view name, const std::string& why) const
{
    if (has(name))
        throw InputError(fmt::format("--{} {}", name, why));
}

}  // namespace segfold::cli
