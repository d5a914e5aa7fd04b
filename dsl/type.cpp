#include "dsl/type.h"

namespace segfold {
namespace {

constexpr std::string_view kTypeNames[] = {"bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
                                           "u32",  "u64", "f16", "bf16", "f32", "f64"};

}  // namespace

std::string_view name(Type type) { return kTypeNames[static_cast<int>(type)]; }

std::optional<Type> find_type(std::string_view name)
{
    for (const Type type : kTypes)
        if (kTypeNames[static_cast<int>(type)] == name)
            return type;
    return std::nullopt;
}

}  // namespace segfold
