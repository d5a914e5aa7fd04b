#include "dsl/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 10> kKindNames = {
    "whole", "uniform", "offsets", "ranges", "lengths", "flags", "keys", "groups", "rows", "generated"};
constexpr std::array<std::string_view, kSegmentForms.size()> kFormNames = {
    "whole", "uniform", "offsets", "ranges", "flags", "keys", "groups"};

constexpr double kLargestInteger = 9007199254740992.0;  // 2^53; a double holds all integers up to this
constexpr double kLargestLength = 1099511627776.0;      // 2^40

constexpr DistributionParameter kMean = {"mean", 0.25, kLargestLength, std::nullopt, false};
constexpr DistributionParameter kSeed = {"seed", 0, kLargestInteger, 7, true};

constexpr std::array kOneMean = {kMean, kSeed};
constexpr std::array kHalfEmpty = {DistributionParameter{"mean", 0.5, kLargestLength, std::nullopt, false},
                                   kSeed};
constexpr std::array kZipf = {DistributionParameter{"exponent", 0.0, 16, std::nullopt, false}, kSeed};
constexpr std::array kLognormal = {DistributionParameter{"mean", 0, 28, std::nullopt, false},
                                   DistributionParameter{"sigma", 0, 10, std::nullopt, false}, kSeed};
constexpr std::array kGiant = {DistributionParameter{"rest", 1, kLargestLength, 4, true},
                               DistributionParameter{"place", 0, 1, 0.5, false}};
constexpr std::array kBimodal = {DistributionParameter{"short", 0, kLargestLength, 4, true},
                                 DistributionParameter{"long", 1, kLargestLength, 1024, true},
                                 DistributionParameter{"share", 1e-3, 1, 0.1, false}, kSeed};
constexpr std::array kConstant = {DistributionParameter{"length", 1, kLargestLength, std::nullopt, true}};
constexpr std::array kLot = {kSeed};
constexpr std::array<std::string_view, 1> kGiantVariants = {"half"};

constexpr std::array<Distribution, 9> kDistributions = {{
    {"geometric", "geometric:mean=32", "independent lengths 0, 1, 2, ... with falling chance", {}, kOneMean},
    {"poisson", "poisson:mean=32", "independent lengths close to the mean", {}, kOneMean},
    {"zipf",
     "zipf:exponent=1.9",
     "length k with chance k^-exponent, at most an eighth of the elements",
     {},
     kZipf},
    {"lognormal", "lognormal:mean=3,sigma=1.2", "lengths whose logarithm is normal", {}, kLognormal},
    {"constant", "constant:length=32", "one length, as in uniform, but given by offsets", {}, kConstant},
    {"giant", "giant:half", "one segment of half the elements among short ones", kGiantVariants, kGiant},
    {"bimodal",
     "bimodal:short=4,long=1024,share=0.1",
     "two lengths; share is that of the long ones",
     {},
     kBimodal},
    {"half_empty",
     "half_empty:mean=32",
     "every second segment empty, by chance; the mean is over all",
     {},
     kHalfEmpty},
    {"lot",
     "lot:seed=1",
     "lengths of a kind that the seed chooses: equal, mixed, crowded, empty, ...",
     {},
     kLot},
}};

constexpr std::string_view kKnownLayouts =
    "whole, uniform=LENGTH, offsets=FILE, ranges=BEGINS,ENDS, lengths=FILE, flags=FILE, keys=FILE, "
    "groups=FILE, rows=FILE.mtx and generated ones such as geometric:mean=32";

/// Throws InputError. The message begins with the layout's text, so that the user sees which argument is
/// faulty.
[[noreturn]] void refuse(std::string_view text, const std::string& problem)
{
    throw InputError(fmt::format("layout '{}': {}", text, problem));
}

const Distribution* find_distribution(std::string_view name)
{
    const auto found = std::ranges::find(kDistributions, name, &Distribution::name);
    return found == kDistributions.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_name(std::string_view text, std::string_view word)
{
    std::vector<std::string_view> known(kKindNames.begin(), kKindNames.end() - 1);
    for (const Distribution& distribution : kDistributions)
        known.push_back(distribution.name);
    refuse(text, fmt::format("unknown layout '{}'; the layouts are {}{}", word, kKnownLayouts,
                             did_you_mean(word, known)));
}

std::vector<std::string_view> split_at_commas(std::string_view text)
{
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = text.find(',');
        parts.push_back(text.substr(0, comma));
        if (comma == std::string_view::npos)
            return parts;
        text.remove_prefix(comma + 1);
    }
}

/// Returns the position of the comma that ends the first array in `text`, or the end of `text`. Commas inside
/// of [...] do not count.
std::size_t end_of_array(std::string_view text)
{
    const std::size_t bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
    return std::min(text.find(',', bracket == std::string_view::npos ? 0 : bracket), text.size());
}

