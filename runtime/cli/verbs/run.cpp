// segfold run and scan: fold or scan segments with one operator.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "dsl/check/rows.h"
#include "dsl/message/visible.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/scale_argument.h"
#include "runtime/cli/arguments/warnings.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/verbs/run_ranks.h"
#include "runtime/cli/verbs/run_stream.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/results_view.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/cli/views/tuned.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/key_order.h"
#include "runtime/judge/checked_workload.h"
#include "runtime/scale/ranks/mpi_world.h"
#include "runtime/session/core.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kRunElements = std::int64_t{1} << 16;
constexpr Flag kRunFlags[] = {{"check"}, {"explain"}, {"no-tune"}};

/// The data from which a run's report is written.
struct RunReport {
    const PreparedWorkload& prepared;
    const WorkloadRequest& request;
    Backend& backend;
    const ResultsView& view;
    const FoldRun& run;
    std::int64_t num_slices;         ///< 0 if the data were not cut into slices
    const Explanation* explanation;  ///< null without --explain
    std::string output;
};

std::string seconds_text(double seconds)
{
    return seconds < 1e-3 ? fmt::format("{:.3g} us", seconds * 1e6)
           : seconds < 1  ? fmt::format("{:.3g} ms", seconds * 1e3)
                          : fmt::format("{:.3g} s", seconds);
}

/// Returns "kernels 12.4 us, compiling 61.2 ms, 84.1 ms in all".
std::string run_time_text(const RunTimes& times)
{
    std::string text;
    if (times.kernel_seconds)
        text += fmt::format("kernels {}, ", seconds_text(*times.kernel_seconds));
    if (times.compile_seconds)
        text += fmt::format("compiling {}, ", seconds_text(*times.compile_seconds));
    else if (times.kernel_seconds)
        text += "compiled before, ";
    return text + seconds_text(times.seconds) + " in all";
}

/// Describes a parameter's data: the value of a scalar without a file, otherwise the origin of the data.
std::string describe_input(const PreparedWorkload& prepared, const WorkloadRequest& request, std::size_t i)
{
    const auto& parameter = prepared.workload.op.parameters[i];
    const auto& array = prepared.workload.arrays[i];
    if (!parameter.scalar || request.inputs.contains(parameter.name))
        return prepared.origins[i];
    return request.scalars.contains(parameter.name)
               ? given_scalar_text(parameter, array)
               : made_up_scalar_text(parameter, array, prepared.origins[i]);
}

std::string describe_inputs(const PreparedWorkload& prepared, const WorkloadRequest& request)
{
    std::string text;
    const auto& parameters = prepared.workload.op.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", parameters[i].name,
                            visible(describe_input(prepared, request, i)));
    return text;
}

/// Returns the back end's name and description, such as "cpu: 8 threads". For the back end reference, adds
/// the precision.
std::string back_end_text(const RunReport& report)
{
    const auto text = fmt::format("{}: {}", report.backend.name(), report.backend.description());
    if (report.backend.name() != "reference")
        return text;
    return fmt::format("{}; in {}{}", text, text_of(precision_of_reference(report.prepared.workload.op)),
                       report.num_slices != 0 ? " of each slice" : "");
}

std::string report_text(const RunReport& report)
{
    const auto& segments = report.prepared.workload.segments;
    std::vector<std::pair<std::string, std::string>> facts = {
        {"operator", signature(report.prepared.workload.op)},
        {"data",
         fmt::format(
             "{}{} in {} ({}{}), {}-bit indices", count_text(segments.num_elements, "element"),
             has_rows(report.prepared.workload.op)
                 ? fmt::format(", rows of {},", count_text(report.prepared.workload.num_features, "feature"))
                 : "",
             count_text(segments.num_segments, "segment"), visible(print(report.request.layout)),
             report.request.sorts_keys ? ", sorted by key" : "", segments.index_bits())},
        {"inputs", describe_inputs(report.prepared, report.request)},
        {"back end", back_end_text(report)}};
    if (report.num_slices != 0)
        facts.emplace_back("slices", fmt::format("{}", report.num_slices));
    if (report.backend.interprets())
        facts.emplace_back("stage", "none; the operator is interpreted in blocks of elements");
    else if (const auto& plan = report.run.chosen.plan)
        facts.emplace_back(
            "stage", fmt::format("{} {} ({})", plan->stage->name, segfold::print(plan->emitted.configuration),
                                 plan->chosen_by()));
    auto text = print_facts(facts);
    if (report.explanation)
        text += "\n" + print_facts(explain(*report.explanation));
    if (const auto table = report.view.print(report.run.results); !table.empty())
        text += "\n" + table;
    facts.clear();
    if (const auto& judgement = report.run.validation) {
        if (const auto precision = precision_of_reference(report.prepared.workload.op);
            precision == Precision::wide && report.backend.name() != "reference")
            facts.emplace_back("judged", "by a reference in " + text_of(precision));
        for (const auto& comparison : judgement->comparisons)
            facts.emplace_back(comparison.against == "thrust" ? "thrust" : "reference", print(comparison));
        if (!judgement->without_thrust.empty())
            facts.emplace_back("thrust", "has no say: " + judgement->without_thrust);
    }
    if (!report.output.empty())
        facts.emplace_back("written", visible(report.output));
    // Omits times if the output goes to a pipe or file, so that the output is reproducible.
    if (isatty(STDOUT_FILENO) == 1)
        facts.emplace_back("time", run_time_text(report.run.times));
    return facts.empty() ? text : text + "\n" + print_facts(facts);
}

