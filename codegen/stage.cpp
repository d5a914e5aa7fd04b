#include "codegen/stage.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "dsl/error.h"
#include "dsl/suggest.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 17> kWords = {
    "stage", "title",   "after",  "source", "layout", "needs", "prefer", "tune", "where",
    "let",   "scratch", "launch", "use",    "if",     "elif",  "else",   "end"};
constexpr std::array kForms = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                               SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys};
constexpr std::array<std::string_view, 5> kElements = {"State", "Index", "unsigned", "u64", "bool"};

std::string_view trim(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> items;
    for (;;) {
        const auto end = text.find(separator);
        items.emplace_back(trim(text.substr(0, end)));
        if (end == std::string_view::npos)
            return items;
        text.remove_prefix(end + 1);
    }
}

/// "NAME = REST" as a pair.
std::pair<std::string, std::string> split_assignment(const std::string& argument, const std::string& place)
{
    const auto equals = argument.find('=');
    if (equals == std::string::npos)
        throw SpecError(place + ": expected 'NAME = ...', found '" + argument + "'");
    return {std::string(trim(std::string_view(argument).substr(0, equals))),
            std::string(trim(std::string_view(argument).substr(equals + 1)))};
}

Tunable read_tunable(const std::string& argument, const std::string& place)
{
    const auto [name, list] = split_assignment(argument, place);
    Tunable tunable{name, {}};
    for (const auto& item : split(list, ',')) {
        int value = 0;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
        if (error != std::errc() || end != item.data() + item.size())
            throw SpecError(place + ": '" + item + "' is not a value for " + name + "; values are integers");
        tunable.values.push_back(value);
    }
    return tunable;
}

void add_tunable(std::vector<Tunable>& tunables, Tunable tunable, const std::string& place)
{
    if (std::ranges::find(tunables, tunable.name, &Tunable::name) != tunables.end())
        throw SpecError(place + ": tunable '" + tunable.name + "' is declared twice");
    tunables.push_back(std::move(tunable));
}

void set_once(std::string& value, const std::string& word, const std::string& argument,
              const std::string& place)
{
    if (!value.empty())
        throw SpecError(place + ": '" + word + "' is said twice");
    value = argument;
}

SegmentForm read_form(const std::string& word, const std::string& place)
{
    for (const auto form : kForms)
        if (name(form) == word)
            return form;
    throw SpecError(place + ": unknown layout '" + word +
                    "'; stages take whole, uniform, offsets, ranges, flags and keys");
}

/// "NAME = FORMULA"
std::pair<std::string, Formula> read_size(const std::string& argument, const std::string& place)
{
    const auto [name, formula] = split_assignment(argument, place);
    return {name, Formula(place, formula)};
}

/// "NAME = FORMULA" of a tunable declared above.
std::pair<std::string, Formula> read_preference(const Stage& stage, const std::string& argument,
                                                const std::string& place)
{
    auto preference = read_size(argument, place);
    if (std::ranges::find(stage.tunables, preference.first, &Tunable::name) == stage.tunables.end())
        throw SpecError(place + ": 'prefer' names '" + preference.first +
                        "', which no 'tune' above declares");
    return preference;
}

/// "NAME : ELEMENT[COUNT] [zero]"
Scratch read_scratch(const std::string& argument, const std::string& place)
{
    const auto colon = argument.find(':');
    const auto open = argument.find('[');
    const auto close = argument.rfind(']');
    if (colon == std::string::npos || open == std::string::npos || close == std::string::npos || open < colon)
        throw SpecError(place + ": expected 'NAME : ELEMENT[COUNT]', found '" + argument + "'");
    const std::string_view view = argument;
    const auto rest = trim(view.substr(close + 1));
    if (!rest.empty() && rest != "zero")
        throw SpecError(place + ": expected 'zero' or nothing behind the count, found '" + std::string(rest) +
                        "'");
    Scratch scratch{std::string(trim(view.substr(0, colon))),
                    std::string(trim(view.substr(colon + 1, open - colon - 1))),
                    Formula(place, argument.substr(open + 1, close - open - 1)), rest == "zero"};
    if (std::ranges::find(kElements, scratch.element) == kElements.end())
        throw SpecError(place + ": unknown element '" + scratch.element +
                        "'; scratch is made of State, Index, unsigned, u64 or bool");
    return scratch;
}

