#include "dsl/evaluation/bytecode.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace segfold {
namespace {

struct Named {
    std::string_view name;
    Opcode opcode;
};

constexpr Named kSymbolOpcodes[] = {
    {"+", Opcode::add},          {"-", Opcode::subtract},    {"*", Opcode::multiply},
    {"/", Opcode::divide},       {"%", Opcode::remainder},   {"&", Opcode::bit_and},
    {"|", Opcode::bit_or},       {"^", Opcode::bit_xor},     {"<<", Opcode::shift_left},
    {">>", Opcode::shift_right}, {"==", Opcode::equal},      {"!=", Opcode::not_equal},
    {"<", Opcode::less},         {"<=", Opcode::less_equal},
};

constexpr Named kFunctionOpcodes[] = {
    {"min", Opcode::minimum},
    {"max", Opcode::maximum},
    {"abs", Opcode::absolute},
    {"sqrt", Opcode::square_root},
    {"rsqrt", Opcode::reciprocal_root},
    {"exp", Opcode::exponential},
    {"exp2", Opcode::exponential2},
    {"expm1", Opcode::exponential_m1},
    {"log", Opcode::logarithm},
    {"log2", Opcode::logarithm2},
    {"log1p", Opcode::logarithm_1p},
    {"pow", Opcode::power},
    {"sin", Opcode::sine},
    {"cos", Opcode::cosine},
    {"tanh", Opcode::hyperbolic_tangent},
    {"floor", Opcode::floor},
    {"ceil", Opcode::ceiling},
    {"round", Opcode::round},
    {"fma", Opcode::multiply_add},
    {"copysign", Opcode::copy_sign},
    {"popcount", Opcode::count_ones},
    {"clz", Opcode::leading_zeros},
    {"isnan", Opcode::is_nan},
    {"isfinite", Opcode::is_finite},
};

template <std::size_t n>
Opcode find(const Named (&table)[n], std::string_view name)
{
    const auto found = std::ranges::find(table, name, &Named::name);
    if (found == std::end(table))
        throw InternalError("no opcode for '" + std::string(name) + "'");
    return found->opcode;
}

std::uint64_t lowest_bits(Type type)
{
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    return is_signed_integer(type) ? ~std::uint64_t{0} << (bits - 1) : 0;
}

std::uint64_t highest_bits(Type type)
{
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    return is_signed_integer(type) ? ~lowest_bits(type) : ~std::uint64_t{0} >> (64 - bits);
}

double real_limit(const std::string& name, Type type)
{
    constexpr double bf16_highest = 0x1.fep127;
    if (name == "epsilon")
        return type == Type::f16    ? 0x1p-10
               : type == Type::bf16 ? 0x1p-7
               : type == Type::f32  ? 0x1p-23
                                    : 0x1p-52;
    const double highest = type == Type::f16    ? 65504.0
                           : type == Type::bf16 ? bf16_highest
                           : type == Type::f32  ? std::numeric_limits<float>::max()
                                                : std::numeric_limits<double>::max();
    return name == "lowest" ? -highest : highest;
}

bool is_constant(ExpressionKind kind) { return kind <= ExpressionKind::limit; }

/// Returns the value of a literal, constant or limit as a Constant. The caller must set its `slot`.
Constant constant_of(const ExpressionNode& node)
{
    Constant constant{0, *node.type, 0, 0};
    const bool real = is_float(constant.type);
    switch (node.kind) {
        case ExpressionKind::boolean: constant.bits = node.magnitude; break;
        case ExpressionKind::integer:
            constant.bits = node.negative ? 0 - node.magnitude : node.magnitude;
            constant.real = rounded_literal(node, constant.type);
            break;
        case ExpressionKind::real: constant.real = rounded_literal(node, constant.type); break;
        case ExpressionKind::constant:
            constant.real = node.name == "inf" ? std::numeric_limits<double>::infinity()
                                               : std::numeric_limits<double>::quiet_NaN();
            break;
        default:
            if (real)
                constant.real = real_limit(node.name, constant.type);
            else
                constant.bits =
                    node.name == "lowest" ? lowest_bits(constant.type) : highest_bits(constant.type);
    }
    return constant;
}

/// Turns one block into instructions.
class Flattener {
public:
    Flattener(const Operator& op, const std::vector<std::string>& inputs) : op_(op)
    {
        for (const auto& input : inputs)
            names_.emplace(input, new_slot());
        program_.num_inputs = program_.num_slots;
    }

    Program run(const Block& block) &&
    {
        for (const auto& let : block.lets)
            names_.emplace(let.name, value(let.value));
        for (const auto& assignment : block.assignments)
            program_.outputs.push_back(value(assignment.value));
        return std::move(program_);
    }

