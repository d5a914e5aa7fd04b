#pragma once
// "Device" memory of the CPU executor: named buffers of exact size. The executor checks each access to them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace segfold::simt {

struct Region;

/// The word that fills unwritten memory. It is a NaN as a float; two such words are a NaN as a double.
inline constexpr std::uint32_t kPoison = 0x7ffadbadu;

/// An allocation that kernels may read and write. Reports show its name.
///
/// It starts on a 256-byte boundary, as with `cudaMalloc`, and ends exactly after `bytes()`, so that even an
/// access to the first byte past the end is reported. New memory is filled with a pattern that reads as NaN.
/// A buffer can be moved, but not copied.
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

    /// Makes is_written() false for all bytes, as in a new buffer.
    void forget_writes();
    /// True if checked kernels have written all of the `count` bytes from byte `begin` on.
    [[nodiscard]] bool is_written(std::size_t begin, std::size_t count) const;

    /// Returns the memory as elements of `T`, without trailing bytes that make no whole element.
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

/// Makes a buffer of uninitialised memory. Throws DeviceError if the address space is used up.
Buffer allocate(std::string name, std::size_t bytes);

/// Makes a buffer that holds a copy of `values`.
template <class T>
Buffer upload(std::string name, std::span<const T> values)
{
    Buffer buffer(std::move(name), values.size_bytes());
    if (!values.empty())
        std::memcpy(buffer.data(), values.data(), values.size_bytes());
    return buffer;
}

}  // namespace segfold::simt
