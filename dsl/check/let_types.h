#pragma once
// Infers the types of locals whose values are made of untyped numbers. The uses of a local decide its type.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/check/typing.h"

namespace segfold {

/// A use of a local, and the type that this use requires.
struct LetUse {
    Type type;
    Position position;
};

/// The types that the uses of one local require.
struct LetUses {
    std::optional<LetUse> first;  ///< the use that decides the type; none if no use requires one
    std::optional<LetUse> other;  ///< the first use that requires another type, if any
};

/// A value that a block assigns, and the type of the assigned field; no type if the field is unknown.
struct TypedValue {
    Expression value;
    std::optional<Type> wanted;
};

/// Collects the uses of the locals in `lets` whose values state no type by themselves. The keys are the names
/// of the locals.
///
/// A use requires the type that a bare number would take in the same place: the type of the assigned field,
/// of the other operand or of the other argument. A conversion f32(p) and an index t[p] accept any type, so
/// they count only if no other use decides. If the value of another untyped local uses p, the uses of that
/// local decide. `typing` knows all names of the block except its locals. `assigned` holds the values that
/// the block assigns to fields.
std::map<std::string, LetUses> let_uses(Typing typing, const std::vector<Let>& lets,
                                        const std::vector<TypedValue>& assigned);

}  // namespace segfold
