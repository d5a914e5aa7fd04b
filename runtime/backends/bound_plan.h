#pragma once
// The launches of a plan with the bytes of every argument. Arrays are bound to parameters here and nowhere
// else.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backends/launch_plan.h"

namespace segfold {

/// Places of the arguments of a text's kernels. Serves workloads of all sizes.
class BoundLayout {
public:
    BoundLayout(const Operator& op, const Emitted& emitted);

private:
    friend class BoundPlan;

    static constexpr auto kNowhere = std::numeric_limits<std::size_t>::max();

    /// An argument of kernels. Places are offsets in the bytes of all arguments.
    struct Slot {
        std::string name;  ///< of the parameter
        std::size_t begin = 0;
        std::size_t size = 0;
        std::vector<std::size_t> pointers = {};  ///< places of the addresses
    };
    /// A parameter of the operator in Inputs.
    struct Input {
        std::size_t length_at = kNowhere;  ///< the place of the length of a checked table
        bool is_row = false;
    };
    enum Fixed : std::uint8_t { inputs, segments, results };

    /// Begins a slot behind all earlier slots.
    void begin(std::string name);
    /// Adds a value to the last slot and returns its place.
    template <class T>
    std::size_t append(T value);
    std::size_t append_index();
    void append_address() { slots_.back().pointers.push_back(append(std::uint64_t{0})); }
    void end_struct_with_pointers();
    [[nodiscard]] const Slot& slot(std::string_view name) const;

    std::vector<Slot> slots_;       ///< the slots of Fixed come first
    std::vector<std::byte> bytes_;  ///< without sizes and addresses
    std::vector<Input> inputs_;
    std::vector<std::size_t> scratch_at_;  ///< the place of the address of each scratch buffer
    int index_bits_;
    /// Places of the sizes that kernels get.
    std::size_t uniform_length_at_ = kNowhere, num_items_at_ = kNowhere, num_segments_at_ = kNowhere,
                num_features_at_ = kNowhere;
};

/// The launches of a plan for workloads of one size. Arrays are bound to it by address.
///
/// The constructor lays out everything; binding again only writes addresses and allocates nothing. Addresses
/// must be valid on the device that runs the kernels.
class BoundPlan {
public:
    /// Throws InternalError if a size is impossible.
    BoundPlan(const Operator& op, const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors)
        : BoundPlan(std::make_shared<const BoundLayout>(op, emitted), emitted, sizes, num_multiprocessors)
    {}
    /// `layout` must be made of the same operator and text.
    BoundPlan(std::shared_ptr<const BoundLayout> layout, const Emitted& emitted, const SegmentSizes& sizes,
              int num_multiprocessors);
    BoundPlan(BoundPlan&&) noexcept = default;
    BoundPlan& operator=(BoundPlan&&) noexcept = default;

    /// Scratch memory that must be bound, in this order.
    [[nodiscard]] const std::vector<ScratchBuffer>& scratch() const { return plan_.scratch; }
    [[nodiscard]] const std::vector<KernelLaunch>& launches() const { return plan_.launches; }

    /// Binds the array of a parameter. `length` is in numbers; kernels get it if they check a table.
    void bind_input(std::size_t parameter, std::uint64_t address, std::int64_t length);
    /// Binds one `unsigned` per parameter. For a checked table it must be 0 before a launch, and is 1 after a
    /// launch that read outside of the table.
    void bind_outside(std::uint64_t address);
    /// Fills the kernels' struct Segments. `addresses` follow the order of segment_arrays(), then of
    /// found_arrays().
    void bind_segments(std::span<const std::uint64_t> addresses)
    {
        write(layout_->slots_[BoundLayout::segments], addresses);
    }
    /// Fills the kernels' struct Results with one address for each of returned_fields().
    void bind_results(std::span<const std::uint64_t> addresses)
    {
        write(layout_->slots_[BoundLayout::results], addresses);
    }
    void bind_scratch(std::size_t place, std::uint64_t address) { put(layout_->scratch_at_[place], address); }

    /// Returns a launch's arguments as cuLaunchKernel takes them. Later binding changes them in place.
    [[nodiscard]] void** arguments(std::size_t launch)
    {
        return arguments_.data() + first_arguments_[launch];
    }
    /// Returns the size in bytes of each argument.
    [[nodiscard]] std::span<const std::size_t> argument_sizes(std::size_t launch) const
    {
        return std::span(sizes_).subspan(first_arguments_[launch], plan_.launches[launch].parameters.size());
    }

private:
    void write(const BoundLayout::Slot& slot, std::span<const std::uint64_t> addresses);
    template <class T>
    void put(std::size_t place, T value)
    {
        std::memcpy(bytes_.data() + place, &value, sizeof value);
    }
    /// Writes a size that kernels get.
    void put_index(std::size_t place, std::int64_t value);

    std::shared_ptr<const BoundLayout> layout_;
    LaunchPlan plan_;
    std::int64_t num_features_;
    std::vector<std::byte> bytes_;
    std::vector<void*> arguments_;  ///< of all launches
    std::vector<std::size_t> sizes_;
    std::vector<std::size_t> first_arguments_;  ///< of each launch
};

}  // namespace segfold