    /// Returns a program whose outputs are the first `count` inputs.
    Program copies(std::size_t count) &&
    {
        for (std::size_t i = 0; i < count; ++i)
            program_.outputs.push_back(static_cast<std::uint16_t>(i));
        return std::move(program_);
    }

    /// Makes finish read the identity as its state.
    void name_identity()
    {
        for (const auto& field : op_.state)
            names_.emplace("s." + field.name, value(*field.identity));
    }

private:
    std::uint16_t add_constant(Constant constant)
    {
        for (const auto& known : program_.constants)
            if (known.type == constant.type && known.bits == constant.bits &&
                std::bit_cast<std::uint64_t>(known.real) == std::bit_cast<std::uint64_t>(constant.real))
                return known.slot;
        constant.slot = new_slot();
        program_.constants.push_back(constant);
        return constant.slot;
    }

    std::uint16_t new_slot()
    {
        if (program_.num_slots == std::numeric_limits<std::uint16_t>::max())
            throw SpecError("operator " + op_.name +
                            " needs more than 65535 intermediate values; at most that many "
                            "can be held");
        return program_.num_slots++;
    }

    static std::string key(const ExpressionNode& node)
    {
        if (node.kind == ExpressionKind::name)
            return node.name;
        return (node.operand == Operand::earlier ? "a."
                : node.operand == Operand::later ? "b."
                                                 : "s.") +
               node.name;
    }

    std::uint16_t emit(Opcode opcode, Type type, Type target, std::uint16_t a, std::uint16_t b = 0,
                       std::uint16_t c = 0)
    {
        const auto out = new_slot();
        program_.code.push_back({opcode, type, target, out, a, b, c});
        return out;
    }

    std::uint16_t value(const Expression& expression)
    {
        const auto& node = *expression;
        const Type type = *node.type;
        if (is_constant(node.kind))
            return add_constant(constant_of(node));
        switch (node.kind) {
            case ExpressionKind::name:
            case ExpressionKind::field: return names_.at(key(node));
            case ExpressionKind::unary: {
                const auto a = value(node.arguments[0]);
                return emit(node.symbol == "-"   ? Opcode::negate
                            : node.symbol == "~" ? Opcode::bit_not
                                                 : Opcode::logical_not,
                            type, type, a);
            }
            case ExpressionKind::binary: return binary(node);
            case ExpressionKind::conditional:
                return conditional(node.arguments[0], node.arguments[1], node.arguments[2]);
            case ExpressionKind::call: {
                std::uint16_t slots[3] = {};
                for (std::size_t i = 0; i < node.arguments.size(); ++i)
                    slots[i] = value(node.arguments[i]);
                return emit(find(kFunctionOpcodes, node.name), *node.arguments[0]->type, type, slots[0],
                            slots[1], slots[2]);
            }
            case ExpressionKind::convert: {
                const auto a = value(node.arguments[0]);
                const Type from = *node.arguments[0]->type;
                return from == type ? a : emit(Opcode::convert, from, type, a);
            }
            case ExpressionKind::gather: {
                const auto index = value(node.arguments[0]);
                return emit(Opcode::gather, *node.arguments[0]->type, type, index, table_number(node.name));
            }
            default: throw InternalError("unknown kind of expression");
        }
    }

    std::uint16_t binary(const ExpressionNode& node)
    {
        if (node.symbol == "&&")
            return conditional(node.arguments[0], node.arguments[1], typed(false));
        if (node.symbol == "||")
            return conditional(node.arguments[0], typed(true), node.arguments[1]);
        auto a = value(node.arguments[0]);
        auto b = value(node.arguments[1]);
        const bool swapped = node.symbol == ">" || node.symbol == ">=";
        if (swapped)
            std::swap(a, b);
        const std::string symbol = node.symbol == ">" ? "<" : node.symbol == ">=" ? "<=" : node.symbol;
        return emit(find(kSymbolOpcodes, symbol), *node.arguments[0]->type, *node.type, a, b);
    }

    static Expression typed(bool value) { return with_type(Expression(value), {}, Type::boolean); }

    /// Evaluates both sides and selects one. If a side reads a table, jumps instead, so that only the chosen
    /// side runs.
    std::uint16_t conditional(const Expression& condition, const Expression& yes, const Expression& no)
    {
        const auto chosen = value(condition);
        const Type type = *yes->type;
        if (!gathers(yes) && !gathers(no)) {
            const auto a = value(yes);
            return emit(Opcode::select, type, type, chosen, a, value(no));
        }
        const auto out = new_slot();
        const auto to_no = jump(Opcode::jump_unless, chosen);
        move(type, out, value(yes));
        const auto to_end = jump(Opcode::jump, 0);
        land(to_no);
        move(type, out, value(no));
        land(to_end);
        return out;
    }

