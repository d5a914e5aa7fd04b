#include "runtime/backends/cuda/driver/device_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "dsl/error.h"

namespace segfold::cuda {
namespace {

std::string gibibytes(std::size_t bytes)
{
    return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1u << 30));
}

void check_range(const char* call, std::size_t offset, std::size_t length, std::size_t bytes)
{
    if (offset > bytes || length > bytes - offset)
        throw InternalError(fmt::format("DeviceBuffer::{}: bytes {} to {} of a buffer of {} bytes", call,
                                        offset, offset + length, bytes));
}

}  // namespace

struct DeviceBuffer::State {
    Context context;
    CUdeviceptr address;
    std::size_t bytes;
    std::function<void()> release;  ///< empty for memory of the driver
};

void DeviceBuffer::Free::operator()(State* state) const
{
    try {
        if (state->release) {
            state->release();
        } else {
            const CurrentContext current(state->context);
            driver().cuMemFree(state->address);
        }
    } catch (const DeviceError&) {
        // If a kernel's failure has ended the context, the memory is already free.
    }
    delete state;
}

DeviceBuffer::DeviceBuffer(const Context& context, std::size_t bytes)
{
    if (bytes == 0)
        return;
    const CurrentContext current(context);
    CUdeviceptr address = 0;
    const CUresult result = driver().cuMemAlloc(&address, bytes);
    if (result == CUresult::out_of_memory) {
        const Context::Memory memory = context.memory();
        throw DeviceError(fmt::format("{} do not fit on {}, where {} of {} are free", gibibytes(bytes),
                                      context.info().name, gibibytes(memory.free_bytes),
                                      gibibytes(memory.total_bytes)));
    }
    check(result, "cuMemAlloc");
    state_.reset(new State{context, address, bytes, {}});
}

DeviceBuffer::DeviceBuffer(const Context& context, std::size_t bytes, CUdeviceptr address,
                           std::function<void()> release)
    : state_(new State{context, address, bytes, std::move(release)})
{}

DeviceBuffer::DeviceBuffer(const Context& context, std::span<const std::byte> contents)
    : DeviceBuffer(context, contents.size())
{
    copy_in(contents);
}

std::size_t DeviceBuffer::bytes() const { return state_ ? state_->bytes : 0; }

CUdeviceptr DeviceBuffer::address() const { return state_ ? state_->address : 0; }

void DeviceBuffer::copy_in(std::span<const std::byte> source, std::size_t offset)
{
    check_range("copy_in", offset, source.size(), bytes());
    if (source.empty())
        return;
    const CurrentContext current(state_->context);
    check(driver().cuMemcpyHtoD(address() + offset, source.data(), source.size()), "cuMemcpyHtoD");
}

void DeviceBuffer::copy_out(std::span<std::byte> target, std::size_t offset) const
{
    check_range("copy_out", offset, target.size(), bytes());
    if (target.empty())
        return;
    const CurrentContext current(state_->context);
    check(driver().cuMemcpyDtoH(target.data(), address() + offset, target.size()), "cuMemcpyDtoH");
}

void DeviceBuffer::copy_in(std::span<const std::byte> source, std::size_t offset, Stream& stream)
{
    check_range("copy_in", offset, source.size(), bytes());
    if (source.empty())
        return;
    const CurrentContext current(state_->context);
    check(driver().cuMemcpyHtoDAsync(address() + offset, source.data(), source.size(), stream.handle()),
          "cuMemcpyHtoDAsync");
}

void DeviceBuffer::copy_out(std::span<std::byte> target, std::size_t offset, Stream& stream) const
{
    check_range("copy_out", offset, target.size(), bytes());
    if (target.empty())
        return;
    const CurrentContext current(state_->context);
    check(driver().cuMemcpyDtoHAsync(target.data(), address() + offset, target.size(), stream.handle()),
          "cuMemcpyDtoHAsync");
}

void DeviceBuffer::copy_part_from(const DeviceBuffer& source, std::size_t offset, Stream& stream)
{
    check_range("copy_part_from", offset, source.bytes(), bytes());
    if (source.bytes() == 0)
        return;
    const CurrentContext current(state_->context);
    check(driver().cuMemcpyDtoDAsync(address() + offset, source.address(), source.bytes(), stream.handle()),
          "cuMemcpyDtoDAsync");
}

void DeviceBuffer::copy_from(const DeviceBuffer& source, Stream& stream)
{
    if (source.bytes() != bytes())
        throw InternalError(
            fmt::format("DeviceBuffer::copy_from: {} bytes into a buffer of {}", source.bytes(), bytes()));
    if (bytes() == 0)
        return;
    const CurrentContext current(state_->context);
    check(driver().cuMemcpyDtoDAsync(address(), source.address(), bytes(), stream.handle()),
          "cuMemcpyDtoDAsync");
}

void DeviceBuffer::zero(CUstream stream)
{
    if (bytes() == 0)
        return;
    const CurrentContext current(state_->context);
    check(driver().cuMemsetD8Async(address(), 0, bytes(), stream), "cuMemsetD8Async");
}

void DeviceBuffer::fill(std::span<const std::byte> pattern)
{
    if (pattern.empty() || bytes() % pattern.size() != 0)
        throw InternalError(fmt::format("DeviceBuffer::fill: a pattern of {} bytes in a buffer of {}",
                                        pattern.size(), bytes()));
    if (bytes() == 0)
        return;
    const CurrentContext current(state_->context);
    std::uint32_t word = 0;
    if (pattern.size() <= sizeof word)
        std::memcpy(&word, pattern.data(), pattern.size());
    if (pattern.size() == 1)
        check(driver().cuMemsetD8(address(), static_cast<unsigned char>(word), bytes()), "cuMemsetD8");
    else if (pattern.size() == 2)
        check(driver().cuMemsetD16(address(), static_cast<unsigned short>(word), bytes() / 2), "cuMemsetD16");
    else if (pattern.size() == 4)
        check(driver().cuMemsetD32(address(), word, bytes() / 4), "cuMemsetD32");
    else {
        // Each copy doubles the filled part.
        copy_in(pattern);
        for (std::size_t filled = pattern.size(); filled < bytes(); filled *= 2)
            check(driver().cuMemcpyDtoD(address() + filled, address(), std::min(filled, bytes() - filled)),
                  "cuMemcpyDtoD");
    }
}

}  // namespace segfold::cuda
