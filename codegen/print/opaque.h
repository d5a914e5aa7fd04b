#pragma once
// Decides which emitted values must be hidden from compilers that would change their meaning.
// helper_functions.cpp explains how.
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

/// True if a compiler may take a narrow operation for a negation: -x, ~x + 1, x * -1, (x ^ -1) + 1.
///
/// Comparing a sum with zero is another such case, since x + y == 0 is x == -y; see may_be_sum().
bool may_negate(const std::string& symbol);

/// True if the value may be the result of a narrow `+`, or comes from outside of the expression.
bool may_be_sum(const Operator& op, const Expression& expression);

/// True for an i32 that may be the result of arithmetic, in this expression or elsewhere.
///
/// Before sm_100, NVRTC may compute i64(-x) as i64(~x) + 1, which is wrong if -x wraps.
bool may_wrap(const Operator& op, const Expression& expression);

/// True if a compiler may see constants in both operands. The compiler then folds the minimum of 0 and -0 to
/// either of them.
///
/// False for two fields, because they are constants only in the identity.
bool may_be_constants(const Operator& op, const Expression& left, const Expression& right);

}  // namespace segfold
