#pragma once
// Colours of drawings and pages for light and dark screens.
#include <array>
#include <string>
#include <string_view>

namespace segfold::papers {

/// A colour and its replacement on dark pages.
struct Paint {
    std::string_view name;  ///< name of its CSS classes
    std::string_view light, dark;
};

inline constexpr Paint kPaper{"paper", "#ffffff", "#15181c"};
inline constexpr Paint kInk{"ink", "#1a1a1a", "#e8e8e8"};
inline constexpr Paint kQuiet{"quiet", "#555555", "#a8adb3"};
inline constexpr Paint kAxis{"axis", "#777777", "#8a9098"};
inline constexpr Paint kGrid{"grid", "#dddddd", "#33383f"};

/// Colours of measured numbers, the same in every chart: `kMeasured` for times by the GPU's events,
/// `kHostClock` for times by the host's clock.
inline constexpr Paint kMeasured{"measured", "#d55e00", "#f28038"};
inline constexpr Paint kHostClock{"host-clock", "#e69f00", "#f5c04a"};
/// Colours of published numbers, by device. The first is the same in every chart.
inline constexpr std::array kPublished = {Paint{"published", "#0072b2", "#4fa8e0"},
                                          Paint{"published-2", "#009e73", "#2cc295"},
                                          Paint{"published-3", "#4d4d4d", "#b5b5b5"}};
/// Colours of lines. Lines also differ in shape. No line has the colour of measured numbers or of the first
/// published numbers. Most colours are Okabe and Ito's, which people with any colour vision can distinguish.
inline constexpr std::array kLines = {
    Paint{"line-1", "#009e73", "#2cc295"}, Paint{"line-2", "#cc79a7", "#e097c0"},
    Paint{"line-3", "#4d4d4d", "#b5b5b5"}, Paint{"line-4", "#56b4e9", "#7cc7f2"},
    Paint{"line-5", "#6a3d9a", "#b08ae0"}, Paint{"line-6", "#8c6d1f", "#c9a94f"}};

/// Returns CSS rules that give every paint its dark colour if the reader prefers dark pages.
[[nodiscard]] std::string dark_style();

}  // namespace segfold::papers
