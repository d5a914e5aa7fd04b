#pragma once
// Vector drawings as SVG text.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/papers/paints.h"

namespace segfold::papers {

/// `text` for XML and HTML: markup characters escaped, control characters replaced.
[[nodiscard]] std::string escaped(std::string_view text);

/// About how wide a line of text of that size is; a little more rather than less.
[[nodiscard]] double text_width(std::string_view text, double size);

/// `text` in lines of at most `width`, broken at blanks; a word that is wider has a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double size, double width);

/// Where a text's place is in the text.
enum class Anchor { start, middle, end };

/// How a text looks.
struct TextStyle {
    double size = 12;
    Anchor anchor = Anchor::start;
    bool is_bold = false;
    Paint paint = kInk;
};

/// The shapes that tell lines of a chart apart where colours do not.
enum class MarkerShape { circle, square, diamond, triangle };

/// A drawing in pixels from the top left, with a title and a description for those who cannot see it.
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
    /// `tip` is shown by programs that know where the pointer is; empty for none.
    void rectangle(double x, double y, double width, double height, const Paint& paint,
                   std::string_view tip = {});
    void line(double x1, double y1, double x2, double y2, const Paint& paint, double width = 1);
    /// A line through points, x and y by turns.
    void polyline(std::span<const double> points, const Paint& paint, bool is_dashed);
    void marker(double x, double y, MarkerShape shape, const Paint& paint, std::string_view tip = {});

    /// The drawing as an element `svg` of class `kind`, whose title and description have names that begin
    /// with `id`.
    [[nodiscard]] std::string element(std::string_view id, std::string_view kind = "chart") const;

private:
    double width_;
    double height_ = 0;
    std::string title_;
    std::string description_;
    std::string body_;
};

/// Drawings one below the other as one SVG file, dark for readers who prefer that.
[[nodiscard]] std::string svg_sheet(std::span<const Drawing> drawings, std::string_view title);

}  // namespace segfold::papers
