// The terms of questions mean the same as the evaluator: every operation, type by type, at edge values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dsl/evaluation/evaluator.h"
#include "dsl/laws/elements.h"
#include "dsl/smt/script.h"
#include "dsl/text/parser.h"
#include "runtime/laws/prove/solver.h"

namespace segfold::smt_terms_test {
namespace {

using smt::Theory;

constexpr Type kIntegers[] = {Type::i8, Type::i16, Type::i32, Type::i64,
                              Type::u8, Type::u16, Type::u32, Type::u64};
constexpr Type kFloats[] = {Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr double kSeconds = 30;
constexpr int kRandomPairs = 6;

/// An expression over a.p and b.p, and the type of its value.
struct Tried {
    std::string text;
    Type type;
};

std::vector<Tried> of_all(Type type)
{
    std::vector<Tried> list;
    for (const auto* text : {"a.p + b.p", "a.p - b.p", "a.p * b.p", "a.p / b.p", "-a.p", "min(a.p, b.p)",
                             "max(a.p, b.p)", "abs(a.p)", "a.p < b.p ? a.p : b.p"})
        list.push_back({text, type});
    for (const auto* text :
         {"a.p < b.p", "a.p <= b.p", "a.p > b.p", "a.p >= b.p", "a.p == b.p", "a.p != b.p"})
        list.push_back({text, Type::boolean});
    return list;
}

std::vector<Tried> of_integers(Type type)
{
    auto list = of_all(type);
    for (const auto* text : {"a.p % b.p", "a.p & b.p", "a.p | b.p", "a.p ^ b.p", "~a.p", "a.p << b.p",
                             "a.p >> b.p", "a.p << 3", "a.p >> 2", "a.p & 7"})
        list.push_back({text, type});
    list.push_back({"popcount(a.p)", Type::i32});
    list.push_back({"clz(a.p)", Type::i32});
    for (const auto to : kIntegers)
        list.push_back({fmt::format("{}(a.p)", name(to)), to});
    for (const auto to : kFloats)
        list.push_back({fmt::format("{}(a.p)", name(to)), to});
    list.push_back({"bool(a.p)", Type::boolean});
    list.push_back({fmt::format("{}(a.p < b.p)", name(type)), type});
    return list;
}

std::vector<Tried> of_floats(Type type)
{
    auto list = of_all(type);
    for (const auto* text : {"sqrt(abs(a.p))", "floor(a.p)", "ceil(a.p)", "round(a.p)"})
        list.push_back({text, type});
    if (type == Type::f32 || type == Type::f64)
        list.push_back({"fma(a.p, b.p, a.p)", type});
    list.push_back({"isnan(a.p)", Type::boolean});
    list.push_back({"isfinite(a.p)", Type::boolean});
    list.push_back({"!(a.p < b.p) && a.p == a.p || isnan(b.p)", Type::boolean});
    for (const auto to : kIntegers)
        list.push_back({fmt::format("{}(a.p)", name(to)), to});
    for (const auto to : kFloats)
        list.push_back({fmt::format("{}(a.p)", name(to)), to});
    list.push_back({"bool(a.p)", Type::boolean});
    return list;
}

/// An operator with a field for each expression, all of them computed from the field p.
Operator operator_of(Type type, const std::vector<Tried>& list)
{
    const auto zero = [](Type of) { return of == Type::boolean ? "false" : "0"; };
    std::string state = fmt::format("p: {} = 0", name(type)), lift = "p = x", combine = "p = a.p";
    for (std::size_t i = 0; i < list.size(); ++i) {
        state += fmt::format("; r{}: {} = {}", i, name(list[i].type), zero(list[i].type));
        lift += fmt::format("; r{} = {}", i, zero(list[i].type));
        combine += fmt::format("; r{} = {}", i, list[i].text);
    }
    return parse_operator("terms.seg",
                          fmt::format("operator terms(x: {}) -> (p: {}) {{ state {{ {} }} lift {{ {} }} "
                                      "combine(a, b) {{ {} }} finish {{ p = p }} }}",
                                      name(type), name(type), state, lift, combine));
}

Constant constant_of(Type type, const Slot<double>& slot)
{
    return {0, type, is_float(type) ? 0 : slot.bits,
            is_float(type) ? Machine<double>::get_real(slot, type) : 0};
}

class SmtTermsTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = solver_.unavailable(); !reason.empty())
            GTEST_SKIP() << reason;
    }

