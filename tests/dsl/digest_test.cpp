// Digests tell operators apart by every property on which a fold depends, and by no other.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::digest_test {
namespace {

Operator read(const std::string& text) { return parse_operator("test", text); }

/// An operator that has every part.
Operator whole_operator()
{
    return read(
        R"(operator all(x: f32, t: table f32, w: scalar f32) -> (mean: f32, total: f32, each y: f32, each z: f32) {
  state { n: i32 = 0; sum: f32 = 0 }
  lift { let v = x * w; n = 1; sum = v }
  combine(a, b) { n = a.n + b.n; sum = a.sum + b.sum }
  append(a) { n = a.n + 1; sum = a.sum + x * w }
  finish { mean = sum / f32(n); total = sum }
  empty { mean = 0.0; total = 0.0 }
  map { y = x - mean + t[segment] }
  scan(before, through) { z = before.sum + through.sum }
})");
}

TEST(Digest, EveryPropertyOfAnOperatorCounts)
{
    const std::vector<std::function<void(Operator&)>> changes = {
        [](Operator&) {},
        [](Operator& op) { op.name = "other"; },
        [](Operator& op) { op.parameters[0].name = "y"; },
        [](Operator& op) { op.parameters[0].type = Type::f64; },
        [](Operator& op) { op.parameters[0].row = true; },
        [](Operator& op) { op.parameters[0].table = true; },
        [](Operator& op) { op.parameters[2].scalar = false; },
        [](Operator& op) { op.parameters.pop_back(); },
        [](Operator& op) { op.results[0].name = "other"; },
        [](Operator& op) { op.results[0].type = Type::f64; },
        [](Operator& op) { op.outputs[1].type = Type::f64; },
        [](Operator& op) { std::swap(op.results, op.outputs); },
        [](Operator& op) { op.keeps_results = false; },
        [](Operator& op) { op.state[0].name = "count"; },
        [](Operator& op) { op.state[0].type = Type::i64; },
        [](Operator& op) { op.state[0].identity = op.state[1].identity; },
        [](Operator& op) { op.state[0].identity.reset(); },
        [](Operator& op) { op.lift.lets[0].name = "u"; },
        [](Operator& op) { op.lift.lets.clear(); },
        [](Operator& op) { op.lift.assignments[0].field = "count"; },
        [](Operator& op) { std::swap(op.lift.assignments[0].value, op.lift.assignments[1].value); },
        [](Operator& op) { op.lift.assignments[0].value = Expression(); },
        [](Operator& op) { std::swap(op.lift, op.combine); },
        [](Operator& op) { op.earlier = "p"; },
        [](Operator& op) { op.later = "p"; },
        [](Operator& op) { op.append.reset(); },
        [](Operator& op) { op.finish.reset(); },
        [](Operator& op) { op.empty.reset(); },
        [](Operator& op) { op.map.reset(); },
        [](Operator& op) { op.scan.reset(); },
        [](Operator& op) { op.scan->before = "p"; },
        [](Operator& op) { op.scan->through = "p"; },
        [](Operator& op) { op.scan->reverse = true; },
        [](Operator& op) { op.scan->block = *op.map; },
        [](Operator& op) { op.laws.commutative = true; },
        [](Operator& op) { op.laws.idempotent = true; },
    };
    std::map<Digest, std::size_t> seen;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        auto op = whole_operator();
        changes[i](op);
        const auto [found, is_new] = seen.try_emplace(digest_of(op), i);
        EXPECT_TRUE(is_new) << "change " << i << " gives the digest of change " << found->second;
    }
}

TEST(Digest, TextsAndPlacesDoNotCount)
{
    const auto op = whole_operator();
    auto described = op;
    described.description = "Says something.";
    EXPECT_EQ(digest_of(described), digest_of(op));
    EXPECT_EQ(digest_of(read("# A comment.\n\n" + print(op))), digest_of(op))
        << "another place, and new trees";
}

TEST(Digest, StandardOperatorsAndNumbersAreToldApart)
{
    std::map<Digest, std::string> seen;
    for (const auto& known : standard_operators())
        for (const auto type : known.types) {
            const auto [found, is_new] =
                seen.try_emplace(digest_of(standard_operator(known.name, type)), known.name);
            EXPECT_TRUE(is_new) << known.name << " of " << name(type) << " and " << found->second;
        }
    std::map<Digest, int> numbers;
    for (int number = -2000; number < 2000; ++number) {
        const Expression half(number + 0.5);
        for (const auto& expression : {Expression(number), half, half + number})
            EXPECT_TRUE(numbers.try_emplace(expression->digest, number).second) << number;
    }
}

TEST(Digest, BordersOfTextsCount)
{
    const auto of = [](std::initializer_list<std::string_view> texts) {
        Digest digest;
        for (const auto text : texts)
            digest.add(text);
        return digest;
    };
    EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
    EXPECT_NE(of({"abc"}), of({"abc", ""}));
    EXPECT_NE(of({std::string_view("a\0", 2)}), of({"a"}));
    EXPECT_NE(of({"a long text of some words"}), of({"a long text of some Words"}));
    EXPECT_EQ(of({"ab", "c"}), of({"ab", "c"}));
}

}  // namespace
}  // namespace segfold::digest_test
