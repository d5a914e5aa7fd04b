#include "codegen/catalogue.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "codegen/embedded_kernels.h"
#include "codegen/order/stage_order.h"
#include "codegen/weave/comment.h"
#include "codegen/weave/mention.h"
#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/lasting.h"
#include "dsl/message/suggest.h"

namespace segfold {

std::span<const EmbeddedFile> vocabulary_files();

namespace {

bool needs(const Stage& stage, std::string_view fact)
{
    return std::ranges::any_of(stage.needs, [&](const Formula& need) { return need.text() == fact; });
}

/// True if a stage folds rows of features.
bool is_for_rows(const Stage& stage) { return needs(stage, "rows"); }

/// True if a stage gives running results.
bool is_for_scans(const Stage& stage) { return needs(stage, "scans"); }

/// True if the stage supports the operator's rows (if it has any) and its scan (if it has one).
bool is_of_kind(const Stage& stage, const Operator& op)
{
    return (!has_rows(op) || is_for_rows(stage)) && (!op.scan || is_for_scans(stage));
}

const Formula* first_unmet(const std::vector<Formula>& needs, const FormulaNames& names)
{
    const auto unmet = std::ranges::find_if(needs, [&](const auto& need) { return need.value(names) == 0; });
    return unmet == needs.end() ? nullptr : &*unmet;
}

std::string explain(const Formula& need, const Stage& stage, const Problem& problem,
                    const FormulaNames& names)
{
    const auto& op = problem.op;
    const auto& text = need.text();
    if (text == "associative")
        return "needs an associative operator, and combine of operator " + op.name + " is refuted";
    if (text == "commutative" || text == "idempotent") {
        const bool declared = text == "commutative" ? op.laws.commutative : op.laws.idempotent;
        return "needs a" + std::string(text == "commutative" ? " " : "n ") + text +
               " operator, and operator " + op.name +
               (declared ? " is refuted to be one" : " does not declare that law");
    }
    if (text == "redux_combine")
        return "needs a sum, minimum, maximum or bitwise operation of one 32-bit integer, and combine of "
               "operator " +
               op.name + " is something else";
    if (text == "element_bytes > 0")
        return "needs a lift that reads elements, and that of operator " + op.name + " reads none";
    if (text == "rows")
        return "folds rows of features, and operator " + op.name + " has no parameter of rows";
    if (text == "!rows")
        return "folds and maps columns of numbers, and operator " + op.name + " has rows";
    if (text == "map")
        return "maps the elements that it folds, and operator " + op.name + " has no map";
    if (text == "scans")
        return "gives running results, and operator " + op.name + " has no scan";
    if (text == "!rows_by_place")
        return "does not know an element's place in its segment where it loads rows, and operator " +
               op.name + " reads a table of rows by position or segment";
    if (text == "identity")
        return "needs an identity, and operator " + op.name + " declares none";
    for (const std::string_view place : {"position", "segment"})
        if (text == "!uses_" + std::string(place))
            return "needs a lift that does not use " + std::string(place) + ", and that of operator " +
                   op.name + " does";
    const int cc = problem.target.compute_capability;
    if (text.starts_with("cc "))
        return "needs " + text + ", and the GPU has compute capability " + std::to_string(cc / 10) + "." +
               std::to_string(cc % 10);
    // The message also shows the values of `let` sizes in the need, and of facts that these sizes use.
    auto words = words_of(text);
    for (auto size = stage.needs_sizes.rbegin(); size != stage.needs_sizes.rend(); ++size)
        if (words.contains(size->first.text()))
            add_words(size->second.text(), words);
    const auto named = words_of(text);
    const auto facts = problem_facts(problem);
    std::string values;
    for (const auto name : names.names())
        if (named.contains(name) || (words.contains(name) && facts.contains(name)))
            values +=
                (values.empty() ? "" : ", ") + std::string(name) + " = " + std::to_string(names.at(name));
    return "needs " + text + ", and operator " + op.name + " has " + values;
}

std::string read_file(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in)
        throw InputError(path.string() + ": cannot be read");
    return text.str();
}

/// Returns the paths of the .cu and .cuh files below `root`, relative to `root` and sorted.
std::vector<std::string> kernel_files(const std::filesystem::path& root)
{
    std::vector<std::string> paths;
    try {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
            const auto extension = entry.path().extension();
            if (entry.is_regular_file() && (extension == ".cu" || extension == ".cuh"))
                paths.push_back(entry.path().lexically_relative(root).generic_string());
        }
    } catch (const std::filesystem::filesystem_error& error) {
        throw InputError(root.string() + ": cannot be read: " + error.code().message());
    }
    std::ranges::sort(paths);
    return paths;
}

