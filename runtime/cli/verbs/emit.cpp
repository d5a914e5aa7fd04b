// segfold emit: prints the CUDA source of a plan.
#include "codegen/emit.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "codegen/in_namespace.h"
#include "dsl/error.h"
#include "dsl/message/visible.h"
#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/form_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/warnings.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/verbs/emit_compiled.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/session/core.h"
#include "runtime/support/files/file.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::array<std::string_view, 2> kIndexBits = {"32", "64"};
constexpr std::array<std::string_view, 4> kKeyBytes = {"1", "2", "4", "8"};
constexpr Flag kEmitFlags[] = {{"layout", "LAYOUT"}, {"index-bits", "32|64"}, {"key-bytes", "1|2|4|8"},
                               {"all", "DIR"},       {"check-tables"},        {"namespace", "NAME"},
                               kScalarFlag};

Json emit_document(const Problem& problem, const PlanChoice& plan)
{
    const auto& emitted = plan.emitted;
    Json document = {{"operator", json_of(problem.op)},  {"form", name(emitted.form)},
                     {"index_bits", problem.index_bits}, {"stage", plan.stage->name},
                     {"chosen_by", plan.chosen_by()},    {"configuration", json_of(emitted.configuration)}};
    document["sizes"] = Json::object();
    for (const auto& [name, formula] : emitted.sizes)
        document["sizes"][name.text()] = formula.text();
    document["scratch"] = Json::array();
    for (const auto& scratch : emitted.scratch)
        document["scratch"].push_back({{"name", scratch.name},
                                       {"element_bytes", scratch.element_bytes},
                                       {"count", scratch.count.text()},
                                       {"zero", scratch.zero}});
    document["numbers"] = Json::object();
    for (const auto& [name, value] : emitted.numbers)
        document["numbers"][name] = value;
    document["launches"] = Json::array();
    for (const auto& launch : emitted.launches)
        document["launches"].push_back({{"kernel", launch.kernel},
                                        {"grid", launch.grid.text()},
                                        {"block", launch.block.text()},
                                        {"shared_bytes", launch.shared_bytes},
                                        {"parameters", launch.parameters}});
    document["source"] = emitted.source;
    return document;
}

void make_folder(const std::string& folder)
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw InputError(fmt::format("--all '{}': the folder cannot be made: {}", folder, error.message()));
}

/// Returns the names of the tables whose reads the source must check. With --check-tables, these are all
/// tables that the operator reads; otherwise none.
std::vector<std::string> tables_to_check(const Arguments& arguments, const Operator& op)
{
    const auto is_scalar = [&](const std::string& name) {
        return std::ranges::find(op.parameters, name, &Parameter::name)->scalar;
    };
    std::vector<std::string> tables;
    if (arguments.has("check-tables"))
        for (const auto& use : table_uses(op))
            if (std::ranges::find(tables, use.table) == tables.end() && !is_scalar(use.table))
                tables.push_back(use.table);
    return tables;
}

/// Returns the size of a key in bytes, from the layout or from --key-bytes. Throws InputError if both are
/// given and differ.
int key_bytes_argument(const Arguments& arguments)
{
    constexpr int kUsualBytes = 4;
    std::optional<int> asked;
    if (const auto choice = arguments.choice("key-bytes", kKeyBytes))
        asked = 1 << *choice;
    const auto layout = arguments.value("layout").value_or("");
    const auto found = key_bytes_of(layout);
    if (asked && found && *asked != *found)
        throw InputError(
            fmt::format("--key-bytes is {}, but the keys of --layout {} have {}; leave --key-bytes "
                        "out, or write --layout keys",
                        *asked, visible(layout), count_text(*found, "byte")));
    return found ? *found : asked.value_or(kUsualBytes);
}

/// Returns `plan` with its source wrapped in the namespace of --namespace.
PlanChoice in_namespace_of(const Arguments& arguments, PlanChoice plan)
{
    const auto name = arguments.value("namespace");
    if (!name)
        return plan;
    if (!is_namespace(*name))
        throw InputError(
            fmt::format("--namespace '{}' is no name for a namespace, or one that C++, CUDA or the text has "
                        "already; write one as in --namespace mine, or --namespace ours::sums",
                        visible(*name)));
    plan.emitted.source = in_namespace(plan.emitted.source, *name);
    for (auto& launch : plan.emitted.launches)
        launch.kernel = fmt::format("{}::{}", *name, launch.kernel);
    return plan;
}

/// Adds the scalar values for which laws were judged to the document. `values` is empty if the source is
/// right for all scalar values.
void add_scalars(Json& document, const Operator& op, const ScalarValues& values)
{
    std::size_t next = 0;
    for (const auto& parameter : op.parameters)
        if (parameter.scalar && !values.empty())
            if (const auto& value = values[next++])
                document["scalars"][parameter.name] = json_of(*value);
}

