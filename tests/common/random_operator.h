#pragma once
// Random well-typed expressions and operators, from a seed.
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/operator.h"

namespace segfold {

/// Makes expressions and operators that check() accepts. Equal seeds make equal ones.
class RandomOperator {
public:
    explicit RandomOperator(std::uint32_t seed) : random_(seed) {}

    /// An operator of every construct: two columns, a table, two or one state fields, lets, finish, empty,
    /// laws; with `scans`, a scan too.
    Operator make(bool scans = false)
    {
        Operator op;
        op.name = "random";
        const Type x = any_type();
        const Type y = any_type();
        const Type t = any_type();
        op.parameters = {{"x", x, false, {}}, {"y", y, false, {}}, {"t", t, true, {}}};
        const bool identity = chance(70);
        for (int i = 0; i < (chance(40) ? 1 : 2); ++i) {
            scope_ = {};
            const Type type = any_type();
            op.state.push_back({i == 0 ? "s" : "u", type, std::nullopt, {}});
            if (identity)
                op.state.back().identity = expression(type, 2);
        }
        const Scope of_element = {
            {{"x", x}, {"y", y}, {"index", Type::i64}, {"position", Type::i64}, {"segment", Type::i64}},
            {},
            {{"t", t}}};
        scope_ = of_element;
        op.lift = block(op.state);
        scope_ = {};
        for (const auto& field : op.state)
            for (const Operand operand : {Operand::earlier, Operand::later})
                scope_.fields.push_back({{operand, field.name}, field.type});
        op.combine = block(op.state);
        op.results = {{chance(50) ? kResultName : "first", any_type(), {}}};
        if (chance(50))
            op.results.push_back({"second", any_type(), {}});
        scope_ = {{{"segment", Type::i64}, {"length", Type::i64}}, {}, {}};
        if (chance(50))
            op.empty = block(op.results);
        for (const auto& field : op.state)
            scope_.fields.push_back({{Operand::state, field.name}, field.type});
        op.finish = block(op.results);
        op.laws = {chance(50), chance(50)};
        if (scans)
            add_scan(op, of_element);
        return check(std::move(op));
    }

    /// Makes an expression of type `type` with at most `depth` levels above its leaves. It uses the names
    /// known in lift.
    Expression make_expression(Type type, int depth)
    {
        scope_ = {};
        for (const Type column : kTypes)
            scope_.names.emplace_back("x_" + std::string(name(column)), column);
        scope_.tables = {{"t", Type::f32}, {"k", Type::i32}};
        return expression(type, depth);
    }

    /// Makes an expression of literals alone.
    Expression make_literal_expression(Type type, int depth)
    {
        scope_ = {};
        return expression(type, depth, true);
    }

    Type any_type() { return kTypes[pick(kTypes.size())]; }
    std::size_t pick(std::size_t count) { return random_() % count; }
    bool chance(unsigned percent) { return random_() % 100 < percent; }

private:
    struct Scope {
        std::vector<std::pair<std::string, Type>> names;
        std::vector<std::pair<std::pair<Operand, std::string>, Type>> fields;
        std::vector<std::pair<std::string, Type>> tables;
    };

    void add_scan(Operator& op, const Scope& of_element)
    {
        op.keeps_results = chance(50);
        op.outputs = {{op.keeps_results ? "each_one" : kResultName, any_type(), {}}};
        if (chance(30))
            op.outputs.push_back({"each_other", any_type(), {}});
        scope_ = of_element;
        for (const auto& field : op.state) {
            scope_.fields.push_back({{Operand::later, field.name}, field.type});
            if (op.has_identity())
                scope_.fields.push_back({{Operand::earlier, field.name}, field.type});
        }
        op.scan = {"before", "through", chance(50), {}};
        op.scan->block = block(op.outputs);
        if (!op.keeps_results) {  // as in a text: without results, the state's fields are the results
            op.results.clear();
            op.finish.reset();
            op.empty.reset();
        }
    }

    template <class Fields>
    Block block(const Fields& fields)
    {
        Block result;
        const auto outer = scope_;
        for (const char* local : {"p", "q"}) {
            if (!chance(30))
                continue;
            const Type type = any_type();
            result.lets.push_back({local, expression(type, 3, true), {}});
            scope_.names.emplace_back(local, type);
        }
        for (const auto& field : fields)
            result.assignments.push_back({field.name, expression(field.type, 4), {}});
        scope_ = outer;
        return result;
    }

