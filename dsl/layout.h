#pragma once
// Layouts, by which a user gives segments, and the few forms that kernels read.
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
    rows,
    generated
};

/// The ways in which kernels are given segments; every layout resolves to one of these.
///
/// Of flags and keys, kernels find out themselves where segments begin, and how many there are.
enum class SegmentForm : std::uint8_t { whole, uniform, offsets, ranges, flags, keys };

/// "whole", "uniform", ...; for `LayoutKind::generated`, "generated". Throws InputError for a number of none.
std::string_view name(LayoutKind kind);
std::string_view name(SegmentForm form);

/// A layout as the user states it; nothing has been read yet.
struct Layout {
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;                ///< uniform: elements per segment
    std::vector<std::string> files = {};            ///< one file; ranges: begins, ends
    std::string distribution = {};                  ///< generated: one of `distributions()`
    std::map<std::string, double> parameters = {};  ///< generated: as stated, without the standard values
    std::string variant = {};                       ///< generated: the bare word, as in "giant:half"

    bool operator==(const Layout&) const = default;
};

/// Reads "whole", "uniform=4", "offsets=FILE", "ranges=BEGIN,END", "rows=A.mtx", "geometric:mean=32,seed=7",
/// "giant:half".
///
/// A comma in a file's name cannot be written for `ranges`. Throws InputError naming the part that is wrong.
Layout parse_layout(std::string_view text);

/// The text of a layout, such that `parse_layout(print(x)) == x`.
std::string print(const Layout& layout);

/// The form in which kernels see a layout, known before any file is read.
SegmentForm form_of(LayoutKind kind);

/// The form that the host makes for stages that do not take `form`: offsets of flags and keys, else itself.
SegmentForm converted_form(SegmentForm form);

/// True for flags and keys: how many segments there are is known after a kernel has run.
bool is_found(SegmentForm form);

/// A number that shapes a generated layout.
struct DistributionParameter {
    std::string_view name;
    double lowest;
    double highest;
    std::optional<double> standard;  ///< value if not stated; none: it must be stated
    bool is_integer;
};

/// A rule that generates segment lengths.
struct Distribution {
    std::string_view name;
    std::string_view example;                    ///< a complete layout text
    std::string_view meaning;                    ///< one line for a help text
    std::span<const std::string_view> variants;  ///< empty, or the bare words of which one must be given
    std::span<const DistributionParameter> parameters;
};

/// Every distribution that a generated layout may name.
std::span<const Distribution> distributions();

/// The stated value of a generated layout's parameter, else its standard value.
double parameter(const Layout& layout, std::string_view name);

}  // namespace segfold
