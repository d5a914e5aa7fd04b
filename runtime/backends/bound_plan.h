#pragma once
// The launches of a plan, with the bytes of every argument. No other code binds arrays to kernel parameters.
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
#include "runtime/data/array_view.h"

namespace segfold {

/// The layout of the kernel arguments of an emitted text, for workloads of all sizes.
class BoundLayout {
public:
    BoundLayout(const Operator& op, const Emitted& emitted);

private:
    friend class BoundPlan;

    static constexpr auto kNowhere = std::numeric_limits<std::size_t>::max();

    /// One kernel argument. Positions are byte offsets in the bytes of all arguments.
    struct Slot {
        std::string name;  ///< name of the kernel parameter
        std::size_t begin = 0;
        std::size_t size = 0;
        std::vector<std::size_t> pointers = {};  ///< positions of the addresses
    };
    /// Positions of one operator parameter in the kernels' struct Inputs.
    struct Input {
        std::size_t length_at = kNowhere;  ///< position of a checked table's length
        bool is_row = false;
    };
    enum Fixed : std::uint8_t { inputs, segments, results };

    /// Begins a new slot after all others.
    void begin(std::string name);
    /// Adds a value to the last slot and returns its position.
    template <class T>
    std::size_t append(T value);
    std::size_t append_index();
    void append_address() { slots_.back().pointers.push_back(append(std::uint64_t{0})); }
    void end_struct_with_pointers();
    [[nodiscard]] const Slot& slot(std::string_view name) const;

    std::vector<Slot> slots_;       ///< begins with the slots of the enum Fixed, in its order
    std::vector<std::byte> bytes_;  ///< the bytes of all arguments, with 0 for every size and address
    std::vector<Input> inputs_;
    std::vector<std::size_t> scratch_at_;  ///< position of the address of each scratch buffer
    int index_bits_;
    /// Positions of the sizes that kernels take; kNowhere if no kernel takes the size.
    std::size_t uniform_length_at_ = kNowhere, num_items_at_ = kNowhere, num_segments_at_ = kNowhere,
                num_features_at_ = kNowhere;
};

/// The launches of a plan for workloads of one size. Arrays are bound by address.
///
/// The constructor lays out all arguments. Binding only writes addresses and allocates nothing. Addresses
/// must be valid on the device that runs the kernels.
class BoundPlan {
public:
    /// Throws SpecError if a size is impossible, and InternalError if `sizes` and `emitted` have indices of
    /// different widths.
    BoundPlan(const Operator& op, const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors)
        : BoundPlan(std::make_shared<const BoundLayout>(op, emitted), emitted, sizes, num_multiprocessors)
    {}
    /// `layout` must be made of the same operator and text.
    BoundPlan(std::shared_ptr<const BoundLayout> layout, const Emitted& emitted, const SegmentSizes& sizes,
              int num_multiprocessors);
    BoundPlan(BoundPlan&&) noexcept = default;
    BoundPlan& operator=(BoundPlan&&) noexcept = default;

    /// The scratch buffers. bind_scratch() takes an index into this list.
    [[nodiscard]] const std::vector<ScratchBuffer>& scratch() const { return plan_.scratch; }
    [[nodiscard]] const std::vector<KernelLaunch>& launches() const { return plan_.launches; }

    /// Binds the array of a parameter. `length` is the array's number of values; it is used only by kernels
    /// that check a table.
    void bind_input(std::size_t parameter, std::uint64_t address, std::int64_t length);
    /// Binds an array with one `unsigned` for each parameter. The word of a checked table must be 0 before a
    /// launch. A launch that reads past the table's end sets it to 1.
    void bind_outside(std::uint64_t address);
    /// Sets the pointers in the kernels' struct Segments: the addresses of segment_arrays(), then of
    /// found_arrays().
    void bind_segments(std::span<const std::uint64_t> addresses)
    {
        write(layout_->slots_[BoundLayout::segments], addresses);
    }
    /// Sets the pointers in the kernels' struct Results: one address for each of returned_fields().
    void bind_results(std::span<const std::uint64_t> addresses)
    {
        write(layout_->slots_[BoundLayout::results], addresses);
    }
    void bind_results(std::span<const MutableArrayView> arrays);
    void bind_scratch(std::size_t place, std::uint64_t address) { put(layout_->scratch_at_[place], address); }

    /// Returns the addresses of a launch's arguments, for cuLaunchKernel. A later bind changes the arguments
    /// in place.
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
    /// Returns the positions of the slot's addresses. Throws InternalError if there are not `count` of them.
    static const std::vector<std::size_t>& pointers_of(const BoundLayout::Slot& slot, std::size_t count);
    template <class T>
    void put(std::size_t place, T value)
    {
        std::memcpy(bytes_.data() + place, &value, sizeof value);
    }
    /// Writes the size `value` at `place`. Does nothing if `place` is kNowhere.
    void put_index(std::size_t place, std::int64_t value);

    std::shared_ptr<const BoundLayout> layout_;
    LaunchPlan plan_;
    std::int64_t num_features_;
    std::vector<std::byte> bytes_;
    std::vector<void*> arguments_;  ///< arguments of all launches
    std::vector<std::size_t> sizes_;
    std::vector<std::size_t> first_arguments_;  ///< index of each launch's first argument
};

}  // namespace segfold
