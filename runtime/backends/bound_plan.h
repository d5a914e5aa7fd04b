#pragma once
// The launches of a plan with the bytes of every argument: the one place that binds arrays to parameters.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/launch_plan.h"

namespace segfold {

/// A plan's launches for workloads of one size, bound to arrays by address.
///
/// Everything is laid out when the object is made; binding again writes addresses in place and allocates
/// nothing. Addresses are those of the device that runs the kernels.
class BoundPlan {
public:
    /// Throws InternalError for a size that makes no sense.
    BoundPlan(const Operator& op, const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors);
    BoundPlan(BoundPlan&&) noexcept = default;
    BoundPlan& operator=(BoundPlan&&) noexcept = default;

    /// Scratch memory to be bound, in order.
    [[nodiscard]] const std::vector<ScratchBuffer>& scratch() const { return plan_.scratch; }
    [[nodiscard]] const std::vector<KernelLaunch>& launches() const { return plan_.launches; }

    /// The kernel's struct Inputs.
    ///
    ///   addresses  of the arrays of the operator's parameters
    ///   lengths    of the same arrays, in elements; those of checked tables count
    ///   outside    address of an `unsigned` for each parameter; those of checked tables are 0 before a
    ///   launch
    ///              and 1 after one that read outside of the table
    void bind_inputs(std::span<const std::uint64_t> addresses, std::span<const std::int64_t> lengths,
                     std::uint64_t outside);
    /// The kernel's struct Segments; addresses of segment_arrays(), then of found_arrays().
    void bind_segments(std::span<const std::uint64_t> addresses);
    /// The kernel's struct Results: an address for each of returned_fields().
    void bind_results(std::span<const std::uint64_t> addresses);
    void bind_scratch(std::size_t place, std::uint64_t address);

    /// The arguments of a launch as cuLaunchKernel takes them; they follow what is bound later.
    [[nodiscard]] void** arguments(std::size_t launch) { return arguments_[launch].data(); }
    /// The bytes of each of them.
    [[nodiscard]] std::span<const std::size_t> argument_sizes(std::size_t launch) const
    {
        return sizes_[launch];
    }

private:
    struct Slot {
        std::vector<std::byte> bytes;
        std::vector<std::size_t> pointers;  ///< where its addresses stand
    };
    void write(Slot& slot, std::span<const std::uint64_t> addresses);

    LaunchPlan plan_;
    std::map<std::string, Slot, std::less<>> slots_;  ///< by the parameter's name
    std::vector<std::size_t> lengths_at_;             ///< of each parameter in Inputs; 0: it is not checked
    std::vector<std::int64_t> entries_;               ///< numbers of each entry of a parameter
    std::vector<std::vector<void*>> arguments_;
    std::vector<std::vector<std::size_t>> sizes_;
};

}  // namespace segfold
