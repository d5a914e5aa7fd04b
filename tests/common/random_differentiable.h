#pragma once
// Random associative operators of floats whose results can be differentiated.
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "dsl/text/parser.h"

namespace segfold::test {

/// Makes operators of one column `x` of floats, a weight `w` and a scalar `k`. Equal seeds make equal
/// operators.
///
/// The state is a product of known associative operators, some stored re-encoded, with at most five fields.
/// What is lifted and what is returned are expressions by lot of most functions of the language. Some have no
/// identity, some a map, some a finish of the segment's length.
class RandomDifferentiable {
public:
    explicit RandomDifferentiable(std::uint32_t seed) : random_(seed) {}

    Operator make() { return parse_operator("random.seg", text()); }

    std::string text()
    {
        type_ = chance(70) ? "f64" : "f32";
        const auto wanted = 1 + random_() % 5;
        while (fields_.size() < wanted)
            add_piece(wanted - fields_.size());
        const bool identity = !chance(25);
        std::string state;
        for (const auto& field : fields_)
            state +=
                fmt::format("{}: {}{}; ", field.name, field.type, identity ? " = " + field.identity : "");
        const bool maps = chance(30);
        std::string results, finish;
        std::vector<std::string> of_state;
        for (const auto& field : fields_)
            if (field.type == type_)
                of_state.push_back(field.name);
        const auto num_floats = of_state.size();
        of_state.push_back(type_ + "(length)");
        for (int i = 0; i < (chance(60) ? 1 : 2); ++i) {
            results += fmt::format("{}r{}: {}", i == 0 ? "" : ", ", i, type_);
            finish += fmt::format("r{} = tanh({}) + ({}); ", i, of_state[random_() % num_floats],
                                  tame(of_state, 3));
        }
        std::string map;
        if (maps) {
            results += ", each y: " + type_;
            map = fmt::format("map {{ y = {} }}", tame({"x", "w", "k", "r0", type_ + "(length)"}, 3));
        }
        return fmt::format(
            "operator random(x: {0}, w: {0}, k: scalar {0}) -> ({1}) {{\n  state {{ {2} }}\n  lift {{ {3} "
            "}}\n  "
            "combine(a, b) {{ {4} }}\n  finish {{ {5} }}\n  {6}\n  {7}\n}}\n",
            type_, results, state, lift_, combine_, finish, map,
            identity ? ""
                     : "empty { r0 = 0; " +
                           std::string(finish.find("r1") == std::string::npos ? "" : "r1 = 0") + " }");
    }

private:
    struct Field {
        std::string name, type, identity;
    };

    bool chance(unsigned percent) { return random_() % 100 < percent; }

    void add(const std::string& name, const std::string& identity, const std::string& lifted,
             const std::string& combined, const std::string& type = "")
    {
        fields_.push_back({name, type.empty() ? type_ : type, identity});
        lift_ += name + " = " + lifted + "; ";
        combine_ += name + " = " + combined + "; ";
    }

    std::string of_element()
    {
        const auto of_x = chance(50) ? "x" : "sin(x)";
        return fmt::format("{} {} ({})", of_x, chance(50) ? "*" : "+", tame({"x", "w", "k"}, 2));
    }