    /// Asks Z3 whether some value differs from the evaluator's. `planted` makes one of these values wrong.
    prove::Answer differs(Theory theory, const Operator& op, const std::vector<Slot<double>>& values,
                          const std::vector<Slot<double>>& others, bool planted = false)
    {
        const auto bytecode = compile_bytecode(op);
        Evaluator<double> evaluator(bytecode);
        smt::Script script(bytecode, {theory});
        std::string all = "true";
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::vector<Slot<double>> a(op.state.size()), b(op.state.size()), out(op.state.size());
            a[0] = values[i];
            b[0] = others[i];
            smt::State left, right, expected;
            evaluator.combine(a.data(), b.data(), out.data());
            for (std::size_t k = 0; k < op.state.size(); ++k) {
                const Type type = op.state[k].type;
                left.push_back(smt::constant_term(theory, constant_of(type, a[k])));
                right.push_back(smt::constant_term(theory, constant_of(type, b[k])));
                auto constant = constant_of(type, out[k]);
                if (planted && i == values.size() / 2 && k + 1 == op.state.size())
                    constant.bits ^= 1;
                expected.push_back(smt::constant_term(theory, constant));
            }
            all += " " + script.equal(script.combined(left, right), expected);
        }
        script.require(fmt::format("(not (and {}))", all));
        return solver_.ask(script.text() + "(check-sat)\n", kSeconds);
    }

    /// Pairs of edge values with all simple ones, and drawn pairs.
    static void pairs(Type type, std::vector<Slot<double>>& values, std::vector<Slot<double>>& others)
    {
        std::mt19937_64 random(1);
        const auto edges = edge_values(type);
        for (std::size_t i = 0; i < edges.size(); ++i) {
            values.push_back(edges[i]);
            others.push_back(edges[(3 * i + 1) % edges.size()]);
            values.push_back(edges[i]);
            others.push_back(edges[i]);
        }
        for (int i = 0; i < kRandomPairs; ++i) {
            values.push_back(draw_value(type, random));
            others.push_back(draw_value(type, random));
        }
    }

    prove::Solver solver_;
};

TEST_F(SmtTermsTest, WordsAreThoseOfTheEvaluator)
{
    for (const auto type : kIntegers) {
        std::vector<Slot<double>> values, others;
        pairs(type, values, others);
        const auto answer = differs(Theory::bits, operator_of(type, of_integers(type)), values, others);
        EXPECT_EQ(answer.kind, prove::Answer::Kind::unsat) << name(type) << " " << answer.reason;
    }
}

TEST_F(SmtTermsTest, FloatsAreThoseOfTheEvaluatorBitForBit)
{
    for (const auto type : kFloats) {
        std::vector<Slot<double>> values, others;
        pairs(type, values, others);
        const auto answer = differs(Theory::bits, operator_of(type, of_floats(type)), values, others);
        EXPECT_EQ(answer.kind, prove::Answer::Kind::unsat) << name(type) << " " << answer.reason;
    }
}

/// Operations on small numbers that neither overflow nor round.
TEST_F(SmtTermsTest, UnboundedIntegersAndRealsAgreeWhereNothingOverflowsOrRounds)
{
    std::vector<Tried> integers = of_all(Type::i32);
    for (const auto* text :
         {"a.p % b.p", "~a.p", "a.p << 3", "a.p >> 2", "a.p & 7", "i32(i8(a.p))", "i32(a.p < b.p)"})
        integers.push_back({text, Type::i32});
    integers.push_back({"i64(a.p)", Type::i64});
    integers.push_back({"bool(a.p)", Type::boolean});
    std::vector<Tried> reals;
    for (auto& one : of_all(Type::f64))
        if (one.text != "a.p / b.p")
            reals.push_back(one);
    for (const auto* text : {"a.p / 4.0", "floor(a.p)", "ceil(a.p)", "round(a.p)", "fma(a.p, b.p, a.p)"})
        reals.push_back({text, Type::f64});
    reals.push_back({"i32(a.p)", Type::i32});
    reals.push_back({"isnan(a.p)", Type::boolean});
    reals.push_back({"isfinite(a.p)", Type::boolean});
    std::vector<Slot<double>> small, small_others, halves, half_others;
    for (int x = -9; x <= 9; x += 3)
        for (int y = -3; y <= 3; ++y) {
            small.push_back({.bits = wrap(Type::i32, static_cast<std::uint64_t>(x))});
            small_others.push_back({.bits = wrap(Type::i32, static_cast<std::uint64_t>(y))});
            Machine<double>::set_real(halves.emplace_back(), Type::f64, x / 2.0);
            Machine<double>::set_real(half_others.emplace_back(), Type::f64, y / 2.0);
        }
    for (const bool planted : {false, true}) {
        const auto expected = planted ? prove::Answer::Kind::sat : prove::Answer::Kind::unsat;
        EXPECT_EQ(
            differs(Theory::integers, operator_of(Type::i32, integers), small, small_others, planted).kind,
            expected);
        EXPECT_EQ(differs(Theory::reals, operator_of(Type::f64, reals), halves, half_others, planted).kind,
                  expected);
    }
}

}  // namespace
}  // namespace segfold::smt_terms_test
