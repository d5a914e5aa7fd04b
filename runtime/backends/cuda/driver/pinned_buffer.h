#pragma once
// Page-locked host memory: the GPU copies it without the CPU's help.
#include <cstddef>
#include <memory>
#include <span>

#include "runtime/backends/cuda/driver/context.h"

namespace segfold::cuda {

/// Page-locked host memory; copies of it run beside kernels and beside the host.
class PinnedBuffer {
public:
    PinnedBuffer() = default;

    /// Memory with unspecified contents. Throws DeviceError with the size where the system does not give it.
    PinnedBuffer(const Context& context, std::size_t bytes);

    [[nodiscard]] std::span<std::byte> bytes();
    [[nodiscard]] std::span<const std::byte> bytes() const;

private:
    struct State;
    struct Free {
        void operator()(State* state) const;
    };
    std::unique_ptr<State, Free> state_;
};

}  // namespace segfold::cuda