/// Implements `emit --all`: writes the source of every stage for every form that the stage serves. See
/// add_scalars() for `scalars`.
void emit_all(const Arguments& arguments, const Operator& op, int index_bits, int key_bytes,
              const OperatorLaws& laws, const ScalarValues& scalars, const Catalogue& catalogue)
{
    if (!arguments.has("stage"))
        arguments.refuse("set", "belongs to one stage; give --stage beside --all");
    const auto folder = *arguments.value("all");
    const auto* only = arguments.has("stage") ? &catalogue.stage(*arguments.value("stage")) : nullptr;
    const auto form = arguments.value("layout");
    make_folder(folder);
    TextTable table({{"stage"}, {"form"}, {"file"}});
    Json list = Json::array();
    for (const auto& stage : catalogue.stages())
        for (const auto segment_form : kForms) {
            auto problem = make_problem(op, segment_form, index_bits, laws);
            problem.key_bytes = key_bytes;
            problem.checked_tables = tables_to_check(arguments, op);
            if ((only != nullptr && only != &stage) || (form && parse_form(*form).form != segment_form) ||
                served_form(stage, segment_form) != segment_form || catalogue.unmet(stage, problem))
                continue;
            const auto shape = parse_form(form ? *form : std::string(name(segment_form))).shape;
            const auto configuration = configure(stage, settings(arguments), plan_facts(problem, shape));
            const auto emitted = emit(problem, stage, configuration, catalogue,
                                      arguments.has("at-launch") ? Numbers::at_launch : Numbers::constant);
            const auto path =
                (std::filesystem::path(folder) / fmt::format("{}.{}.{}", stage.name, name(segment_form),
                                                             stage.dialect == Dialect::native ? "cpp" : "cu"))
                    .string();
            write_whole(path, emitted.source);
            table.add({stage.name, std::string(name(segment_form)), path});
            list.push_back({{"stage", stage.name}, {"form", name(segment_form)}, {"file", path}});
        }
    if (!arguments.json()) {
        write_output(table.print());
        return;
    }
    Json document = {{"operator", json_of(op)}, {"index_bits", index_bits}, {"files", std::move(list)}};
    add_scalars(document, op, scalars);
    write_json("emitted_files", std::move(document));
}

}  // namespace

int verb_emit(const Words& words)
{
    const Arguments arguments("emit", words,
                              join({kOperatorFlags, kScannedFlags, kPlanFlags, kLawFlags, kEmitFlags,
                                    kCompiledFlags, kDialectFlags}),
                              1);
    const bool is_compiled = asks_for_compiled(arguments);
    if (is_compiled || arguments.has("all"))
        arguments.refuse("namespace",
                         "is for one text that is printed; leave it out, or print the text alone");
    arguments.refuse("reproducible", "concerns how a plan is compiled and launched, and emit does neither");
    const auto op = operator_argument(arguments);
    const int index_bits = arguments.choice("index-bits", kIndexBits).value_or(0) == 1 ? 64 : 32;
    const int key_bytes = key_bytes_argument(arguments);
    const auto layout = arguments.value("layout").value_or("offsets");
    if (parse_form(layout).form != SegmentForm::keys && !arguments.has("all"))
        arguments.refuse(
            "key-bytes",
            fmt::format("is about keys, and segments are given as {}; leave it out, or write --layout keys",
                        name(parse_form(layout).form)));
    if (shows_native(arguments))
        for (const auto* flag : {"at-launch", "cubin", "ptx", "sass", "resources", "arch"})
            arguments.refuse(flag, "is about CUDA, and the back end is cpu");
    auto options = session_options(arguments, op);
    options.backend = shown_backend(arguments);
    Session session(options);
    const auto asked = arguments.value("stage");
    const auto request = parse_form(layout, asked ? &core(session).catalogue().stage(*asked) : nullptr);
    auto scalars = given_scalars(op, scalar_texts(arguments, op));
    const auto laws = session.laws(op, scalars);
    if (!scalars.empty() && !depends_on_scalars(op, session.laws(op).report, scalars))
        scalars.clear();  // the source is right for all scalar values
    if (!scalars.empty() && !arguments.json())
        write_error(
            "note: laws are judged for the scalars that are given; with others the text may be wrong");
    if (arguments.has("all")) {
        emit_all(arguments, op, index_bits, key_bytes, laws, scalars, core(session).catalogue());
        return 0;
    }
    auto problem = make_problem(op, request.form, index_bits, laws);
    if (shows_native(arguments))
        // Emits the source that a run on this machine would use.
        problem.target = core(session).backend().target();
    problem.key_bytes = key_bytes;
    problem.checked_tables = tables_to_check(arguments, op);
    const auto chosen = core(session).choose(problem, request.shape, laws, plan_request(arguments),
                                             "a text is asked for, and no record");
    const auto plan = in_namespace_of(arguments, *chosen.plan);
    write_warnings(arguments,
                   law_warnings(laws, op, problem, request.shape, core(session).catalogue(), *plan.stage));
    if (plan.emitted.form != request.form && !arguments.json())
        write_error(
            fmt::format("note: stage {} takes segments by {}, and so does the text; a run makes them of {}",
                        plan.stage->name, name(plan.emitted.form), name(request.form)));
    const auto document = [&] {
        auto body = emit_document(problem, plan);
        add_scalars(body, op, scalars);
        return body;
    };
    if (is_compiled)
        emit_compiled(arguments, plan.emitted, plan.stage->name, document());
    else if (arguments.json())
        write_json("emit", document());
    else
        write_document(plan.emitted.source);
    return 0;
}

}  // namespace segfold::cli
