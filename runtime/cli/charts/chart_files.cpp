#include "runtime/cli/charts/chart_files.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "runtime/measure/charts/chart.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/leftovers.h"
#include "runtime/support/processes/process.h"

namespace segfold {
std::span<const EmbeddedFile> chart_renderer();
}  // namespace segfold

namespace segfold::cli {
namespace {

/// Returns the first Python in PATH that has vl-convert.
std::string find_renderer()
{
    for (const auto* name : {"python3", "python"})
        if (auto path = find_program(name);
            path && run_process({*path, "-c", "import vl_convert"}).status == 0)
            return *path;
    throw InputError(
        "--plot: no Python in PATH has vl-convert, which draws; install it with 'pip install "
        "vl-convert-python', or write the specification with --vega FILE.json, which needs nothing");
}

std::string rendered(const std::string& python, const Json& whole, const std::string& ending)
{
    const ScratchFolder folder("segfold-chart");
    const auto from = (folder.path() / "chart.json").string();
    const auto to = (folder.path() / ("chart" + ending)).string();
    write_whole(from, whole.dump());
    const auto result = run_stoppable({python, "-c", std::string(chart_renderer().front().text), from, to});
    if (result.status != 0)
        throw DeviceError(fmt::format("--plot: {} cannot draw the chart: {}", python, result.output));
    std::ifstream file(to, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

ChartFiles::ChartFiles(const Arguments& arguments)
    : specification_(arguments.value("vega")), plot_(arguments.value("plot"))
{
    if (plot_ && !plot_->ends_with(".svg") && !plot_->ends_with(".html"))
        throw InputError(fmt::format("--plot: '{}' ends neither in .svg nor in .html", *plot_));
    for (const auto& path : {specification_, plot_})
        if (path)
            require_writable(*path);
    if (plot_)
        python_ = find_renderer();
}

std::string ChartFiles::asked_by() const { return plot_ ? "--plot" : specification_ ? "--vega" : ""; }

void ChartFiles::write(const ChartPage& page) const
{
    const auto specification = charts::vega_lite(page.charts);
    if (specification_)
        write_whole(*specification_, specification.dump(1) + "\n");
    if (!plot_)
        return;
    const bool is_page = plot_->ends_with(".html");
    const Json whole =
        is_page ? Json{{"heading", page.heading}, {"paragraphs", page.paragraphs}, {"charts", page.charts}}
                : specification;
    write_whole(*plot_, rendered(python_, whole, is_page ? ".html" : ".svg"));
}

}  // namespace segfold::cli
