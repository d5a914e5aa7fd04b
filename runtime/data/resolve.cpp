#include "runtime/data/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "dsl/error.h"
#include "dsl/half.h"
#include "runtime/data/formats/matrix_market.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/generated/distribution.h"
#include "runtime/data/groups.h"
#include "runtime/support/files/file.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/random.h"
#include "runtime/support/text_table.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kFewestElements = std::int64_t{1} << 16;  // least number of elements per thread
constexpr std::int64_t kLargestSmallInteger = 8;
constexpr std::uint64_t kSmallUnsigned = 16;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// Returns `integer` * `scale` as a float. `scale` is a power of two, and the type must hold the product
/// exactly.
template <class Element>
Element exact_float(Type type, std::int64_t integer, double scale)
{
    const double value = static_cast<double>(integer) * scale;
    if constexpr (std::is_floating_point_v<Element>)
        return static_cast<Element>(value);
    const auto narrow = static_cast<float>(value);
    return static_cast<Element>(type == Type::f16 ? f32_to_f16(narrow) : f32_to_bf16(narrow));
}

int significand_bits(Type type)
{
    switch (type) {
        case Type::f16: return 11;
        case Type::bf16: return 8;
        case Type::f32: return std::numeric_limits<float>::digits;
        default: return std::numeric_limits<double>::digits;
    }
}

/// Maps the high bits of `random` to an integer below `count`.
std::uint64_t below(std::uint64_t count, std::uint64_t random) { return (random >> 32) * count >> 32; }

template <class Element>
Element small_integer(Type type, std::uint64_t random)
{
    if (is_unsigned_integer(type))
        return static_cast<Element>(below(kSmallUnsigned, random));
    const std::int64_t integer =
        static_cast<std::int64_t>(below(2 * kLargestSmallInteger + 1, random)) - kLargestSmallInteger;
    return is_float(type) ? exact_float<Element>(type, integer, 1.0) : static_cast<Element>(integer);
}

template <class Element>
Element unit(Type type, std::uint64_t random)
{
    if (is_unsigned_integer(type))
        return static_cast<Element>(random >> 63);
    const auto integer = static_cast<std::int64_t>(below(3, random)) - 1;
    return is_float(type) ? exact_float<Element>(type, integer, 1.0) : static_cast<Element>(integer);
}

template <class Element>
Element near_one(Type type, const RandomSequence& sequence, std::int64_t place)
{
    const auto i = static_cast<std::uint64_t>(place);
    const std::uint64_t random = sequence.at(i);
    if (is_unsigned_integer(type))
        return static_cast<Element>(random >> 63);
    const std::int64_t sign = random >> 63 != 0 ? -1 : 1;
    if (!is_float(type))
        return static_cast<Element>(sign);
    const std::uint64_t pair = sequence.at(i | 1);
    const bool is_changed = (pair >> 54 & 63) == 0;
    const bool is_large = ((pair >> 60 ^ i) & 1) != 0;
    return exact_float<Element>(type, is_changed && is_large ? 2 * sign : sign,
                                is_changed && !is_large ? 0.5 : 1.0);
}

template <class Element>
Element uniform_value(Type type, std::uint64_t random)
{
    if (!is_float(type))
        return static_cast<Element>(random >> (64 - 8 * size_bytes(type)));
    // The result is a multiple of 2^(1 - bits) in [-1, 1). The arithmetic shift keeps the sign.
    const int bits = significand_bits(type);
    return exact_float<Element>(type, static_cast<std::int64_t>(random) >> (63 - bits),
                                1.0 / static_cast<double>(std::int64_t{1} << bits));
}