/// Removes the files of vocabulary/ from `paths`. A user's copy of kernels/ contains such files, but the
/// program uses only its own. Throws InputError if one of the files differs from the program's own file.
void require_own_vocabulary(const std::filesystem::path& root, std::vector<std::string>& paths)
{
    constexpr std::string_view kFolder = "vocabulary/";
    std::erase_if(paths, [&](const auto& path) {
        if (!path.starts_with(kFolder))
            return false;
        const auto files = vocabulary_files();
        const auto own = std::ranges::find(files, path.substr(kFolder.size()), &EmbeddedFile::path);
        if (own == files.end() || read_file(root / path) != own->text)
            throw InputError(
                (root / path).generic_string() +
                ": is not the program's, and a folder of kernels does not replace the vocabulary");
        return true;
    });
}

/// Returns the text of a kernel file. Throws SpecError if find_comment_fault() finds a fault. Messages name
/// the file with `folder` as a prefix.
std::string checked_file(const std::filesystem::path& root, const std::string& path,
                         const std::string& folder)
{
    auto text = read_file(root / path);
    if (const auto fault = find_comment_fault(text))
        throw SpecError(folder + path + ":" + std::to_string(fault->line) + ": the comment " + fault->what);
    return text;
}

/// Throws SpecError if a stage's name differs from its file's name. Such a file would replace one stage and
/// define another.
void require_name_of_file(const Stage& stage)
{
    const auto name = std::filesystem::path(stage.file).stem().string();
    if (stage.name == name)
        return;
    const auto directives = directives_of(stage.text);
    const auto line = std::ranges::find(directives, "stage", &Directive::word)->line;
    throw SpecError(stage.place + ":" + std::to_string(line) + ": stage '" + stage.name + "' is in a file '" +
                    name + "'; a stage has the name of its file: write //% stage " + name +
                    ", or call the file " + stage.name + ".cu");
}

template <class Named>
std::string names_of(const std::vector<Named>& all)
{
    std::string list;
    for (const auto& named : all)
        list += (list.empty() ? "" : ", ") + named.name;
    return list.empty() ? "none" : list;
}

template <class Named>
std::string suggest(const std::vector<Named>& all, std::string_view name)
{
    std::vector<std::string_view> names;
    for (const auto& other : all)
        names.push_back(other.name);
    return did_you_mean(name, names);
}

/// Returns the stage or probe that is called `name`. Throws InputError if there is none.
template <class Named>
const Named& find_named(const std::vector<Named>& all, std::string_view name, const std::string& what)
{
    const auto found = std::ranges::find(all, name, &Named::name);
    if (found != all.end())
        return *found;
    const std::string suggestion = suggest(all, name);  // stands before the list of names, which may be long
    throw InputError("unknown " + what + " '" + std::string(name) + "'" +
                     (suggestion.empty() ? "; the " : suggestion + " The ") + what + "s are " +
                     names_of(all));
}

}  // namespace

bool is_fused(const Stage& stage) { return needs(stage, "map"); }

const Catalogue& Catalogue::standard()
{
    static const Catalogue& catalogue = lasting([] {
        Catalogue result;
        for (const auto& file : embedded_kernels())
            result.add(std::string(file.path), std::string(file.text));
        result.order();
        return result;
    });
    return catalogue;
}

const Catalogue& Catalogue::native()
{
    static const Catalogue& catalogue = lasting([] {
        Catalogue result;
        for (const auto& file : embedded_native_kernels())
            result.add(std::string(file.path), std::string(file.text));
        result.order();
        return result;
    });
    return catalogue;
}