Json run_document(const RunReport& report)
{
    const auto& workload = report.prepared.workload;
    Json document = {{"operator", json_of(workload.op)},
                     {"layout", print(report.request.layout)},
                     {"num_elements", workload.segments.num_elements},
                     {"num_segments", workload.segments.num_segments},
                     {"num_features", workload.num_features},
                     {"index_bits", workload.segments.index_bits()}};
    for (std::size_t i = 0; i < workload.op.parameters.size(); ++i)
        document["inputs"][workload.op.parameters[i].name] =
            describe_input(report.prepared, report.request, i);
    document["backend"] = report.backend.name();
    document["device"] = report.backend.description();
    if (report.backend.name() == "reference")
        document["precision"] = name(precision_of_reference(workload.op));
    if (const auto& plan = report.run.chosen.plan; plan && !report.backend.interprets()) {
        document["stage"] = plan->stage->name;
        document["chosen_by"] = plan->chosen_by();
        document["configuration"] = json_of(plan->emitted.configuration);
    }
    if (report.num_slices != 0)
        document["num_slices"] = report.num_slices;
    if (const auto& reason = report.run.chosen.explanation.without_identity; !reason.empty())
        document["without_identity"] = reason;
    if (report.explanation)
        document["explanation"] = json_of(*report.explanation);
    auto results = report.view.json(report.run.results);
    document["num_shown"] = results.size();
    document["truncated"] = std::ssize(results) < workload.segments.num_segments;
    document["results"] = std::move(results);
    if (!workload.op.outputs.empty())
        document["elements"] = report.view.elements_json(report.run.results);
    if (const auto& judgement = report.run.validation) {
        document["comparisons"] = Json::array();
        for (const auto& comparison : judgement->comparisons)
            document["comparisons"].push_back(json_of(comparison));
        document["agrees"] = judgement->agrees();
        if (report.backend.name() != "thrust")
            document["thrust"] = json_of_thrust(judgement->thrust, judgement->without_thrust);
    }
    if (!report.output.empty())
        document["output"] = report.output;
    document["seconds"] = Json::object();
    if (report.run.times.kernel_seconds)
        document["seconds"]["kernels"] = *report.run.times.kernel_seconds;
    if (report.run.times.compile_seconds)
        document["seconds"]["compile"] = *report.run.times.compile_seconds;
    document["seconds"]["run"] = report.run.times.seconds;
    return document;
}

/// Returns the reason why the run does not use tuning records; empty if it uses them.
std::string reason_without_records(const Arguments& arguments)
{
    if (const auto flag = chosen_by_flag(arguments); !flag.empty())
        return flag + " chooses, and no record is asked";
    return arguments.has("no-tune") ? "--no-tune: no record is asked" : "";
}

void refuse_flags_of_stages(const Arguments& arguments, std::string_view backend)
{
    for (const auto flag : {"stage", "set", "kernels", "reproducible"})
        arguments.refuse(flag,
                         fmt::format("chooses what a kernel does, and the back end {} runs none", backend));
    arguments.refuse("assume",
                     fmt::format("is about what stages rely on, and the back end {} runs none", backend));
    for (const auto flag : {"no-tune", "measure", "first"})
        arguments.refuse(
            flag, fmt::format("is about the choice of a stage, and the back end {} runs none", backend));
}

