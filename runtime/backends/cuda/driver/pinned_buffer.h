#pragma once
// Page-locked host memory. The GPU copies it without the CPU.
#include <cstddef>
#include <memory>
#include <span>

#include "runtime/backends/cuda/driver/context.h"

namespace segfold::cuda {

/// A block of page-locked host memory. Its copies overlap with kernels and with the host's work.
class PinnedBuffer {
public:
    PinnedBuffer() = default;

    /// Allocates memory with unspecified contents. If the system refuses it, throws DeviceError with the
    /// size.
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
