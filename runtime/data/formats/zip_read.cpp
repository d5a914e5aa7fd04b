#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "dsl/error.h"
#include "dsl/message/visible.h"
#include "runtime/data/formats/zip.h"
#include "runtime/data/formats/zip_format.h"
#include "runtime/support/files/refuse.h"

namespace segfold {
namespace {

constexpr std::uint64_t kMostComment = 0xffff;
// Deflate packs at most 258 bytes into 2 bits. So a packed byte gives at most this many bytes.
constexpr std::uint64_t kMostInflation = 1032;

/// Returns the little-endian integer at `place`, which must lie inside `bytes`.
template <class Integer>
Integer field(std::span<const std::byte> bytes, std::uint64_t place)
{
    Integer value = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
        value = static_cast<Integer>(
            value | static_cast<Integer>(std::to_integer<Integer>(bytes[place + i]) << (8 * i)));
    return value;
}

std::vector<std::byte> read_bytes(const InputFile& file, std::uint64_t place, std::uint64_t size)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    file.read(place, bytes);
    return bytes;
}

/// Position and size of the archive's directory.
struct DirectoryPlace {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;
    std::uint64_t limit = 0;  ///< offset of the records after the directory
};

/// Reads the archive's 64-bit record of the directory; returns nothing if there is no locator of such a
/// record before `end`.
std::optional<DirectoryPlace> find_directory64(const InputFile& file, std::uint64_t end)
{
    if (end < kZipLocator64Bytes)
        return std::nullopt;
    const auto locator = read_bytes(file, end - kZipLocator64Bytes, kZipLocator64Bytes);
    if (field<std::uint32_t>(locator, 0) != kZipLocator64)
        return std::nullopt;
    const auto place = field<std::uint64_t>(locator, 8);
    const std::uint64_t limit = end - kZipLocator64Bytes;
    if (limit < kZipDirectoryEnd64Bytes || place > limit - kZipDirectoryEnd64Bytes)
        refuse(file.path(), fmt::format("is a damaged archive: its 64-bit record should be at byte {} of {}",
                                        place, file.bytes()));
    const auto record = read_bytes(file, place, kZipDirectoryEnd64Bytes);
    if (field<std::uint32_t>(record, 0) != kZipDirectoryEnd64)
        refuse(file.path(), fmt::format("is a damaged archive: there is no 64-bit record at byte {}", place));
    return DirectoryPlace{field<std::uint64_t>(record, 32), field<std::uint64_t>(record, 40),
                          field<std::uint64_t>(record, 48), place};
}

DirectoryPlace find_directory(const InputFile& file)
{
    if (file.bytes() == 0)
        refuse(file.path(), "is empty; a zip archive is needed");
    const std::uint64_t size = std::min(file.bytes(), kZipDirectoryEndBytes + kMostComment);
    const std::uint64_t start = file.bytes() - size;
    const auto tail = read_bytes(file, start, size);
    for (std::uint64_t back = kZipDirectoryEndBytes; back <= size; ++back) {
        const std::uint64_t at = size - back;
        if (field<std::uint32_t>(tail, at) != kZipDirectoryEnd ||
            field<std::uint16_t>(tail, at + 20) != back - kZipDirectoryEndBytes)
            continue;
        if (const auto found = find_directory64(file, start + at))
            return *found;
        return {field<std::uint16_t>(tail, at + 10), field<std::uint32_t>(tail, at + 12),
                field<std::uint32_t>(tail, at + 16), start + at};
    }
    refuse(file.path(), "is truncated or not a zip archive: it has no directory at its end");
}

/// Sets the fields of `member` whose values are in the 64-bit extra field.
void apply_extra64(std::span<const std::byte> extra, ZipMember& member, const std::string& path)
{
    std::array fields = {&member.bytes, &member.packed_bytes, &member.place};
    if (std::ranges::none_of(fields, [](const auto* value) { return *value == kZipInRecord64; }))
        return;
    while (extra.size() >= 4) {
        const auto id = field<std::uint16_t>(extra, 0);
        const std::size_t size = field<std::uint16_t>(extra, 2);
        extra = extra.subspan(4);
        if (size > extra.size())
            break;
        std::span<const std::byte> values = extra.first(size);
        extra = extra.subspan(size);
        if (id != kZipExtra64)
            continue;
        for (std::uint64_t* value : fields) {
            if (*value != kZipInRecord64)
                continue;
            if (values.size() < 8)
                refuse(path, fmt::format("is a damaged archive: the sizes of '{}' are cut off", member.name));
            *value = field<std::uint64_t>(values, 0);
            values = values.subspan(8);
        }
        return;
    }
    refuse(path, fmt::format("is a damaged archive: the 64-bit sizes of '{}' are missing", member.name));
}

/// Parses the entry at the front of `rest` and removes it from `rest`.
ZipMember parse_entry(std::span<const std::byte>& rest, const std::string& path)
{
    if (rest.size() < kZipDirectoryEntryBytes || field<std::uint32_t>(rest, 0) != kZipDirectoryEntry)
        refuse(path, "is a damaged archive: its directory ends early");
    const std::size_t name_bytes = field<std::uint16_t>(rest, 28);
    const std::size_t extra_bytes = field<std::uint16_t>(rest, 30);
    const std::size_t comment_bytes = field<std::uint16_t>(rest, 32);
    ZipMember member;
    member.flags = field<std::uint16_t>(rest, 8);
    member.method = field<std::uint16_t>(rest, 10);
    member.crc = field<std::uint32_t>(rest, 16);
    member.packed_bytes = field<std::uint32_t>(rest, 20);
    member.bytes = field<std::uint32_t>(rest, 24);
    member.place = field<std::uint32_t>(rest, 42);
    rest = rest.subspan(kZipDirectoryEntryBytes);
    if (rest.size() < name_bytes + extra_bytes + comment_bytes)
        refuse(path, "is a damaged archive: its directory ends early");
    member.name.assign(reinterpret_cast<const char*>(rest.data()), name_bytes);
    apply_extra64(rest.subspan(name_bytes, extra_bytes), member, path);
    rest = rest.subspan(name_bytes + extra_bytes + comment_bytes);
    return member;
}

/// Returns the offset of a member's compressed bytes. Refuses the member if the file does not have all of
/// them.
std::uint64_t find_packed_bytes(const InputFile& file, const ZipMember& member, const std::string& where)
{
    const auto damaged = [&] { refuse(where, "is damaged: it does not lie within the archive"); };
    if (member.place > file.bytes() || file.bytes() - member.place < kZipLocalHeaderBytes)
        damaged();
    const auto header = read_bytes(file, member.place, kZipLocalHeaderBytes);
    if (field<std::uint32_t>(header, 0) != kZipLocalHeader)
        refuse(where, fmt::format("is damaged: there is no member at byte {} of the archive", member.place));
    const std::uint64_t begin = member.place + kZipLocalHeaderBytes + field<std::uint16_t>(header, 26) +
                                field<std::uint16_t>(header, 28);
    if (begin > file.bytes() || file.bytes() - begin < member.packed_bytes)
        damaged();
    const auto name = read_bytes(file, member.place + kZipLocalHeaderBytes, field<std::uint16_t>(header, 26));
    const std::string_view own(reinterpret_cast<const char*>(name.data()), name.size());
    if (own != member.name)
        refuse(where,
               fmt::format("is damaged: the archive's directory calls it '{}', and its own header '{}'",
                           visible(member.name), visible(own)));
    return begin;
}

/// Inflates a member piece by piece.
class Inflater {
public:
    Inflater(const InputFile& file, std::uint64_t place, std::uint64_t packed_bytes, const std::string& where)
        : file_(file), place_(place), left_(packed_bytes), where_(where), packed_(kZipPackedChunk)
    {
        if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
            throw InternalError("inflateInit2 failed");
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    void read(std::span<std::byte> into)
    {
        while (!into.empty()) {
            const std::size_t count = inflate_some(into);
            if (count == 0)
                refuse(where_, "is damaged: it inflates to fewer bytes than the directory says");
            into = into.subspan(count);
        }
    }

    /// Refuses the member if it inflates to more bytes than the directory says.
    void finish()
    {
        std::byte spare{};
        if (inflate_some({&spare, 1}) != 0)
            refuse(where_, "is damaged: it inflates to more bytes than the directory says");
    }

private:
    /// Writes inflated bytes to `into` and returns their number, which is 0 only at the end.
    std::size_t inflate_some(std::span<std::byte> into)
    {
        const auto size = static_cast<uInt>(std::min(into.size(), std::size_t{1} << 30));
        stream_.next_out = reinterpret_cast<Bytef*>(into.data());
        stream_.avail_out = size;
        while (stream_.avail_out == size && !is_over_) {
            if (stream_.avail_in == 0)
                refill();
            const int status = inflate(&stream_, Z_NO_FLUSH);
            is_over_ = status == Z_STREAM_END;
            // Z_BUF_ERROR means that zlib needs more input. `left_` is 0 if there is no more.
            if (status == Z_BUF_ERROR && left_ == 0)
                refuse(where_, "is truncated: its packed bytes end early");
            if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
                refuse(where_, "is damaged: its packed bytes are not valid");
        }
        return size - stream_.avail_out;
    }

    void refill()
    {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, packed_.size()));
        file_.read(place_, std::span(packed_).first(size));
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(size);
        place_ += size;
        left_ -= size;
    }

