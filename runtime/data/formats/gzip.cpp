#include "runtime/data/formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "dsl/error.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/refuse.h"

namespace segfold {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;
constexpr int kGzipWindow = MAX_WBITS + 16;  // tells zlib to expect a gzip header

/// Inflates all members of a gzip file, in order.
class Gzip {
public:
    explicit Gzip(const InputFile& file) : file_(file), packed_(kChunk)
    {
        if (inflateInit2(&stream_, kGzipWindow) != Z_OK)
            throw InternalError("inflateInit2 failed");
    }
    ~Gzip() { inflateEnd(&stream_); }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    /// Writes inflated bytes to `into` and returns their number, which is 0 only at the end.
    std::size_t read(std::span<char> into)
    {
        stream_.next_out = reinterpret_cast<Bytef*>(into.data());
        stream_.avail_out = static_cast<uInt>(into.size());
        while (stream_.avail_out != 0 && !is_over_) {
            if (stream_.avail_in == 0)
                refill();
            step();
        }
        return into.size() - stream_.avail_out;
    }

private:
    void step()
    {
        const bool is_end = stream_.avail_in == 0;
        const int status = inflate(&stream_, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            if (stream_.avail_in == 0)
                refill();
            is_over_ = stream_.avail_in == 0;
            if (!is_over_ && inflateReset2(&stream_, kGzipWindow) != Z_OK)
                throw InternalError("inflateReset2 failed");
        } else if (is_end) {
            refuse(file_.path(), "is truncated: its packed bytes end early");
        } else if (status != Z_OK) {
            refuse(file_.path(), "is damaged: its packed bytes are not valid");
        }
    }

    void refill()
    {
        const auto count = std::min<std::uint64_t>(packed_.size(), file_.bytes() - place_);
        file_.read(place_, std::span(packed_).first(static_cast<std::size_t>(count)));
        place_ += count;
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(count);
    }

    const InputFile& file_;
    std::vector<std::byte> packed_;
    std::uint64_t place_ = 0;
    z_stream stream_ = {};
    bool is_over_ = false;
};

}  // namespace

bool is_gzip(const InputFile& file)
{
    std::array<std::byte, 2> start{};
    if (file.bytes() < start.size())
        return false;
    file.read(0, start);
    return start == std::array{std::byte{0x1f}, std::byte{0x8b}};
}

std::string read_text(const InputFile& file, std::uint64_t most)
{
    std::string text;
    if (!is_gzip(file)) {
        text.resize(static_cast<std::size_t>(std::min(file.bytes(), most)));
        file.read(0, std::as_writable_bytes(std::span(text)));
        return text;
    }
    Gzip gzip(file);
    for (std::size_t count = kChunk; count == kChunk && text.size() < most;) {
        const auto before = text.size();
        text.resize(before + kChunk);
        count = gzip.read(std::span(text).subspan(before));
        text.resize(before + count);
    }
    text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), most)));
    return text;
}

}  // namespace segfold
