#include "runtime/backends/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/data/groups.h"
#include "runtime/judge/table_check.h"

namespace segfold {
namespace {

/// Returns the running sums of the segments' lengths, from 0 to the number of items.
template <class Index>
Array item_offsets(const Segments& segments)
{
    Array array(segments.index_type(), static_cast<std::size_t>(segments.num_segments) + 1);
    const auto offsets = array.as<Index>();
    const auto begins = segments.begins.as<Index>();
    const auto ends = segments.ends.as<Index>();
    offsets[0] = 0;
    for (std::size_t s = 0; s < begins.size(); ++s)
        offsets[s + 1] = offsets[s] + (ends[s] - begins[s]);
    return array;
}

/// Returns the value of a launch line's formula. Throws SpecError if it is less than `least` or more than
/// `most`.
std::int64_t value_within(const Formula& formula, const FormulaNames& names, std::int64_t least,
                          std::int64_t most, std::string_view what, const std::string& of,
                          std::string_view rule)
{
    const auto value = formula.value(names);
    if (value < least || value > most)
        throw SpecError(fmt::format(
            "{}: the {} of {} is {}{}; {}", formula.place(), what, of, value,
            formula.text() == std::to_string(value) ? "" : ", by '" + formula.text() + "'", rule));
    return value;
}

}  // namespace

SegmentSizes sizes_of(const Segments& segments, std::int64_t num_features)
{
    return {segments.num_elements,   segments.num_segments, num_items(segments),
            segments.uniform_length, segments.index_bits(), num_features};
}

LaunchPlan plan_launches(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors)
{
    if (emitted.is_reproducible)
        num_multiprocessors = kReproducibleMultiprocessors;
    FormulaNames names = {{"num_elements", sizes.num_elements},
                          {"num_items", sizes.num_items},
                          {"num_features", sizes.num_features},
                          {"state_bytes", emitted.state_bytes},
                          {"num_multiprocessors", num_multiprocessors}};
    if (!is_found(emitted.form))
        names.emplace("num_segments", sizes.num_segments);
    for (const auto& [name, value] : emitted.configuration)
        names.emplace(name, value);
    names = with_sizes(std::move(names), emitted.sizes);

    LaunchPlan plan;
    plan.scratch.reserve(emitted.scratch.size());
    plan.launches.reserve(emitted.launches.size());
    for (const auto& scratch : emitted.scratch) {
        const auto count = value_within(
            scratch.count, names, 0, std::numeric_limits<std::int64_t>::max() / scratch.element_bytes,
            "count", scratch.name, "scratch has 0 elements or more, of less than 2^63 bytes");
        plan.scratch.push_back({scratch.name, count * scratch.element_bytes, scratch.zero, scratch.result});
    }
    for (const auto& launch : emitted.launches) {
        const auto grid = value_within(launch.grid, names, 0, 2147483647, "grid", launch.kernel,
                                       "a grid has 0 to 2147483647 blocks");
        const auto block = value_within(launch.block, names, 1, 1024, "block", launch.kernel,
                                        "a block has 1 to 1024 threads");
        if (grid > 0)
            plan.launches.push_back(
                {launch.kernel, launch.parameters, grid, static_cast<int>(block), launch.shared_bytes});
    }
    return plan;
}

std::vector<NamedArray> segment_arrays(const Segments& segments)
{
    return segment_arrays(segments, segments.form);
}

std::vector<NamedArray> segment_arrays(const Segments& segments, SegmentForm form)
{
    std::vector<NamedArray> arrays;
    if (form == SegmentForm::flags)
        arrays.push_back({"flags", segments.flags.lend()});
    if (form == SegmentForm::keys)
        arrays.push_back({"keys", segments.item_keys.lend()});
    if (form == SegmentForm::groups)
        arrays.push_back({"numbers", segments.numbers.lend()});
    if (form == SegmentForm::offsets)
        arrays.push_back({"offsets", segments.offsets.lend()});
    if (form == SegmentForm::ranges) {
        arrays.push_back({"begins", segments.begins.lend()});
        arrays.push_back({"offsets", segments.index_bits() == 64 ? item_offsets<std::int64_t>(segments)
                                                                 : item_offsets<std::int32_t>(segments)});
    }
    return arrays;
}

std::vector<NamedArray> found_arrays(const Segments& segments, SegmentForm form)
{
    constexpr int kPoison = 0xff;  // makes num_found -1, which means "not written"
    std::vector<NamedArray> arrays;
    if (form == SegmentForm::keys)
        arrays.push_back({"found_keys", Array(segments.item_keys.type(), segments.item_keys.length())});
    if (is_found(form))
        arrays.push_back({"num_found", Array(segments.index_type(), 1)});
    if (form == SegmentForm::groups) {
        arrays.push_back({"outside", Array(Type::u32, 1)});
        arrays.back().array.as<std::uint32_t>()[0] = 0;
        return arrays;
    }
    for (auto& [name, array] : arrays)
        if (array.bytes() != 0)
            std::memset(array.data(), kPoison, array.bytes());
    return arrays;
}

void take_found(Results& results, const std::vector<NamedArray>& found, const Segments& segments,
                std::size_t num_outputs, bool may_be_other_form)
{
    if (found.empty())
        return;
    const auto& counter = found.back().array;
    if (segments.form == SegmentForm::groups) {
        if (counter.as<std::uint32_t>()[0] != 0)
            refuse_numbers(segments);
        return;
    }
    const std::int64_t counted =
        counter.type() == Type::i32 ? counter.as<std::int32_t>()[0] : counter.as<std::int64_t>()[0];
    const bool is_missing = counted == -1 && (may_be_other_form || segments.num_elements == 0);
    if (!is_missing && (counted < 0 || counted > segments.num_elements))
        throw InternalError("a kernel has found " + std::to_string(counted) + " segments in " +
                            std::to_string(segments.num_elements) + " elements");
    const std::int64_t num_segments = is_missing ? segments.num_segments : counted;
    const auto cut = [&](const Array& array) {
        const auto width = std::max<std::size_t>(array.row_length(), 1);
        Array first(array.type(), static_cast<std::size_t>(num_segments) * width);
        first.set_row_length(array.row_length());
        if (first.bytes() != 0)
            std::memcpy(first.data(), array.data(), first.bytes());
        return first;
    };
    for (std::size_t f = 0; f + num_outputs < results.size(); ++f)
        results[f].array = cut(results[f].array);
    if (!is_missing && found.front().name == "found_keys")
        results.keys = cut(found.front().array);
}

std::vector<std::byte> pack_pointers(std::span<const std::uint64_t> addresses)
{
    std::vector<std::byte> bytes(addresses.size_bytes());
    if (!bytes.empty())
        std::memcpy(bytes.data(), addresses.data(), bytes.size());
    return bytes;
}

void refuse_noted_reads(const Workload& workload, std::span<const std::uint32_t> words)
{
    std::vector<std::string> tables;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] != 0)
            tables.push_back(workload.op.parameters[i].name);
    if (tables.empty())
        return;
    if (!has_rows(workload.op))
        refuse_table_reads(workload, tables);
    for (std::int64_t feature = 0; feature < workload.num_features; ++feature)
        check_tables(feature_of(workload, feature));
    refuse_table_reads(feature_of(workload, 0), tables);
}

}  // namespace segfold
