#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "dsl/error.h"
#include "runtime/data/formats/zip.h"
#include "runtime/data/formats/zip_format.h"

namespace segfold {
namespace {

constexpr std::uint16_t kZipVersion = 20;
constexpr std::uint16_t kZipVersion64 = 45;
constexpr std::uint16_t kMadeByUnix = 3 << 8;
constexpr std::uint16_t kFirstDay = 0x21;  // 1980-01-01, the format's first day
constexpr std::uint32_t kRegularFile = 0100644U << 16;
constexpr std::size_t kLongestZipName = 0xffff;
constexpr std::uint64_t kCopiedChunk = std::uint64_t{1} << 22;

/// Builds a record of little-endian fields.
class Record {
public:
    Record& short_field(std::uint64_t value) { return add(value, 2); }
    Record& field(std::uint64_t value) { return add(value, 4); }
    Record& long_field(std::uint64_t value) { return add(value, 8); }
    Record& text(const std::string& text)
    {
        bytes_ += text;
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    Record& add(std::uint64_t value, int count)
    {
        for (int i = 0; i < count; ++i)
            bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
        return *this;
    }
    std::string bytes_;
};

std::uint32_t sum(std::uint32_t crc, std::span<const std::byte> bytes)
{
    // A null pointer would restart the checksum.
    if (bytes.empty())
        return crc;
    return static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Deflates `pieces` and appends the result to `packed`.
void deflate_pieces(std::initializer_list<std::span<const std::byte>> pieces, std::vector<std::byte>& packed)
{
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw InternalError("deflateInit2 failed");
    std::vector<std::byte> chunk(kZipPackedChunk);
    const auto pump = [&](int flush) {
        int status = Z_OK;
        do {
            stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
            stream.avail_out = static_cast<uInt>(chunk.size());
            status = deflate(&stream, flush);
            packed.insert(packed.end(), chunk.data(), chunk.data() + (chunk.size() - stream.avail_out));
        } while (stream.avail_out == 0 || (flush == Z_FINISH && status != Z_STREAM_END));
    };
    for (std::span<const std::byte> piece : pieces)
        while (!piece.empty()) {
            const std::size_t size = std::min(piece.size(), kZipPackedChunk);
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
            stream.avail_in = static_cast<uInt>(size);
            pump(Z_NO_FLUSH);
            piece = piece.subspan(size);
        }
    pump(Z_FINISH);
    deflateEnd(&stream);
}

std::uint16_t flags_of(const std::string& name)
{
    return std::ranges::all_of(name, [](unsigned char c) { return c < 0x80; }) ? 0 : kZipUtf8Flag;
}

/// Adds the fields that the local header and the directory's entry share: from "version needed" to the length
/// of the extra field.
void add_common(Record& record, const ZipMember& member, bool is_wide, std::size_t extra_bytes)
{
    record.short_field(is_wide ? kZipVersion64 : kZipVersion)
        .short_field(member.flags)
        .short_field(member.method);
    record.short_field(0).short_field(kFirstDay).field(member.crc);
    record.field(is_wide ? kZipInRecord64 : member.packed_bytes)
        .field(is_wide ? kZipInRecord64 : member.bytes);
    record.short_field(member.name.size()).short_field(extra_bytes);
}

bool needs_wide_sizes(const ZipMember& member)
{
    return std::max(member.bytes, member.packed_bytes) >= kZipInRecord64;
}

}  // namespace

void ZipWriter::add(const std::string& name, std::span<const std::byte> head, std::span<const std::byte> body)
{
    ZipMember member;
    member.name = name;
    member.method = deflate_ ? kZipDeflated : kZipStored;
    member.crc = sum(sum(0, head), body);
    member.bytes = member.packed_bytes = head.size() + body.size();
    std::vector<std::byte> packed;
    if (deflate_) {
        deflate_pieces({head, body}, packed);
        member.packed_bytes = packed.size();
    }
    begin(std::move(member));
    if (deflate_) {
        file_.write(packed);
    } else {
        file_.write(head);
        file_.write(body);
    }
}

void ZipWriter::add(const std::string& name, std::uint64_t bytes,
                    const std::function<void(std::uint64_t, std::span<std::byte>)>& read)
{
    std::vector<std::byte> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kCopiedChunk)));
    const auto each_chunk = [&](const auto& use) {
        for (std::uint64_t at = 0; at < bytes; at += chunk.size()) {
            const auto part = std::span(chunk).first(
                static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), bytes - at)));
            read(at, part);
            use(part);
        }
    };
    ZipMember member;
    member.name = name;
    member.method = kZipStored;
    member.bytes = member.packed_bytes = bytes;
    each_chunk([&](std::span<const std::byte> part) { member.crc = sum(member.crc, part); });
    begin(std::move(member));
    each_chunk([&](std::span<const std::byte> part) { file_.write(part); });
}

void ZipWriter::begin(ZipMember member)
{
    if (member.name.size() > kLongestZipName)
        throw InputError(fmt::format("the name of an archive's member has {} bytes; at most {} fit",
                                     member.name.size(), kLongestZipName));
    member.flags = flags_of(member.name);
    member.place = file_.bytes();
    const bool is_wide = zip64_ || needs_wide_sizes(member);
    Record extra, record;
    if (is_wide)
        extra.short_field(kZipExtra64)
            .short_field(16)
            .long_field(member.bytes)
            .long_field(member.packed_bytes);
    record.field(kZipLocalHeader);
    add_common(record, member, is_wide, extra.bytes().size());
    file_.write(record.text(member.name).text(extra.bytes()).bytes());
    members_.push_back(std::move(member));
}

void ZipWriter::finish()
{
    const std::uint64_t directory = file_.bytes();
    for (const ZipMember& member : members_) {
        const bool is_wide = zip64_ || needs_wide_sizes(member) || member.place >= kZipInRecord64;
        Record extra, record;
        if (is_wide)
            extra.short_field(kZipExtra64)
                .short_field(24)
                .long_field(member.bytes)
                .long_field(member.packed_bytes)
                .long_field(member.place);
        record.field(kZipDirectoryEntry).short_field(kMadeByUnix | kZipVersion64);
        add_common(record, member, is_wide, extra.bytes().size());
        record.short_field(0).short_field(0).short_field(0).field(kRegularFile);
        record.field(is_wide ? kZipInRecord64 : member.place);
        file_.write(record.text(member.name).text(extra.bytes()).bytes());
    }

    const std::uint64_t end = file_.bytes(), count = members_.size(), bytes = end - directory;
    const bool is_wide =
        zip64_ || count >= kZipInRecord64Short || directory >= kZipInRecord64 || bytes >= kZipInRecord64;
    Record record;
    if (is_wide) {
        record.field(kZipDirectoryEnd64).long_field(kZipDirectoryEnd64Bytes - 12);
        record.short_field(kMadeByUnix | kZipVersion64).short_field(kZipVersion64).field(0).field(0);
        record.long_field(count).long_field(count).long_field(bytes).long_field(directory);
        record.field(kZipLocator64).field(0).long_field(end).field(1);
    }
    const std::uint64_t short_count = is_wide ? kZipInRecord64Short : count;
    record.field(kZipDirectoryEnd)
        .short_field(0)
        .short_field(0)
        .short_field(short_count)
        .short_field(short_count);
    record.field(is_wide ? kZipInRecord64 : bytes).field(is_wide ? kZipInRecord64 : directory).short_field(0);
    file_.write(record.bytes());
}

}  // namespace segfold
