#pragma once
// The scalar types of the language.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace segfold {

static_assert(std::endian::native == std::endian::little, "arrays are kept in little-endian order");

/// A scalar type. Integer arithmetic wraps. f16 and bf16 round to nearest even after every operation.
enum class Type : std::uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

inline constexpr std::array kTypes = {Type::boolean, Type::i8,  Type::i16, Type::i32, Type::i64,
                                      Type::u8,      Type::u16, Type::u32, Type::u64, Type::f16,
                                      Type::bf16,    Type::f32, Type::f64};

/// True if `type` is one of kTypes. A cast of an arbitrary number may give another value.
constexpr bool is_type(Type type) { return static_cast<std::size_t>(type) < kTypes.size(); }

/// Throws InputError for a value outside of kTypes. `what` tells where the value was found.
[[noreturn]] void refuse_type(Type type, std::string_view what = "");

/// Returns the name in the language: "bool", "i32", "bf16", ... Throws InputError for a value outside of
/// kTypes.
std::string_view name(Type type);

/// Returns the type called `name`; none if there is no such type.
std::optional<Type> find_type(std::string_view name);

/// Same as size_bytes(), for types in kTypes only. Calls no host function, so it can run on a GPU.
constexpr std::size_t size_bytes_of_type(Type type)
{
    constexpr std::uint8_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    static_assert(std::size(sizes) == kTypes.size(), "a size for each type");
    return sizes[static_cast<std::size_t>(type)];
}

/// Returns the size in bytes, in arrays and in memory; 1 for a bool. Throws InputError for a value outside of
/// kTypes.
constexpr std::size_t size_bytes(Type type)
{
    if (!is_type(type))
        refuse_type(type);
    return size_bytes_of_type(type);
}

constexpr bool is_float(Type type) { return type >= Type::f16; }
constexpr bool is_integer(Type type) { return type >= Type::i8 && type <= Type::u64; }
constexpr bool is_signed_integer(Type type) { return type >= Type::i8 && type <= Type::i64; }
constexpr bool is_unsigned_integer(Type type) { return type >= Type::u8 && type <= Type::u64; }

/// Returns the type in which many values of `type` are summed: f32 for f16 and bf16, else `type` itself.
constexpr Type accumulator_type(Type type)
{
    return is_float(type) && size_bytes(type) == 2 ? Type::f32 : type;
}

}  // namespace segfold
