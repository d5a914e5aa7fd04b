#include "codegen/section/helper_functions.h"

#include <fmt/format.h>

#include "codegen/print/cuda_names.h"
#include "codegen/section/vocabulary.h"

namespace segfold {
namespace {

std::string upper_name(Type type)
{
    std::string text(name(type));
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

Piece constant(const std::string& type, const std::string& name, const std::string& value)
{
    return {name, fmt::format("constexpr {} {} = {};\n", type, name, value), Piece::Kind::constant};
}

std::string suffix(Type type)
{
    return type == Type::u32 ? "u" : type == Type::i64 ? "ll" : type == Type::u64 ? "ull" : "";
}

void add_integer_limits(std::vector<Piece>& pieces, Type type)
{
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    const bool is_signed = is_signed_integer(type);
    const std::uint64_t highest = ~std::uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
    const auto text = std::to_string(highest) + suffix(type);
    const auto type_name = cuda_name(type);
    pieces.push_back(
        constant(type_name, "kLowest" + upper_name(type), is_signed ? "-" + text + " - 1" : "0"));
    pieces.push_back(constant(type_name, "kHighest" + upper_name(type), text));
}

void add_constants(std::vector<Piece>& pieces)
{
    pieces.push_back(constant("float", "kInfinity", "__builtin_bit_cast(float, 0x7f800000u)"));
    pieces.push_back(constant("double", "kInfinityF64", "__builtin_bit_cast(double, 0x7ff0000000000000ull)"));
    pieces.push_back(constant("float", "kNan", "__builtin_bit_cast(float, 0x7fffffffu)"));
    pieces.push_back(constant("double", "kNanF64", "__builtin_bit_cast(double, 0x7fffffffffffffffull)"));
    const auto real = [&](const char* type, const char* suffix, const char* highest, const char* epsilon) {
        pieces.push_back(constant(type, std::string("kLowest") + suffix, std::string("-") + highest));
        pieces.push_back(constant(type, std::string("kHighest") + suffix, highest));
        pieces.push_back(constant(type, std::string("kEpsilon") + suffix, epsilon));
    };
    real("float", "F16", "65504.0f", "0.0009765625f");
    real("float", "Bf16", "3.3895314e+38f", "0.0078125f");
    real("float", "F32", "3.4028235e+38f", "1.1920929e-07f");
    real("double", "F64", "1.7976931348623157e+308", "2.220446049250313e-16");
    for (const Type type : kTypes)
        if (is_integer(type))
            add_integer_limits(pieces, type);
}

void add_division(std::vector<Piece>& pieces, Type type)
{
    const auto t = cuda_name(type);
    // Integers of 8 and 16 bits are divided as int, which holds every quotient.
    const bool narrow = size_bytes(type) < 4;
    const bool overflows = is_signed_integer(type) && !narrow;
    const std::string negated = type == Type::i64 ? "i64(0ull - u64(x))" : "int(0u - unsigned(x))";
    const auto value = [&](const std::string& text) { return narrow ? t + "(" + text + ")" : text; };
    // Hides the quotient from compilers, because x / -1 is a negation; see add_opaque().
    const auto quotient = narrow && is_signed_integer(type) ? "opaque(x / y)" : "x / y";
    const auto add = [&](const std::string& function, const std::string& comment, const std::string& of_zero,
                         const std::string& of_minus_one, const std::string& otherwise) {
        Holes holes{{{"comment", comment},
                     {"type", t},
                     {"function", function},
                     {"of_zero", of_zero},
                     {"of_minus_one", of_minus_one},
                     {"otherwise", otherwise}},
                    {{"overflow", {}}}};
        if (overflows)
            holes.lists["overflow"].push_back({});
        pieces.push_back({function, vocabulary("helpers.cuh", "quotient", holes), Piece::Kind::declaration});
    };
    add(fmt::format("divide_{}", name(type)),
        std::string("Division as the language has it: x / 0 is 0") +
            (is_signed_integer(type) ? ", and the lowest value / -1 wraps." : "."),
        "0", negated, value(quotient));
    add(fmt::format("remainder_{}", name(type)), "Remainder as the language has it: x % 0 is x.", "x", "0",
        value("x % y"));
}

void add_absolute(std::vector<Piece>& pieces, Type type)
{
    const auto t = cuda_name(type);
    const auto function = fmt::format("absolute_{}", name(type));
    const std::string negated = type == Type::i64   ? "i64(0ull - u64(x))"
                                : type == Type::i32 ? "int(0u - unsigned(x))"
                                                    : t + "(opaque(-x))";
    pieces.push_back(
        {function,
         vocabulary("helpers.cuh", "absolute", {{{"type", t}, {"function", function}, {"negated", negated}}}),
         Piece::Kind::declaration});
}

/// Adds opaque(), which hides the origin of its argument from compilers. Results of 8-bit and 16-bit
/// arithmetic pass through opaque(), and so do converted values of these types.
///
/// NVRTC may recognise a negation or an absolute value in 16 bits, even in bytes widened to 16 bits or in the
/// low half of an int. ptxas (of CUDA 13.0, for every architecture) then derives the sign of the result as if
/// it had not wrapped: in later code -(-32768) is 32768. opaque.h lists further uses.
void add_opaque(std::vector<Piece>& pieces)
{
    pieces.push_back({"opaque", vocabulary("helpers.cuh", "opaque"), Piece::Kind::declaration});
}

/// Adds a function that hides an operand of fminf or fmaxf from NVRTC. For the constants 0 and -0, NVRTC may
/// choose the wrong one.
void add_opaque_real(std::vector<Piece>& pieces, Type type)
{
    const auto t = cuda_name(type);
    const bool single = type == Type::f32;
    const auto function = fmt::format("opaque_{}", name(type));
    pieces.push_back({function,
                      vocabulary("helpers.cuh", "opaque_real",
                                 {{{"type", t},
                                   {"function", function},
                                   {"bits", single ? "int" : "i64"},
                                   {"register", single ? "r" : "l"}}}),
                      Piece::Kind::declaration});
}

/// Returns 2^exponent as a literal of the type `real`.
std::string power_of_two(unsigned exponent, const std::string& real)
{
    const double value = static_cast<double>(std::uint64_t{1} << (exponent - 1)) * 2.0;
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text + (real == "float" ? "f" : "");
}

void add_conversion(std::vector<Piece>& pieces, Type type, Dialect dialect)
{
    const auto t = cuda_name(type);
    const auto function = fmt::format("to_{}", name(type));
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    const bool is_signed = is_signed_integer(type);
    Holes holes{{{"type", t},
                 {"function", function},
                 {"lowest", "kLowest" + upper_name(type)},
                 {"highest", "kHighest" + upper_name(type)}}};
    for (const std::string real : {"float", "double"}) {
        const auto end = power_of_two(is_signed ? bits - 1 : bits, real);
        holes.values["end_" + real] = end;
        holes.values["least_" + real] = is_signed ? "-" + end : real == "float" ? "0.0f" : "0.0";
    }
    holes.lists["sign"] = std::vector<Holes>(is_signed ? 1 : 0);
    const auto* file = dialect == Dialect::native ? "native.h" : "helpers.cuh";
    pieces.push_back({function, vocabulary(file, "conversion", holes), Piece::Kind::declaration});
}

/// Turns the text of a CUDA function into C++ for the host, where opaque() is not needed.
std::string as_native(std::string text)
{
    const auto replace = [&](std::string_view from, std::string_view to) {
        for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
    };
    replace("__device__ __forceinline__", kNativeFunction);
    replace("opaque(x / y)", "x / y");
    replace("opaque(-x)", "-x");
    return text;
}

}  // namespace

std::vector<Piece> helper_pieces(Dialect dialect)
{
    std::vector<Piece> pieces;
    add_constants(pieces);
    add_opaque(pieces);
    add_opaque_real(pieces, Type::f32);
    add_opaque_real(pieces, Type::f64);
    for (const char* function : {"divide_one", "divide_whole", "quick_exp"})
        if (dialect == Dialect::cuda)
            pieces.push_back({function, vocabulary("helpers.cuh", function), Piece::Kind::declaration});
    for (const Type type : kTypes) {
        if (!is_integer(type))
            continue;
        add_division(pieces, type);
        if (is_signed_integer(type))
            add_absolute(pieces, type);
        add_conversion(pieces, type, dialect);
    }
    if (dialect == Dialect::native)
        for (auto& piece : pieces)
            piece.text = as_native(std::move(piece.text));
    return pieces;
}

}  // namespace segfold
