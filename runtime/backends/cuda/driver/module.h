#pragma once
// Compiled images loaded on a GPU, their kernels, and launches of them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/driver/device_buffer.h"

namespace segfold::cuda {

/// Extent of a grid in blocks, or of a block in threads.
struct Extent {
    std::uint64_t x = 1;
    std::uint64_t y = 1;
    std::uint64_t z = 1;
};

/// How a kernel is spread over the GPU; a grid with no block launches nothing.
struct LaunchShape {
    Extent grid;
    Extent block;
    std::size_t dynamic_shared_bytes = 0;
};

/// The arguments of one launch, held by value.
class Arguments {
public:
    /// Appends a number or a struct of numbers, of exactly the parameter's type.
    template <class T>
    requires std::is_trivially_copyable_v<T> Arguments& add(const T& value)
    {
        append(&value, sizeof(T), alignof(T));
        return *this;
    }

    /// Appends the buffer's address.
    Arguments& add(const DeviceBuffer& buffer) { return add(buffer.address()); }

    /// Appends a value given as bytes, such as a scalar whose type is known at run time only.
    Arguments& add_bytes(std::span<const std::byte> value);

    [[nodiscard]] std::size_t count() const { return sizes_.size(); }
    [[nodiscard]] std::size_t size(std::size_t argument) const { return sizes_[argument]; }
    [[nodiscard]] std::span<const std::size_t> sizes() const { return sizes_; }

    /// As cuLaunchKernel takes them; valid until the next change.
    [[nodiscard]] void** pointers();

private:
    struct alignas(16) Unit {
        std::array<std::byte, 16> bytes;
    };
    void append(const void* value, std::size_t bytes, std::size_t alignment);

    std::deque<std::vector<Unit>> values_;
    std::vector<std::size_t> sizes_;
    std::vector<void*> pointers_;
};

/// An image on a GPU, shared by Module and Kernel.
struct LoadedImage;

/// A kernel of a loaded module; copies share the module and keep it loaded.
class Kernel {
public:
    [[nodiscard]] const std::string& name() const;

    /// Queues one run. Extents and shared memory are checked against the device's limits before the driver
    /// sees them, and so are the number and sizes of the arguments where the driver can tell (12.4 and
    /// later).
    ///
    /// Throws DeviceError naming the kernel, the limit and the value. A failure while the kernel runs is
    /// thrown by Stream::synchronize.
    void launch(Stream& stream, const LaunchShape& shape, Arguments& arguments) const;

    /// Throws InternalError if the kernel takes arguments of other sizes, as far as the driver tells (12.4
    /// and later).
    void check_arguments(std::span<const std::size_t> sizes) const;

    /// The same with arguments as cuLaunchKernel takes them, unchecked.
    void launch(Stream& stream, const LaunchShape& shape, void** arguments) const;
    /// The same on a stream that somebody else owns.
    void launch(CUstream stream, const LaunchShape& shape, void** arguments) const;

    /// Prepares launches of this shape; throws DeviceError naming the kernel, the limit and the value.
    void allow(const LaunchShape& shape) const;
    /// Queues one run of a shape that was allowed before. The context must be current, the grid not empty.
    void queue(CUstream stream, const LaunchShape& shape, void** arguments) const;
    /// As the driver knows it.
    [[nodiscard]] CUfunction handle() const;

    /// Registers, stack and static shared memory as the driver loaded them; spills are not known to it and
    /// are 0.
    [[nodiscard]] KernelResources resources() const;

    /// The most threads a block of this kernel may have.
    [[nodiscard]] int max_block_threads() const;

    /// Blocks of this size that one multiprocessor holds at a time.
    [[nodiscard]] int resident_blocks(int block_threads, std::size_t dynamic_shared_bytes = 0) const;

private:
    friend class Module;
    struct State;
    explicit Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

/// A compiled image, loaded on one GPU; copies share it.
class Module {
public:
    /// Messages call the image `name`. Throws DeviceError if image and device do not fit.
    Module(const Context& context, const Compiled& compiled, std::string name);

    /// The kernel declared `extern "C"` with this name; throws DeviceError naming the kernels there are.
    [[nodiscard]] Kernel kernel(const std::string& name) const;

private:
    std::shared_ptr<const LoadedImage> image_;
};

}  // namespace segfold::cuda
