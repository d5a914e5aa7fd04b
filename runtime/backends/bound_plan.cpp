#include "runtime/backends/bound_plan.h"

#include <algorithm>
#include <cstring>

#include "dsl/check/rows.h"
#include "dsl/error.h"

namespace segfold {
namespace {

template <class T>
void append(std::vector<std::byte>& bytes, T value)
{
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
}

void append_index(std::vector<std::byte>& bytes, int bits, std::int64_t value)
{
    if (bits == 64)
        append(bytes, value);
    else
        append(bytes, static_cast<std::int32_t>(value));
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t place, T value)
{
    std::memcpy(bytes.data() + place, &value, sizeof value);
}

/// Returns the number of pointers in the kernel's struct Segments (or Given).
std::size_t num_segment_pointers(SegmentForm form)
{
    switch (form) {
        case SegmentForm::whole:
        case SegmentForm::uniform: return 0;
        case SegmentForm::offsets: return 1;
        case SegmentForm::ranges:
        case SegmentForm::flags: return 2;
        case SegmentForm::keys: return 3;
    }
    throw InternalError("unknown form of segments");
}

}  // namespace

BoundPlan::BoundPlan(const Operator& op, const Emitted& emitted, const SegmentSizes& sizes,
                     int num_multiprocessors)
    : plan_(plan_launches(emitted, sizes, num_multiprocessors))
{
    if (emitted.index_bits != sizes.index_bits)
        throw InternalError("a text of " + std::to_string(emitted.index_bits) +
                            "-bit indices is bound to segments of " + std::to_string(sizes.index_bits));
    auto& inputs = slots_["inputs"];
    for (const auto& parameter : op.parameters) {
        inputs.pointers.push_back(inputs.bytes.size());
        append(inputs.bytes, std::uint64_t{0});
        const auto& checked = emitted.checked_tables;
        if (std::ranges::find(checked, parameter.name) == checked.end()) {
            lengths_at_.push_back(0);
            entries_.push_back(1);
            continue;
        }
        lengths_at_.push_back(inputs.bytes.size());
        entries_.push_back(parameter.row ? sizes.num_features : 1);
        append(inputs.bytes, std::int64_t{0});   // length of the array
        append(inputs.bytes, std::uint64_t{0});  // address of the word that notes reads outside
        append(inputs.bytes, std::uint64_t{0});  // the thread's own flag, and padding
    }
    auto& segments = slots_["segments"];
    for (std::size_t i = 0; i < num_segment_pointers(emitted.form); ++i) {
        segments.pointers.push_back(segments.bytes.size());
        append(segments.bytes, std::uint64_t{0});
    }
    if (emitted.form == SegmentForm::uniform)
        append_index(segments.bytes, sizes.index_bits, sizes.uniform_length);
    append_index(segments.bytes, sizes.index_bits, sizes.num_items);
    if (!is_found(emitted.form))
        append_index(segments.bytes, sizes.index_bits, sizes.num_segments);
    // The size of a struct with pointers is a multiple of a pointer's size.
    while (!segments.pointers.empty() && segments.bytes.size() % sizeof(std::uint64_t) != 0)
        segments.bytes.push_back({});
    auto& results = slots_["results"];
    for (std::size_t i = 0; i < op.results.size() + op.outputs.size(); ++i) {
        if (op.keeps_results || i >= op.results.size())
            results.pointers.push_back(results.bytes.size());
        append(results.bytes, std::uint64_t{0});
    }
    if (has_rows(op)) {
        append_index(results.bytes, sizes.index_bits, sizes.num_features);
        while (results.bytes.size() % sizeof(std::uint64_t) != 0)
            results.bytes.push_back({});
    }
    for (const auto& [name, value] : emitted.numbers)
        append(slots_[name].bytes, value);
    for (const auto& scratch : plan_.scratch) {
        if (scratch.result >= 0)
            continue;
        append(slots_[scratch.name].bytes, std::uint64_t{0});
        slots_[scratch.name].pointers.push_back(0);
    }
    for (const auto& launch : plan_.launches) {
        auto& arguments = arguments_.emplace_back();
        auto& sizes_of_arguments = sizes_.emplace_back();
        for (const auto& parameter : launch.parameters) {
            auto& bytes = slots_.at(parameter).bytes;
            arguments.push_back(bytes.data());
            sizes_of_arguments.push_back(bytes.size());
        }
    }
}

void BoundPlan::write(Slot& slot, std::span<const std::uint64_t> addresses)
{
    if (addresses.size() != slot.pointers.size())
        throw InternalError(std::to_string(addresses.size()) + " addresses for the " +
                            std::to_string(slot.pointers.size()) + " pointers of a kernel's struct");
    for (std::size_t i = 0; i < addresses.size(); ++i)
        put(slot.bytes, slot.pointers[i], addresses[i]);
}

void BoundPlan::bind_inputs(std::span<const std::uint64_t> addresses, std::span<const std::int64_t> lengths,
                            std::uint64_t outside)
{
    auto& inputs = slots_.find("inputs")->second;
    write(inputs, addresses);
    for (std::size_t i = 0; i < lengths_at_.size(); ++i)
        if (const auto place = lengths_at_[i]; place != 0) {
            put(inputs.bytes, place, lengths[i] / entries_[i]);
            put(inputs.bytes, place + sizeof(std::int64_t), outside + i * sizeof(std::uint32_t));
        }
}

void BoundPlan::bind_segments(std::span<const std::uint64_t> addresses)
{
    write(slots_.find("segments")->second, addresses);
}

void BoundPlan::bind_results(std::span<const std::uint64_t> addresses)
{
    write(slots_.find("results")->second, addresses);
}

void BoundPlan::bind_scratch(std::size_t place, std::uint64_t address)
{
    const auto& scratch = plan_.scratch[place];
    if (scratch.result >= 0)
        put(slots_.find("results")->second.bytes, static_cast<std::size_t>(scratch.result) * sizeof address,
            address);
    else
        write(slots_.find(scratch.name)->second, {&address, 1});
}

}  // namespace segfold
