#pragma once
// The launches of a plan with the bytes of every argument. Arrays are bound to parameters here and nowhere
// else.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/launch_plan.h"

namespace segfold {

/// The launches of a plan for workloads of one size. Arrays are bound to it by address.
///
/// The constructor lays out everything; binding again only writes addresses and allocates nothing. Addresses
/// are those of the device that runs the kernels.
class BoundPlan {
public:
    /// Throws InternalError if a size is impossible.
    BoundPlan(const Operator& op, const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);
    BoundPlan(BoundPlan&&) noexcept = default;
    BoundPlan& operator=(BoundPlan&&) noexcept = default;

    /// Scratch memory that must be bound, in this order.
    [[nodiscard]] const std::vector<ScratchBuffer>& scratch() const { return plan_.scratch; }
    [[nodiscard]] const std::vector<KernelLaunch>& launches() const { return plan_.launches; }

    /// Fills the kernels' struct Inputs.
    ///
    ///   addresses  of the arrays of the operator's parameters
    ///   lengths    of the same arrays, in elements; used for checked tables
    ///   outside    address of one `unsigned` per parameter; for a checked table it must be 0 before a
    ///              launch, and is 1 after one that read outside of the table
    void bind_inputs(std::span<const std::uint64_t> addresses, std::span<const std::int64_t> lengths,
                     std::uint64_t outside);
    /// Fills the kernels' struct Segments. The addresses are those of segment_arrays(), then those of
    /// found_arrays().
    void bind_segments(std::span<const std::uint64_t> addresses);
    /// Fills the kernels' struct Results with one address for each of returned_fields().
    void bind_results(std::span<const std::uint64_t> addresses);
    void bind_scratch(std::size_t place, std::uint64_t address);

    /// Returns a launch's arguments as cuLaunchKernel takes them. Later binding changes them in place.
    [[nodiscard]] void** arguments(std::size_t launch) { return arguments_[launch].data(); }
    /// Returns the size in bytes of each argument.
    [[nodiscard]] std::span<const std::size_t> argument_sizes(std::size_t launch) const
    {
        return sizes_[launch];
    }

private:
    struct Slot {
        std::vector<std::byte> bytes;
        std::vector<std::size_t> pointers;  ///< byte offsets of the addresses
    };
    void write(Slot& slot, std::span<const std::uint64_t> addresses);

    LaunchPlan plan_;
    std::map<std::string, Slot, std::less<>> slots_;  ///< by parameter name
    std::vector<std::size_t> lengths_at_;  ///< offset of each parameter's length in Inputs; 0: unchecked
    std::vector<std::int64_t> entries_;    ///< numbers per entry of each parameter
    std::vector<std::vector<void*>> arguments_;
    std::vector<std::vector<std::size_t>> sizes_;
};

}  // namespace segfold