    const InputFile& file_;
    std::uint64_t place_;
    std::uint64_t left_;
    const std::string& where_;
    std::vector<std::byte> packed_;
    z_stream stream_{};
    bool is_over_ = false;
};

void check_claims(const ZipMember& member, const std::string& where)
{
    if ((member.flags & kZipEncryptedFlag) != 0)
        refuse(where, "is encrypted; plain members are needed");
    if (member.method != kZipStored && member.method != kZipDeflated)
        refuse(where, fmt::format("is packed by method {}; stored (0) and deflated (8) members are read",
                                  member.method));
    if (member.method == kZipStored && member.packed_bytes != member.bytes)
        refuse(where, fmt::format("is damaged: it is stored, but {} bytes are said to take {}", member.bytes,
                                  member.packed_bytes));
    if (member.method == kZipDeflated && member.bytes / kMostInflation > member.packed_bytes)
        refuse(where, fmt::format("is damaged: {} packed bytes cannot hold the {} bytes claimed",
                                  member.packed_bytes, member.bytes));
}

}  // namespace

std::vector<ZipMember> read_zip_directory(const InputFile& file)
{
    const DirectoryPlace directory = find_directory(file);
    if (directory.place > directory.limit || directory.bytes > directory.limit - directory.place)
        refuse(file.path(), "is a damaged archive: its directory does not lie within the file");
    if (directory.entries > directory.bytes / kZipDirectoryEntryBytes)
        refuse(file.path(), fmt::format("is a damaged archive: {} members cannot be listed in {} bytes",
                                        directory.entries, directory.bytes));
    const auto bytes = read_bytes(file, directory.place, directory.bytes);
    std::span<const std::byte> rest(bytes);
    std::vector<ZipMember> members;
    for (std::uint64_t i = 0; i < directory.entries; ++i)
        members.push_back(parse_entry(rest, file.path()));
    return members;
}

