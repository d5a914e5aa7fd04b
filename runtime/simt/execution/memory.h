#pragma once
// "Device" memory of the CPU executor: exact allocations with names, known to every check.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace segfold::simt {

struct Region;

/// The pattern of memory before it is written: a NaN of float, with its neighbour one of double.
inline constexpr std::uint32_t kPoison = 0x7ffadbadu;

/// An allocation that kernels may read and write; its name appears in reports.
///
/// It starts on a 256-byte boundary as `cudaMalloc` gives it and ends exactly after `bytes()`: the first byte
/// past the end is reported. New memory is filled with a pattern that reads as NaN. Movable, not copyable.
class Buffer {
public:
    Buffer();
    Buffer(std::string name, std::size_t bytes);
    Buffer(Buffer&&) noexcept;
    Buffer& operator=(Buffer&&) noexcept;
    ~Buffer();

    [[nodiscard]] std::byte* data() { return data_; }
    [[nodiscard]] const std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] const std::string& name() const;

    /// Takes the memory for never written by a kernel.
    void forget_writes();
    /// True where every byte from `begin` on, `count` in all, has been written by a kernel that was checked.
    [[nodiscard]] bool is_written(std::size_t begin, std::size_t count) const;

    /// The memory as elements of `T`; a last part smaller than one element is left out.
    template <class T>
    [[nodiscard]] std::span<T> as()
    {
        return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
    }

private:
    std::unique_ptr<Region> region_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A buffer of uninitialised memory. Throws DeviceError when the address space is used up.
Buffer allocate(std::string name, std::size_t bytes);

/// A buffer that holds a copy of `values`.
template <class T>
Buffer upload(std::string name, std::span<const T> values)
{
    Buffer buffer(std::move(name), values.size_bytes());
    if (!values.empty())
        std::memcpy(buffer.data(), values.data(), values.size_bytes());
    return buffer;
}

}  // namespace segfold::simt
