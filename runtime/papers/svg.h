#pragma once
// Draws vector graphics as SVG text.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/papers/paints.h"

namespace segfold::papers {

/// Returns `text` with the markup characters of XML and HTML escaped, and with blanks for control characters.
[[nodiscard]] std::string escaped(std::string_view text);

/// Estimates the width of a line of text in a font of `size` pixels. The estimate is rather too large than
/// too small.
[[nodiscard]] double text_width(std::string_view text, double size);

/// Breaks `text` at blanks into lines of at most `width`. A wider word gets a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double size, double width);

/// The point of a text that lies at the coordinates given to Drawing::text().
enum class Anchor { start, middle, end };

/// Style of a text.
struct TextStyle {
    double size = 12;
    Anchor anchor = Anchor::start;
    bool is_bold = false;
    Paint paint = kInk;
};

/// Shapes of a line's points. They distinguish the lines of a chart for readers who cannot tell the colours.
enum class MarkerShape { circle, square, diamond, triangle };

/// A drawing in pixels from the top left, with a title and a description for readers who cannot see it.
class Drawing {
public:
    Drawing(double width, std::string title) : width_(width), title_(std::move(title)) {}

    [[nodiscard]] double width() const { return width_; }
    [[nodiscard]] double height() const { return height_; }
    [[nodiscard]] const std::string& title() const { return title_; }
    void set_height(double height) { height_ = height; }
    /// Adds a sentence to the description.
    void describe(std::string_view sentence);

    void text(double x, double y, std::string_view content, const TextStyle& style = {});
    /// Draws a filled rectangle. Viewers with a pointer show `tip` unless it is empty.
    void rectangle(double x, double y, double width, double height, const Paint& paint,
                   std::string_view tip = {});
    void line(double x1, double y1, double x2, double y2, const Paint& paint, double width = 1);
    /// Draws a line through points. `points` holds x and y of each point in turn.
    void polyline(std::span<const double> points, const Paint& paint, bool is_dashed);
    void marker(double x, double y, MarkerShape shape, const Paint& paint, std::string_view tip = {});

    /// Returns the drawing as an `svg` element of class `kind`. The ids of title and description begin with
    /// `id`.
    [[nodiscard]] std::string element(std::string_view id, std::string_view kind = "chart") const;

private:
    double width_;
    double height_ = 0;
    std::string title_;
    std::string description_;
    std::string body_;
};

/// Returns one SVG file with the drawings below each other. It has dark colours if the reader prefers dark
/// pages.
[[nodiscard]] std::string svg_sheet(std::span<const Drawing> drawings, std::string_view title);

}  // namespace segfold::papers