/// Splits "BEGINS,ENDS" into two arrays. Each is the name of a file or a list of numbers.
std::vector<std::string> parse_ranges(std::string_view text, std::string_view value)
{
    std::vector<std::string> arrays;
    for (std::string_view rest = value;;) {
        const std::size_t end = end_of_array(rest);
        arrays.emplace_back(rest.substr(0, end));
        if (end == rest.size())
            break;
        rest.remove_prefix(end + 1);
        // Blanks may follow the comma between two lists.
        if (const auto bracket = rest.find_first_not_of(' ');
            bracket != std::string_view::npos && rest[bracket] == '[')
            rest.remove_prefix(bracket);
    }
    const auto given = arrays.size() - static_cast<std::size_t>(std::ranges::count(arrays, ""));
    if (arrays.size() != 2 || given != 2)
        refuse(text, fmt::format("two files are needed, or two arrays such as [0, 3],[3, 7], and {} given; "
                                 "write ranges=BEGINS,ENDS",
                                 given == 0   ? "none is"
                                 : given == 1 ? "one is"
                                              : fmt::format("{} are", given)));
    return arrays;
}

std::string join_names(std::span<const DistributionParameter> parameters)
{
    std::string names;
    for (const DistributionParameter& parameter : parameters)
        names += (names.empty() ? "" : ", ") + std::string(parameter.name);
    return names;
}

std::int64_t parse_length(std::string_view text, std::string_view digits)
{
    if (digits.empty())
        refuse(text, "the length is missing; write uniform=LENGTH, such as uniform=4");
    const auto length = parse_integer(digits);
    if (!length && digits.find_first_not_of("0123456789") == std::string_view::npos)
        refuse(text, fmt::format("the length {} does not fit 64 bits", digits));
    if (!length)
        refuse(text,
               fmt::format("'{}' is not an integer of 64 bits; write uniform=LENGTH, such as uniform=4 or "
                           "uniform=2^10",
                           digits));
    if (*length <= 0)
        refuse(text, fmt::format("the length is {}; it must be at least 1", *length));
    return *length;
}

/// Parses "whole", "uniform=4" and layouts from files. `value` is the text after '='.
Layout parse_stated(std::string_view text, LayoutKind kind, std::optional<std::string_view> value)
{
    Layout layout;
    layout.kind = kind;
    const std::string_view word = name(kind);
    if (kind == LayoutKind::whole) {
        if (value)
            refuse(text, "'whole' takes no value");
        return layout;
    }
    if (kind == LayoutKind::uniform) {
        layout.uniform_length = parse_length(text, value.value_or(""));
        return layout;
    }
    if (kind == LayoutKind::ranges) {
        layout.files = parse_ranges(text, value.value_or(""));
        return layout;
    }
    if (value.value_or("").empty())
        refuse(text, fmt::format("a file is needed; write {}=FILE", word));
    if (value->find_first_not_of("0123456789, ") == value->npos && value->find(',') != value->npos)
        refuse(text,
               fmt::format("{} are read from a file, or written in brackets; write {}=FILE.npy or '{}=[{}]'",
                           word, word, word, *value));
    layout.files.emplace_back(*value);
    return layout;
}

double parse_number(std::string_view text, const DistributionParameter& parameter, std::string_view digits)
{
    double value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (const auto power = parse_integer(digits); power && digits.starts_with("2^")) {
        value = static_cast<double>(*power);
        end = digits.data() + digits.size();
    }
    if (digits.empty())
        refuse(text, fmt::format("'{}' has no value; write {}=NUMBER", parameter.name, parameter.name));
    if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
        refuse(text, fmt::format("'{}' is not a number; {} must be one", digits, parameter.name));
    // NaN fails this negated test, too.
    if (error != std::errc() || !(value >= parameter.lowest && value <= parameter.highest))
        refuse(text, fmt::format("{} is {}; it must be from {} to {}", parameter.name, digits,
                                 parameter.lowest, parameter.highest));
    if (parameter.is_integer && value != std::floor(value))
        refuse(text, fmt::format("{} is {}; it must be an integer", parameter.name, digits));
    return value;
}

void parse_parameter(std::string_view text, const Distribution& distribution, std::string_view part,
                     Layout& layout)
{
    const std::size_t equals = part.find('=');
    const std::string_view word = part.substr(0, equals);
    if (equals == std::string_view::npos && std::ranges::count(distribution.variants, word) == 1) {
        if (!layout.variant.empty())
            refuse(text, fmt::format("'{}' follows '{}'; one is enough", word, layout.variant));
        layout.variant = word;
        return;
    }
    const auto found = std::ranges::find(distribution.parameters, word, &DistributionParameter::name);
    if (found == distribution.parameters.end()) {
        std::vector<std::string_view> known(distribution.variants.begin(), distribution.variants.end());
        std::ranges::transform(distribution.parameters, std::back_inserter(known),
                               &DistributionParameter::name);
        refuse(text, fmt::format("{} has no parameter '{}'; its parameters are {}{}", distribution.name, word,
                                 join_names(distribution.parameters), did_you_mean(word, known)));
    }
    const std::string_view digits = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    const double value = parse_number(text, *found, digits);
    if (!layout.parameters.emplace(word, value).second)
        refuse(text, fmt::format("{} is given twice", word));
}