Catalogue Catalogue::from_directory(const std::string& directory)
{
    const std::filesystem::path root(directory);
    if (!std::filesystem::is_directory(root / "stages"))
        throw InputError(directory + ": has no folder 'stages'; it must look like kernels/");
    Catalogue result;
    for (const auto& path : kernel_files(root))
        if (!path.starts_with("vocabulary/"))
            result.add(path, checked_file(root, path, ""));
    result.order();
    return result;
}

Catalogue Catalogue::overlaid(const std::string& directory)
{
    const std::filesystem::path root(directory);
    if (!std::filesystem::is_directory(root))
        throw InputError(directory +
                         ": is no folder; a folder of kernels has stages and parts as kernels/ has");
    auto paths = kernel_files(root);
    require_own_vocabulary(root, paths);
    constexpr std::string_view kFolders[] = {"stages/", "ladder/", "measuring/", "parts/"};
    for (const auto& path : paths)
        if (std::ranges::none_of(kFolders, [&](auto folder) { return path.starts_with(folder); }))
            throw InputError((root / path).generic_string() +
                             ": is in none of the folders stages, ladder, measuring and parts of " +
                             directory);
    if (paths.empty())
        throw InputError(directory +
                         ": holds no .cu and no .cuh file in a folder stages, ladder, measuring or parts");
    Catalogue result;
    result.folder_ = (root / "").generic_string();
    for (const auto& file : embedded_kernels())
        if (!std::ranges::binary_search(paths, file.path))
            result.add(std::string(file.path), std::string(file.text));
    for (const auto& path : paths) {
        result.add(path, checked_file(root, path, result.folder_), result.folder_);
        if (path.starts_with("stages/") || path.starts_with("ladder/"))
            require_name_of_file(result.stages_->back());
    }
    std::ranges::sort(result.probes_, {}, &Probe::name);
    result.order();
    return result;
}

void Catalogue::add(std::string path, std::string text, const std::string& folder)
{
    const bool is_native_stage = path.starts_with("cpu/") && path.ends_with(".cpp");
    if (path.starts_with("stages/") || path.starts_with("ladder/") || is_native_stage)
        stages_->push_back(read_stage(std::move(path), std::move(text), folder));
    else if (path.starts_with("measuring/") && text.find("//%") != text.npos)
        probes_.push_back(read_probe(std::move(path), std::move(text), folder));
    else
        parts_.emplace(path, Part{std::move(text), folder.empty() ? "" : folder + path});
}

std::string Catalogue::shown(const std::string& place) const
{
    return folder_.empty() || !place.starts_with(folder_) ? "kernels/" + place : place;
}

/// Sorts the stages so that each comes after the stage that its `after` names. Ties are sorted by name.
void Catalogue::order()
{
    auto& stages = *stages_;
    std::ranges::stable_sort(stages, {}, &Stage::name);
    const auto twin = std::ranges::adjacent_find(stages, {}, &Stage::name);
    if (twin != stages.end())
        throw SpecError((twin + 1)->place + ": stage '" + twin->name + "' is already that of " + twin->place);
    std::vector<Stage> ordered;
    while (!stages.empty()) {
        const auto ready = std::ranges::find_if(stages, [&](const Stage& stage) {
            return stage.after.empty() ||
                   std::ranges::find(ordered, stage.after, &Stage::name) != ordered.end();
        });
        if (ready == stages.end())
            throw SpecError(stages.front().place + ": comes after '" + stages.front().after +
                            "', which is no stage, or after itself");
        ordered.push_back(std::move(*ready));
        stages.erase(ready);
    }
    stages = std::move(ordered);
}

const Stage& Catalogue::stage(std::string_view name) const
{
    const auto is_named = [name](const Stage& stage) { return stage.name == name; };
    if (const auto found = std::ranges::find_if(stages(), is_named); found != stages().end())
        return *found;
    // Reading the other catalogue takes about 20 milliseconds, so it is read only for this message.
    const bool is_native = this == &native();
    const auto& others = (is_native ? standard() : native()).stages();
    if (std::ranges::any_of(others, is_named))
        throw InputError("stage '" + std::string(name) + "' is one of " +
                         (is_native ? "the back ends cuda and simt; those of the back end cpu are "
                                    : "the back end cpu; those of the back ends cuda and simt are ") +
                         names_of(stages()));
    if (suggest(stages(), name).empty())
        if (const auto suggestion = suggest(others, name); !suggestion.empty())
            throw InputError("unknown stage '" + std::string(name) + "'" + suggestion + " That is one of " +
                             (is_native ? "the back ends cuda and simt" : "the back end cpu"));
    return find_named(stages(), name, "stage");
}

