#pragma once
// Random associative operators: products of known associative operators, some with re-encoded states.
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "tests/common/edge_values.h"
#include "tests/common/stage_cases.h"

namespace segfold::test {

/// Makes associative operators of one integer column `x`. Equal seeds make equal operators.
///
/// A product of associative operators is associative. So is the operation f^-1(combine(f(a), f(b))).
class RandomAssociative {
public:
    explicit RandomAssociative(std::uint32_t seed) : random_(seed) {}

    Operator make()
    {
        const auto column = type();
        const auto pieces = 1 + random_() % 3;
        for (unsigned i = 0; i < pieces; ++i)
            add_piece(std::to_string(i), type());
        const bool identity = random_() % 4 != 0;
        std::string state;
        for (const auto& field : fields_)
            state += field.name + ": " + field.type + (identity ? " = " + field.identity : "") + "; ";
        return parse_operator("random.seg",
                              fmt::format("operator product(x: {}) {{ state {{ {} }} lift {{ {} }} "
                                          "combine(a, b) {{ {} }} }}",
                                          column, state, lift_, combine_));
    }

private:
    struct Field {
        std::string name, type, identity;
    };

    std::string type()
    {
        const char* types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
        return types[random_() % std::size(types)];
    }

    void add(const std::string& name, const std::string& of, const std::string& identity,
             const std::string& lifted, const std::string& combined)
    {
        fields_.push_back({name, of, identity});
        lift_ += name + " = " + lifted + "; ";
        combine_ += name + " = " + combined + "; ";
    }

    void add_piece(const std::string& i, const std::string& t)
    {
        const auto s = "s" + i, a = "a.s" + i, b = "b.s" + i, x = t + "(x)";
        switch (random_() % 8) {
            case 0: {  // a sum whose state is stored as s ^ k
                const auto k = std::to_string(random_() % 100);
                return add(s, t, k, x + " ^ " + k,
                           fmt::format("(({} ^ {}) + ({} ^ {})) ^ {}", a, k, b, k, k));
            }
            case 1:  // a sum whose state is stored negated
                return add(s, t, "0", "-" + x, fmt::format("-(-{} - {})", a, b));
            case 2: return add(s, t, "highest(" + t + ")", x, fmt::format("min({}, {})", a, b));
            case 3: return add(s, t, "lowest(" + t + ")", "-" + x, fmt::format("max({}, {})", a, b));
            case 4:
            case 5: {  // the first or the last element that is not a multiple of three
                const bool first = random_() % 2 == 0;
                const std::string has = "h" + i, one = first ? "a." : "b.", other = first ? "b." : "a.";
                add(s, t, "0", fmt::format("{0} % 3 != 0 ? {0} : 0", x),
                    fmt::format("{}{} ? {}{} : {}{}", one, has, one, s, other, s));
                return add(has, "bool", "false", x + " % 3 != 0", fmt::format("a.{} || b.{}", has, has));
            }
            case 6: {  // the map x -> m x + c, earlier maps first
                const auto c = "c" + i;
                add(s, t, "1", x + " * 2 + 1", fmt::format("{} * {}", b, a));
                return add(c, t, "0", "~" + x, fmt::format("{} * a.{} + b.{}", b, c, c));
            }
            default: {  // the number of runs of equal values
                const auto f = "f" + i, l = "l" + i, any = "n" + i;
                const auto joined = fmt::format("a.{0} && b.{0} && a.{1} == b.{2}", any, l, f);
                add(s, "u32", "0", "1", fmt::format("{} + {} - ({} ? 1 : 0)", a, b, joined));
                add(f, t, "0", x, fmt::format("a.{} ? a.{} : b.{}", any, f, f));
                add(l, t, "0", x, fmt::format("b.{} ? b.{} : a.{}", any, l, l));
                return add(any, "bool", "false", "true", fmt::format("a.{} || b.{}", any, any));
            }
        }
    }

    std::mt19937 random_;
    std::vector<Field> fields_;
    std::string lift_, combine_;
};

/// A random associative operator over elements that are edge values and small numbers in turn.
inline Workload random_associative_case(std::uint32_t seed, SegmentForm form)
{
    Operator op = RandomAssociative(seed).make();
    std::vector<std::int64_t> lengths = {1, 31, 2, 33, 5, 700, 64, 3, 1, 1, 129};
    if (op.allows_empty())
        lengths.insert(lengths.end(), {0, 0, 17, 0});
    auto segments = segments_in_form(form, lengths);
    std::mt19937_64 random(seed);
    const Type type = op.parameters[0].type;
    const auto known = edges(type);
    std::vector<std::uint64_t> bits(static_cast<std::size_t>(segments.num_elements));
    for (auto& value : bits)
        value = random() % 2 == 0 ? known[random() % known.size()] : random() % 4;
    std::vector<Array> arrays;
    arrays.push_back(array_of_bits(type, bits));
    return {std::move(op), std::move(arrays), std::move(segments)};
}

}  // namespace segfold::test
