#pragma once
// Decides which emitted expressions must be hidden from compilers. Some compilers compute wrong results for
// these expressions; helper_functions.cpp describes the faults.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// True for integers of 8 and 16 bits. C++ computes with them as int.
inline bool is_narrow(Type type) { return is_integer(type) && size_bytes(type) < 4; }

/// True for f16 and bf16. Emitted text computes with them as float.
inline bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

/// True for index, position, segment and length. They are i64 in the language and Index in CUDA, and never
/// negative.
bool is_place(const ExpressionNode& node);

/// Returns `text`, an int expression, wrapped in a call that hides from the compiler how the value was
/// computed.
inline std::string opaque(const std::string& text) { return "opaque(" + text + ")"; }

/// True if a compiler may turn this operation on 8 or 16 bits into a negation. Examples are -x, ~x + 1, x *
/// -1 and (x ^ -1) + 1.
///
/// A comparison of a sum with zero may also become a negation, because x + y == 0 is the same as x == -y; see
/// may_be_sum().
bool may_negate(const std::string& symbol);

/// True if the value may be a sum of 8-bit or 16-bit integers. A value that is computed outside of
/// `expression` counts as a sum.
bool may_be_sum(const Operator& op, const Expression& expression);

/// True for an i32 that may be the result of arithmetic, in `expression` or elsewhere.
///
/// Before sm_100, NVRTC may compute i64(-x) as i64(~x) + 1, which is wrong if -x wraps.
bool may_wrap(const Operator& op, const Expression& expression);

/// True if a compiler may see both operands of a minimum or maximum as constants. The compiler may then
/// choose the wrong one of 0 and -0.
///
/// False for two fields of states, because fields are constants only in the identity.
bool may_be_constants(const Operator& op, const Expression& left, const Expression& right);

}  // namespace segfold