const Probe& Catalogue::probe(std::string_view name) const { return find_named(probes_, name, "probe"); }

PartText Catalogue::part(std::string_view path) const
{
    const auto found = parts_.find(path);
    if (found == parts_.end())
        throw SpecError("unknown part '" + std::string(path) + "'");
    return {found->second.text, found->second.place};
}

std::optional<std::string> Catalogue::unmet(const Stage& stage, const Problem& problem) const
{
    return unmet(stage, problem, problem_facts(problem));
}

std::optional<std::string> Catalogue::unmet(const Stage& stage, const Problem& problem,
                                            const FormulaNames& facts) const
{
    if (!served_form(stage, problem.form)) {
        std::string forms;
        for (const auto form : stage.forms)
            forms += (forms.empty() ? "" : ", ") + std::string(name(form));
        return "takes segments given as " + forms + ", not as " + std::string(name(problem.form));
    }
    if (has_rows(problem.op) && !is_for_rows(stage))
        return "folds columns of numbers, and operator " + problem.op.name + " has rows";
    if (problem.op.scan && !is_for_scans(stage))
        return "gives no running results, and operator " + problem.op.name + " has a scan";
    const auto names = with_sizes(facts, stage.needs_sizes);
    const auto* need = first_unmet(stage.needs, names);
    return need == nullptr ? std::nullopt : std::optional(explain(*need, stage, problem, names));
}

bool Catalogue::serves(const Stage& stage, const Problem& problem, const FormulaNames& facts) const
{
    return served_form(stage, problem.form) && is_of_kind(stage, problem.op) &&
           first_unmet(stage.needs, with_sizes(facts, stage.needs_sizes)) == nullptr;
}

std::string Catalogue::usable(const Problem& problem, bool rungs) const
{
    std::string list;
    for (const auto& stage : stages())
        if (stage.is_rung == rungs && !unmet(stage, problem))
            list += (list.empty() ? "" : ", ") + stage.name;
    return list.empty() ? "none" : list;
}

void Catalogue::require(const Stage& stage, const Problem& problem) const
{
    if (const auto why = unmet(stage, problem))
        throw InputError(stage.name + ": " + *why + (stage.is_rung ? "; rungs" : "; stages") +
                         " that can serve: " + usable(problem, stage.is_rung));
}

const Stage& Catalogue::rule_of_thumb(const Problem& problem, const Shape& shape) const
{
    return rule_of_thumb_by(plan_facts(problem, shape), problem);
}

std::vector<RankedStage> Catalogue::ranked(const FormulaNames& facts, const Problem& problem) const
{
    constexpr double kPercent = 100;
    const auto& order = StageOrder::standard();
    const auto asked = order_facts(facts);
    std::vector<RankedStage> all;
    for (const auto& stage : stages()) {
        if (stage.is_rung || !serves(stage, problem, facts))
            continue;
        RankedStage one{&stage};
        if (stage.suits)
            one.rank = static_cast<double>(rank(stage, facts));
        else if ((one.expected_share = order.expected_share(stage.name, asked)))
            one.rank = kPercent * std::min(1.0, *one.expected_share);
        else if (const auto share = order.expected_share(stage.name, as_offsets(asked)))
            one.rank = *share;  // ranks below all stages that find segments from flags or keys themselves
        all.push_back(one);
    }
    std::ranges::stable_sort(all, std::greater(), [](const RankedStage& one) {
        return std::pair(one.rank, one.expected_share.value_or(0));
    });
    return all;
}

const Stage& Catalogue::rule_of_thumb_by(const FormulaNames& facts, const Problem& problem) const
{
    if (const auto all = ranked(facts, problem); !all.empty())
        return *all.front().stage;
    std::string reasons;
    for (const auto& stage : stages())
        if (!stage.is_rung)
            reasons += "\n    " + stage.name + ": " + *unmet(stage, problem);
    throw InputError("no stage can serve operator " + problem.op.name + " over segments given as " +
                     std::string(name(problem.form)) + reasons);
}

}  // namespace segfold
