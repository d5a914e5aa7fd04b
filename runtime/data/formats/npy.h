#pragma once
// Reads and writes NumPy's .npy files: one-dimensional arrays of little-endian numbers.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "dsl/array.h"

namespace segfold {

class InputFile;

/// Reads a one-dimensional array of b1, i1-i8, u1-u8, f2, f4 or f8, in format versions 1 to 3.
///
/// Bytes of a b1 array other than 0 become 1. Throws InputError, path first, for any other file: more
/// dimensions, Fortran order, big-endian or other elements, a file too short or too long. The path may be a
/// pipe, or "-" for standard input.
Array read_npy(const std::string& path);

/// Reads an array whose elements must be of `type`.
///
/// NumPy has no bfloat16. For bf16 the file must hold u2, or the 2-byte void elements that ml_dtypes writes.
Array read_npy_as(const std::string& path, Type type);

/// Dimensions of an array: one, or two in C order, which sets Array::row_length().
enum class NpyShape : std::uint8_t { line, rows };

/// Reads an open .npy file. `asked` is the type of read_npy_as(), or null.
Array read_open_npy(const InputFile& file, const Type* asked, NpyShape shape = NpyShape::line);

/// Writes format version 1.0, with f16 as f2 and bf16 as u2. The file appears complete or not at all.
void write_npy(const std::string& path, const Array& array);

/// Reads only the header and returns the type of the elements. Refuses headers that read_npy() refuses.
Type read_open_npy_type(const InputFile& file);

/// Type, length and offset of the elements in an .npy file.
struct NpyLayout {
    Type type = Type::f32;
    std::uint64_t length = 0;
    std::uint64_t offset = 0;  ///< of the first element in the file, in bytes
};

/// Reads the header of an open .npy file. Refuses headers that read_open_npy() refuses.
NpyLayout read_npy_layout(const InputFile& file, const Type* asked);

/// Reads exactly the next `into.size()` bytes of the array file.
using NpySource = std::function<void(std::span<std::byte> into)>;

/// Reads an .npy file of `bytes` bytes from `source`. `where` begins every message.
///
/// `asked` is the type of read_npy_as(), or null.
Array read_npy_from(const NpySource& source, std::uint64_t bytes, const std::string& where, const Type* asked,
                    NpyShape shape = NpyShape::line);

/// Returns the type of the elements of an .npy file. Reads no more than the header from `source`.
Type read_npy_type_from(const NpySource& source, std::uint64_t bytes, const std::string& where);

/// Returns the header of a version 1.0 file, at least `least_bytes` long. `row_length` is as in Array.
std::string npy_header(Type type, std::uint64_t length, std::uint64_t row_length = 0,
                       std::size_t least_bytes = 0);

}  // namespace segfold
