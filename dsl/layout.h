#pragma once
// How the user states segments, and the forms in which kernels read them.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// The ways to state a layout.
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
/// With flags and keys, kernels find the segments and their number themselves. Groups come with the number of
/// its group for each element; where no kernel takes that, the host sorts the elements by group first.
enum class SegmentForm : std::uint8_t { whole, uniform, offsets, ranges, flags, keys, groups };
inline constexpr std::array kSegmentForms = {SegmentForm::whole,  SegmentForm::uniform, SegmentForm::offsets,
                                             SegmentForm::ranges, SegmentForm::flags,   SegmentForm::keys,
                                             SegmentForm::groups};

/// The order of groups by key.
enum class KeyOrder : std::uint8_t {
    ascending,  ///< floats by their bits: -0.0 before 0.0, NaN beyond the infinities
    first       ///< as they first stand
};

/// Name of a kind, such as "whole" or "uniform". Throws InputError for an invalid value.
std::string_view name(LayoutKind kind);
std::string_view name(SegmentForm form);

/// A layout as the user states it. No file has been read yet.
struct Layout {
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;                ///< uniform: elements per segment
    std::vector<std::string> files = {};            ///< one file; for ranges two: begins, ends
    std::optional<std::int64_t> num_groups = {};    ///< groups: their number; none: the largest one plus one
    std::string distribution = {};                  ///< generated: one of `distributions()`
    std::map<std::string, double> parameters = {};  ///< generated: as stated, without defaults
    std::string variant = {};  ///< generated: the bare word, such as "half" in "giant:half"

    bool operator==(const Layout&) const = default;
};

/// Reads "whole", "uniform=4", "offsets=FILE", "ranges=BEGIN,END", "groups=FILE", "rows=A.mtx",
/// "geometric:mean=32,seed=7", "giant:half".
///
/// For `ranges`, the name of a file cannot contain a comma. Throws InputError that names the wrong part.
Layout parse_layout(std::string_view text);

/// Text of a layout that parse_layout() reads back as the same layout.
std::string print(const Layout& layout);

/// The form in which kernels receive a layout; needs no file.
SegmentForm form_of(LayoutKind kind);

/// The form to which the host converts segments for stages that do not take `form`: offsets for flags and
/// keys, else `form` itself.
SegmentForm converted_form(SegmentForm form);

/// True for flags and keys: only a kernel finds the number of segments.
bool is_found(SegmentForm form);

/// A number that shapes a generated layout.
struct DistributionParameter {
    std::string_view name;
    double lowest;
    double highest;
    std::optional<double> standard;  ///< default value; none: it must be stated
    bool is_integer;
};

/// A rule that generates segment lengths.
struct Distribution {
    std::string_view name;
    std::string_view example;                    ///< a complete layout text
    std::string_view meaning;                    ///< one line for help texts
    std::span<const std::string_view> variants;  ///< bare words, one of which must be given; may be empty
    std::span<const DistributionParameter> parameters;
};

/// All distributions of generated layouts.
std::span<const Distribution> distributions();

/// Value of a generated layout's parameter: the stated value, else the default.
double parameter(const Layout& layout, std::string_view name);

}  // namespace segfold
