// segfold paper: shows experiments from the literature, with published and measured numbers side by side.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/charts/chart_files.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/views/bench_view.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/paper_view.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/measure/bench/markdown.h"
#include "runtime/papers/figures.h"
#include "runtime/papers/measure.h"
#include "runtime/session/core.h"
#include "runtime/support/files/file.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

using papers::Experiment;
using papers::MeasuredExperiment;
using papers::MeasuredPaper;
using papers::Paper;

constexpr Flag kPaperFlags[] = {{"figure", "FIGURE"}, {"repeat", "R"}, {"device", "N"},
                                {"save", "FILE"},     {"measured"},    {"kernels", "DIR"}};
constexpr int kRepeats = 101;

std::string list_papers()
{
    TextTable table({{"paper"},
                     {"year", TextTable::Align::right},
                     {"authors"},
                     {"title"},
                     {"experiments", TextTable::Align::right},
                     {"measured on"}});
    for (const auto& paper : papers::embedded_papers()) {
        std::string devices;
        for (const auto& path : paper.measured)
            devices += (devices.empty() ? "" : ", ") + papers::embedded_measurement(path).machine.device;
        table.add({paper.name, std::to_string(paper.year), paper.authors, paper.title,
                   std::to_string(paper.experiments.size()), devices});
    }
    return table.print();
}

Json json_of_list()
{
    Json list = Json::array();
    for (const auto& paper : papers::embedded_papers())
        list.push_back({{"paper", paper.name},
                        {"year", paper.year},
                        {"authors", paper.authors},
                        {"title", paper.title},
                        {"claim", paper.claim},
                        {"experiments", paper.experiments.size()},
                        {"measured", paper.measured}});
    return {{"papers", std::move(list)}};
}

/// Returns the experiment of --figure, or else all experiments of the paper.
std::vector<const Experiment*> chosen_experiments(const Arguments& arguments, const Paper& paper)
{
    std::vector<const Experiment*> chosen;
    std::vector<std::string_view> figures;
    for (const auto& experiment : paper.experiments) {
        figures.push_back(experiment.figure);
        if (arguments.value("figure").value_or(experiment.figure) == experiment.figure)
            chosen.push_back(&experiment);
    }
    if (chosen.empty())
        throw InputError(fmt::format("--figure: {} has no '{}'; it has {}", paper.name,
                                     *arguments.value("figure"), fmt::join(figures, "; ")));
    return chosen;
}

MeasuredPaper measure(const Arguments& arguments, const std::vector<const Experiment*>& experiments)
{
    const Kernels kernels(arguments);
    SessionOptions options;
    options.backend = "cuda";
    options.device = static_cast<int>(arguments.integer("device", 0, 1023).value_or(0));
    options.kernels = arguments.value("kernels").value_or("");
    Session session(options);
    bench::Bench bench(core(session).backend());
    const auto repeats = static_cast<int>(arguments.integer("repeat", 1, 100000).value_or(kRepeats));
    Progress progress;
    const auto show = [&](const std::string& line) { progress.show(line); };
    MeasuredPaper measured{bench.machine(), {}};
    for (const auto* experiment : experiments)
        measured.experiments.push_back(
            experiment->kind == papers::ExperimentKind::contest
                ? papers::measure_contest(session, bench, *experiment, repeats, show)
                : papers::measure(bench, *experiment, repeats, kernels.catalogue(), show));
    return measured;
}

bool all_agree(const MeasuredPaper& measured)
{
    return std::ranges::all_of(measured.experiments,
                               [](const auto& experiment) { return experiment.record.agrees(); });
}

/// Returns the latest measurements that ship with the program, restricted to the requested experiments.
std::optional<MeasuredPaper> kept(const Paper& paper, const std::vector<const Experiment*>& experiments)
{
    std::optional<MeasuredPaper> latest;
    for (const auto& path : paper.measured) {
        auto document = papers::embedded_measurement(path);
        if (!latest || latest->machine.date < document.machine.date)
            latest = std::move(document);
    }
    if (latest)
        std::erase_if(latest->experiments, [&](const MeasuredExperiment& measured) {
            return std::ranges::none_of(experiments,
                                        [&](const auto* asked) { return asked->figure == measured.figure; });
        });
    return latest;
}

/// Returns the JSON document of the experiments: their measurements, if any, and their published numbers.
Json paper_document(const Paper& paper, const std::vector<const Experiment*>& experiments,
                    const std::optional<MeasuredPaper>& measured)
{
    auto document = measured
                        ? json_of(paper.name, *measured)
                        : Json{{"paper", paper.name}, {"machine", nullptr}, {"experiments", Json::array()}};
    document["published"] = Json::array();
    for (const auto& value : paper.published)
        if (std::ranges::any_of(experiments,
                                [&](const auto* asked) { return asked->figure == value.figure; }))
            document["published"].push_back({{"figure", value.figure},
                                             {"row", value.row},
                                             {"metric", value.metric},
                                             {"value", value.value},
                                             {"unit", value.unit},
                                             {"device", value.device},
                                             {"read_from", value.read_from}});
    return document;
}

ChartPage chart_page(const Paper& paper, const std::vector<const Experiment*>& experiments,
                     const MeasuredPaper* measured, const std::string& asked_by)
{
    ChartPage page{fmt::format("{} ({}): {}", paper.authors, paper.year, paper.title),
                   {paper.published_in, paper.claim},
                   papers::charts_of(paper, experiments, measured, asked_by)};
    if (measured)
        page.paragraphs.push_back("Measured: " + bench::markdown_header(measured->machine));
    return page;
}

}  // namespace

int verb_paper(const Words& words)
{
    const auto flags = join({kPaperFlags, kChartFlags});
    const Arguments arguments("paper", words, flags, 1, "paper");
    if (arguments.operands().empty()) {
        for (const auto& flag : flags)
            arguments.refuse(flag.name, "speaks of a paper, and none is named");
        if (arguments.json())
            write_json("papers", json_of_list());
        else
            write_output(list_papers());
        return 0;
    }
    const auto& paper = papers::embedded_paper(arguments.operands().front());
    const auto experiments = chosen_experiments(arguments, paper);
    const ChartFiles files(arguments);
    const auto no_gpu = cuda::no_device_reason();
    std::optional<MeasuredPaper> measured;
    if (arguments.has("measured") || !no_gpu.empty()) {
        const std::string why =
            arguments.has("measured") ? "--measured measures nothing" : "there is no GPU here";
        for (const auto* flag : {"save", "repeat", "device", "kernels"})
            arguments.refuse(flag, "speaks of what is measured, and " + why);
        measured = kept(paper, experiments);
    } else {
        if (const auto path = arguments.value("save"))
            require_writable(*path);
        measured = measure(arguments, experiments);
        if (const auto path = arguments.value("save"))
            write_whole(*path, json_of(paper.name, *measured).dump(1) + "\n");
    }
    if (const auto flag = files.asked_by(); !flag.empty())
        files.write(chart_page(paper, experiments, measured ? &*measured : nullptr, flag));
    if (arguments.json()) {
        write_json("paper", paper_document(paper, experiments, measured));
        return measured && !all_agree(*measured) ? 1 : 0;
    }
    write_output(print_heading(paper, measured ? &*measured : nullptr));
    if (measured)
        write_output(print(measured->machine));
    for (const auto* experiment : experiments)
        write_output("\n" + print_experiment(paper, *experiment, measured ? &*measured : nullptr));
    return measured && !all_agree(*measured) ? 1 : 0;
}

}  // namespace segfold::cli
