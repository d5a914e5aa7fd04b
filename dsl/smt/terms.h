#pragma once
// Translates single operations of the language into terms of SMT-LIB 2, for each theory.
#include <stdexcept>
#include <string>

#include "dsl/evaluation/bytecode.h"

namespace segfold::smt {

/// The mathematical model of an operator's values.
enum class Theory : std::uint8_t {
    bits,       ///< exact: words of their width, floats of IEEE 754
    integers,   ///< unbounded integers; comparisons of floats are unknown
    reals,      ///< floats as real numbers, integers as unbounded integers
    all_reals,  ///< integers and floats as real numbers; easier to prove, and a proof also holds for integers
};

/// Name of a theory: "bit vectors", "integers", "reals".
std::string_view name(Theory theory);

/// Thrown if a theory cannot express an operation. `what()` names it.
class OutOfReach : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Returns the SMT sort of values of `type`: "(_ BitVec 32)", "Float32", "Int", "Bool".
std::string sort_of(Theory theory, Type type);

/// Returns `constant` as a term. Throws OutOfReach for an infinity or NaN in a theory of real numbers.
std::string constant_term(Theory theory, const Constant& constant);

/// Returns `bits` of a float or an integer as a literal of its type's width.
std::string bits_literal(Type type, std::uint64_t bits);

/// Returns an integer or bool operation on machine words.
std::string word_term(Opcode opcode, Type type, const std::string& a, const std::string& b);
/// Returns an operation or a test on floats of IEEE 754.
std::string float_term(Opcode opcode, Type type, const std::string& a, const std::string& b,
                       const std::string& c);
/// Returns the term that converts `a` between types, with rounding and wrapping as on a CPU or GPU.
std::string bits_conversion(Type from, Type to, const std::string& a);

/// Returns an operation on unbounded integers. `b_constant` is the second operand if that is a constant, else
/// null.
std::string integer_term(Opcode opcode, Type type, const std::string& a, const std::string& b,
                         const Constant* b_constant);
/// Returns an operation on real numbers; empty for sqrt, exp and other functions without an exact term.
std::string real_term(Opcode opcode, const std::string& a, const std::string& b, const std::string& c);
/// Returns an integer operation in a form that also holds for real numbers.
std::string relaxed_term(Opcode opcode, const std::string& a, const std::string& b);
/// Returns a conversion between unbounded integers and real numbers. A conversion to an integer drops the
/// fraction.
std::string number_conversion(Type from, Type to, const std::string& a);

/// Returns an integer of any size as a term: "5", "(- 5)".
std::string integer_literal(Type type, std::uint64_t bits);
/// Returns the requirement that `a` lies in the range of an integer type: "(<= lowest a highest)".
std::string in_range_term(Type type, const std::string& a);

/// Returns the application of a function to two terms: "(function a b)".
std::string apply(std::string_view function, const std::string& a, const std::string& b);

/// Returns the number of bits of a type's values in memory.
constexpr int width_of(Type type) { return static_cast<int>(size_bytes(type)) * 8; }

/// Returns the number of exponent and significand bits of a floating-point type: "5 11".
std::string_view format_of(Type type);

/// Returns the word for an operation in messages: "popcount", "<<".
std::string_view word_for(Opcode opcode);

}  // namespace segfold::smt
