#pragma once
// The records of a zip archive, shared by reader and writer.
#include <cstddef>
#include <cstdint>

namespace segfold {

inline constexpr std::uint32_t kZipLocalHeader = 0x04034b50;
inline constexpr std::uint32_t kZipDirectoryEntry = 0x02014b50;
inline constexpr std::uint32_t kZipDirectoryEnd = 0x06054b50;
inline constexpr std::uint32_t kZipDirectoryEnd64 = 0x06064b50;
inline constexpr std::uint32_t kZipLocator64 = 0x07064b50;

// Number of bytes of each record without names and extra fields.
inline constexpr std::uint64_t kZipLocalHeaderBytes = 30;
inline constexpr std::uint64_t kZipDirectoryEntryBytes = 46;
inline constexpr std::uint64_t kZipDirectoryEndBytes = 22;
inline constexpr std::uint64_t kZipDirectoryEnd64Bytes = 56;
inline constexpr std::uint64_t kZipLocator64Bytes = 20;

// Largest number of compressed bytes in memory at a time.
inline constexpr std::size_t kZipPackedChunk = std::size_t{1} << 18;

inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflated = 8;
inline constexpr std::uint16_t kZipEncryptedFlag = 1;
inline constexpr std::uint16_t kZipUtf8Flag = 0x800;
inline constexpr std::uint16_t kZipExtra64 = 1;

// If a 16- or 32-bit field has this value, the 64-bit record has its number.
inline constexpr std::uint16_t kZipInRecord64Short = 0xffff;
inline constexpr std::uint32_t kZipInRecord64 = 0xffffffff;

}  // namespace segfold
