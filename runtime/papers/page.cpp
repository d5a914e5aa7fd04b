#include "runtime/papers/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace segfold::papers {
namespace {

std::string table_row(std::string_view cell, std::string_view first, const std::vector<std::string>& others)
{
    std::string text =
        fmt::format("<tr><th scope=\"{}\">{}</th>", cell == "th" ? "col" : "row", escaped(first));
    for (const auto& other : others)
        text += fmt::format("<{0}{1}>{2}</{0}>", cell, cell == "th" ? " scope=\"col\"" : "", escaped(other));
    return text + "</tr>\n";
}

std::string mark_text(const std::optional<Mark>& mark) { return mark ? mark->text + mark->more : ""; }

std::string chart_table(const BarChart& chart)
{
    std::vector<std::string> titles;
    for (const auto& series : chart.series)
        titles.push_back(series.name);
    auto text = "<table>\n" + table_row("th", "rung", titles);
    for (std::size_t i = 0; i < chart.categories.size(); ++i) {
        std::vector<std::string> cells;
        for (const auto& series : chart.series)
            cells.push_back(mark_text(series.marks[i]));
        text += table_row("td", chart.categories[i], cells);
    }
    return text + "</table>\n";
}

std::string chart_table(const LineChart& chart)
{
    std::string text;
    for (const auto& panel : chart.panels) {
        text += fmt::format("<table>\n<caption>{}</caption>\n", escaped(panel.title)) +
                table_row("th", "rung", chart.size_texts);
        for (const auto& line : panel.lines) {
            std::vector<std::string> cells;
            std::ranges::transform(line.marks, std::back_inserter(cells), mark_text);
            text += table_row("td", line.name, cells);
        }
        text += "</table>\n";
    }
    return text;
}

/// The style of a page. On screens below 700 pixels, the narrow drawings replace the wide ones.
constexpr std::string_view kStyle =
    ":root { color-scheme: light dark; }\n"
    "body { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; color: #1a1a1a; background: #ffffff; "
    "max-width: 960px; margin: 2em auto; padding: 0 1em; line-height: 1.4; overflow-wrap: break-word; }\n"
    "figure { margin: 2em 0; }\nsvg { max-width: 100%; height: auto; }\n"
    "svg.narrow { display: none; }\n"
    ".numbers { overflow-x: auto; }\n"
    "table { border-collapse: collapse; margin: 0.5em 0; font-size: 0.85em; }\n"
    "caption { text-align: left; padding: 0.2em 0; }\n"
    "th, td { border-bottom: 1px solid #dddddd; padding: 0.2em 0.8em 0.2em 0; text-align: right; "
    "white-space: nowrap; }\n"
    "th:first-child { text-align: left; font-weight: normal; }\n"
    "@media (max-width: 700px) {\n"
    "  h1 { font-size: 1.4em; }\n  svg.wide { display: none; }\n  svg.narrow { display: block; margin: 0 "
    "auto; }\n"
    "}\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  body { color: #e8e8e8; background: #15181c; }\n  th, td { border-color: #33383f; }\n"
    "}\n";

std::string figure(const Chart& chart, std::size_t number)
{
    return std::visit(
        [&](const auto& one) {
            return fmt::format(
                "<figure>\n{}{}<details>\n<summary>The numbers</summary>\n<div class=\"numbers\">\n{}</div>\n"
                "</details>\n</figure>\n",
                draw(one, kWideChart).element(fmt::format("chart-{}", number), "wide"),
                draw(one, kNarrowChart).element(fmt::format("chart-{}-narrow", number), "narrow"),
                chart_table(one));
        },
        chart);
}

}  // namespace

std::string html(const Page& page)
{
    auto text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{0}</title>\n"
        "<style>\n{1}{2}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        escaped(page.heading), kStyle, dark_style());
    for (const auto& paragraph : page.paragraphs)
        text += fmt::format("<p>{}</p>\n", escaped(paragraph));
    for (std::size_t i = 0; i < page.charts.size(); ++i)
        text += figure(page.charts[i], i + 1);
    return text + "</body>\n</html>\n";
}

}  // namespace segfold::papers
