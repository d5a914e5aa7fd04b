#include "runtime/scale/slices/slice.h"

#include <algorithm>
#include <utility>

#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

/// Returns the entries `first` to `last` - 1 of an index array, minus `base`.
Array shifted(const Array& indices, std::int64_t first, std::int64_t last, std::int64_t base)
{
    const auto from = part_of(indices, first, last - first);
    Array into(indices.type(), from.length());
    visit_integers(from, [&](auto values) {
        using Index = std::remove_const_t<typename decltype(values)::value_type>;
        std::ranges::transform(values, into.as<Index>().begin(),
                               [&](Index value) { return static_cast<Index>(value - base); });
    });
    return into;
}

}  // namespace

Array part_of(const Array& array, std::int64_t begin, std::int64_t count)
{
    return Array::borrow(array.type(),
                         array.data() + static_cast<std::size_t>(begin) * size_bytes(array.type()),
                         static_cast<std::size_t>(count));
}

Segments segments_inside(const Segments& segments, std::int64_t first, std::int64_t last)
{
    const auto base = first < segments.num_segments ? segments.begin(first) : segments.num_elements;
    const auto count = last - first;
    const auto length = count == 0 ? 0 : segments.end(last - 1) - base;
    Segments inner;
    inner.form = segments.form;
    inner.num_elements = length;
    inner.num_segments = count;
    inner.uniform_length = segments.uniform_length;
    inner.has_wide_indices = segments.has_wide_indices;
    if (converted_form(segments.form) == SegmentForm::offsets)
        inner.offsets = shifted(segments.offsets, first, last + 1, base);
    if (segments.form == SegmentForm::flags)
        inner.flags = part_of(segments.flags, base, length);
    if (segments.form == SegmentForm::keys)
        inner.item_keys = part_of(segments.item_keys, base, length);
    if (segments.keys)
        inner.keys = part_of(*segments.keys, first, count);
    return inner;
}

Slicer::Slicer(const Workload& workload, std::int64_t num_slices, std::int64_t block)
    : workload_(workload), num_slices_(num_slices), block_(block), num_items_(workload.segments.num_elements)
{
    const auto& segments = workload.segments;
    if (segments.form != SegmentForm::ranges)
        return;
    item_offsets_.push_back(0);
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        item_offsets_.push_back(item_offsets_.back() + segments.length(s));
    num_items_ = item_offsets_.back();
}

std::int64_t Slicer::item_begin(std::int64_t segment) const
{
    if (!item_offsets_.empty())
        return item_offsets_[static_cast<std::size_t>(segment)];
    return segment < workload_.segments.num_segments ? workload_.segments.begin(segment) : num_items_;
}

std::int64_t Slicer::num_ended(std::int64_t item) const
{
    const auto& segments = workload_.segments;
    if (segments.form == SegmentForm::uniform)
        return std::min(item / segments.uniform_length, segments.num_segments);
    std::int64_t ended = 0, beyond = segments.num_segments;
    while (ended < beyond) {
        const auto middle = ended + (beyond - ended) / 2;
        if (item_begin(middle + 1) <= item)
            ended = middle + 1;
        else
            beyond = middle;
    }
    return ended;
}

std::int64_t Slicer::cut(std::int64_t slice) const
{
    // Computes num_items * slice / num_slices in two terms, so that no product overflows.
    const auto rest = num_items_ % num_slices_;
    const auto even = num_items_ / num_slices_ * slice + rest * slice / num_slices_;
    if (block_ == 0 || slice == 0 || slice >= num_slices_)
        return even;
    const auto segment = num_ended(even);
    if (segment == workload_.segments.num_segments)
        return even;
    const auto begin = item_begin(segment);
    return begin + (even - begin) / block_ * block_;
}

Slicer::Ended Slicer::ended(std::int64_t slice) const
{
    // Empty segments at the end of a slice belong to this slice. Empty segments before all items belong to
    // slice 0.
    const auto num_segments = workload_.segments.num_segments;
    return {slice == 0 ? 0 : num_ended(cut(slice)),
            slice + 1 == num_slices_ ? num_segments : num_ended(cut(slice + 1))};
}

bool Slicer::has_inner() const
{
    for (std::int64_t slice = 0; slice < num_slices_; ++slice) {
        const auto [first, last] = ended(slice);
        const bool has_head = first < last && item_begin(first) < cut(slice);
        if (first + (has_head ? 1 : 0) < last)
            return true;
    }
    return false;
}