/// Returns the bits of edge values: zeros, limits, infinities, NaN and denormals.
std::vector<std::uint64_t> edge_bits(Type type)
{
    const int bits = static_cast<int>(8 * size_bytes(type));
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits), sign = std::uint64_t{1} << (bits - 1);
    if (!is_float(type))
        return {0, 1, 2, all, all - 1, sign, sign - 1, sign + 1};
    const int fraction_bits = significand_bits(type) - 1;
    const std::uint64_t infinity = (sign - 1) >> fraction_bits << fraction_bits;
    const std::uint64_t smallest_normal = std::uint64_t{1} << fraction_bits;
    const std::uint64_t one = (infinity >> 1) & infinity;
    const std::uint64_t magnitudes[] = {0,
                                        1,
                                        smallest_normal - 1,
                                        smallest_normal,
                                        one - (std::uint64_t(fraction_bits) << fraction_bits),
                                        one,
                                        infinity - 1,
                                        infinity};
    std::vector<std::uint64_t> edges = {infinity | infinity >> 1};  // a quiet NaN
    for (const std::uint64_t magnitude : magnitudes) {
        edges.push_back(magnitude);
        edges.push_back(sign | magnitude);
    }
    return edges;
}

template <class Element>
Element from_bits(std::uint64_t bits)
{
    Element element{};
    std::memcpy(&element, &bits, sizeof element);
    return element;
}

template <class Element>
void fill_values(Array& array, const RandomSequence& sequence, ValueRange range, std::int64_t first)
{
    const std::span<Element> values = array.as<Element>();
    const Type type = array.type();
    const auto fill = [&](auto value_of) {
        parallel_for(static_cast<std::int64_t>(values.size()), kFewestElements,
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i)
                             values[static_cast<std::size_t>(i)] =
                                 value_of(sequence.at(static_cast<std::uint64_t>(first + i)));
                     });
    };
    if (type == Type::boolean)
        return fill([](std::uint64_t random) { return static_cast<Element>(random >> 63); });
    if (range == ValueRange::small_integers)
        return fill([type](std::uint64_t random) { return small_integer<Element>(type, random); });
    if (range == ValueRange::units)
        return fill([type](std::uint64_t random) { return unit<Element>(type, random); });
    if (range == ValueRange::uniform)
        return fill([type](std::uint64_t random) { return uniform_value<Element>(type, random); });
    if (range == ValueRange::near_one)
        return parallel_for(static_cast<std::int64_t>(values.size()), kFewestElements,
                            [&](std::int64_t begin, std::int64_t end) {
                                for (std::int64_t i = begin; i < end; ++i)
                                    values[static_cast<std::size_t>(i)] =
                                        near_one<Element>(type, sequence, first + i);
                            });
    const std::vector<std::uint64_t> edges = edge_bits(type);
    fill([type, &edges](std::uint64_t random) {
        return random % 4 == 0 ? from_bits<Element>(edges[below(edges.size(), random)])
                               : uniform_value<Element>(type, random);
    });
}

/// Returns the sum of the lengths up to the first negative length, which a later check refuses. Throws
/// InputError that names the length at which the sum exceeds 64 bits.
template <class Values>
std::int64_t sum_of_lengths(const Values& values)
{
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < values.size() && std::cmp_greater_equal(values[s], 0); ++s) {
        if (std::cmp_greater(values[s], kMost - sum))
            throw InputError(fmt::format(
                "the sum of the lengths overflows 64 bits at segment {}: its length is {} after {}; "
                "lengths must add up to {} at most",
                s, values[s], count_text(sum, "element"), kMost));
        sum += static_cast<std::int64_t>(values[s]);
    }
    return sum;
}

/// Returns the number of elements that the layout's array implies: the last of offsets, the sum of lengths,
/// or the largest end of ranges.
///
/// Entries that later checks refuse count as 0. Throws InputError if a sum of lengths overflows.
std::int64_t implied_elements(LayoutKind kind, const Array& array)
{
    if (kind == LayoutKind::flags || kind == LayoutKind::keys)
        return static_cast<std::int64_t>(array.length());
    std::int64_t implied = 0;
    if (!is_integer(array.type()) || array.length() == 0)
        return implied;
    visit_integers(array, [&](auto values) {
        const auto count = [](auto value) {
            return std::cmp_less(value, 0)          ? std::int64_t{0}
                   : std::cmp_greater(value, kMost) ? kMost
                                                    : static_cast<std::int64_t>(value);
        };
        if (kind == LayoutKind::offsets)
            implied = count(values.back());
        if (kind == LayoutKind::ranges)
            implied = count(std::ranges::max(values));
        if (kind == LayoutKind::lengths)
            implied = sum_of_lengths(values);
    });
    return implied;
}

