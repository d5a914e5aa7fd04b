#pragma once
// The scalar types of the language.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace segfold {

static_assert(std::endian::native == std::endian::little, "arrays are kept in little-endian order");

/// A scalar type. Integer arithmetic wraps; f16 and bf16 round to nearest even after every operation.
enum class Type : std::uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

inline constexpr std::array kTypes = {Type::boolean, Type::i8,  Type::i16, Type::i32, Type::i64,
                                      Type::u8,      Type::u16, Type::u32, Type::u64, Type::f16,
                                      Type::bf16,    Type::f32, Type::f64};

/// Name in the language: "bool", "i32", "bf16", ...
std::string_view name(Type type);

/// The type called `name`, or nothing.
std::optional<Type> find_type(std::string_view name);

/// Size in an array and in memory; a bool takes one byte.
constexpr std::size_t size_bytes(Type type)
{
    constexpr std::size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    return sizes[static_cast<int>(type)];
}

constexpr bool is_float(Type type) { return type >= Type::f16; }
constexpr bool is_integer(Type type) { return type >= Type::i8 && type <= Type::u64; }
constexpr bool is_signed_integer(Type type) { return type >= Type::i8 && type <= Type::i64; }
constexpr bool is_unsigned_integer(Type type) { return type >= Type::u8 && type <= Type::u64; }

/// The type in which many values of `type` are added up: f32 for f16 and bf16, `type` itself for the others.
constexpr Type accumulator_type(Type type)
{
    return is_float(type) && size_bytes(type) == 2 ? Type::f32 : type;
}

}  // namespace segfold
