// segfold stages: shows the tree of stages, and which of them an operator can use.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "codegen/embedded_kernels.h"
#include "dsl/error.h"
#include "runtime/cli/arguments/form_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/warnings.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/session/core.h"
#include "runtime/support/files/file.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr Flag kStagesFlags[] = {
    {"layout", "LAYOUT"}, {"kernels", "DIR"}, {"extract", "DIR"}, {"backend", "cuda|cpu"}};

std::string join_forms(const std::vector<SegmentForm>& forms)
{
    std::string text;
    for (const auto form : forms)
        text += (text.empty() ? "" : ", ") + std::string(name(form));
    return text;
}

std::string join_needs(const std::vector<Formula>& needs)
{
    std::string text;
    for (const auto& need : needs)
        text += (text.empty() ? "" : ", ") + need.text();
    return text;
}

std::string tunable_text(const Tunable& tunable)
{
    return fmt::format("{} = {}", tunable.name, fmt::join(tunable.values, ", "));
}

std::size_t depth(const Catalogue& catalogue, const Stage& stage)
{
    return stage.after.empty() ? 0 : 1 + depth(catalogue, catalogue.stage(stage.after));
}

/// Returns the stages below `after` in preorder: each stage is followed by the stages that improve on it.
std::vector<const Stage*> walk(const Catalogue& catalogue, const std::string& after = "")
{
    std::vector<const Stage*> stages;
    for (const auto& stage : catalogue.stages())
        if (stage.after == after) {
            stages.push_back(&stage);
            const auto below = walk(catalogue, stage.name);
            stages.insert(stages.end(), below.begin(), below.end());
        }
    return stages;
}

