#pragma once
// Decides which emitted values must be hidden from compilers, which would otherwise compute wrong results.
// helper_functions.cpp describes these faults of compilers.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// True for integers of 8 and 16 bits, which are computed as int.
inline bool is_narrow(Type type) { return is_integer(type) && size_bytes(type) < 4; }

/// True for f16 and bf16, which are computed as float.
inline bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

/// True for index, position, segment and length. They are i64 in the language and Index in CUDA, and never
/// negative.
bool is_place(const ExpressionNode& node);

/// Hides from the compiler how the int `text` was computed.
inline std::string opaque(const std::string& text) { return "opaque(" + text + ")"; }

/// True if a compiler may turn the operation on 8 or 16 bits into a negation, as it may turn -x, ~x + 1,
/// x * -1, (x ^ -1) + 1.
///
/// A comparison of a sum with zero may also become a negation, since x + y == 0 is x == -y; see may_be_sum().
bool may_negate(const std::string& symbol);

/// True if the value may be a sum of 8-bit or 16-bit integers. A value computed outside of the expression
/// counts as one.
bool may_be_sum(const Operator& op, const Expression& expression);

/// True for an i32 that may be the result of arithmetic, in this expression or elsewhere.
///
/// Before sm_100, NVRTC may compute i64(-x) as i64(~x) + 1, which is wrong if -x wraps.
bool may_wrap(const Operator& op, const Expression& expression);

/// True if a compiler may know both operands as constants. It may then fold the minimum of 0 and -0 to the
/// wrong one.
///
/// False for two fields of states, because fields are constants only in the identity.
bool may_be_constants(const Operator& op, const Expression& left, const Expression& right);

}  // namespace segfold
