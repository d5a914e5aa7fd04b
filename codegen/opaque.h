#pragma once
// Where emitted arithmetic hides from the compilers, which change its meaning; helper_functions.cpp says how.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Integers of 8 and 16 bits, which are computed as int.
inline bool is_narrow(Type type) { return is_integer(type) && size_bytes(type) < 4; }

/// The types of 16 bits, which are computed as float.
inline bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

/// index, position, segment and length are i64 in the language and Index in CUDA; none is below zero.
bool is_place(const ExpressionNode& node);

/// An int of which the compilers shall not see where it comes from.
inline std::string opaque(const std::string& text) { return "opaque(" + text + ")"; }

/// True where the result of a narrow operation may be read as a negation: -x, ~x + 1, x * -1, (x ^ -1) + 1.
///
/// A sum may where it is tested for zero: x + y == 0 is x == -y. There may_be_sum() says so.
bool may_negate(const std::string& symbol);

/// True where narrow `+` may give the value, or values come that this text does not show.
bool may_be_sum(const Operator& op, const Expression& expression);

/// True for an i32 that arithmetic may give, here or where a value comes from that this text does not show.
///
/// Before sm_100, NVRTC may widen -x to 64 bits as ~x widened plus 1, which is wrong where -x wraps.
bool may_wrap(const Operator& op, const Expression& expression);

/// True where both operands may be constants to a compiler: it takes the least of 0 and -0 for either.
///
/// Two fields are none: an operator's constants there are its identity.
bool may_be_constants(const Operator& op, const Expression& left, const Expression& right);

}  // namespace segfold
