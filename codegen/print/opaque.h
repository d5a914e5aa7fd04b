#pragma once
// Emitted values to hide from compilers, which would change their meaning. helper_functions.cpp hides them.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// True for integers of 8 and 16 bits, which are computed as int.
inline bool is_narrow(Type type) { return is_integer(type) && size_bytes(type) < 4; }

/// True for the floats of 16 bits, which are computed as float.
inline bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

/// index, position, segment and length are i64 in the language and Index in CUDA; none is below zero.
bool is_place(const ExpressionNode& node);

/// The int `text`, hidden: the compiler cannot see how it was computed.
inline std::string opaque(const std::string& text) { return "opaque(" + text + ")"; }

/// True where a compiler may take a narrow operation for a negation: -x, ~x + 1, x * -1, (x ^ -1) + 1.
///
/// A sum that is tested for zero is another case, x + y == 0 being x == -y; see may_be_sum().
bool may_negate(const std::string& symbol);

/// True where the value may be the result of a narrow `+`, or comes from outside of the expression.
bool may_be_sum(const Operator& op, const Expression& expression);

/// True for an i32 that may be the result of arithmetic, in the expression or where its value comes from.
///
/// Before sm_100, NVRTC may widen -x to 64 bits as ~x widened plus 1, which is wrong where -x wraps.
bool may_wrap(const Operator& op, const Expression& expression);

/// True where a compiler may see both operands as constants. It then folds the minimum of 0 and -0 to either.
///
/// Two fields do not count: the only constants that they can have are the identity's.
bool may_be_constants(const Operator& op, const Expression& left, const Expression& right);

}  // namespace segfold