Slice Slicer::slice(std::int64_t which) const
{
    const auto begin = cut(which), end = cut(which + 1);
    const auto [first, last] = ended(which);
    const auto num_segments = workload_.segments.num_segments;
    Slice slice;
    slice.first_inner = first;
    // The begins and ends of pieces count items until the columns are known.
    if (first < last && item_begin(first) < begin) {
        slice.head = SlicePiece{first, begin, item_begin(first + 1), begin - item_begin(first)};
        ++slice.first_inner;
    }
    if (last < num_segments && item_begin(last) < end) {
        const auto from = std::max(item_begin(last), begin);
        if (from < end)
            slice.tail = SlicePiece{last, from, end, from - item_begin(last)};
    }
    if (workload_.segments.form == SegmentForm::ranges)
        add_ranges(slice, slice.first_inner, last);
    else
        add_contiguous(slice, slice.first_inner, last);
    for (std::size_t i = 0; i < workload_.arrays.size(); ++i) {
        const auto& array = workload_.arrays[i];
        slice.arrays.push_back(workload_.op.parameters[i].table
                                   ? array.lend()
                                   : part_of(array, slice.first_element, slice.num_elements));
    }
    return slice;
}

void Slicer::add_contiguous(Slice& slice, std::int64_t first, std::int64_t last) const
{
    slice.inner = segments_inside(workload_.segments, first, last);
    const auto inner_begin = item_begin(first);
    slice.first_element = slice.head                    ? slice.head->begin
                          : slice.tail && first == last ? slice.tail->begin
                                                        : inner_begin;
    const auto end = slice.tail ? slice.tail->end : inner_begin + slice.inner.num_elements;
    slice.num_elements = end - slice.first_element;
    slice.inner_begin = first == last ? 0 : inner_begin - slice.first_element;
    for (auto* piece : {&slice.head, &slice.tail})
        if (*piece) {
            (*piece)->begin -= slice.first_element;
            (*piece)->end -= slice.first_element;
        }
}

void Slicer::add_ranges(Slice& slice, std::int64_t first, std::int64_t last) const
{
    const auto& segments = workload_.segments;
    std::int64_t lowest = segments.num_elements, highest = 0;
    for (auto s = first; s < last; ++s)
        if (segments.length(s) != 0) {
            lowest = std::min(lowest, segments.begin(s));
            highest = std::max(highest, segments.end(s));
        }
    for (auto* piece : {&slice.head, &slice.tail})
        if (*piece) {
            const auto length = (*piece)->length();
            (*piece)->begin = segments.begin((*piece)->segment) + (*piece)->position;
            (*piece)->end = (*piece)->begin + length;
            lowest = std::min(lowest, (*piece)->begin);
            highest = std::max(highest, (*piece)->end);
        }
    highest = std::max(lowest, highest);
    slice.first_element = lowest;
    slice.num_elements = highest - lowest;
    slice.inner.form = SegmentForm::ranges;
    slice.inner.num_elements = slice.num_elements;
    slice.inner.num_segments = last - first;
    slice.inner.has_wide_indices = segments.has_wide_indices;
    slice.inner.begins = Array(segments.begins.type(), static_cast<std::size_t>(last - first));
    slice.inner.ends = Array(segments.ends.type(), static_cast<std::size_t>(last - first));
    visit_integers(slice.inner.begins, [&](auto typed) {
        using Index = std::remove_const_t<typename decltype(typed)::value_type>;
        const auto begins = slice.inner.begins.as<Index>();
        const auto ends = slice.inner.ends.as<Index>();
        for (auto s = first; s < last; ++s) {
            // An empty range may lie outside of the slice's columns, so it is moved to their begin.
            const bool is_empty = segments.length(s) == 0;
            begins[static_cast<std::size_t>(s - first)] =
                static_cast<Index>(is_empty ? 0 : segments.begin(s) - lowest);
            ends[static_cast<std::size_t>(s - first)] =
                static_cast<Index>(is_empty ? 0 : segments.end(s) - lowest);
        }
    });
    for (auto* piece : {&slice.head, &slice.tail})
        if (*piece) {
            (*piece)->begin -= lowest;
            (*piece)->end -= lowest;
        }
}

}  // namespace segfold
