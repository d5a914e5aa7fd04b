#pragma once
// Memory of a part of a fold, where the plans of the part's session run.
#include <cstring>
#include <optional>
#include <span>

#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/session/array_view.h"
#include "runtime/session/session.h"

namespace segfold {

/// Bytes that a GPU's memory brings at a time. Stages whose elements lie across such borders take up to 1.25
/// times as long.
inline constexpr std::size_t kRowBytes = 128;

/// Memory on the session's GPU, else on the host.
class PartMemory {
public:
    PartMemory(Session& session, std::size_t bytes)
    {
        if (const auto* context = session.backend().context(); context != nullptr)
            device_.emplace(*context, bytes);
        else
            host_ = Array(Type::u8, bytes);
    }
    /// A copy, of which byte `row` lies at the begin of a row of memory.
    PartMemory(Session& session, std::span<const std::byte> contents, std::size_t row = 0)
        : PartMemory(session, contents.size() + kRowBytes - 1)
    {
        begin_ = (kRowBytes - row % kRowBytes) % kRowBytes;
        if (device_)
            device_->copy_in(contents, begin_);
        else if (!contents.empty())
            std::memcpy(host_.data() + begin_, contents.data(), contents.size());
    }

    [[nodiscard]] Place place() const { return device_ ? Place::device : Place::host; }
    [[nodiscard]] std::byte* address()
    {
        return (device_ ? reinterpret_cast<std::byte*>(device_->address()) : host_.data()) + begin_;
    }
    [[nodiscard]] MutableArrayView view(Type type, std::int64_t length)
    {
        MutableArrayView lent;
        lent.type = type;
        lent.data = address();
        lent.length = length;
        lent.place = place();
        return lent;
    }
    /// Waits for what was queued on the default stream.
    void copy_out(std::span<std::byte> target) const
    {
        if (target.empty())
            return;
        if (device_)
            device_->copy_out(target, begin_);
        else
            std::memcpy(target.data(), host_.data() + begin_, target.size());
    }

private:
    std::optional<cuda::DeviceBuffer> device_;
    Array host_;
    std::size_t begin_ = 0;  ///< bytes before what is kept
};

}  // namespace segfold
