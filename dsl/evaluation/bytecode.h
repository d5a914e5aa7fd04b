#pragma once
// Operators flattened to instructions for the interpreter, on the host and inside Thrust's functors.
#include <cstdint>
#include <string>
#include <vector>

#include "dsl/operator.h"

namespace segfold {

enum class Opcode : std::uint8_t {
    copy,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    bit_and,
    bit_or,
    bit_xor,
    bit_not,
    shift_left,
    shift_right,
    equal,
    not_equal,
    less,
    less_equal,
    negate,
    logical_not,
    select,
    minimum,
    maximum,
    absolute,
    square_root,
    reciprocal_root,
    exponential,
    exponential2,
    exponential_m1,
    logarithm,
    logarithm2,
    logarithm_1p,
    power,
    sine,
    cosine,
    hyperbolic_tangent,
    floor,
    ceiling,
    round,
    multiply_add,
    copy_sign,
    count_ones,
    leading_zeros,
    is_nan,
    is_finite,
    convert,
    gather,
    jump,
    jump_unless,
};

/// One step: `slots[out] = opcode(slots[a], slots[b], slots[c])`.
///
/// gather: `b` is the table's number. jump, jump_unless: `out` is the instruction to go to, `a` the
/// condition.
struct Instruction {
    Opcode opcode;
    Type type;    ///< of the operands
    Type target;  ///< type of the value, if it differs: convert, gather
    std::uint16_t out, a, b, c;
};

/// A constant that a slot holds before the first instruction; integers and bools in `bits`, floats in `real`.
struct Constant {
    std::uint16_t slot;
    Type type;
    std::uint64_t bits;
    double real;
};

/// A block as instructions. Slots 0 .. num_inputs-1 are its inputs.
struct Program {
    std::vector<Instruction> code;
    std::vector<Constant> constants;
    std::vector<std::uint16_t> outputs;  ///< the slot of each field that the block sets
    std::uint16_t num_inputs = 0;
    std::uint16_t num_slots = 0;
};

/// A checked operator as programs.
///
///   identity nothing                                 ->  state
///   lift     columns, then index, position, segment  ->  state
///   combine  earlier state, later state              ->  state
///   append   state, columns, then index, position, segment  ->  state
///   finish   state, then segment, length             ->  result
///   empty    segment, length                         ->  result
///   map      columns, result, then index, position, segment, length  ->  outputs
///
/// Where the operator has no `finish`, the program copies the state; where it has no `empty`, `empty`
/// finishes the identity, and is without code if there is none (has_empty is false).
struct Bytecode {
    Program identity, lift, combine, append, finish, empty, map;
    bool has_identity = false, has_append = false, has_empty = false, has_map = false;
    std::vector<Type> columns, state, results, outputs;
    std::vector<std::string> column_names, table_names;
    std::vector<Type> tables;
    std::vector<bool> are_scalars;  ///< of the tables: those of one value, which is read at 0
};

/// Flattens a checked operator. Throws SpecError if it needs more than 65535 slots.
Bytecode compile_bytecode(const Operator& op);

}  // namespace segfold