/// "KERNEL grid = FORMULA block = FORMULA [shared = FORMULA]"
Launch read_launch(const std::string& argument, const std::string& place)
{
    const auto grid = argument.find("grid =");
    const auto block = argument.find("block =");
    const auto shared = std::min(argument.find("shared ="), argument.size());
    if (grid == std::string::npos || block == std::string::npos || block < grid || shared < block)
        throw SpecError(place + ": expected 'KERNEL grid = ... block = ... [shared = ...]', found '" +
                        argument + "'");
    const auto formula = [&](std::size_t begin, std::string_view label, std::size_t end) {
        begin += label.size();
        return Formula(place, std::string(trim(std::string_view(argument).substr(begin, end - begin))));
    };
    Launch launch{std::string(trim(std::string_view(argument).substr(0, grid))),
                  formula(grid, "grid =", block),
                  formula(block, "block =", shared),
                  {}};
    if (shared < argument.size())
        launch.shared = formula(shared, "shared =", argument.size());
    return launch;
}

}  // namespace

Stage read_stage(std::string file, std::string text)
{
    Stage stage;
    stage.file = std::move(file);
    stage.is_rung = stage.file.starts_with("ladder/");
    stage.text = std::move(text);
    bool launches = false;
    std::vector<std::pair<std::string, Formula>> sizes;
    for (const auto& [word, argument, line, _] : directives_of(stage.text)) {
        const auto place = stage.file + ":" + std::to_string(line);
        if (word == "stage")
            set_once(stage.name, word, argument, place);
        else if (word == "title")
            set_once(stage.title, word, argument, place);
        else if (word == "after")
            set_once(stage.after, word, argument, place);
        else if (word == "source")
            set_once(stage.source, word, argument, place);
        else if (word == "layout")
            for (const auto& form : split(argument, ','))
                stage.forms.push_back(read_form(form, place));
        else if (word == "needs")
            for (const auto& need : split(argument, ','))
                stage.needs.emplace_back(place, need);
        else if (word == "tune")
            add_tunable(stage.tunables, read_tunable(argument, place), place);
        else if (word == "let")
            sizes.push_back(read_size(argument, place));
        else if (word == "where")
            stage.where.emplace_back(place, argument);
        else if (word == "prefer")
            stage.prefer.push_back(read_preference(stage, argument, place));
        else if (std::ranges::find(kWords, word) == kWords.end())
            throw SpecError(place + ": unknown directive '" + word + "'" + did_you_mean(word, kWords));
        launches = launches || word == "launch" || word == "use";  // a part may launch
        if (word == "where" || word == "prefer")
            stage.sizes = sizes;
    }
    if (stage.name.empty() || stage.title.empty() || stage.forms.empty() || !launches)
        throw SpecError(stage.file + ": a stage file needs the directives stage, title, layout and launch");
    return stage;
}

std::optional<SegmentForm> served_form(const Stage& stage, SegmentForm form)
{
    for (const auto candidate : {form, converted_form(form)})
        if (std::ranges::find(stage.forms, candidate) != stage.forms.end())
            return candidate;
    return std::nullopt;
}

Plumbing read_plumbing(const std::string& file, const std::vector<Directive>& directives)
{
    Plumbing plumbing;
    for (const auto& [word, argument, line, part] : directives) {
        const auto place = (part.empty() ? file : part) + ":" + std::to_string(line);
        if (word == "let") {
            plumbing.sizes.push_back(read_size(argument, place));
        } else if (word == "scratch") {
            plumbing.scratch.push_back(read_scratch(argument, place));
        } else if (word == "launch") {
            plumbing.launches.push_back(read_launch(argument, place));
        }
    }
    if (plumbing.launches.empty())
        throw SpecError(file + ": neither the stage nor a part that it uses launches a kernel");
    return plumbing;
}

}  // namespace segfold
