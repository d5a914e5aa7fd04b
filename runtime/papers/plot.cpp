#include "runtime/papers/plot.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "runtime/measure/bench/markdown.h"
#include "runtime/papers/figures.h"
#include "runtime/support/files/file.h"

namespace segfold::papers {
namespace {

std::string heading_of(const Paper& paper)
{
    return fmt::format("{} ({}): {}", paper.authors, paper.year, paper.title);
}

}  // namespace

PlotFormat plot_format(const std::string& path)
{
    if (path.ends_with(".svg"))
        return PlotFormat::svg;
    if (path.ends_with(".html"))
        return PlotFormat::html;
    throw InputError(fmt::format("--plot: '{}' ends neither in .svg nor in .html", path));
}

std::string plot(const Paper& paper, const std::vector<const Experiment*>& experiments,
                 const MeasuredPaper* measured, PlotFormat format)
{
    const auto charts = charts_of(paper, experiments, measured);
    if (charts.empty())
        throw InputError(
            fmt::format("--plot: there is nothing to draw: {} states no number for what was asked, and none "
                        "was measured; on a machine with a GPU this command measures",
                        paper.name));
    if (format == PlotFormat::html) {
        Page page{heading_of(paper), {paper.published_in, paper.claim}, charts};
        if (measured)
            page.paragraphs.push_back("Measured: " + bench::markdown_header(measured->machine));
        return html(page);
    }
    std::vector<Drawing> drawings;
    for (const auto& chart : charts)
        drawings.push_back(std::visit([](const auto& one) { return draw(one, kWideChart); }, chart));
    return svg_sheet(drawings, heading_of(paper));
}

void save_plot(const std::string& path, const Paper& paper, const std::vector<const Experiment*>& experiments,
               const MeasuredPaper* measured)
{
    write_whole(path, plot(paper, experiments, measured, plot_format(path)));
}

}  // namespace segfold::papers
