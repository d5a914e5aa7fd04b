#pragma once
// Calls a template with the C++ type for a `Type` known only at run time.
#include <cstdint>
#include <type_traits>

#include "dsl/array.h"

namespace segfold {

/// Calls `visit(std::type_identity<T>())`, where T is the storage type of `type`. T is std::uint16_t for f16
/// and bf16.
template <class Visit>
decltype(auto) visit_storage(Type type, Visit&& visit)
{
    switch (type) {
        case Type::boolean: return visit(std::type_identity<bool>());
        case Type::i8: return visit(std::type_identity<std::int8_t>());
        case Type::i16: return visit(std::type_identity<std::int16_t>());
        case Type::i32: return visit(std::type_identity<std::int32_t>());
        case Type::i64: return visit(std::type_identity<std::int64_t>());
        case Type::u8: return visit(std::type_identity<std::uint8_t>());
        case Type::u16:
        case Type::f16:
        case Type::bf16: return visit(std::type_identity<std::uint16_t>());
        case Type::u32: return visit(std::type_identity<std::uint32_t>());
        case Type::u64: return visit(std::type_identity<std::uint64_t>());
        case Type::f32: return visit(std::type_identity<float>());
        case Type::f64: return visit(std::type_identity<double>());
    }
    throw InternalError("unknown type");
}

/// Calls `visit` with the elements of an integer array as a span of their type. Throws InternalError for any
/// other array.
template <class Visit>
void visit_integers(const Array& array, Visit&& visit)
{
    if (!is_integer(array.type()))
        throw InternalError("visit_integers: not an array of integers");
    visit_storage(array.type(), [&]<class Element>(std::type_identity<Element>) {
        if constexpr (std::is_integral_v<Element> && !std::is_same_v<Element, bool>)
            visit(array.as<Element>());
    });
}

}  // namespace segfold
