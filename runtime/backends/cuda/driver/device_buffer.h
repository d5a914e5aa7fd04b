#pragma once
// Memory of a GPU, and copies between it and the host.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/backends/cuda/driver/context.h"

namespace segfold::cuda {

/// A block of a GPU's memory of exactly the requested size, which may be 0.
class DeviceBuffer {
public:
    DeviceBuffer() = default;

    /// Allocates memory with unspecified contents. If it does not fit, throws DeviceError with the requested
    /// and the free size.
    DeviceBuffer(const Context& context, std::size_t bytes);

    /// Holds memory of another allocator, which `release` gives back.
    DeviceBuffer(const Context& context, std::size_t bytes, CUdeviceptr address,
                 std::function<void()> release);

    /// Allocates a copy of host memory.
    DeviceBuffer(const Context& context, std::span<const std::byte> contents);

    [[nodiscard]] std::size_t bytes() const;

    /// Returns the address on the GPU; 0 if the buffer is empty.
    [[nodiscard]] CUdeviceptr address() const;

    /// Copies `source` into the buffer from byte `offset` on, and waits for the copy. Throws InternalError if
    /// the copy would go past the buffer's end.
    void copy_in(std::span<const std::byte> source, std::size_t offset = 0);

    /// Copies bytes from `offset` on to `target`, and waits for the copy. Throws InternalError if the copy
    /// would go past the buffer's end.
    void copy_out(std::span<std::byte> target, std::size_t offset = 0) const;

    /// Like copy_in() and copy_out() above, but these functions only queue the copy on `stream`. The host
    /// memory must live until the stream has finished the copy. If it is page-locked (PinnedBuffer), the copy
    /// overlaps with the work of other streams.
    void copy_in(std::span<const std::byte> source, std::size_t offset, Stream& stream);
    void copy_out(std::span<std::byte> target, std::size_t offset, Stream& stream) const;

    /// Queues a copy of all of `source`, whose length must be this buffer's length.
    void copy_from(const DeviceBuffer& source, Stream& stream);
    /// Queues a copy of all of `source` to the bytes from `offset` on.
    void copy_part_from(const DeviceBuffer& source, std::size_t offset, Stream& stream);

    /// Sets every byte to zero, in the order of a stream; null is the default stream.
    void zero(CUstream stream = nullptr);

    /// Repeats `pattern` over the buffer, whose length must be a multiple of the pattern's.
    void fill(std::span<const std::byte> pattern);

    /// Sets every element to `value`.
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void fill_with(const T& value) { fill(std::as_bytes(std::span(&value, 1))); }

    /// Returns the contents as elements of `T`.
    template <class T>
    requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::vector<T> to_host() const
    {
        std::vector<T> values(bytes() / sizeof(T));
        copy_out(std::as_writable_bytes(std::span(values)));
        return values;
    }

private:
    struct State;
    struct Free {
        void operator()(State* state) const;
    };
    std::unique_ptr<State, Free> state_;
};

}  // namespace segfold::cuda
