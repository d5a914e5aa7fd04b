#include "codegen/cuda_names.h"

namespace segfold {
namespace {

/// Separated by blanks, which also stand at both ends.
constexpr std::string_view kTaken =
    // C++
    " alignas alignof and asm auto bool break case catch char class concept const constexpr consteval"
    " constinit continue decltype default delete do double else enum explicit export extern float for"
    " friend goto if inline int long mutable namespace new noexcept not nullptr operator or private"
    " protected public register requires return short signed sizeof static struct switch template this"
    " throw try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor"
    " main char8_t char16_t char32_t co_await co_return co_yield bitand bitor compl not_eq and_eq or_eq"
    " xor_eq dynamic_cast static_cast const_cast reinterpret_cast static_assert thread_local true false"
    // CUDA
    " threadIdx blockIdx blockDim gridDim warpSize signbit isinf float2 float4 double2 int2 int4 uint2"
    " uint3 uint4 dim3 clock clock64"
    // functions of f32 and f64
    " fmin fminf fmax fmaxf fabs fabsf sqrtf rsqrtf expf exp2f expm1f logf log2f log1pf powf sinf cosf"
    " tanhf floorf ceilf roundf fmaf copysignf"
    // macros of the fiber executor's and the compilers' headers
    " linux unix assert errno NULL EOF"
    // types
    " i8 i16 i64 u8 u16 u64 f16 bf16"
    // the vocabulary of kernels/
    " Inputs Results Segments State Index Run identity inputs results segments load_item store shuffle"
    " shuffle_up shuffle_down ";

}  // namespace

std::string cuda_name(Type type)
{
    switch (type) {
        case Type::i32:
            return "int";
        case Type::u32:
            return "unsigned";
        case Type::f32:
            return "float";
        case Type::f64:
            return "double";
        default:
            return std::string(name(type));
    }
}

std::string cuda_identifier(std::string_view name)
{
    const bool constant = name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z';
    const bool helper = name.starts_with("to_") || name.starts_with("divide_") ||
                        name.starts_with("remainder_") || name.starts_with("absolute_");
    // A user's own trailing underscore is doubled, so that no two names meet.
    const bool taken =
        name.ends_with('_') || kTaken.find(" " + std::string(name) + " ") != std::string_view::npos;
    return std::string(name) + (constant || helper || taken ? "_" : "");
}

}  // namespace segfold
