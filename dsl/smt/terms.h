#pragma once
// Single operations of the language as terms of SMT-LIB 2, theory by theory.
#include <stdexcept>
#include <string>

#include "dsl/evaluation/bytecode.h"

namespace segfold::smt {

/// The theory that an operator's values are taken in.
enum class Theory : std::uint8_t {
    bits,       ///< as they are: words of their width, floats of IEEE 754
    integers,   ///< integers as unbounded ones; decisions of floats are left open
    reals,      ///< floats as real numbers, and integers as unbounded ones
    all_reals,  ///< both as real numbers: a law of these is a law of integers, and easier to prove
};

/// "bit vectors", "integers", "reals"
std::string_view name(Theory theory);

/// An operation that a theory cannot express; `what()` names it.
class OutOfReach : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The sort of values of `type`: "(_ BitVec 32)", "Float32", "Int", "Bool".
std::string sort_of(Theory theory, Type type);

/// `constant` as a term. Throws OutOfReach for infinities and NaN among the reals.
std::string constant_term(Theory theory, const Constant& constant);

/// `bits` of a float or an integer as a literal of as many bits.
std::string bits_literal(Type type, std::uint64_t bits);

/// An integer or bool operation on words.
std::string word_term(Opcode opcode, Type type, const std::string& a, const std::string& b);
/// An operation on floats of IEEE 754, tests among them.
std::string float_term(Opcode opcode, Type type, const std::string& a, const std::string& b,
                       const std::string& c);
/// A conversion as the machine makes it.
std::string bits_conversion(Type from, Type to, const std::string& a);

/// An operation on unbounded integers. `b_constant` is the second operand where that is a constant.
std::string integer_term(Opcode opcode, Type type, const std::string& a, const std::string& b,
                         const Constant* b_constant);
/// An operation on real numbers that has a meaning of its own; empty for sqrt, exp and their like.
std::string real_term(Opcode opcode, const std::string& a, const std::string& b, const std::string& c);
/// An integer operation that means the same of real numbers.
std::string relaxed_term(Opcode opcode, const std::string& a, const std::string& b);
/// A conversion that loses nothing, but for fractions.
std::string number_conversion(Type from, Type to, const std::string& a);

/// An integer of any size as a term: "5", "(- 5)".
std::string integer_literal(Type type, std::uint64_t bits);
/// "(<= lowest a highest)" of an integer type.
std::string in_range_term(Type type, const std::string& a);

/// "(function a b)".
std::string apply(std::string_view function, const std::string& a, const std::string& b);

/// The bits of a type's values in memory.
constexpr int width_of(Type type) { return static_cast<int>(size_bytes(type)) * 8; }

/// The exponent's and the significand's bits of a floating-point type: "5 11".
std::string_view format_of(Type type);

/// The word for an operation in messages: "popcount", "<<".
std::string_view word_for(Opcode opcode);

}  // namespace segfold::smt
