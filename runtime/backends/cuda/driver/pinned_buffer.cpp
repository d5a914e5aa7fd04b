#include "runtime/backends/cuda/driver/pinned_buffer.h"

#include <fmt/format.h>

#include "dsl/error.h"

namespace segfold::cuda {

struct PinnedBuffer::State {
    Context context;
    std::byte* place;
    std::size_t bytes;
};

void PinnedBuffer::Free::operator()(State* state) const
{
    try {
        const CurrentContext current(state->context);
        driver().cuMemFreeHost(state->place);
    } catch (const DeviceError&) {
        // If a kernel's failure has ended the context, the memory is already free.
    }
    delete state;
}

PinnedBuffer::PinnedBuffer(const Context& context, std::size_t bytes)
{
    if (bytes == 0)
        return;
    const CurrentContext current(context);
    void* place = nullptr;
    const CUresult result = driver().cuMemHostAlloc(&place, bytes, 0);
    if (result != CUresult::success)
        throw DeviceError(fmt::format("cuMemHostAlloc: {:.2f} GiB of page-locked host memory: {}",
                                      static_cast<double>(bytes) / (1u << 30), describe(result)));
    state_.reset(new State{context, static_cast<std::byte*>(place), bytes});
}

std::span<std::byte> PinnedBuffer::bytes()
{
    return state_ ? std::span(state_->place, state_->bytes) : std::span<std::byte>();
}

std::span<const std::byte> PinnedBuffer::bytes() const
{
    return state_ ? std::span(state_->place, state_->bytes) : std::span<const std::byte>();
}

}  // namespace segfold::cuda
