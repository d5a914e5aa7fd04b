#pragma once
// The types that locals take from their uses, where their values are made of untyped numbers alone.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/check/typing.h"

namespace segfold {

/// A use of a local that asks for a type.
struct LetUse {
    Type type;
    Position position;
};

/// The type that the uses of one local ask for.
struct LetUses {
    std::optional<LetUse> first;  ///< the use whose type the local takes; none if no use asks for one
    std::optional<LetUse> other;  ///< the first use that asks for another type, if any
};

/// A value of a block and the type it is put into; none for a `let`, which has its own.
struct TypedValue {
    Expression value;
    std::optional<Type> wanted;
};

/// By name, the uses of the locals in `lets` whose values state no type by themselves.
///
/// A use asks for the type that a number in its place would take: that of the field it is put into, of the
/// other operand, of the other argument. A conversion f32(p), and an index t[p], ask only where no other use
/// does, as they take any type. A local that is itself untyped hands on what its own uses ask for. `typing`
/// knows the names of the block but for its locals; `assigned` are the values of its fields.
std::map<std::string, LetUses> let_uses(Typing typing, const std::vector<Let>& lets,
                                        const std::vector<TypedValue>& assigned);

}  // namespace segfold
