#pragma once
// The colours of drawings and pages, on light and on dark screens.
#include <array>
#include <string>
#include <string_view>

namespace segfold::papers {

/// A colour, and its counterpart on dark pages.
struct Paint {
    std::string_view name;  ///< of its classes in style sheets
    std::string_view light, dark;
};

inline constexpr Paint kPaper{"paper", "#ffffff", "#15181c"};
inline constexpr Paint kInk{"ink", "#1a1a1a", "#e8e8e8"};
inline constexpr Paint kQuiet{"quiet", "#555555", "#a8adb3"};
inline constexpr Paint kAxis{"axis", "#777777", "#8a9098"};
inline constexpr Paint kGrid{"grid", "#dddddd", "#33383f"};

/// What was measured has its colour in every chart, by the GPU's events and by the host's clock.
inline constexpr Paint kMeasured{"measured", "#d55e00", "#f28038"};
inline constexpr Paint kHostClock{"host-clock", "#e69f00", "#f5c04a"};
/// What was published, by device; the first one has its colour in every chart.
inline constexpr std::array kPublished = {Paint{"published", "#0072b2", "#4fa8e0"},
                                          Paint{"published-2", "#009e73", "#2cc295"},
                                          Paint{"published-3", "#4d4d4d", "#b5b5b5"}};
/// Lines that are told apart by colour and shape; none has the colour of what was measured or first
/// published. Most are Okabe and Ito's colours, which people with any vision tell apart.
inline constexpr std::array kLines = {
    Paint{"line-1", "#009e73", "#2cc295"}, Paint{"line-2", "#cc79a7", "#e097c0"},
    Paint{"line-3", "#4d4d4d", "#b5b5b5"}, Paint{"line-4", "#56b4e9", "#7cc7f2"},
    Paint{"line-5", "#6a3d9a", "#b08ae0"}, Paint{"line-6", "#8c6d1f", "#c9a94f"}};

/// Style rules that give every paint its dark colour, inside a media query for those who prefer it.
[[nodiscard]] std::string dark_style();

}  // namespace segfold::papers
