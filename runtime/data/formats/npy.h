#pragma once
// NumPy's .npy files: one-dimensional arrays of numbers, little-endian.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "dsl/array.h"

namespace segfold {

class InputFile;

/// Shapes that a reader accepts. `line` is one dimension. `rows` is two dimensions in C order, and sets
/// Array::row_length().
enum class NpyShape : std::uint8_t { line, rows };

/// Reads an open .npy file with an array of b1, i1-i8, u1-u8, f2, f4 or f8, in format versions 1 to 3.
///
/// `asked` is the type that elements must have, or null for any type. NumPy has no bfloat16, so a file for
/// bf16 has u2, or the 2-byte void elements that ml_dtypes writes. Bytes of a b1 array other than 0 become 1.
/// Throws InputError that begins with the path if the array has other dimensions, Fortran order, or
/// big-endian or other elements, or if the file is too short or too long.
Array read_open_npy(const InputFile& file, const Type* asked, NpyShape shape = NpyShape::line);

/// Writes an array in format version 1.0, with f16 as f2 and bf16 as u2. The file appears complete or not at
/// all.
void write_npy(const std::string& path, const Array& array);

/// Reads the type of a file's elements from its header. Throws InputError like read_open_npy().
Type read_open_npy_type(const InputFile& file);

/// Type and position of the elements of an .npy file.
struct NpyLayout {
    Type type = Type::f32;
    std::uint64_t length = 0;
    std::uint64_t offset = 0;  ///< number of bytes before the first element
};

/// Reads the header of an open .npy file. Throws InputError like read_open_npy().
NpyLayout read_npy_layout(const InputFile& file, const Type* asked);

/// A function that reads exactly the next `into.size()` bytes of the array file.
using NpySource = std::function<void(std::span<std::byte> into)>;

/// Reads an .npy file of `bytes` bytes from `source`, like read_open_npy(). Every message begins with
/// `where`.
Array read_npy_from(const NpySource& source, std::uint64_t bytes, const std::string& where, const Type* asked,
                    NpyShape shape = NpyShape::line);

/// Reads the type of an .npy file's elements. Reads only the header from `source`.
Type read_npy_type_from(const NpySource& source, std::uint64_t bytes, const std::string& where);

/// Returns the header of a file of version 1.0, padded to at least `least_bytes` bytes. `row_length` is
/// Array::row_length().
std::string npy_header(Type type, std::uint64_t length, std::uint64_t row_length = 0,
                       std::size_t least_bytes = 0);

}  // namespace segfold
