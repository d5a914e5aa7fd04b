#include "codegen/print/cuda_names.h"

#include <algorithm>

#include "codegen/embedded_kernels.h"
#include "codegen/weave/mention.h"
#include "codegen/weave/weave.h"
#include "dsl/expression.h"
#include "dsl/lasting.h"

namespace segfold {
namespace {

/// Names that CUDA text uses itself and that begin with a small letter. Users' names must differ from them.
/// is_taken() adds rules, and taken_names() adds the names at file scope in kernels/.
/// tests/codegen/cuda_names_test.cpp derives all these names and reports missing ones.
constexpr std::string_view kTaken[] = {
    // Keywords of C++, g++ and nvcc.
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if "
    "import inline int long main module mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename "
    "typeof union unsigned using virtual void volatile wchar_t while xor xor_eq",
    // Macros of compilers and of the headers that peers include.
    "alloca assert assert_perror be16toh be32toh be64toh errno htobe16 htobe32 htobe64 htole16 htole32 "
    "htole64 "
    "isalnum_l isalpha_l isascii isascii_l isblank_l iscntrl_l isdigit_l isgraph_l islower_l isprint_l "
    "ispunct_l isspace_l issubnormal isupper_l isxdigit_l le16toh le32toh le64toh linux major makedev "
    "math_errhandling minor offsetof pthread_cleanup_pop pthread_cleanup_pop_restore_np pthread_cleanup_push "
    "pthread_cleanup_push_defer_np sched_priority st_atime st_ctime st_mtime stderr stdin stdout strdupa "
    "strndupa toascii toascii_l unix",
    // Names of CUDA that runtime/simt declares.
    "acos asin atan atan2 blockDim blockIdx cbrt clock clock64 cosh dim3 erf exp10 fabs fmax fmin fmod "
    "gridDim "
    "hypot isinf labs ldexp llabs log10 nearbyint rint signbit sinh size_t tan threadIdx trunc uchar uint "
    "ulong "
    "ulonglong ushort longlong warpSize",
    // Names in the texts of peers.
    "fetch_identity initial segfold_peer segfold_peer_error write_identity",
    // Names of types, and names in the text around an operator's expressions.
    "i8 i16 i64 u8 u16 u64 f16 bf16 inputs results segments identity lift combine load_item store shuffle "
    "shuffle_up shuffle_down atomic_combine redux copy_tile take_items load_items is_aligned load_vectors "
    "copy_vectors shared_vectors copy_chunk_async quick_exp load_other_items map_items_of "
    "element_address columns load_columns lift_columns "
    "part_words part_pairs part_lanes keep_words clip keep_totals take_totals take_row "
    "lift_at lift_item lift_tile append append_item append_element load_element opaque opaque_f32 opaque_f64 "
    "gather finished segment_values map_tile_item map_with_values take_map_items store_output store_vectors "
    "outputs_are_aligned load_map_items map_element map_item keep_output get_total put_total prefetch "
    "prefetch_results "
    "store_outputs load_features store_features load_numbers shuffle_places shuffle_lifted load_rows "
    "lift_row row_at rows_apart join_row_lanes rows_are_vectors finish_row "
    "store_row store_feature store_results map_row map_kept load_map_row load_row_results map_loaded "
    "load_entry gather_feature scan_element scan_item scan_feature load_scan_items keep_scanned "
    "store_scanned put_scanned store_scanned_tile take_row_items",
    // Functions that native texts call from an operator's functions.
    "least_f32 least_f64 least_i32 least_u32 least_i64 least_u64 greatest_f32 greatest_f64 greatest_i32 "
    "greatest_u32 greatest_i64 greatest_u64 leading_zeros_u32 leading_zeros_u64 rsqrt_f32 rsqrt_f64",
};

/// Returns the names that emitted text must not use: the names in kTaken, the names declared at file scope in
/// kernels/, and the names that a stage declares in its `number` lines.
const Identifiers& taken_names()
{
    static const Identifiers& names = lasting([] {
        Identifiers found;
        for (const auto words : kTaken)
            add_words(words, found);
        for (const auto& file : embedded_kernels()) {
            if (file.path.starts_with("measuring/"))
                continue;  // a text that holds an operator never holds a probe
            add_file_scope_words(file.text, found);
            for (const auto& directive : directives_of(file.text))
                if (directive.word == "number")
                    add_words(directive.argument, found);
        }
        return found;
    });
    return names;
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// True if `name` is `stem` followed by a capital, such as kWarpThreads for the stem "k".
bool is_stem_and_capital(std::string_view name, std::string_view stem)
{
    return name.size() > stem.size() && name.starts_with(stem) && is_capital(name[stem.size()]);
}

/// True for float4, make_float4 and similar names.
bool is_vector(std::string_view name)
{
    constexpr std::string_view kElements[] = {"char", "short", "int", "long", "longlong"};
    if (name.starts_with("make_"))
        name.remove_prefix(5);
    if (name.empty() || name.back() < '1' || name.back() > '4')
        return false;
    name.remove_suffix(1);
    if (name == "float" || name == "double")
        return true;
    if (name.starts_with('u'))
        name.remove_prefix(1);
    return std::ranges::find(kElements, name) != std::end(kElements);
}

/// True for a name such as expf: the name of an f64 function of the language or of CUDA, followed by `f`.
bool is_function_of_f32(std::string_view name)
{
    if (!name.ends_with('f'))
        return false;
    name.remove_suffix(1);
    return find_function(name) != nullptr || taken_names().contains(name);
}

bool is_taken(std::string_view name)
{
    constexpr std::string_view kHelpers[] = {"to_",      "divide_", "remainder_", "absolute_",
                                             "variant_", "Table_",  "place_in_",  "of_"};
    constexpr std::string_view kStems[] = {"k", "atomic", "cu", "cuda", "nvtx"};
    return taken_names().contains(name) || is_function_of_f32(name) || is_vector(name) ||
           std::ranges::any_of(kHelpers, [&](auto helper) { return name.starts_with(helper); }) ||
           std::ranges::any_of(kStems, [&](auto stem) { return is_stem_and_capital(name, stem); });
}

}  // namespace

std::string cuda_name(Type type)
{
    switch (type) {
        case Type::i32: return "int";
        case Type::u32: return "unsigned";
        case Type::f32: return "float";
        case Type::f64: return "double";
        default: return std::string(name(type));
    }
}

std::string cuda_identifier(std::string_view name)
{
    constexpr std::string_view kOwn = "own";
    // _x becomes own_x, so own_x must become ownown_x.
    auto rest = name;
    while (rest.starts_with(kOwn))
        rest.remove_prefix(kOwn.size());
    if (!rest.empty() && (rest[0] == '_' || is_capital(rest[0])))
        return std::string(kOwn).append(name);
    // A name that ends in an underscore gets a second one, so that no two names collide.
    return std::string(name) + (name.ends_with('_') || is_taken(name) ? "_" : "");
}

std::vector<std::string> taken_identifiers()
{
    std::vector<std::string> names;
    for (const auto& name : taken_names())
        if (cuda_identifier(name).ends_with('_'))
            names.push_back(name);
    std::ranges::sort(names);
    return names;
}

}  // namespace segfold