    /// With `states`, the expression has its type without a context.
    Expression expression(Type type, int depth, bool states = false)
    {
        if (depth == 0 || chance(15))
            return leaf(type, states);
        switch (pick(6)) {
            case 0: return unary(type, depth, states);
            case 1:
                return select(expression(Type::boolean, depth - 1), expression(type, depth - 1, states),
                              expression(type, depth - 1));
            case 2: return convert(type, expression(any_type(), depth - 1, true));
            case 3: return called(type, depth, states);
            default: return binary(type, depth, states);
        }
    }

    Expression unary(Type type, int depth, bool states)
    {
        const char* symbol = type == Type::boolean ? "!" : is_integer(type) && chance(40) ? "~" : "-";
        auto argument = expression(type, depth - 1, states);
        if (is_unsigned_integer(type) && argument->kind == ExpressionKind::integer)
            symbol = "~";  // a minus would become part of the literal, and the type has no negative numbers
        return make_unary(symbol, std::move(argument));
    }

    Expression binary(Type type, int depth, bool states)
    {
        if (type == Type::boolean && chance(60)) {
            constexpr std::array order = {"==", "!=", "<", "<=", ">", ">="};
            const Type of = any_type();
            const char* symbol = order[pick(of == Type::boolean ? 2 : order.size())];
            return make_binary(symbol, expression(of, depth - 1, true), expression(of, depth - 1));
        }
        constexpr std::array logical = {"&&", "||", "&", "|", "^"};
        constexpr std::array whole = {"+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"};
        constexpr std::array real = {"+", "-", "*", "/"};
        const std::string symbol = type == Type::boolean ? logical[pick(logical.size())]
                                   : is_integer(type)    ? whole[pick(whole.size())]
                                                         : real[pick(real.size())];
        auto left = expression(type, depth - 1, states);
        auto right = expression(type, depth - 1);
        if (is_integer(type) && (symbol == "/" || symbol == "%") && right->kind == ExpressionKind::integer)
            right = Expression(3);  // division by a literal 0 is refused
        return make_binary(symbol, std::move(left), std::move(right));
    }

    Expression called(Type type, int depth, bool states)
    {
        if (type == Type::boolean) {
            constexpr std::array reals = {Type::f16, Type::bf16, Type::f32, Type::f64};
            return call(chance(50) ? "isnan" : "isfinite", {expression(reals[pick(4)], depth - 1, true)});
        }
        if (type == Type::i32 && chance(30)) {
            constexpr std::array integers = {Type::i8, Type::u16, Type::i32, Type::u64};
            return call(chance(50) ? "popcount" : "clz", {expression(integers[pick(4)], depth - 1, true)});
        }
        const auto names = function_names();
        const auto* function = find_function(names[pick(names.size())]);
        if (function->result || function->domain == Function::Domain::integer ||
            (function->domain == Function::Domain::real && !is_float(type)))
            function = find_function("max");
        std::vector<Expression> arguments;
        for (int i = 0; i < function->arity; ++i)
            arguments.push_back(expression(type, depth - 1, states && i == 0));
        return call(std::string(function->name), std::move(arguments));
    }

    Expression leaf(Type type, bool states)
    {
        std::vector<Expression> known;
        for (const auto& [name, of] : scope_.names)
            if (of == type)
                known.push_back(make_name(name));
        for (const auto& [field, of] : scope_.fields)
            if (of == type)
                known.push_back(make_field(field.first, field.second));
        for (const auto& [name, of] : scope_.tables)
            if (of == type)
                known.push_back(make_gather(name, place()));
        if (!known.empty() && chance(70))
            return known[pick(known.size())];
        if (type == Type::boolean)
            return Expression(chance(50));
        if (chance(15))
            return chance(50) ? lowest(type) : highest(type);
        if (is_float(type) && chance(10))
            return convert(type, chance(50) ? infinity() : not_a_number());
        return states ? convert(type, literal(type)) : literal(type);
    }

    /// An index into a table of eight elements.
    Expression place()
    {
        std::vector<Expression> known = {Expression(static_cast<int>(pick(8)))};
        for (const auto& [name, of] : scope_.names)
            if (is_integer(of))
                known.push_back(make_name(name) & 7);
        return known[pick(known.size())];
    }

    Expression literal(Type type)
    {
        const int small = static_cast<int>(pick(100));
        if (is_float(type) && chance(60)) {
            constexpr std::array reals = {0.0, -0.0, 0.5, -1.25, 1e-3, 0.1, 1e4, -3e-5};
            return reals[pick(reals.size())];
        }
        return is_unsigned_integer(type) || chance(50) ? Expression(small) : Expression(-small);
    }

    std::mt19937 random_;
    Scope scope_;
};

}  // namespace segfold