void read_zip_member(const InputFile& file, const ZipMember& member, const std::string& where,
                     const std::function<void(const ZipSource&)>& use)
{
    check_claims(member, where);
    std::uint64_t place = find_packed_bytes(file, member, where);
    uLong crc = crc32_z(0, nullptr, 0);
    const auto add_to_sum = [&crc](std::span<const std::byte> bytes) {
        // A null pointer would restart the checksum.
        if (!bytes.empty())
            crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    };
    if (member.method == kZipStored) {
        use([&](std::span<std::byte> into) {
            file.read(place, into);
            place += into.size();
            add_to_sum(into);
        });
    } else {
        Inflater inflater(file, place, member.packed_bytes, where);
        use([&](std::span<std::byte> into) {
            inflater.read(into);
            add_to_sum(into);
        });
        inflater.finish();
    }
    if (crc != member.crc)
        refuse(where,
               fmt::format("is damaged: its CRC-32 is {:08x}, but the archive says {:08x}", crc, member.crc));
}

void read_zip_beginning(const InputFile& file, const ZipMember& member, const std::string& where,
                        const std::function<void(const ZipSource&)>& use)
{
    check_claims(member, where);
    std::uint64_t place = find_packed_bytes(file, member, where);
    if (member.method == kZipStored) {
        use([&](std::span<std::byte> into) {
            file.read(place, into);
            place += into.size();
        });
    } else {
        Inflater inflater(file, place, member.packed_bytes, where);
        use([&](std::span<std::byte> into) { inflater.read(into); });
    }
}

}  // namespace segfold
