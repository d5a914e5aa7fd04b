#include "runtime/cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "runtime/backends/cpu/native_compiler.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/cli/language_page.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/json_schema.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/scale/ranks/mpi_world.h"

namespace segfold {

std::span<const EmbeddedFile> cli_help_files();

namespace cli {
namespace {

struct Verb {
    std::string_view name;
    int (*run)(const Words& words);
    bool takes_ranks = false;  ///< true: all processes that MPI started share the work
};

constexpr std::array kVerbs = {
    Verb{"run", verb_run, true},         Verb{"scan", verb_scan, true},
    Verb{"check", verb_check, true},     Verb{"emit", verb_emit},
    Verb{"bench", verb_bench},           Verb{"tune", verb_tune},
    Verb{"regress", verb_regress, true}, Verb{"paper", verb_paper},
    Verb{"stages", verb_stages},         Verb{"devices", verb_devices},
    Verb{"cache", verb_cache},           Verb{"operators", verb_operators},
};

constexpr std::string_view kSchemaTopic = "schema";  ///< prints the JSON schema; there is no help page for it
constexpr std::string_view kLanguageTopic = "language";

/// Returns the help page `help/NAME.txt`; null if there is none.
const EmbeddedFile* find_page(std::string_view name)
{
    for (const auto& file : cli_help_files())
        if (file.path == std::string(name) + ".txt")
            return &file;
    return nullptr;
}

int help(const Words& words)
{
    if (words.size() > 1)
        throw InputError(fmt::format("help takes one topic; '{}' is one too many", words[1]));
    const std::string topic = words.empty() ? "segfold" : words[0];
    if (topic == kSchemaTopic) {
        write_document(json_schema().dump(2) + "\n");
        return 0;
    }
    if (const auto* page = find_page(topic)) {
        write_output(page->text);
        return 0;
    }
    if (topic == kLanguageTopic) {
        write_output(language_page());
        return 0;
    }
    std::vector<std::string_view> topics = {kLanguageTopic};
    for (const auto& file : cli_help_files())
        topics.push_back(file.path.substr(0, file.path.size() - std::string_view(".txt").size()));
    topics.push_back(kSchemaTopic);
    std::ranges::sort(topics);
    throw InputError(fmt::format("no help on '{}'; there is help on {}{}", topic, fmt::join(topics, ", "),
                                 did_you_mean(topic, topics)));
}

int version(const Words& words)
{
    for (const auto& word : words)
        if (word != "--json")
            throw InputError(fmt::format("--version takes --json alone; '{}' is too much", word));
    if (words.empty())
        write_output("segfold " SEGFOLD_VERSION "\n");
    else
        write_json("program", Json::object());
    return 0;
}

bool asks_for_help(const Words& words)
{
    const auto end = std::ranges::find(words, "--");
    return std::any_of(words.begin(), end, [](const auto& word) { return word == "--help" || word == "-h"; });
}

[[noreturn]] void refuse_verb(const std::string& word)
{
    std::vector<std::string_view> names;
    for (const auto& verb : kVerbs)
        names.push_back(verb.name);
    if (word.starts_with("-"))
        throw InputError(fmt::format("'{}' stands where the verb belongs; the verbs are {}", word,
                                     fmt::join(names, ", ")));
    names.push_back("help");
    throw InputError(fmt::format("unknown verb '{}'; the verbs are {}{}", word, fmt::join(names, ", "),
                                 did_you_mean(word, names)));
}

int run_verb(const Verb& verb, const Words& words)
{
    const int exit_code = verb.run(words);
    for (const auto& note : {cuda::take_cache_note(), cpu::take_library_note()})
        if (note)
            write_error("warning: " + *note);
    return exit_code;
}

/// True if this process has no work. MPI has started several processes, and rank 0 does the whole work of
/// this verb.
bool is_idle_rank(const Words& words)
{
    if (announced_rank() == 0)
        return false;
    const auto verb =
        words.empty() ? kVerbs.end() : std::ranges::find(kVerbs, std::string_view(words[0]), &Verb::name);
    return verb == kVerbs.end() || !verb->takes_ranks || asks_for_help(words);
}

}  // namespace

int dispatch(const Words& words)
{
    if (is_idle_rank(words))
        return 0;
    if (words.empty() || words[0] == "--help" || words[0] == "-h")
        return help({});
    const Words rest(words.begin() + 1, words.end());
    if (words[0] == "help")
        return help(rest);
    if (words[0] == "--version")
        return version(rest);
    const auto verb = std::ranges::find(kVerbs, std::string_view(words[0]), &Verb::name);
    if (verb == kVerbs.end())
        refuse_verb(words[0]);
    return asks_for_help(rest) ? help({words[0]}) : run_verb(*verb, rest);
}

}  // namespace cli
}  // namespace segfold