    /// A piece of at most `room` fields.
    void add_piece(std::size_t room)
    {
        const auto i = std::to_string(fields_.size());
        const auto s = "s" + i, t = "t" + i, n = "n" + i, a = "a." + s, b = "b." + s;
        const auto at = [&](const std::string& name) { return std::pair("a." + name, "b." + name); };
        const auto [at_a, at_b] = at(t);
        const auto kind = random_() % (room >= 3 ? 14 : room == 2 ? 12 : 7);
        switch (kind) {
            case 0: return add(s, "0", of_element(), a + " + " + b);
            case 1: return add(s, "1", "1.5 + tanh(" + of_element() + ")", a + " * " + b);
            case 2: return add(s, "-inf", of_element(), fmt::format("max({}, {})", a, b));
            case 3: return add(s, "inf", of_element(), fmt::format("{1} < {0} ? {1} : {0}", a, b));
            case 4:  // a sum stored as its logarithm
                return add(s, "-inf", of_element(),
                           fmt::format(
                               "{0} == {1} ? {0} + log({2}(2)) : max({0}, {1}) + log1p(exp(-abs({0} - {1})))",
                               a, b, type_));
            case 5:  // a sum of squares stored as its root
                return add(s, "0", "abs(" + of_element() + ")",
                           fmt::format("sqrt({0} * {0} + {1} * {1})", a, b));
            case 6: return add(s, "0", of_element(), fmt::format("{} + {} + {} * {}", a, b, a, b));
            case 7:  // the map v -> t v + s, earlier ones first
                add(s, "0", of_element(), fmt::format("{} * {} + {}", a, at_b, b));
                return add(t, "1", "tanh(" + of_element() + ")", at_a + " * " + at_b);
            case 8:
            case 9: {  // the first or the last element above a border
                const auto one = kind == 8 ? "a." : "b.", other = kind == 8 ? "b." : "a.";
                add(s, "0", "x > 0.5 ? " + of_element() + " : 0",
                    fmt::format("{0}{1} ? {0}{2} : {3}{2}", one, t, s, other));
                return add(t, "false", "x > 0.5", at_a + " || " + at_b, "bool");
            }
            case 10:  // greatest and scaled sum
            case 11: {
                const auto z = of_element();
                const auto top = fmt::format("max({}, {})", a, b);
                add(s, "-inf", z, top);
                return add(t, "0", "1",
                           fmt::format("({0} == {4} ? {2} : {2} * exp({0} - {4})) + ({1} == {4} ? {3} : {3} "
                                       "* exp({1} - {4}))",
                                       a, b, at_a, at_b, top));
            }
            case 12: {  // number, mean and sum of squared differences
                const auto [n_a, n_b] = at(n);
                const auto delta = fmt::format("({} - {})", b, a),
                           share = fmt::format("({2}({1}) / {2}({0} + {1}))", n_a, n_b, type_);
                add(n, "0", "1", n_a + " + " + n_b, "i64");
                add(s, "0", of_element(),
                    fmt::format("{0} == 0 ? {3} : {1} == 0 ? {2} : {2} + {4} * {5}", n_a, n_b, a, b, delta,
                                share));
                return add(
                    t, "0", "0",
                    fmt::format("{0} == 0 ? {3} : {1} == 0 ? {2} : {2} + {3} + {4} * {4} * {6}({0}) * {5}",
                                n_a, n_b, at_a, at_b, delta, share, type_));
            }
            default:  // greatest sum that begins at the first element, the sum, and a maximum
                add(n, "-inf", of_element(), fmt::format("max(a.{0}, b.{0})", n));
                add(s, "-inf", of_element(), fmt::format("max({}, {} + {})", a, at_a, b));
                return add(t, "0", of_element(), at_a + " + " + at_b);
        }
    }

    /// An expression that stays near 1 and whose derivative is finite, for arguments that are.
    std::string tame(const std::vector<std::string>& names, int depth)
    {
        const auto leaf = [&] { return names[random_() % names.size()]; };
        if (depth == 0 || chance(10))
            return chance(80) ? leaf() : fmt::format("{}({}.{})", type_, random_() % 3, 1 + random_() % 9);
        const auto e = [&] { return tame(names, depth - 1); };
        switch (random_() % 20) {
            case 0: return fmt::format("sqrt(1 + {0} * {0})", leaf());
            case 1: return fmt::format("exp(tanh({}))", e());
            case 2: return fmt::format("log(2 + sin({}))", e());
            case 3: return fmt::format("log1p(abs({}))", e());
            case 4: return fmt::format("sin({})", e());
            case 5: return fmt::format("cos({})", e());
            case 6: return fmt::format("({}) / (2 + sin({}))", e(), e());
            case 7: return fmt::format("({}) * ({})", e(), e());
            case 8: return fmt::format("({}) - ({})", e(), e());
            case 9: return fmt::format("(({}) > 0.3 ? {} : {})", leaf(), e(), e());
            case 10:
                return fmt::format("pow(1.5 + tanh({}), {})", e(), chance(50) ? "2" : "tanh(" + e() + ")");
            case 11: return fmt::format("rsqrt(1.5 + tanh({}))", e());
            case 12: return fmt::format("exp2(tanh({}))", e());
            case 13: return fmt::format("log2(1.5 + tanh({}))", e());
            case 14: return fmt::format("expm1(tanh({}))", e());
            case 15: return fmt::format("fma({}, {}, {})", e(), e(), e());
            case 16: return fmt::format("min({}, {})", e(), e());
            case 17: return fmt::format("copysign({}, {})", e(), e());
            case 18: return fmt::format("(floor(2 * tanh({})) + {})", e(), e());
            default: return fmt::format("({}) + ({})", e(), e());
        }
    }

    std::mt19937 random_;
    std::string type_;
    std::vector<Field> fields_;
    std::string lift_, combine_;
};

}  // namespace segfold::test
