#include "dsl/message/slips.h"

#include <algorithm>

namespace segfold {
namespace {

struct Slip {
    std::string_view word;
    std::string_view advice;
};

constexpr std::string_view kChoice = "use CONDITION ? A : B";
constexpr std::string_view kChoiceElse = "use CONDITION ? A : B, which has both sides";
constexpr std::string_view kNoLoop = "there are no loops: combine joins the elements of a segment";
constexpr std::string_view kLet = "bind it with let: let NAME = VALUE;";
constexpr std::string_view kFunction = "functions stand inside an operator: def square(x) = x * x";

constexpr Slip kWords[] = {
    {"if", kChoice},
    {"then", kChoice},
    {"switch", kChoice},
    {"match", kChoice},
    {"case", kChoice},
    {"when", kChoice},
    {"else", kChoiceElse},
    {"elif", kChoiceElse},
    {"return", "write the value alone, as in combine(a, b) a + b, or set each field: { FIELD = VALUE; ... }"},
    {"for", "loops are written for k in 0..8 { ... }; combine joins the elements of a segment"},
    {"while", kNoLoop},
    {"do", kNoLoop},
    {"loop", kNoLoop},
    {"var", kLet},
    {"const", kLet},
    {"auto", kLet},
    {"mut", kLet},
    {"val", kLet},
    {"static", kLet},
    {"and", "write &&"},
    {"or", "write ||"},
    {"not", "write !"},
    {"xor", "write ^, or != between bools"},
    {"mod", "write %"},
    {"div", "write /, which is toward zero for integers"},
    {"is", "write =="},
    {"as", "conversions are written f32(x)"},
    {"def", kFunction},
    {"fn", kFunction},
    {"func", kFunction},
    {"function", kFunction},
    {"lambda", kFunction},
};

constexpr Slip kFunctionSlips[] = {
    {"fmax", "write max(a, b)"},
    {"fmaxf", "write max(a, b)"},
    {"maximum", "write max(a, b)"},
    {"fmin", "write min(a, b)"},
    {"fminf", "write min(a, b)"},
    {"minimum", "write min(a, b)"},
    {"fabs", "write abs(x)"},
    {"fabsf", "write abs(x)"},
    {"sqrtf", "write sqrt(x)"},
    {"expf", "write exp(x)"},
    {"logf", "write log(x)"},
    {"powf", "write pow(x, y)"},
    {"powi", "write pow(x, y)"},
    {"ln", "write log(x)"},
    {"log10", "write log(x) / log(10)"},
    {"exp10", "write pow(10, x)"},
    {"tan", "write sin(x) / cos(x)"},
    {"sigmoid", "write 1 / (1 + exp(-x))"},
    {"square", "write x * x"},
    {"hypot", "write sqrt(x * x + y * y)"},
    {"trunc", "write x < 0 ? ceil(x) : floor(x)"},
    {"sign", "write x > 0 ? 1 : x < 0 ? -1 : 0"},
    {"clamp", "write min(max(x, low), high)"},
    {"clip", "write min(max(x, low), high)"},
    {"fmod", "write x - y * floor(x / y), or % between integers"},
    {"isinf", "write abs(x) == inf"},
    {"isnull", "write isnan(x)"},
    {"where", kChoice},
    {"select", kChoice},
    {"popc", "write popcount(x)"},
    {"len", "in finish, length is the number of elements of the segment"},
    {"sum", "a sum is the combine a + b of a field"},
};

constexpr Slip kNameSlips[] = {
    {"True", "write true"},
    {"False", "write false"},
    {"TRUE", "write true"},
    {"FALSE", "write false"},
    {"NaN", "write nan"},
    {"NAN", "write nan"},
    {"Inf", "write inf"},
    {"Infinity", "write inf"},
    {"infinity", "write inf"},
    {"INFINITY", "write inf"},
    {"INT_MAX", "write highest(i32)"},
    {"INT_MIN", "write lowest(i32)"},
    {"FLT_MAX", "write highest(f32)"},
    {"FLT_EPSILON", "write epsilon(f32)"},
    {"DBL_MAX", "write highest(f64)"},
    {"DBL_EPSILON", "write epsilon(f64)"},
    {"pi", "write 3.141592653589793"},
    {"PI", "write 3.141592653589793"},
    {"M_PI", "write 3.141592653589793"},
    {"null", "every field has a value; keep a bool field that says whether it counts"},
    {"None", "every field has a value; keep a bool field that says whether it counts"},
    {"idx", "the place of the element in the input is index, that in its segment position"},
    {"i", "the place of the element in the input is index, that in its segment position"},
};

constexpr Slip kForeignTypes[] = {
    {"float", "f32"},    {"double", "f64"},    {"half", "f16"},     {"int", "i32"},      {"long", "i64"},
    {"short", "i16"},    {"char", "i8"},       {"uint", "u32"},     {"unsigned", "u32"}, {"ulong", "u64"},
    {"ushort", "u16"},   {"uchar", "u8"},      {"byte", "u8"},      {"float16", "f16"},  {"float32", "f32"},
    {"float64", "f64"},  {"bfloat16", "bf16"}, {"int8", "i8"},      {"int16", "i16"},    {"int32", "i32"},
    {"int64", "i64"},    {"uint8", "u8"},      {"uint16", "u16"},   {"uint32", "u32"},   {"uint64", "u64"},
    {"int8_t", "i8"},    {"int16_t", "i16"},   {"int32_t", "i32"},  {"int64_t", "i64"},  {"uint8_t", "u8"},
    {"uint16_t", "u16"}, {"uint32_t", "u32"},  {"uint64_t", "u64"}, {"size_t", "u64"},   {"usize", "u64"},
    {"isize", "i64"},    {"integer", "i32"},   {"real", "f64"},     {"boolean", "bool"}, {"Bool", "bool"},
};

template <std::size_t N>
std::string_view find(const Slip (&slips)[N], std::string_view word)
{
    const auto found = std::ranges::find(slips, word, &Slip::word);
    return found == std::end(slips) ? std::string_view() : found->advice;
}

}  // namespace

std::string advice_on_word(std::string_view word) { return std::string(find(kWords, word)); }

std::string advice_on_function(std::string_view name)
{
    if (const auto type = type_like(name); !type.empty())
        return "conversions are written " + std::string(type) + "(x)";
    if (const auto advice = find(kFunctionSlips, name); !advice.empty())
        return std::string(advice);
    return advice_on_word(name);
}

std::string advice_on_name(std::string_view name)
{
    const auto advice = find(kNameSlips, name);
    return advice.empty() ? advice_on_word(name) : std::string(advice);
}

std::string_view type_like(std::string_view name) { return find(kForeignTypes, name); }

}  // namespace segfold
