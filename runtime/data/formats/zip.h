#pragma once
// Reads and writes zip archives of stored or deflated members, with zip64.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/support/files/file.h"

namespace segfold {

/// A member of an archive, as its directory lists it.
struct ZipMember {
    std::string name;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;  ///< offset of the member's local header in the file
};

/// Lists the members in the directory's order. Throws InputError that begins with the path if the archive is
/// damaged.
///
/// Source: PKWARE Inc., ".ZIP File Format Specification", version 6.3.10, 2022.
std::vector<ZipMember> read_zip_directory(const InputFile& file);

/// A function that reads exactly the next `into.size()` bytes of a member.
using ZipSource = std::function<void(std::span<std::byte> into)>;

/// Passes a member's bytes to `use`, which must read all `member.bytes` bytes. Then verifies the checksum.
///
/// If this function throws, the caller must undo the effects of `use`. Every message begins with `where`. A
/// member that claims to have more bytes than its compressed bytes can give is refused before `use` is
/// called.
void read_zip_member(const InputFile& file, const ZipMember& member, const std::string& where,
                     const std::function<void(const ZipSource&)>& use);

/// Passes a member's bytes to `use`, which may read any number of bytes. Verifies no checksum.
void read_zip_beginning(const InputFile& file, const ZipMember& member, const std::string& where,
                        const std::function<void(const ZipSource&)>& use);

/// Writes an archive member by member.
class ZipWriter {
public:
    /// `deflate` compresses the members. `zip64` writes the 64-bit records even if 32 bits suffice.
    ZipWriter(OutputFile& file, bool deflate, bool zip64) : file_(file), deflate_(deflate), zip64_(zip64) {}

    /// Adds a member with the bytes of `head` and `body`. No time is recorded, so equal bytes give equal
    /// members.
    void add(const std::string& name, std::span<const std::byte> head, std::span<const std::byte> body);

    /// Adds a stored member of `bytes` bytes. `read` must be able to read from any offset, because each byte
    /// is read twice.
    void add(const std::string& name, std::uint64_t bytes,
             const std::function<void(std::uint64_t place, std::span<std::byte> into)>& read);

    /// Writes the directory. After this call no member can be added.
    void finish();

private:
    /// Writes the local header of a member, and keeps the member for the directory.
    void begin(ZipMember member);

    OutputFile& file_;
    bool deflate_;
    bool zip64_;
    std::vector<ZipMember> members_;
};

}  // namespace segfold
