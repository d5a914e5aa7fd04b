#include "runtime/papers/svg.h"

#include <fmt/format.h>

#include <algorithm>

namespace segfold::papers {
namespace {

constexpr std::string_view kFont = "Helvetica, Arial, 'DejaVu Sans', sans-serif";
constexpr double kMarker = 4;  ///< half the width of a marker

std::string tip_element(std::string_view tip)
{
    return tip.empty() ? "" : fmt::format("<title>{}</title>", escaped(tip));
}

/// Returns the attributes for a filled shape: the light colour, for viewers without style sheets, and the
/// class that recolours the shape on dark pages.
std::string fill(const Paint& paint)
{
    return fmt::format("fill=\"{}\" class=\"{}\"", paint.light, paint.name);
}

std::string stroke(const Paint& paint)
{
    return fmt::format("stroke=\"{0}\" class=\"{1}-stroke\"", paint.light, paint.name);
}

std::string dark_rules(const Paint& paint)
{
    return fmt::format("  .{0} {{ fill: {1}; }}\n  .{0}-stroke {{ stroke: {1}; }}\n", paint.name, paint.dark);
}

std::string_view name(Anchor anchor)
{
    return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

}  // namespace

std::string escaped(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    }
    return result;
}

double text_width(std::string_view text, double size)
{
    constexpr double kNarrow = 0.3, kUsual = 0.58, kWide = 0.85;
    double width = 0;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80)  // a later byte of a UTF-8 letter
            continue;
        if (std::string_view(" .,:;'ijl|!()").find(c) != std::string_view::npos)
            width += kNarrow;
        else
            width += std::string_view("mwMW").find(c) != std::string_view::npos ? kWide : kUsual;
    }
    return width * size;
}

std::vector<std::string> wrapped(std::string_view text, double size, double width)
{
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const auto word = text.substr(0, end);
        const auto longer =
            lines.back().empty() ? std::string(word) : fmt::format("{} {}", lines.back(), word);
        if (!lines.back().empty() && text_width(longer, size) > width)
            lines.emplace_back(word);
        else
            lines.back() = longer;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string dark_style()
{
    std::string rules = "@media (prefers-color-scheme: dark) {\n";
    for (const auto& paint : {kPaper, kInk, kQuiet, kAxis, kGrid, kMeasured, kHostClock})
        rules += dark_rules(paint);
    for (const auto& paint : kPublished)
        rules += dark_rules(paint);
    for (const auto& paint : kLines)
        rules += dark_rules(paint);
    return rules + "}\n";
}

void Drawing::describe(std::string_view sentence)
{
    description_ += description_.empty() ? "" : " ";
    description_ += sentence;
}

void Drawing::text(double x, double y, std::string_view content, const TextStyle& style)
{
    body_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" {}{}{}>{}</text>\n", x, y, style.size,
                    fill(style.paint),
                    style.anchor == Anchor::start ? std::string()
                                                  : fmt::format(" text-anchor=\"{}\"", name(style.anchor)),
                    style.is_bold ? " font-weight=\"bold\"" : "", escaped(content));
}

void Drawing::rectangle(double x, double y, double width, double height, const Paint& paint,
                        std::string_view tip)
{
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}>{}</rect>\n",
                         x, y, width, height, fill(paint), tip_element(tip));
}

void Drawing::line(double x1, double y1, double x2, double y2, const Paint& paint, double width)
{
    body_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {} "
        "stroke-width=\"{:g}\"/>\n",
        x1, y1, x2, y2, stroke(paint), width);
}

void Drawing::polyline(std::span<const double> points, const Paint& paint, bool is_dashed)
{
    std::string places;
    for (std::size_t i = 0; i + 1 < points.size(); i += 2)
        places += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "" : " ", points[i], points[i + 1]);
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"2\"{}/>\n", places,
                         stroke(paint), is_dashed ? " stroke-dasharray=\"5 3\"" : "");
}

void Drawing::marker(double x, double y, MarkerShape shape, const Paint& paint, std::string_view tip)
{
    const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
        std::string places;
        for (const auto& [right, down] : corners)
            places += fmt::format("{}{:.1f},{:.1f}", places.empty() ? "" : " ", x + right * kMarker,
                                  y + down * kMarker);
        return fmt::format("<polygon points=\"{}\" {}>{}</polygon>\n", places, fill(paint), tip_element(tip));
    };
    switch (shape) {
        case MarkerShape::circle:
            body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" {}>{}</circle>\n", x, y,
                                 kMarker, fill(paint), tip_element(tip));
            break;
        case MarkerShape::square:
            body_ += polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
            break;
        case MarkerShape::diamond: body_ += polygon({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}}); break;
        case MarkerShape::triangle: body_ += polygon({{0, -1.2}, {1.2, 1}, {-1.2, 1}}); break;
    }
}

std::string Drawing::element(std::string_view id, std::string_view kind) const
{
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
        "{1:g}\" "
        "class=\"{6}\" role=\"img\" aria-labelledby=\"{2}-title {2}-description\" font-family=\"{3}\">\n"
        "<title id=\"{2}-title\">{4}</title>\n<desc id=\"{2}-description\">{5}</desc>\n"
        "<rect width=\"{0:g}\" height=\"{1:g}\" {7}/>\n{8}</svg>\n",
        width_, height_, escaped(id), kFont, escaped(title_), escaped(description_), escaped(kind),
        fill(kPaper), body_);
}

std::string svg_sheet(std::span<const Drawing> drawings, std::string_view title)
{
    double width = 0, height = 0;
    std::string parts;
    for (std::size_t i = 0; i < drawings.size(); ++i) {
        parts += fmt::format("<g transform=\"translate(0 {:g})\">\n{}</g>\n", height,
                             drawings[i].element(fmt::format("chart-{}", i + 1)));
        width = std::max(width, drawings[i].width());
        height += drawings[i].height();
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
        "{1:g}\">\n<title>{2}</title>\n<style>\n{3}</style>\n<rect width=\"{0:g}\" height=\"{1:g}\" "
        "{4}/>\n{5}</svg>\n",
        width, height, escaped(title), dark_style(), fill(kPaper), parts);
}

}  // namespace segfold::papers
