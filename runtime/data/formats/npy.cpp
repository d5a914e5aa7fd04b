#include "runtime/data/formats/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/data/formats/npy_header.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/refuse.h"

namespace segfold {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kVersionedBytes = 8;                        // length of magic, major and minor version
constexpr std::uint64_t kLargestHeader = std::uint64_t{1} << 20;  // NumPy's own headers are below 1000 bytes
constexpr std::size_t kHeaderAlignment = 64;

struct ElementCode {
    std::string_view code;  // without the byte order
    Type type;
};
constexpr std::array kCodes = {
    ElementCode{"b1", Type::boolean}, ElementCode{"i1", Type::i8},  ElementCode{"i2", Type::i16},
    ElementCode{"i4", Type::i32},     ElementCode{"i8", Type::i64}, ElementCode{"u1", Type::u8},
    ElementCode{"u2", Type::u16},     ElementCode{"u4", Type::u32}, ElementCode{"u8", Type::u64},
    ElementCode{"f2", Type::f16},     ElementCode{"f4", Type::f32}, ElementCode{"f8", Type::f64}};

std::string_view code_of(Type type)
{
    const Type written = type == Type::bf16 ? Type::u16 : type;
    return std::ranges::find(kCodes, written, &ElementCode::type)->code;
}

std::string dtype_of(Type type)
{
    return fmt::format("{}{}", size_bytes(type) == 1 ? '|' : '<', code_of(type));
}

/// Returns NumPy's name for a type, such as "int32". The name counts bits; the code of a dtype, such as "i4",
/// counts bytes.
std::string numpy_name(Type type)
{
    if (type == Type::boolean)
        return "bool_";
    return fmt::format("{}{}",
                       is_float(type)            ? "float"
                       : is_signed_integer(type) ? "int"
                                                 : "uint",
                       8 * size_bytes(type));
}

/// Returns the type for a dtype such as "<f4"; nothing if the elements cannot be used unchanged.
std::optional<Type> find_element(const std::string& descr)
{
    if (descr.size() < 2)
        return std::nullopt;
    const auto found = std::ranges::find(kCodes, std::string_view(descr).substr(1), &ElementCode::code);
    if (found == kCodes.end())
        return std::nullopt;
    const bool has_order = descr[0] == '<' || descr[0] == '|' || descr[0] == '=';
    const bool is_byte = size_bytes(found->type) == 1;
    return has_order || (descr[0] == '>' && is_byte) ? std::optional(found->type) : std::nullopt;
}

[[noreturn]] void refuse_element(const std::string& where, const NpyDictionary& header)
{
    const std::string& descr = header.descr;
    const std::string_view code = descr.empty() ? std::string_view() : std::string_view(descr).substr(1);
    if (header.is_structured)
        refuse(where, "holds structured elements; save each field as an array of its own");
    if (descr.starts_with('>') && std::ranges::count(kCodes, code, &ElementCode::code) == 1)
        refuse(where, fmt::format("holds big-endian elements (dtype '{}'); save it with array.astype('<{}')",
                                  descr, code));
    std::string_view what = "elements";
    switch (code.empty() ? '\0' : code.front()) {
        case 'c': what = "complex numbers"; break;
        case 'S':
        case 'U':
        case 'a': what = "strings"; break;
        case 'O': what = "Python objects"; break;
        case 'M':
        case 'm': what = "dates or times"; break;
        case 'V': what = "void elements"; break;
        default: break;
    }
    const std::string_view hint =
        code == "V2"        ? "; ask for bf16 if they are bfloat16"
        : what == "strings" ? "; numpy.unique(array, return_inverse=True) gives an integer for each string"
        : what == "dates or times"  ? "; save them as int64 with array.view('i8')"
        : what == "complex numbers" ? "; save array.real and array.imag as an array each"
                                    : "";
    refuse(
        where,
        fmt::format("holds {} (dtype '{}'); the element types read are bool, int8 to int64, uint8 to uint64, "
                    "float16, float32 and float64{}",
                    what, descr.substr(0, 40), hint));
}

/// True if `to` can represent every value of `from`.
bool holds_all_of(Type to, Type from)
{
    const auto digits = [](Type type) {
        return type == Type::f64 ? 53 : type == Type::f32 ? 24 : type == Type::f16 ? 11 : 8;
    };
    if (from == Type::boolean || to == Type::boolean)
        return from == Type::boolean;
    if (is_float(from))
        return is_float(to) && size_bytes(to) > size_bytes(from);
    if (is_float(to))
        return static_cast<int>(size_bytes(from)) * 8 - (is_signed_integer(from) ? 1 : 0) <= digits(to);
    return size_bytes(to) > size_bytes(from) && (is_signed_integer(to) || is_unsigned_integer(from));
}

/// Returns advice on how to convert elements of `from` to `to`, with a warning if the conversion may change
/// values.
std::string conversion_advice(Type from, Type to)
{
    if (to == Type::bf16)
        return "save the bits of bfloat16 elements as uint16";
    const auto saved = fmt::format("save it with array.astype(numpy.{})", numpy_name(to));
    return holds_all_of(to, from)
               ? saved
               : fmt::format("{}, which may change values, or let the operator take {}", saved, name(from));
}

/// Returns the type of the file's elements. If `asked` is given, the type must be `*asked`, with one
/// exception: a file of u2 or of 2-byte void elements may serve as bf16.
Type choose_type(const NpyDictionary& header, const std::string& where, const Type* asked)
{
    const bool may_be_bf16 =
        !header.is_structured && (header.descr == "<u2" || header.descr == "<V2" || header.descr == "|V2");
    if (asked != nullptr && *asked == Type::bf16 && may_be_bf16)
        return Type::bf16;
    const std::optional<Type> type = header.is_structured ? std::nullopt : find_element(header.descr);
    if (!type)
        refuse_element(where, header);
    if (asked != nullptr && *asked != *type)
        refuse(where, fmt::format("holds {}, but {} is needed; {}", name(*type), name(*asked),
                                  conversion_advice(*type, *asked)));
    return *type;
}

std::string shape_text(const NpyDictionary& header)
{
    std::string shape;
    for (const std::uint64_t extent : header.shape)
        shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    return shape;
}

/// True if the elements are not in C order. With a single dimension every order is C order.
bool is_in_other_order(const NpyDictionary& header)
{
    return header.is_fortran &&
           std::ranges::count_if(header.shape, [](std::uint64_t extent) { return extent > 1; }) > 1;
}

/// Returns the number of elements of a two-dimensional array in C order. Refuses any other shape.
std::uint64_t check_rows(const NpyDictionary& header, const std::string& where)
{
    if (header.shape.size() != 2)
        refuse(where,
               fmt::format("has the shape ({}); rows need two dimensions, elements and features: save it "
                           "with array.reshape(-1, K)",
                           shape_text(header)));
    if (is_in_other_order(header))
        refuse(where,
               "is in Fortran order, and rows lie in C order; save it with numpy.ascontiguousarray(array)");
    const auto rows = header.shape[0], features = header.shape[1];
    if (features == 0)
        refuse(where, fmt::format("has the shape ({}); a row has at least one feature", shape_text(header)));
    if (rows > std::numeric_limits<std::uint64_t>::max() / features)
        refuse(where,
               fmt::format("has the shape ({}), more elements than 64 bits count", shape_text(header)));
    return rows * features;
}

/// Returns the length of a one-dimensional array. Refuses any other shape. `asked` is null unless the array
/// is for a parameter.
std::uint64_t check_shape(const NpyDictionary& header, const std::string& where, const Type* asked)
{
    if (header.shape.size() == 1)
        return header.shape.front();
    refuse(where, fmt::format("has {} dimensions, shape ({}); one is needed: {}", header.shape.size(),
                              shape_text(header),
                              asked != nullptr && header.shape.size() > 1
                                  ? "save it with array.reshape(-1), which makes each number an element, or "
                                    "give it to an operator over rows (x: row f32)"
                              : header.shape.size() == 2 && header.shape[1] > 1
                                  ? "if it holds keys of several columns, save numpy.unique(array, axis=0, "
                                    "return_inverse=True)[1], else save it with array.reshape(-1)"
                                  : "save it with array.reshape(-1)"));
}

/// True if all bytes are printable ASCII, tabs or line ends.
bool is_text(std::span<const std::byte> bytes)
{
    return std::ranges::all_of(bytes, [](std::byte byte) {
        const int letter = std::to_integer<int>(byte);
        return (letter >= ' ' && letter <= '~') || letter == '\t' || letter == '\n' || letter == '\r';
    });
}

/// Returns the header's text and the number of bytes read so far.
std::pair<std::string, std::uint64_t> read_header_text(const NpySource& source, std::uint64_t bytes,
                                                       const std::string& where)
{
    std::array<std::byte, kVersionedBytes> start{};
    const std::size_t available = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, start.size()));
    source(std::span(start).first(available));
    if (available == 0)
        refuse(where, "is empty; an .npy file is needed");
    if (std::memcmp(start.data(), kNpyMagic.data(), std::min(available, kNpyMagic.size())) != 0)
        refuse(where, std::string("is not an .npy file: it does not start with '\\x93NUMPY'") +
                          (is_text(std::span(start).first(available))
                               ? "; a column of text with commas is read as FILE.csv:COLUMN, where the "
                                 "first line names the columns"
                               : ""));
    const int major = std::to_integer<int>(start[6]), minor = std::to_integer<int>(start[7]);
    const std::uint64_t length_bytes = major == 1 ? 2 : 4;
    if (bytes >= kVersionedBytes && (major < 1 || major > 3 || minor != 0))
        refuse(where,
               fmt::format("is of .npy format version {}.{}; 1.0, 2.0 and 3.0 are read", major, minor));
    if (bytes < kVersionedBytes + length_bytes)
        refuse(where, fmt::format("is truncated: it ends after {} bytes, within the .npy header", bytes));

    std::array<std::byte, 4> length{};
    source(std::span(length).first(length_bytes));
    std::uint64_t header_bytes = 0;
    for (std::size_t i = 0; i < length_bytes; ++i)
        header_bytes |= std::to_integer<std::uint64_t>(length[i]) << (8 * i);
    const std::uint64_t before = kVersionedBytes + length_bytes;
    if (header_bytes > kLargestHeader)
        refuse(where,
               fmt::format("claims a header of {} bytes; at most {} are read", header_bytes, kLargestHeader));
    if (header_bytes > bytes - before)
        refuse(where, fmt::format("is truncated: its header takes {} bytes, but {} follow", header_bytes,
                                  bytes - before));
    std::string text(static_cast<std::size_t>(header_bytes), '\0');
    source(std::as_writable_bytes(std::span(text)));
    return {text, before + header_bytes};
}

