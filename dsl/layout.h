#pragma once
// Layouts: how users state segments, and in which form kernels read them.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// The kinds of layouts: the ways to state segments.
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
/// of its group; for a kernel that does not take groups, the host first sorts the elements by group.
enum class SegmentForm : std::uint8_t { whole, uniform, offsets, ranges, flags, keys, groups };
inline constexpr std::array kSegmentForms = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                             SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys,
                                             SegmentForm::groups};

/// The order of the returned groups.
enum class KeyOrder : std::uint8_t {
    ascending,  ///< by key; floats by their bits: -0.0 before 0.0, NaN beyond the infinities
    first       ///< by each group's first element
};

/// Name of a kind, such as "whole" or "uniform". Throws InputError for an invalid value.
std::string_view name(LayoutKind kind);
std::string_view name(SegmentForm form);

/// A layout as the user states it. No file has been read yet.
struct Layout {
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;              ///< uniform: elements per segment
    std::vector<std::string> files = {};          ///< one file; for ranges two: begins, ends
    std::optional<std::int64_t> num_groups = {};  ///< groups: how many; none: the largest group number plus 1
    std::string distribution = {};                ///< generated: one of `distributions()`
    std::map<std::string, double> parameters = {};  ///< generated: as stated, without defaults
    std::string variant = {};  ///< generated: the bare word, such as "half" in "giant:half"

    bool operator==(const Layout&) const = default;
};

/// Parses a layout: "whole", "uniform=4", "offsets=FILE", "ranges=BEGIN,END", "groups=FILE", "rows=A.mtx",
/// "geometric:mean=32,seed=7", "giant:half".
///
/// File names in `ranges` cannot contain a comma. Throws InputError that names the wrong part.
Layout parse_layout(std::string_view text);

/// Text of a layout that parse_layout() reads back as the same layout.
std::string print(const Layout& layout);

/// The form in which kernels receive a layout; needs no file.
SegmentForm form_of(LayoutKind kind);

/// The form to which the host converts segments for stages that do not take `form`. Flags and keys become
/// offsets; other forms stay.
SegmentForm converted_form(SegmentForm form);

/// True for flags and keys: the host does not know the number of segments until a kernel has found it.
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

/// Value of a generated layout's parameter: the stated value, else the default.
double parameter(const Layout& layout, std::string_view name);

}  // namespace segfold
