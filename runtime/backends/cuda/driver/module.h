#pragma once
// Loads compiled images on a GPU and launches their kernels.
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

/// Grid and block of a launch. A grid without blocks launches nothing.
struct LaunchShape {
    Extent grid;
    Extent block;
    std::size_t dynamic_shared_bytes = 0;
};

/// The arguments of one launch, stored by value.
class Arguments {
public:
    /// Appends a number or a struct of numbers. Its type must be exactly the type of the kernel's parameter.
    template <class T>
    requires std::is_trivially_copyable_v<T> Arguments& add(const T& value)
    {
        append(&value, sizeof(T), alignof(T));
        return *this;
    }

    /// Appends the address of `buffer`.
    Arguments& add(const DeviceBuffer& buffer) { return add(buffer.address()); }

    /// Appends a value as bytes, such as a scalar whose type is known only at run time.
    Arguments& add_bytes(std::span<const std::byte> value);

    [[nodiscard]] std::size_t count() const { return sizes_.size(); }
    [[nodiscard]] std::size_t size(std::size_t argument) const { return sizes_[argument]; }
    [[nodiscard]] std::span<const std::size_t> sizes() const { return sizes_; }

    /// Returns the addresses of the arguments, for cuLaunchKernel. They are valid until the next change.
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

/// An image on a GPU. Modules and kernels share it.
struct LoadedImage;

/// A kernel of a loaded module. Copies share the module and keep it loaded.
class Kernel {
public:
    [[nodiscard]] const std::string& name() const;

    /// Queues one run. First checks extents and shared memory against the device's limits and, with drivers
    /// since 12.4, the number and sizes of the arguments.
    ///
    /// If a limit is exceeded, throws DeviceError that names the kernel, the limit and the value. A failure
    /// while the kernel runs is thrown by Stream::synchronize().
    void launch(Stream& stream, const LaunchShape& shape, Arguments& arguments) const;

    /// Throws InternalError if the kernel does not take arguments of these sizes. With drivers before 12.4
    /// the sizes are unknown, and nothing is checked.
    void check_arguments(std::span<const std::size_t> sizes) const;

    /// Queues one run with arguments for cuLaunchKernel, which are not checked.
    void launch(Stream& stream, const LaunchShape& shape, void** arguments) const;
    /// Queues one run on a stream of the caller.
    void launch(CUstream stream, const LaunchShape& shape, void** arguments) const;

    /// Prepares launches of this shape. If the device does not allow the shape, throws DeviceError that names
    /// the kernel, the limit and the value.
    void allow(const LaunchShape& shape) const;
    /// Queues one run with a shape that allow() has prepared. The context must be current, and the grid must
    /// not be empty.
    void queue(CUstream stream, const LaunchShape& shape, void** arguments) const;
    /// Returns the driver's handle of the kernel.
    [[nodiscard]] CUfunction handle() const;

    /// Returns registers, stack and static shared memory as the driver reports them. The driver does not
    /// report spills, so they are 0.
    [[nodiscard]] KernelResources resources() const;

    /// Returns the largest number of threads in a block of this kernel.
    [[nodiscard]] int max_block_threads() const;

    /// Returns the number of blocks of this size that a multiprocessor runs at a time.
    [[nodiscard]] int resident_blocks(int block_threads, std::size_t dynamic_shared_bytes = 0) const;

private:
    friend class Module;
    struct State;
    explicit Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

/// A compiled image loaded on one GPU. Copies share it.
class Module {
public:
    /// Loads the image. Messages call it `name`. If it does not load, throws DeviceError that names image and
    /// device.
    Module(const Context& context, const Compiled& compiled, std::string name);

    /// Returns the kernel that is declared `extern "C"` with this name. If there is none, throws DeviceError
    /// that lists the kernels.
    [[nodiscard]] Kernel kernel(const std::string& name) const;

private:
    std::shared_ptr<const LoadedImage> image_;
};

}  // namespace segfold::cuda