/// Refuses the file if the array length in its header does not agree with the `follow` bytes after the
/// header. Must be called before memory for the elements is allocated, because a damaged header may claim any
/// length.
void check_bytes(std::uint64_t length, Type type, std::uint64_t follow, const std::string& where)
{
    std::uint64_t claimed = 0;
    if (__builtin_mul_overflow(length, std::uint64_t{size_bytes(type)}, &claimed))
        refuse(where,
               fmt::format("claims {} elements of {}, more than any file can hold", length, name(type)));
    if (follow < claimed)
        refuse(where, fmt::format("is truncated: {} elements of {} take {} bytes, but {} follow the header",
                                  length, name(type), claimed, follow));
    if (follow > claimed)
        refuse(where, fmt::format("is too long: {} elements of {} take {} bytes, but {} follow the header",
                                  length, name(type), claimed, follow));
}

/// Returns a source that reads an open file from its beginning. The file must outlive the source.
NpySource from_begin_of(const InputFile& file)
{
    return [&file, place = std::uint64_t{0}](std::span<std::byte> into) mutable {
        file.read(place, into);
        place += into.size();
    };
}

}  // namespace

Array read_npy_from(const NpySource& source, std::uint64_t bytes, const std::string& where, const Type* asked,
                    NpyShape shape)
{
    const auto [text, before] = read_header_text(source, bytes, where);
    const NpyDictionary header = parse_npy_dictionary(text, where);
    const Type type = choose_type(header, where, asked);
    const bool has_rows = shape == NpyShape::rows;
    const std::uint64_t length = has_rows ? check_rows(header, where) : check_shape(header, where, asked);
    check_bytes(length, type, bytes - before, where);

    Array array(type, static_cast<std::size_t>(length));
    if (has_rows)
        array.set_row_length(static_cast<std::size_t>(header.shape[1]));
    source({array.data(), array.bytes()});
    // In C++, a bool may hold only 0 and 1.
    if (type == Type::boolean)
        for (std::uint8_t& byte : array.as<std::uint8_t>())
            byte = byte != 0 ? 1 : 0;
    return array;
}

