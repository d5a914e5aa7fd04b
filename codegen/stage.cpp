#include "codegen/stage.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "codegen/weave/mention.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 19> kStageWords = {
    "stage", "title",   "after",  "source", "layout", "needs", "suits", "tune", "where", "fits",
    "let",   "scratch", "launch", "use",    "number", "if",    "elif",  "else", "end"};
constexpr std::array<std::string_view, 8> kScratchElements = {"State",    "Columns", "Index", "Key",
                                                              "unsigned", "u16",     "u64",   "bool"};

SegmentForm read_form(const std::string& word, const std::string& place)
{
    for (const auto form : kSegmentForms)
        if (name(form) == word)
            return form;
    throw SpecError(place + ": unknown layout '" + word +
                    "'; stages take whole, uniform, offsets, ranges, flags, keys and groups");
}

/// Fills `sizes_after`, `where_after` and `fits_after` of the stage.
void note_tunables(Stage& stage)
{
    std::map<std::string, std::size_t, std::less<>> after;  // by name of tunable or size
    for (std::size_t i = 0; i < stage.tunables.size(); ++i)
        after[stage.tunables[i].name] = i + 1;
    const auto of = [&](const Formula& formula) {
        std::size_t last = 0;
        for (const auto& word : words_of(formula.text()))
            if (const auto found = after.find(word); found != after.end())
                last = std::max(last, found->second);
        return last;
    };
    for (const auto& [name, formula] : stage.sizes)
        stage.sizes_after.push_back(after[name.text()] = of(formula));
    std::ranges::transform(stage.where, std::back_inserter(stage.where_after), of);
    std::ranges::transform(stage.fits, std::back_inserter(stage.fits_after), of);
}

}  // namespace

Stage read_stage(std::string file, std::string text, const std::string& folder)
{
    Stage stage;
    stage.place = folder + file;
    stage.file = std::move(file);
    stage.is_rung = stage.file.starts_with("ladder/");
    stage.dialect = stage.file.starts_with("cpu/") ? Dialect::native : Dialect::cuda;
    stage.text = std::move(text);
    bool launches = false;
    std::vector<Size> sizes;
    for (const auto& [word, argument, line, _] : directives_of(stage.text)) {
        const auto place = stage.place + ":" + std::to_string(line);
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
        else if (word == "suits") {
            if (stage.suits)
                throw SpecError(place + ": 'suits' is said twice");
            stage.suits.emplace(place, argument);
            stage.suits_sizes = sizes;
        } else if (word == "tune")
            add_tunable(stage.tunables, read_tunable(argument, place), place);
        else if (word == "number")
            stage.numbers.push_back(argument);
        else if (word == "let")
            sizes.push_back(read_size(argument, place));
        else if (word == "where")
            stage.where.emplace_back(place, argument);
        else if (word == "fits")
            stage.fits.emplace_back(place, argument);
        else if (std::ranges::find(kStageWords, word) == kStageWords.end())
            throw SpecError(place + ": unknown directive '" + word + "'" + did_you_mean(word, kStageWords));
        launches = launches || word == "launch" || word == "use";  // a part may contain the launches
        if (word == "needs")
            stage.needs_sizes = sizes;
        if (word == "needs" || word == "suits" || word == "where" || word == "fits")
            stage.sizes = sizes;
    }
    if (stage.name.empty() || stage.title.empty() || stage.forms.empty() || !launches)
        throw SpecError(stage.place + ": a stage file needs the directives stage, title, layout and launch");
    note_tunables(stage);
    return stage;
}

std::optional<SegmentForm> served_form(const Stage& stage, SegmentForm form)
{
    for (const auto candidate : {form, converted_form(form)})
        if (std::ranges::find(stage.forms, candidate) != stage.forms.end())
            return candidate;
    return std::nullopt;
}

bool finds_offsets(const Stage& stage, SegmentForm form)
{
    const auto takes = [&](SegmentForm other) {
        return std::ranges::find(stage.forms, other) != stage.forms.end();
    };
    return is_found(form) && takes(form) && takes(SegmentForm::offsets);
}

std::int64_t rank(const Stage& stage, const FormulaNames& facts)
{
    if (!stage.suits)
        return 0;
    return stage.suits->value(with_sizes(facts, stage.suits_sizes));
}

Plumbing read_plumbing(const std::string& file, const std::vector<Directive>& directives)
{
    Plumbing plumbing;
    for (const auto& [word, argument, line, part] : directives) {
        const auto place = (part.empty() ? file : part) + ":" + std::to_string(line);
        if (word == "let") {
            plumbing.sizes.push_back(read_size(argument, place));
        } else if (word == "scratch") {
            plumbing.scratch.push_back(read_scratch(argument, place, kScratchElements));
        } else if (word == "launch") {
            plumbing.launches.push_back(read_launch(argument, place));
        }
    }
    if (plumbing.launches.empty())
        throw SpecError(file + ": neither the stage nor a part that it uses launches a kernel");
    return plumbing;
}

}  // namespace segfold
