#pragma once
// Operators as flat lists of instructions, which the interpreter runs on the host and inside Thrust's
// functors.
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
/// In a gather, `b` is the number of the table. In jump and jump_unless, `out` is the index of the next
/// instruction and `a` the slot of the condition.
struct Instruction {
    Opcode opcode;
    Type type;    ///< the operands' type
    Type target;  ///< type of the value of convert and gather
    std::uint16_t out, a, b, c;
};

/// A constant and its slot, set before the first instruction. Integers and bools are in `bits`, floats in
/// `real`.
struct Constant {
    std::uint16_t slot;
    Type type;
    std::uint64_t bits;
    double real;
};

/// A block as instructions. Slots 0 to num_inputs - 1 hold its inputs.
struct Program {
    std::vector<Instruction> code;
    std::vector<Constant> constants;
    std::vector<std::uint16_t> outputs;  ///< the slot of each field that the block sets
    std::uint16_t num_inputs = 0;
    std::uint16_t num_slots = 0;
};

/// A checked operator as one program per part.
///
///   identity nothing                                 ->  state
///   lift     columns, then index, position, segment  ->  state
///   combine  earlier state, later state              ->  state
///   append   state, columns, then index, position, segment  ->  state
///   finish   state, then segment, length             ->  result
///   empty    segment, length                         ->  result
///   map      columns, result, then index, position, segment, length  ->  outputs that it sets
///   scan     state before, state through, columns, then index, position, segment  ->  outputs that it sets
///
/// If the operator has no `finish`, the program `finish` copies the state. If the operator has no `empty`,
/// the program `empty` applies finish to the identity. If it has neither `empty` nor an identity, the program
/// `empty` has no code, and has_empty is false.
struct Bytecode {
    Program identity, lift, combine, append, finish, empty, map, scan;
    bool has_identity = false, has_append = false, has_empty = false, has_map = false, has_scan = false;
    bool scans_reversely = false;
    std::vector<std::size_t> mapped, scanned;  ///< indices of the outputs that map and scan set
    std::vector<Type> columns, state, results, outputs;
    std::vector<std::string> column_names, table_names;
    std::vector<Type> tables;
    std::vector<bool> are_scalars;  ///< for each table: true for a scalar, which is read at index 0
};

/// Flattens a checked operator. Throws SpecError if it needs more than 65535 slots.
Bytecode compile_bytecode(const Operator& op);

}  // namespace segfold
