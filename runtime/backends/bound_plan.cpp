#include "runtime/backends/bound_plan.h"

#include <algorithm>

#include "dsl/check/rows.h"
#include "dsl/error.h"

namespace segfold {
namespace {

/// Returns the number of pointers in the kernels' struct Segments, or in struct Given if kernels make
/// Segments from flags or keys.
std::size_t num_segment_pointers(SegmentForm form)
{
    switch (form) {
        case SegmentForm::whole:
        case SegmentForm::uniform: return 0;
        case SegmentForm::offsets: return 1;
        case SegmentForm::ranges:
        case SegmentForm::flags:
        case SegmentForm::groups: return 2;
        case SegmentForm::keys: return 3;
    }
    throw InternalError("unknown form of segments");
}

}  // namespace

BoundLayout::BoundLayout(const Operator& op, const Emitted& emitted) : index_bits_(emitted.index_bits)
{
    begin("inputs");
    for (const auto& parameter : op.parameters) {
        append_address();
        auto& input = inputs_.emplace_back();
        input.is_row = parameter.row;
        const auto& checked = emitted.checked_tables;
        if (std::ranges::find(checked, parameter.name) == checked.end())
            continue;
        input.length_at = append(std::int64_t{0});
        append(std::uint64_t{0});  // address of the word that records reads past the table's end
        append(std::uint64_t{0});  // a flag in each thread's copy of the struct, then padding
    }
    begin("segments");
    for (std::size_t i = 0; i < num_segment_pointers(emitted.form); ++i)
        append_address();
    if (emitted.form == SegmentForm::uniform)
        uniform_length_at_ = append_index();
    num_items_at_ = append_index();
    if (!is_found(emitted.form))
        num_segments_at_ = append_index();
    if (!slots_.back().pointers.empty())
        end_struct_with_pointers();
    begin("results");
    const auto results_at = slots_.back().begin;
    // If the operator keeps no results, scratch memory replaces the result arrays. The emitted operator may
    // have more result fields than `op`, because it may run without its identity.
    if (!op.keeps_results)
        for (const auto& scratch : emitted.scratch)
            if (scratch.result >= 0)
                append(std::uint64_t{0});
    for (std::size_t i = 0; i < returned_fields(op).size(); ++i)
        append_address();
    if (has_rows(op)) {
        num_features_at_ = append_index();
        end_struct_with_pointers();
    }
    for (const auto& [name, value] : emitted.numbers) {
        begin(name);
        append(value);
    }
    for (const auto& scratch : emitted.scratch) {
        if (scratch.result >= 0) {
            scratch_at_.push_back(results_at +
                                  static_cast<std::size_t>(scratch.result) * sizeof(std::uint64_t));
            continue;
        }
        begin(scratch.name);
        append_address();
        scratch_at_.push_back(slots_.back().begin);
    }
}

void BoundLayout::begin(std::string name)
{
    bytes_.resize((bytes_.size() + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
                  alignof(std::max_align_t));
    slots_.push_back({std::move(name), bytes_.size()});
}

template <class T>
std::size_t BoundLayout::append(T value)
{
    const auto place = bytes_.size();
    bytes_.resize(place + sizeof value);
    std::memcpy(bytes_.data() + place, &value, sizeof value);
    slots_.back().size += sizeof value;
    return place;
}

std::size_t BoundLayout::append_index()
{
    return index_bits_ == 64 ? append(std::int64_t{0}) : append(std::int32_t{0});
}

void BoundLayout::end_struct_with_pointers()
{
    // The size of a struct with pointers is a multiple of a pointer's size.
    while (slots_.back().size % sizeof(std::uint64_t) != 0)
        append(std::byte{});
}

const BoundLayout::Slot& BoundLayout::slot(std::string_view name) const
{
    const auto found = std::ranges::find(slots_, name, &Slot::name);
    if (found == slots_.end())
        throw InternalError("a kernel takes '" + std::string(name) + "', which nothing is bound to");
    return *found;
}

BoundPlan::BoundPlan(std::shared_ptr<const BoundLayout> layout, const Emitted& emitted,
                     const SegmentSizes& sizes, int num_multiprocessors)
    : layout_(std::move(layout)),
      plan_(plan_launches(emitted, sizes, num_multiprocessors)),
      num_features_(sizes.num_features),
      bytes_(layout_->bytes_)
{
    if (emitted.index_bits != sizes.index_bits)
        throw InternalError("a text of " + std::to_string(emitted.index_bits) +
                            "-bit indices is bound to segments of " + std::to_string(sizes.index_bits));
    put_index(layout_->uniform_length_at_, sizes.uniform_length);
    put_index(layout_->num_items_at_, sizes.num_items);
    put_index(layout_->num_segments_at_, sizes.num_segments);
    put_index(layout_->num_features_at_, sizes.num_features);
    for (const auto& launch : plan_.launches) {
        first_arguments_.push_back(arguments_.size());
        for (const auto& parameter : launch.parameters) {
            const auto& slot = layout_->slot(parameter);
            arguments_.push_back(bytes_.data() + slot.begin);
            sizes_.push_back(slot.size);
        }
    }
}

void BoundPlan::put_index(std::size_t place, std::int64_t value)
{
    if (place == BoundLayout::kNowhere)
        return;
    if (layout_->index_bits_ == 64)
        put(place, value);
    else
        put(place, static_cast<std::int32_t>(value));
}

void BoundPlan::write(const BoundLayout::Slot& slot, std::span<const std::uint64_t> addresses)
{
    const auto& pointers = pointers_of(slot, addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i)
        put(pointers[i], addresses[i]);
}

void BoundPlan::bind_results(std::span<const MutableArrayView> arrays)
{
    const auto& pointers = pointers_of(layout_->slots_[BoundLayout::results], arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i)
        put(pointers[i], reinterpret_cast<std::uint64_t>(arrays[i].data));
}

const std::vector<std::size_t>& BoundPlan::pointers_of(const BoundLayout::Slot& slot, std::size_t count)
{
    if (count != slot.pointers.size())
        throw InternalError(std::to_string(count) + " addresses for the " +
                            std::to_string(slot.pointers.size()) + " pointers of a kernel's struct");
    return slot.pointers;
}

void BoundPlan::bind_input(std::size_t parameter, std::uint64_t address, std::int64_t length)
{
    put(layout_->slots_[BoundLayout::inputs].pointers.at(parameter), address);
    if (const auto& [place, is_row] = layout_->inputs_[parameter]; place != BoundLayout::kNowhere)
        put(place, length / (is_row ? num_features_ : 1));
}

void BoundPlan::bind_outside(std::uint64_t address)
{
    for (std::size_t i = 0; i < layout_->inputs_.size(); ++i)
        if (const auto place = layout_->inputs_[i].length_at; place != BoundLayout::kNowhere)
            put(place + sizeof(std::int64_t), address + i * sizeof(std::uint32_t));
}

}  // namespace segfold