int run(const Words& words, const Arguments& arguments)
{
    if (const auto ranks = mpi_world())
        return run_ranks(words, arguments, *ranks);
    const auto op = operator_argument(arguments);
    for (const auto flag : {"slices", "devices", "memory"})
        if (arguments.has(flag))
            arguments.refuse(
                "measure",
                fmt::format("measures stages on all data at once, and --{} folds them in parts", flag));
    if (arguments.has("memory"))
        return run_stream(arguments, op);
    if (const auto path = arguments.value("output"))
        refuse_to_overwrite_what_is_read(arguments, op, {*path});
    arguments.refuse("resume", "goes on with a run of --memory, which is missing");
    auto request = workload_request(arguments, op, true);
    request.standard_elements = kRunElements;
    const Devices devices(arguments);
    const auto options = session_options(arguments, op);
    Session session(backend_argument(arguments, false, devices.first()), options);
    auto& backend = core(session).backend();  // opens the GPU in the background while data are prepared
    if (!backend.runs_stages())
        refuse_flags_of_stages(arguments, backend.name());
    const auto has_slices = is_sliced(arguments);
    if (!has_slices)
        request.takes_groups = [&](const Operator& asked, const Segments& segments) {
            const auto& numbers = segments.numbers;
            const ArrayView view(numbers.type(), numbers.data(), segments.num_elements);
            return core(session).takes_groups(asked, groups(view, segments.num_segments),
                                              segments.num_elements, plan_request(arguments));
        };
    const auto prepared = make_checked_workload(op, request);
    const auto& workload = prepared.workload;
    const ResultsView view(arguments, workload);
    if (const auto& keys = workload.segments.keys)
        if (const auto text =
                text_of_returning_keys(workload.segments.num_segments, count_distinct(*keys),
                                       "--sort-keys sorts by key first, so that each key is one segment");
            !text.empty())
            write_warnings(arguments, {text});
    Progress progress;
    FoldWishes wishes{0, plan_request(arguments), reason_without_records(arguments), arguments.has("check")};
    wishes.on_choice = [&](const Chosen& chosen) {
        write_warnings(arguments, chosen.explanation.lookup.ignored);
        write_warnings(arguments, chosen.warnings);
        if (has_slices)
            return;
        progress.show(
            chosen.plan && !backend.interprets()
                ? fmt::format("compiling and running {} on {}", chosen.plan->stage->name, backend.name())
                : fmt::format("running on {}", backend.name()));
    };
    wishes.on_check = [&] { progress.show("comparing with the reference and Thrust"); };
    if (has_slices)
        progress.show(
            fmt::format("running {} on {}", count_text(devices.num_slices(), "slice"), backend.name()));
    FoldRun run;
    naming_places(prepared, [&] {
        run = has_slices ? devices.fold(session, workload, wishes, options)
                         : core(session).fold(workload, wishes);
    });
    auto& results = run.results;
    progress.clear();
    if (prepared.places)
        for (auto at = results.size() - op.outputs.size(); at < results.size(); ++at)
            put_back(results[at].array, *prepared.places);
    const auto output = view.save(results);
    if (output.ends_with(".npy") && request.layout.kind == LayoutKind::keys && op.keeps_results)
        write_warnings(
            arguments,
            {fmt::format("--output '{}': holds results without their keys; an .npz file takes both",
                         output)});
    if (output.ends_with(".npz") && request.layout.kind == LayoutKind::keys)
        warn_of_renamed_keys(output, op, keys_name(returned_fields(op)));
    const bool is_explained = arguments.has("explain") && !has_slices && run.chosen.plan;
    const RunReport report{prepared,
                           request,
                           backend,
                           view,
                           run,
                           has_slices ? devices.num_slices() : 0,
                           is_explained ? &run.chosen.explanation : nullptr,
                           output};
    if (arguments.json())
        write_json("run", run_document(report));
    else
        write_output(report_text(report));
    return run.validation && !run.validation->agrees() ? 1 : 0;
}

/// The flags that the verbs run and scan share.
std::vector<Flag> run_flags()
{
    return join({kOperatorFlags, kInputFlags, kDataFlags, kBackendFlags, kPlanFlags, kSpotFlags, kLawFlags,
                 kViewFlags, kRunFlags, kScaleFlags, kStreamFlags});
}

}  // namespace

int verb_run(const Words& words) { return run(words, Arguments("run", words, run_flags(), 1)); }

int verb_scan(const Words& words)
{
    return run(words, Arguments("scan", words, join({run_flags(), kScanFlags}), 1));
}

}  // namespace segfold::cli