Array read_open_npy(const InputFile& file, const Type* asked, NpyShape shape)
{
    return read_npy_from(from_begin_of(file), file.bytes(), file.path(), asked, shape);
}

Type read_open_npy_type(const InputFile& file)
{
    return read_npy_type_from(from_begin_of(file), file.bytes(), file.path());
}

Type read_npy_type_from(const NpySource& source, std::uint64_t bytes, const std::string& where)
{
    return choose_type(parse_npy_dictionary(read_header_text(source, bytes, where).first, where), where,
                       nullptr);
}

NpyLayout read_npy_layout(const InputFile& file, const Type* asked)
{
    const auto [text, before] = read_header_text(from_begin_of(file), file.bytes(), file.path());
    const auto header = parse_npy_dictionary(text, file.path());
    NpyLayout layout{choose_type(header, file.path(), asked), check_shape(header, file.path(), asked),
                     before};
    check_bytes(layout.length, layout.type, file.bytes() - before, file.path());
    return layout;
}

std::string npy_header(Type type, std::uint64_t length, std::uint64_t row_length, std::size_t least_bytes)
{
    const auto shape =
        row_length == 0 ? fmt::format("{},", length) : fmt::format("{}, {}", length / row_length, row_length);
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype_of(type), shape);
    const std::size_t unpadded = kVersionedBytes + 2 + text.size() + 1;
    text.append((kHeaderAlignment - unpadded % kHeaderAlignment) % kHeaderAlignment, ' ');
    if (kVersionedBytes + 2 + text.size() + 1 < least_bytes)
        text.append(least_bytes - (kVersionedBytes + 2 + text.size() + 1), ' ');
    text += '\n';
    std::string header(kNpyMagic);
    header += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    return header + text;
}

void write_npy(const std::string& path, const Array& array)
{
    OutputFile file(path);
    file.write(npy_header(array.type(), array.length(), array.row_length()));
    file.write({array.data(), array.bytes()});
    file.commit();
}

}  // namespace segfold
