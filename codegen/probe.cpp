#include "codegen/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "codegen/weave/comment.h"
#include "codegen/weave/kernel_parameters.h"
#include "codegen/weave/mention.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 14> kProbeWords = {"probe", "title",  "source",  "tune",  "where",
                                                          "input", "output", "scratch", "moves", "launch",
                                                          "if",    "elif",   "else",    "end"};
constexpr std::array<std::string_view, 2> kProbeElements = {"unsigned", "u64"};

/// Sets `value` to `found`, which the directive `word` gives. Throws SpecError if `value` is already set.
template <class T>
void set_only(std::optional<T>& value, T found, const std::string& word, const std::string& place)
{
    if (value)
        throw SpecError(place + ": '" + word + "' is said twice");
    value = std::move(found);
}

std::string heading(const Probe& probe, const Configuration& configuration)
{
    auto text = fmt::format("{}: {}\n", probe.name, probe.title);
    for (const auto& [name, value] : configuration)
        text += fmt::format("{} = {}\n", name, value);
    text += fmt::format("\nEmitted by segfold from kernels/{}; edit that file instead.\n", probe.file);
    return comment_lines(text) + '\n';
}

std::string constants(const Configuration& configuration, std::string_view below)
{
    const auto words = words_of(below);
    std::string text;
    for (const auto& [name, value] : configuration)
        if (words.contains(constant_name(name)))
            text += fmt::format("constexpr int {} = {};\n", constant_name(name), value);
    return text.empty() ? text : text + '\n';
}

void check_parameters(const EmittedProbe& emitted, const std::string& file)
{
    std::vector<std::string_view> known = {"num_elements", emitted.output.name};
    for (const auto* group : {&emitted.inputs, &emitted.scratch})
        for (const auto& buffer : *group)
            known.push_back(buffer.name);
    for (const auto& parameter : emitted.parameters)
        if (std::ranges::find(known, parameter) == known.end())
            throw SpecError(fmt::format("{}: kernel '{}' has the parameter '{}'; parameters are {}", file,
                                        emitted.launch.kernel, parameter, fmt::join(known, ", ")));
}

}  // namespace

Probe read_probe(std::string file, std::string text, const std::string& folder)
{
    Probe probe;
    probe.place = folder + file;
    probe.file = std::move(file);
    probe.text = std::move(text);
    for (const auto& [word, argument, line, _] : directives_of(probe.text)) {
        const auto place = probe.place + ":" + std::to_string(line);
        if (word == "probe")
            set_once(probe.name, word, argument, place);
        else if (word == "title")
            set_once(probe.title, word, argument, place);
        else if (word == "source")
            set_once(probe.source, word, argument, place);
        else if (word == "tune")
            add_tunable(probe.tunables, read_tunable(argument, place), place);
        else if (word == "where")
            probe.where.emplace_back(place, argument);
        else if (std::ranges::find(kProbeWords, word) == kProbeWords.end())
            throw SpecError(place + ": unknown directive '" + word + "'" + did_you_mean(word, kProbeWords));
    }
    if (probe.name.empty() || probe.title.empty() || probe.source.empty())
        throw SpecError(probe.place + ": a probe's file needs the directives probe, title and source");
    return probe;
}

Configuration configure(const Probe& probe, const std::map<std::string, int>& chosen)
{
    Stage like;
    like.file = probe.file;
    like.name = probe.name;
    like.tunables = probe.tunables;
    like.where = probe.where;
    return configure(like, chosen);
}

EmittedProbe emit(const Probe& probe, const Configuration& configuration, const ReadPart& read_part)
{
    const Facts facts(configuration.begin(), configuration.end());
    const auto woven = weave(probe.place, probe.text, facts, read_part);
    EmittedProbe emitted;
    std::optional<Scratch> output;
    std::optional<Formula> moves;
    std::optional<Launch> launch;
    for (const auto& [word, argument, line, part] : woven.directives) {
        const auto place = (part.empty() ? probe.place : part) + ":" + std::to_string(line);
        if (word == "input")
            emitted.inputs.push_back(read_scratch(argument, place, kProbeElements));
        else if (word == "scratch")
            emitted.scratch.push_back(read_scratch(argument, place, kProbeElements));
        else if (word == "output")
            set_only(output, read_scratch(argument, place, kProbeElements), word, place);
        else if (word == "moves")
            set_only(moves, Formula(place, argument), word, place);
        else if (word == "launch")
            set_only(launch, read_launch(argument, place), word, place);
    }
    if (!output || !moves || !launch)
        throw SpecError(probe.place + ": a probe needs an output, what it moves and a launch");
    const auto below = fmt::format("{}{}", fmt::join(woven.parts, ""), woven.body);
    emitted.output = std::move(*output);
    emitted.moves = std::move(*moves);
    emitted.launch = std::move(*launch);
    emitted.parameters = kernel_parameters(emitted.launch.kernel, below, probe.place);
    emitted.configuration = configuration;
    emitted.source = heading(probe, configuration) + constants(configuration, below) + below;
    check_parameters(emitted, probe.place);
    check_comments(emitted.source);
    return emitted;
}

}  // namespace segfold