    std::size_t jump(Opcode opcode, std::uint16_t condition)
    {
        program_.code.push_back({opcode, Type::boolean, Type::boolean, 0, condition, 0, 0});
        return program_.code.size() - 1;
    }
    void land(std::size_t from)
    {
        program_.code[from].out = static_cast<std::uint16_t>(program_.code.size());
    }
    void move(Type type, std::uint16_t out, std::uint16_t from)
    {
        program_.code.push_back({Opcode::copy, type, type, out, from, 0, 0});
    }

    [[nodiscard]] std::uint16_t table_number(const std::string& name) const
    {
        std::uint16_t number = 0;
        for (const auto& parameter : op_.parameters) {
            if (parameter.table && parameter.name == name)
                return number;
            number += parameter.table ? 1 : 0;
        }
        throw InternalError("no table '" + name + "'");
    }

    const Operator& op_;
    Program program_;
    std::map<std::string, std::uint16_t> names_;
};

std::vector<std::string> with_prefix(const char* prefix, const std::vector<StateField>& fields)
{
    std::vector<std::string> names;
    for (const auto& field : fields)
        names.push_back(prefix + field.name);
    return names;
}

/// Appends to `inputs` the names of an element's inputs.
std::vector<std::string> with_element(std::vector<std::string> inputs, const Operator& op)
{
    for (const auto& parameter : op.parameters)
        if (!parameter.table)
            inputs.push_back(parameter.name);
    inputs.insert(inputs.end(), {"index", "position", "segment"});
    return inputs;
}

Program compile_map(const Operator& op)
{
    std::vector<std::string> inputs;
    for (const auto& parameter : op.parameters)
        if (!parameter.table)
            inputs.push_back(parameter.name);
    for (const auto& result : op.results)
        inputs.push_back(result.name);
    inputs.insert(inputs.end(), {"index", "position", "segment", "length"});
    return Flattener(op, inputs).run(*op.map);
}

Program compile_finish(const Operator& op)
{
    auto inputs = with_prefix("s.", op.state);
    inputs.insert(inputs.end(), {"segment", "length"});
    Flattener flattener(op, inputs);
    return op.finish ? std::move(flattener).run(*op.finish) : std::move(flattener).copies(op.state.size());
}

Block identity_block(const Operator& op)
{
    Block block;
    for (const auto& field : op.state)
        block.assignments.push_back({field.name, *field.identity, {}});
    return block;
}

/// Compiles `empty`, or, if there is none, finish(identity). The inputs are segment and length.
Program compile_empty(const Operator& op)
{
    Flattener flattener(op, {"segment", "length"});
    if (op.empty)
        return std::move(flattener).run(*op.empty);
    if (!op.finish)
        return std::move(flattener).run(identity_block(op));
    flattener.name_identity();
    return std::move(flattener).run(*op.finish);
}

}  // namespace

Bytecode compile_bytecode(const Operator& op)
{
    Bytecode result;
    auto operands = with_prefix("a.", op.state);
    const auto later = with_prefix("b.", op.state);
    operands.insert(operands.end(), later.begin(), later.end());
    result.lift = Flattener(op, with_element({}, op)).run(op.lift);
    result.combine = Flattener(op, operands).run(op.combine);
    result.has_append = op.append.has_value();
    if (result.has_append)
        result.append = Flattener(op, with_element(with_prefix("a.", op.state), op)).run(*op.append);
    result.finish = compile_finish(op);
    result.has_identity = op.has_identity();
    result.has_empty = op.allows_empty();
    if (result.has_identity)
        result.identity = Flattener(op, {}).run(identity_block(op));
    if (result.has_empty)
        result.empty = compile_empty(op);
    result.has_map = op.map.has_value();
    if (result.has_map) {
        result.map = compile_map(op);
        result.mapped = output_places(op, *op.map);
    }
    result.has_scan = op.scan.has_value();
    if (result.has_scan) {
        result.scan = Flattener(op, with_element(operands, op)).run(op.scan->block);
        result.scanned = output_places(op, op.scan->block);
        result.scans_reversely = op.scan->reverse;
    }
    for (const auto& parameter : op.parameters) {
        (parameter.table ? result.tables : result.columns).push_back(parameter.type);
        (parameter.table ? result.table_names : result.column_names).push_back(parameter.name);
        if (parameter.table)
            result.are_scalars.push_back(parameter.scalar);
    }
    for (const auto& field : op.state)
        result.state.push_back(field.type);
    for (const auto& field : op.results)
        result.results.push_back(field.type);
    for (const auto& field : op.outputs)
        result.outputs.push_back(field.type);
    return result;
}

}  // namespace segfold
