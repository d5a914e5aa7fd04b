#include "dsl/type.h"

#include <string>

#include "dsl/error.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, kTypes.size()> kTypeNames = {
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};

}  // namespace

void refuse_type(Type type, std::string_view what)
{
    std::string known;
    for (const auto one : kTypeNames)
        known += (known.empty() ? "" : ", ") + std::string(one);
    throw InputError((what.empty() ? "an array or a value has" : std::string(what) + " have") +
                     " the type of number " + std::to_string(static_cast<int>(type)) +
                     ", which is none; the types are 0 to " + std::to_string(kTypes.size() - 1) + ": " +
                     known);
}

std::string_view name(Type type)
{
    if (!is_type(type))
        refuse_type(type);
    return kTypeNames[static_cast<std::size_t>(type)];
}

std::optional<Type> find_type(std::string_view name)
{
    for (const Type type : kTypes)
        if (kTypeNames[static_cast<std::size_t>(type)] == name)
            return type;
    return std::nullopt;
}

}  // namespace segfold