Layout parse_generated(std::string_view text, const Distribution& distribution, std::string_view parameters)
{
    Layout layout;
    layout.kind = LayoutKind::generated;
    layout.distribution = distribution.name;
    if (!parameters.empty())
        for (const std::string_view part : split_at_commas(parameters))
            parse_parameter(text, distribution, part, layout);
    if (!distribution.variants.empty() && layout.variant.empty())
        refuse(text,
               fmt::format("'{}' is missing; write {}", distribution.variants.front(), distribution.example));
    for (const DistributionParameter& parameter : distribution.parameters)
        if (!parameter.standard && !layout.parameters.contains(std::string(parameter.name)))
            refuse(text, fmt::format("{} is missing; write {}", parameter.name, distribution.example));
    return layout;
}

template <std::size_t size>
std::string_view name_at(const std::array<std::string_view, size>& names, std::size_t number)
{
    if (number >= size)
        throw InputError(fmt::format("a layout has the number {}, which is none; the layouts are 0 to {}: {}",
                                     number, size - 1, fmt::join(names, ", ")));
    return names[number];
}

}  // namespace

std::string_view name(LayoutKind kind) { return name_at(kKindNames, static_cast<std::size_t>(kind)); }

std::string_view name(SegmentForm form) { return name_at(kFormNames, static_cast<std::size_t>(form)); }

Layout parse_layout(std::string_view text)
{
    const std::size_t sign = text.find_first_of("=:");
    const std::string_view word = text.substr(0, sign);
    const bool has_equals = sign != std::string_view::npos && text[sign] == '=';
    const bool has_colon = sign != std::string_view::npos && text[sign] == ':';
    const std::string_view rest = sign == std::string_view::npos ? "" : text.substr(sign + 1);

    if (text.empty())
        refuse(text, fmt::format("nothing is stated; the layouts are {}", kKnownLayouts));
    if (const Distribution* distribution = find_distribution(word)) {
        if (has_equals)
            refuse(text, fmt::format("{} takes its parameters after a colon; write {}", word,
                                     distribution->example));
        return parse_generated(text, *distribution, rest);
    }
    const auto known = std::ranges::find(kKindNames, word);
    const auto kind = static_cast<LayoutKind>(known - kKindNames.begin());
    if (known == kKindNames.end() || kind == LayoutKind::generated)
        refuse_name(text, word);
    if (has_colon)
        refuse(text, fmt::format("{} takes its value after '=', not after ':'", word));
    return parse_stated(text, kind, has_equals ? std::optional(rest) : std::nullopt);
}

std::string print(const Layout& layout)
{
    std::string text(name(layout.kind));
    if (layout.kind == LayoutKind::uniform)
        return fmt::format("{}={}", text, layout.uniform_length);
    if (layout.kind != LayoutKind::generated) {
        for (std::size_t i = 0; i < layout.files.size(); ++i)
            text += (i == 0 ? "=" : ",") + layout.files[i];
        return text;
    }
    text = layout.distribution;
    char separator = ':';
    if (!layout.variant.empty()) {
        text += separator + layout.variant;
        separator = ',';
    }
    for (const auto& [word, value] : layout.parameters) {
        text += fmt::format("{}{}={}", separator, word, value);
        separator = ',';
    }
    return text;
}

SegmentForm form_of(LayoutKind kind)
{
    switch (kind) {
        case LayoutKind::whole: return SegmentForm::whole;
        case LayoutKind::uniform: return SegmentForm::uniform;
        case LayoutKind::ranges: return SegmentForm::ranges;
        case LayoutKind::flags: return SegmentForm::flags;
        case LayoutKind::keys: return SegmentForm::keys;
        default: return SegmentForm::offsets;
    }
}

SegmentForm converted_form(SegmentForm form) { return is_found(form) ? SegmentForm::offsets : form; }

bool is_found(SegmentForm form) { return form == SegmentForm::flags || form == SegmentForm::keys; }

std::span<const Distribution> distributions() { return kDistributions; }

double parameter(const Layout& layout, std::string_view name)
{
    const Distribution* distribution = find_distribution(layout.distribution);
    if (distribution == nullptr)
        throw InternalError(fmt::format("no distribution '{}'", layout.distribution));
    const auto found = std::ranges::find(distribution->parameters, name, &DistributionParameter::name);
    if (found == distribution->parameters.end())
        throw InternalError(fmt::format("{} has no parameter '{}'", layout.distribution, name));
    const auto stated = layout.parameters.find(std::string(name));
    if (stated != layout.parameters.end())
        return stated->second;
    if (!found->standard)
        throw InternalError(fmt::format("{} lacks its parameter '{}'", layout.distribution, name));
    return *found->standard;
}

}  // namespace segfold
