#pragma once
// Layouts, by which users state segments, and the forms in which kernels read segments.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// The ways in which a user may state segments.
enum class LayoutKind : std::uint8_t {
    whole,
    uniform,
    offsets,
    ranges,
    lengths,
    flags,
    keys,
    groups,
    rows,
    generated
};

/// The forms in which kernels receive segments. Every layout is turned into one of these.
///
/// With flags or keys, a kernel finds the segments and their number. With groups, each element has the number
/// of its group. If a kernel does not take groups, the host first sorts the elements by group.
enum class SegmentForm : std::uint8_t { whole, uniform, offsets, ranges, flags, keys, groups };
inline constexpr std::array kSegmentForms = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                             SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys,
                                             SegmentForm::groups};

/// Order of the groups in the results.
enum class KeyOrder : std::uint8_t {
    ascending,  ///< by key; floats by their bits: -0.0 before 0.0, NaN before -inf or after inf
    first       ///< by the first element of each group
};

/// Name of a kind, such as "whole" or "uniform". Throws InputError for an invalid value.
std::string_view name(LayoutKind kind);
std::string_view name(SegmentForm form);

/// A layout as the user states it, before any file is read.
struct Layout {
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;                ///< uniform: elements per segment
    std::vector<std::string> files = {};            ///< one file; for ranges two: begins, ends
    std::optional<std::int64_t> num_groups = {};    ///< groups: number; none: greatest group number plus 1
    std::string distribution = {};                  ///< generated: one of `distributions()`
    std::map<std::string, double> parameters = {};  ///< generated: as stated, without defaults
    std::string variant = {};  ///< generated: the bare word, such as "half" in "giant:half"

    bool operator==(const Layout&) const = default;
};

/// Parses a layout: "whole", "uniform=4", "offsets=FILE", "ranges=BEGIN,END", "groups=FILE", "rows=A.mtx",
/// "geometric:mean=32,seed=7", "giant:half".
///
/// File names in `ranges` cannot contain a comma. Throws InputError, whose message names the wrong part.
Layout parse_layout(std::string_view text);

/// Returns the text of a layout. parse_layout() turns it back into the same layout.
std::string print(const Layout& layout);

/// Returns the form in which kernels receive a layout. Reads no file.
SegmentForm form_of(LayoutKind kind);

/// Returns the form to which the host converts segments for stages that do not take `form`. Flags and keys
/// become offsets. Other forms stay.
SegmentForm converted_form(SegmentForm form);

/// True for flags and keys. The number of their segments is unknown until a kernel has found it.
bool is_found(SegmentForm form);

/// A numeric parameter of a generated layout.
struct DistributionParameter {
    std::string_view name;
    double lowest;
    double highest;
    std::optional<double> standard;  ///< default value; none: the user must give a value
    bool is_integer;
};

/// A rule that generates segment lengths.
struct Distribution {
    std::string_view name;
    std::string_view example;  ///< a complete layout text
    std::string_view meaning;  ///< one line for help texts
    /// Words without a value, such as "half". The layout must have one of them. May be empty.
    std::span<const std::string_view> variants;
    std::span<const DistributionParameter> parameters;
};

/// All distributions of generated layouts.
std::span<const Distribution> distributions();

/// Returns the value of a parameter of a generated layout: the stated value, else the default.
double parameter(const Layout& layout, std::string_view name);

}  // namespace segfold
