#pragma once
// Values at which operations change their behaviour, and arrays by the bits of their elements.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/half.h"

namespace segfold {

/// Bits of the values at which operations change their behaviour.
inline std::vector<std::uint64_t> edges(Type type)
{
    std::vector<std::uint64_t> bits;
    if (type == Type::boolean)
        return {0, 1};
    const unsigned width = static_cast<unsigned>(size_bytes(type)) * 8;
    if (is_integer(type)) {
        const std::uint64_t top = std::uint64_t{1} << (width - 1);
        for (const std::uint64_t value : {0, 1, 2, 3, 7, 8, 15, 31, 32, 63, 100})
            bits.insert(bits.end(), {value, 0 - value, top + value, top - value});
        return bits;
    }
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> values = {
        0,          1,       0.5,   1.5,        2.5,    3,      127.5,  255.5,  256,         32767.5,
        65504,      65535.5, 65536, 2147483520, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 1e-3,        6e-8,
        5.9604e-08, 6.1e-5,  1e-40, 1e-310,     3e38,   1e300,  1e10,   inf,    std::nan("")};
    for (const double magnitude : values)
        for (const double value : {magnitude, -magnitude}) {
            const auto single = static_cast<float>(value);
            bits.push_back(type == Type::f16    ? f32_to_f16(single)
                           : type == Type::bf16 ? f32_to_bf16(single)
                           : type == Type::f32  ? std::bit_cast<std::uint32_t>(single)
                                                : std::bit_cast<std::uint64_t>(value));
        }
    return bits;
}

inline Array array_of_bits(Type type, const std::vector<std::uint64_t>& bits)
{
    Array array(type, bits.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
        std::memcpy(array.data() + i * size_bytes(type), &bits[i], size_bytes(type));
    return array;
}

template <class Word>
std::uint64_t word_at(const Array& array, std::size_t i)
{
    return array.as<Word>()[i];
}

inline std::uint64_t bits_at(const Array& array, std::size_t i)
{
    const auto size = size_bytes(array.type());
    return size == 1   ? word_at<std::uint8_t>(array, i)
           : size == 2 ? word_at<std::uint16_t>(array, i)
           : size == 4 ? word_at<std::uint32_t>(array, i)
                       : word_at<std::uint64_t>(array, i);
}

inline double number_at(const Array& array, std::size_t i)
{
    const auto bits = bits_at(array, i);
    switch (array.type()) {
        case Type::f16: return f16_to_f32(static_cast<std::uint16_t>(bits));
        case Type::bf16: return bf16_to_f32(static_cast<std::uint16_t>(bits));
        case Type::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        default: return std::bit_cast<double>(bits);
    }
}

inline bool equal(const Array& left, const Array& right, std::size_t i)
{
    const bool nans =
        is_float(left.type()) && std::isnan(number_at(left, i)) && std::isnan(number_at(right, i));
    return nans || bits_at(left, i) == bits_at(right, i);
}

inline std::string value_text(const Array& array, std::size_t i)
{
    std::string number = is_float(array.type()) ? fmt::format(" = {}", number_at(array, i)) : "";
    return fmt::format("{} {:#x}{}", name(array.type()), bits_at(array, i), number);
}

}  // namespace segfold