/// Breaks `text` at blanks into lines of at most `width` characters.
std::vector<std::string> broken(std::string_view text, std::size_t width)
{
    std::vector<std::string> lines;
    while (text.size() > width) {
        auto end = text.rfind(' ', width);
        if (end == std::string_view::npos)
            end = std::min(text.find(' ', width), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    lines.emplace_back(text);
    return lines;
}

constexpr std::size_t kWidest = 110;
constexpr std::size_t kStep = 2;  ///< indentation per level of the tree

std::string print_stage(const Stage& stage, std::size_t indent)
{
    constexpr std::size_t kLabels = 10;
    std::string text;
    for (const auto& line : broken(stage.name + ": " + stage.title, kWidest - indent - 4))
        text += std::string(text.empty() ? indent : indent + 4, ' ') + line + "\n";
    TextTable table({{""}, {""}});
    const auto add = [&](const std::string& label, const std::string& fact) {
        const auto lines = broken(fact, kWidest - indent - 4 - kLabels);
        for (std::size_t i = 0; i < lines.size(); ++i)
            table.add({i == 0 ? label : "", (i == 0 ? "" : "  ") + lines[i]});
    };
    add("layouts", join_forms(stage.forms));
    add("needs", stage.needs.empty() ? "nothing" : join_needs(stage.needs));
    for (const auto& [size, formula] : stage.suits_sizes)
        add(size == stage.suits_sizes.front().first ? "let" : "", size.text() + " = " + formula.text());
    if (stage.suits)
        add("suits", stage.suits->text());
    for (const auto& tunable : stage.tunables)
        add(&tunable == stage.tunables.data() ? "tunables" : "", tunable_text(tunable));
    for (const auto& where : stage.where)
        add(&where == stage.where.data() ? "where" : "", where.text());
    add("source", stage.source);
    return text + table.print(indent + 4);
}

std::string print_ladder(const Catalogue& catalogue)
{
    std::string text;
    bool in_rungs = false;
    for (const auto* stage : walk(catalogue)) {
        text += text.empty() ? "" : "\n";
        if (stage->is_rung && !in_rungs)
            text += "Rungs of the literature, to be measured; no run takes one by itself.\n\n";
        in_rungs = stage->is_rung;
        text += print_stage(*stage, kStep * depth(catalogue, *stage));
    }
    return text;
}

/// Whether an operator can use a stage for one form of segments; if not, `unmet` is the reason.
struct Offer {
    const Stage* stage;
    SegmentForm form;
    std::optional<std::string> unmet;
    bool is_rule_of_thumb;
};

std::vector<Offer> offers(const Operator& op, const std::vector<FormRequest>& forms, const OperatorLaws& laws,
                          const Catalogue& catalogue)
{
    std::vector<Offer> all;
    for (const auto* stage : walk(catalogue))
        for (const auto& request : forms) {
            const auto problem = make_problem(op, request.form, 32, laws);
            auto unmet = catalogue.unmet(*stage, problem);
            const bool chosen = !unmet && &catalogue.rule_of_thumb(problem, request.shape) == stage;
            all.push_back({stage, request.form, std::move(unmet), chosen});
        }
    return all;
}

std::string print_offers(const Catalogue& catalogue, const std::vector<Offer>& offers, std::size_t num_forms)
{
    std::vector<TextTable::Column> columns = {{"stage"}};
    for (std::size_t i = 0; i < num_forms; ++i)
        columns.push_back({std::string(name(offers[i].form))});
    columns.push_back({""});
    TextTable table(std::move(columns));
    for (std::size_t i = 0; i < offers.size(); i += num_forms) {
        const auto& stage = *offers[i].stage;
        if (stage.is_rung && (i == 0 || !offers[i - num_forms].stage->is_rung)) {
            table.add(std::vector<std::string>(num_forms + 2));
            std::vector<std::string> title(num_forms + 2);
            title.front() = "rung";
            table.add(std::move(title));
        }
        std::vector<std::string> row = {std::string(kStep * depth(catalogue, stage), ' ') + stage.name};
        std::string reason;
        for (std::size_t k = i; k < i + num_forms; ++k) {
            row.emplace_back(offers[k].unmet ? "-" : offers[k].is_rule_of_thumb ? "first" : "yes");
            // If the table has several columns, "-" already shows that the stage does not support a form.
            if (offers[k].unmet && (num_forms == 1 || !offers[k].unmet->starts_with("takes segments")))
                reason = *offers[k].unmet;
        }
        row.push_back(reason);
        table.add(std::move(row));
    }
    const bool any_first = std::ranges::any_of(offers, &Offer::is_rule_of_thumb);
    return table.print() +
           (any_first ? "\nfirst: what a run takes when no stage is asked for and no size is known\n" : "");
}

Json stages_json(const Stage& stage)
{
    Json object = {{"stage", stage.name},
                   {"title", stage.title},
                   {"rung", stage.is_rung},
                   {"after", stage.after},
                   {"source", stage.source}};
    object["layouts"] = Json::array();
    for (const auto form : stage.forms)
        object["layouts"].push_back(name(form));
    object["needs"] = Json::array();
    for (const auto& need : stage.needs)
        object["needs"].push_back(need.text());
    if (stage.suits) {
        object["suits"] = {{"let", Json::object()}, {"rank", stage.suits->text()}};
        for (const auto& [size, formula] : stage.suits_sizes)
            object["suits"]["let"][size.text()] = formula.text();
    }
    object["tunables"] = Json::object();
    for (const auto& tunable : stage.tunables)
        object["tunables"][tunable.name] = tunable.values;
    object["where"] = Json::array();
    for (const auto& where : stage.where)
        object["where"].push_back(where.text());
    return object;
}

Json stages_json(const Catalogue& catalogue, const std::vector<Offer>& offers)
{
    Json list = Json::array();
    for (const auto* stage : walk(catalogue)) {
        auto object = stages_json(*stage);
        for (const auto& offer : offers) {
            if (offer.stage != stage)
                continue;
            Json serves = {{"form", name(offer.form)}, {"serves", !offer.unmet}};
            if (offer.unmet)
                serves["reason"] = *offer.unmet;
            serves["rule_of_thumb"] = offer.is_rule_of_thumb;
            object["serves"].push_back(std::move(serves));
        }
        list.push_back(std::move(object));
    }
    return list;
}

/// A file for --extract. It is written only if it does not exist yet.
struct KernelFile {
    std::string path;
    std::string_view text;
    bool is_there;
};

/// True if the file at `path` exists and contains exactly `text`; false if it does not exist. Throws
/// InputError if it has other content.
bool is_written(const std::string& folder, const std::filesystem::path& path, std::string_view text)
{
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error)))
        return false;
    std::string found;
    if (std::filesystem::is_regular_file(path, error)) {
        std::ifstream in(path, std::ios::binary);
        found.assign(std::istreambuf_iterator<char>(in), {});
        if (in && found == text)
            return true;
    }
    throw InputError(
        fmt::format("--extract '{}': {} is there and is not the program's; nothing was written; "
                    "move it away, or name another folder",
                    folder, path.string()));
}