ResolvedLayout resolve_rows(const std::string& path, std::optional<std::int64_t> num_elements,
                            Type value_type)
{
    SparseMatrix matrix =
        naming_purpose("for --layout rows", [&] { return read_matrix_market(path, value_type); });
    const auto num_entries = static_cast<std::int64_t>(matrix.values.length());
    if (num_elements && *num_elements != num_entries)
        throw InputError(fmt::format("{}: the matrix has {} but {}; they must agree", path,
                                     num_entries == 1 ? "1 entry" : fmt::format("{} entries", num_entries),
                                     there_are(*num_elements, "element")));
    ResolvedLayout resolved{segments_from_offsets(std::move(matrix.offsets), num_entries), {}};
    resolved.columns.push_back({"value", std::move(matrix.values)});
    resolved.columns.push_back({"column", std::move(matrix.column_indices)});
    return resolved;
}

Segments resolve_groups(const Layout& layout, Array groups, std::optional<std::int64_t> num_elements)
{
    const auto count = static_cast<std::int64_t>(groups.length());
    if (num_elements && *num_elements != count)
        throw InputError(fmt::format("there are {} of groups for {}; each element has one",
                                     count_text(count, "number"), count_text(*num_elements, "element")));
    return segments_from_groups(std::move(groups), layout.num_groups);
}

ResolvedLayout resolve_files(const Layout& layout, std::optional<std::int64_t> num_elements)
{
    std::vector<Array> arrays;
    for (const std::string& file : layout.files)
        arrays.push_back(naming_purpose(fmt::format("for --layout {}", name(layout.kind)),
                                        [&] { return read_array(file); }));
    try {
        if (layout.kind == LayoutKind::groups)
            return {resolve_groups(layout, std::move(arrays.at(0)), num_elements), {}};
        const std::int64_t count =
            num_elements ? *num_elements : implied_elements(layout.kind, arrays.back());
        switch (layout.kind) {
            case LayoutKind::offsets: return {segments_from_offsets(std::move(arrays.at(0)), count), {}};
            case LayoutKind::ranges:
                return {segments_from_ranges(std::move(arrays.at(0)), std::move(arrays.at(1)), count), {}};
            case LayoutKind::lengths: return {segments_from_lengths(arrays.at(0), count), {}};
            case LayoutKind::flags: return {segments_from_flags(std::move(arrays.at(0)), count), {}};
            default: return {segments_from_keys(std::move(arrays.at(0)), count), {}};
        }
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", fmt::join(layout.files, ", "), error.what()));
    }
}

}  // namespace

ResolvedLayout resolve(const Layout& layout, std::optional<std::int64_t> num_elements, Type value_type)
{
    const bool needs_count = layout.kind == LayoutKind::whole || layout.kind == LayoutKind::uniform ||
                             layout.kind == LayoutKind::generated;
    if (needs_count && !num_elements)
        throw InputError(
            fmt::format("layout '{}' does not say how many elements there are; give their number or the "
                        "elements",
                        print(layout)));
    if (layout.kind == LayoutKind::rows)
        return resolve_rows(layout.files.at(0), num_elements, value_type);
    ResolvedLayout resolved;
    if (layout.kind == LayoutKind::whole)
        resolved.segments = whole_segments(*num_elements);
    else if (layout.kind == LayoutKind::uniform)
        resolved.segments = uniform_segments(*num_elements, layout.uniform_length);
    else if (layout.kind == LayoutKind::generated)
        resolved.segments = generate_segments(layout, *num_elements);
    else
        resolved = resolve_files(layout, num_elements);
    return resolved;
}

Array generate_values(Type type, std::int64_t length, std::uint64_t seed, ValueRange range,
                      std::int64_t first)
{
    if (length < 0)
        throw InputError(fmt::format("the number of values is {}; it must not be negative", length));
    Array array(type, static_cast<std::size_t>(length));
    generate_values_into(array, seed, range, first);
    return array;
}

void generate_values_into(Array& array, std::uint64_t seed, ValueRange range, std::int64_t first)
{
    const RandomSequence sequence(RandomSequence::derive_seed(seed, 0));
    visit_storage(array.type(), [&]<class Element>(std::type_identity<Element>) {
        fill_values<Element>(array, sequence, range, first);
    });
}

}  // namespace segfold