void make_folder(const std::string& folder, const std::filesystem::path& path)
{
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error)
        throw InputError(fmt::format("--extract '{}': the folder {} cannot be made: {}", folder,
                                     path.string(), error.message()));
}

/// Writes every file of kernels/ to `folder`. Users may edit the files there and pass the folder to
/// --kernels. Prints the names of the files written, and of existing files with the same content.
///
/// Throws InputError, before anything is written, if a file exists with other content.
void extract_kernels(const std::string& folder, bool as_json)
{
    std::vector<KernelFile> files;
    for (const auto& file : embedded_kernels()) {
        const auto path = std::filesystem::path(folder) / file.path;
        files.push_back({path.string(), file.text, is_written(folder, path, file.text)});
    }
    TextTable table({{"file"}, {""}});
    Json list = Json::array();
    for (const auto& [path, text, is_there] : files) {
        if (!is_there) {
            make_folder(folder, std::filesystem::path(path).parent_path());
            OutputFile file(path);
            file.write(text);
            file.commit();
        }
        table.add({path, is_there ? "was there" : "written"});
        list.push_back({{"file", path}, {"written", !is_there}});
    }
    if (as_json)
        write_json("extracted_files", {{"folder", folder}, {"files", std::move(list)}});
    else
        write_output(table.print());
}

}  // namespace

int verb_stages(const Words& words)
{
    const Arguments arguments("stages", words, join({kOperatorFlags, kScannedFlags, kStagesFlags}), 1);
    if (const auto folder = arguments.value("extract")) {
        arguments.refuse("kernels", "gives other stages, and --extract writes those of the program");
        arguments.refuse("layout", "asks what an operator may use, and --extract writes files");
        if (names_operator(arguments))
            throw InputError(
                "--extract writes the stages of the program, for any operator; leave the operator out");
        extract_kernels(*folder, arguments.json());
        return 0;
    }
    SessionOptions options;
    options.kernels = arguments.value("kernels").value_or("");
    options.backend = shown_backend(arguments);
    Session session(options);
    const auto& catalogue = core(session).catalogue();
    if (!names_operator(arguments)) {
        for (const auto flag :
             {"type", "identity", "lift", "finish", "commutative", "layout", "scan", "exclusive", "reverse"})
            arguments.refuse(flag, "asks what an operator may use; name the operator");
        if (arguments.json())
            write_json("stages", {{"stages", stages_json(catalogue, {})}});
        else
            write_output(print_ladder(catalogue));
        return 0;
    }
    const auto op = operator_argument(arguments);
    std::vector<FormRequest> forms;
    if (const auto layout = arguments.value("layout"))
        forms = {parse_form(*layout)};
    else
        for (const auto form : kForms)
            forms.push_back(parse_form(std::string(name(form))));
    const auto laws = session.laws(op);
    const auto found = offers(op, forms, laws, catalogue);
    if (arguments.json()) {
        write_json("stages", {{"operator", json_of(op)}, {"stages", stages_json(catalogue, found)}});
        return 0;
    }
    write_warnings(arguments, law_warnings(laws, op));
    write_output(print_offers(catalogue, found, forms.size()));
    return 0;
}

}  // namespace segfold::cli
