// Laws tried on the elements of a fold: elements that break a law become counter-examples, and sound
// operators are not refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dsl/laws/data/element_trial.h"
#include "dsl/text/parser.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/core.h"
#include "tests/common/front_door.h"

namespace segfold::test::element_laws_test {
namespace {

Operator modular_product()
{
    return parse_operator("pm.seg",
                          "operator pm(x: u32, m: scalar u32) -> u32 {\n"
                          "  state { p: u32 = 1; q: u32 = 0 }\n"
                          "  lift { p = x % m; q = m }\n"
                          "  combine(a, b) { let k = max(a.q, b.q); q = k; p = (a.p * b.p) % k }\n"
                          "  finish p\n"
                          "}\n");
}

std::vector<std::uint32_t> tiled(std::size_t count)
{
    const std::uint32_t tile[] = {1, 2, 2147483647, 2147483649};
    std::vector<std::uint32_t> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(tile[i % 4]);
    return values;
}

/// The search does not draw numbers whose products overflow in this way; the data contain them.
TEST(ElementLaws, AssociativityThatNeighboursRefuteIsNotReliedOn)
{
    auto session = session_on("simt");
    const auto op = modular_product();
    const std::uint32_t m = 4294967295;
    for (const std::size_t count : {std::size_t{4000}, std::size_t{4096}, std::size_t{4}}) {
        const auto values = tiled(count);
        const std::vector<ArrayView> inputs = {values, std::span(&m, 1)};
        const auto folded = session.fold(op, inputs, uniform(4), {.check = true});
        EXPECT_TRUE(folded.agrees()) << folded.check()[0];
        EXPECT_EQ(folded.values<std::uint32_t>()[0], 4294967294U) << "from left to right";
        ASSERT_EQ(folded.warnings().size(), 1U);
        const auto& text = folded.warnings()[0];
        EXPECT_TRUE(
            text.starts_with("operator pm is not associative; only stages that fold strictly from "
                             "left to right can serve\n"
                             "combine is not associative with m = 4294967295, on elements "))
            << text;
        EXPECT_NE(text.find("of the data:\n    a = {p = "), std::string::npos) << text;
        const auto sliced = message_of([&] { (void)session.fold(op, inputs, whole(), {.num_slices = 2}); });
        EXPECT_NE(sliced.find("is not associative"), std::string::npos) << sliced;
    }
    // The warning comes for any segments of these data, and for no other data.
    const auto values = tiled(64);
    EXPECT_FALSE(session.fold(op, {values, std::span(&m, 1)}, uniform(1)).warnings().empty());
    const std::vector<std::uint32_t> small(4000, 3);
    EXPECT_TRUE(session.fold(op, {small, std::span(&m, 1)}, uniform(4), {.check = true}).warnings().empty());
    EXPECT_TRUE(session.laws(op, {FieldValue{Type::u32, m}}).is_associative()) << "without data";
}

TEST(ElementLaws, WhatTheUserVouchesForIsReliedOn)
{
    Session session({.backend = "cpu", .assume = {Law::associative}});
    const auto op = modular_product();
    const auto values = tiled(4000);
    const std::uint32_t m = 4294967295;
    const std::vector<ArrayView> inputs = {values, std::span(&m, 1)};
    const auto laws = core(session).laws(borrow_workload(op, inputs, uniform(4)));
    EXPECT_TRUE(laws.usable.associative);
    EXPECT_FALSE(laws.is_associative());
    EXPECT_EQ(laws.assumed, std::vector<Law>{Law::associative});
}

/// A law that is known to hold for all states is not tried on elements.
TEST(ElementLaws, NothingIsTriedWhereTheLawIsKnown)
{
    auto session = session_on("reference");
    const auto sum = standard_operator("sum_i32");
    ASSERT_EQ(session.laws(sum).report.find(Law::associative)->verdict, Verdict::holds_exhaustively);
    const std::vector<int> values(4000, 1);
    const auto of_data = core(session).laws(borrow_workload(sum, std::vector<ArrayView>{values}, whole()));
    EXPECT_TRUE(of_data.is_associative());
}

template <class T>
std::vector<T> any_values(std::size_t count, std::mt19937_64& random)
{
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<T>)
            values.push_back(static_cast<T>(random() >> random() % 64));
        else {
            const auto unit = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
            const int size = static_cast<int>(random() % 60) - 30;
            values.push_back(std::ldexp(unit, random() % 2 != 0 ? size : 4 * size));
        }
        if constexpr (std::is_floating_point_v<T>)
            if (random() % 64 == 0)
                values.back() = random() % 2 != 0 ? std::numeric_limits<T>::infinity() : T(-0.0);
    }
    return values;
}

/// Data of many magnitudes, with infinities and -0, refute no standard operator.
TEST(ElementLaws, NoOperatorThatIsSoundIsRefused)
{
    std::mt19937_64 random(3);
    int tried = 0;
    for (const auto& standard : standard_operators()) {
        const auto& name = standard.name;
        for (const auto type : {Type::f32, Type::f64, Type::i32}) {
            std::optional<Operator> op;
            try {
                op = standard_operator(name, type);
            } catch (const Error&) {
                continue;
            }
            const auto known = check_laws(*op, kQuickLawOptions);
            if (known.refuted(Law::associative))
                continue;
            std::vector<Array> arrays;
            constexpr std::size_t kCount = 20000;
            for (const auto& parameter : op->parameters) {
                const std::size_t count = parameter.scalar ? 1 : kCount;
                auto& array = arrays.emplace_back(parameter.type, count);
                const auto fill = [&]<class T>(T) {
                    const auto values = any_values<T>(count, random);
                    std::memcpy(array.data(), values.data(), array.bytes());
                };
                if (parameter.type == Type::f32)
                    fill(float());
                else if (parameter.type == Type::f64)
                    fill(double());
                else
                    std::memset(array.data(), 1, array.bytes());
                if (parameter.type == Type::i32 && !parameter.table)
                    fill(std::int32_t());
            }
            ElementTrial trial(*op, arrays, kCount);
            const auto example = trial.try_neighbours(4000);
            EXPECT_FALSE(example) << name << " of " << segfold::name(type) << "\n"
                                  << (example ? example->text : "");
            ++tried;
        }
    }
    EXPECT_GT(tried, 100);
}

/// The trial reads the tables and rows of the fold.
TEST(ElementLaws, TablesAndRowsAreTheGivenOnes)
{
    const std::string product =
        "q = 0xffffffff }  combine(a, b) { let k = max(a.q, b.q); q = k; p = (a.p * b.p) % k }  finish p }";
    const std::string state = " -> u32 { state { p: u32 = 1; q: u32 = 0 }  lift { p = ";
    const auto gather = parse_operator(
        "g.seg", "operator g(at: i32, t: table u32)" + state + "t[at] % 0xffffffff; " + product);
    const auto rows =
        parse_operator("r.seg", "operator r(x: row u32)" + state + "x % 0xffffffff; " + product);
    auto session = session_on("reference");
    const auto is_associative = [&](const Operator& op, const std::vector<ArrayView>& inputs) {
        return core(session).laws(borrow_workload(op, inputs, whole())).is_associative();
    };
    const std::vector<int> places = {0, 1, 2, 0, 1, 2};
    EXPECT_TRUE(is_associative(gather, {places, std::vector<std::uint32_t>{1, 2, 3}}));
    EXPECT_FALSE(is_associative(gather, {places, std::vector<std::uint32_t>{2, 2147483647, 2147483649}}));
    std::vector<std::uint32_t> numbers(3000, 4);
    EXPECT_TRUE(is_associative(rows, {rows_of(numbers, 3)}));
    const auto values = tiled(1000);
    for (std::size_t i = 0; i < values.size(); ++i)
        numbers[3 * i + 1] = values[i];
    EXPECT_FALSE(is_associative(rows, {rows_of(numbers, 3)})) << "the second feature of each";
}

Operator seldom_negative()
{
    return parse_operator("rr.seg",
                          "operator rr(x: i32, k: scalar i32) -> i32 {\n"
                          "  state v: i32 = 0\n"
                          "  lift x == k * 3 + 1 ? -7 : x\n"
                          "  combine(a, b) max(a, b)\n"
                          "  laws commutative\n"
                          "}\n");
}

/// A search draws few numbers of the data's range; the trial sees every element.
TEST(ElementLaws, AnElementThatShowsThatTheIdentityIsNoneIsFound)
{
    auto session = session_on("cpu");
    const auto op = seldom_negative();
    std::vector<int> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<int>(i) * 200;
    const int k = 41152;
    const std::vector<ArrayView> inputs = {values, std::span(&k, 1)};
    const auto spared = core(session).laws(borrow_workload(op, inputs, uniform(1)));
    EXPECT_TRUE(spared.has_sound_identity);
    const auto warnings = law_warnings(spared, op);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("it is relied on, as no values of the data's range were found to show it, and "
                               "none of its elements shows it\na stream or a plan"),
              std::string::npos)
        << warnings[0];
    values[10] = 123457;
    const auto told = message_of<SpecError>([&] { (void)session.fold(op, inputs, uniform(1)); });
    EXPECT_NE(told.find("the identity is not neutral with k = 41152, on element 10 of the data:\n"
                        "    identity = 0\n"
                        "    combine(identity, a) = 0\n"
                        "    a = -7, of x = 123457\n"),
              std::string::npos)
        << told;
}

TEST(ElementLaws, OfManyElementsSomeAreTriedAndTheWarningSaysSo)
{
    auto session = session_on("reference");
    const auto op = seldom_negative();
    std::vector<int> values((std::size_t{1} << 21) + 2, 8);
    const int k = 41152;
    values[0] = 1 << 20;
    const std::vector<ArrayView> inputs = {values, std::span(&k, 1)};
    const auto laws = [&] { return core(session).laws(borrow_workload(op, inputs, whole())); };
    const auto warnings = law_warnings(laws(), op);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find(", and none of the elements that were tried, spread evenly, shows it"),
              std::string::npos)
        << warnings[0];
    EXPECT_EQ(laws().num_tried, 699052);
    values[3 * 600000] = values[3 * 500000] = 123457;
    const auto found = laws();
    ASSERT_FALSE(found.has_sound_identity);
    const auto text = found.report.find(Law::identity)->counter_example->text;
    EXPECT_NE(text.find("on element 1500000 of the data"), std::string::npos) << text;
}

/// An identity that is neutral only for finite values is left out if an element that is not finite shows
/// that.
TEST(ElementLaws, AnElementThatIsNotFiniteLeavesTheIdentityOut)
{
    auto session = session_on("reference");
    const auto op = parse_operator("least.seg",
                                   "operator least(x: f32) -> f32 { state m: f32 = lowest(f32)  lift x  "
                                   "combine(a, b) max(a, b) }");
    std::vector<float> values(100, 2);
    const auto laws = [&] {
        return core(session).laws(borrow_workload(op, std::vector<ArrayView>{values}, whole()));
    };
    EXPECT_TRUE(laws().is_neutral_on_finite);
    EXPECT_FALSE(laws().without_identity);
    values[7] = -std::numeric_limits<float>::infinity();
    EXPECT_TRUE(laws().has_sound_identity);
    EXPECT_TRUE(laws().without_identity);
}

/// No state depends on what map alone reads.
TEST(ElementLaws, WhatMapAloneReadsLeavesTheIdentityIn)
{
    auto session = session_on("reference");
    const auto without_identity = [&](const std::string& lift, const std::string& map, float x) {
        const auto op = parse_operator(
            "shifted",
            "operator shifted(x: f32, bias: f32, t: table f32) -> each f32 { state m: f32 = lowest(f32)  "
            "lift " +
                lift + "  combine(a, b) max(a, b)  map " + map + " }");
        const auto infinity = std::numeric_limits<float>::infinity();
        const std::vector<float> column = {1, x, 3}, others = {0, -infinity, 1};
        return core(session)
            .laws(borrow_workload(op, std::vector<ArrayView>{column, others, others}, whole()))
            .without_identity.has_value();
    };
    EXPECT_FALSE(without_identity("x", "m + bias + t[position]", 2));
    EXPECT_TRUE(without_identity("x", "m + bias + t[position]", -std::numeric_limits<float>::infinity()));
    EXPECT_TRUE(without_identity("x + bias", "m + bias + t[position]", 2));
    EXPECT_TRUE(without_identity("x + t[i32(x) % 3]", "m + bias + t[position]", 2));
}

Operator greatest(const std::string& parameters, const std::string& identity, const std::string& lift)
{
    return parse_operator("greatest.seg", "operator greatest(" + parameters +
                                              ") -> f64 { state v: f64 = " + identity + "  lift " + lift +
                                              "  combine(a, b) max(a, b)  laws commutative }");
}

/// The search draws finite tables; tables of the data may contain infinities.
TEST(ElementLaws, ATableOfTheDataMayShowThatTheIdentityIsNone)
{
    const auto infinity = std::numeric_limits<double>::infinity();
    auto session = session_on("cpu");
    const std::vector<int> places = {0, 1, 0, 2};
    const auto fold = [&](const std::string& identity, double entry) {
        return session.fold(greatest("x: i32, t: table f64", identity, "t[x]"),
                            {places, std::vector<double>{entry, 1, 2}}, uniform(1), {.check = true});
    };
    const auto lowest = fold("lowest(f64)", -infinity);
    EXPECT_TRUE(lowest.agrees()) << lowest.check()[0];
    EXPECT_EQ(lowest.values<double>()[0], -infinity);
    ASSERT_EQ(lowest.warnings().size(), 1U);
    EXPECT_NE(
        lowest.warnings()[0].find("runs without its identity: the identity is not neutral on element 0 of "
                                  "the data: identity = -1.7976931348623157e+308, combine(identity, a) = "
                                  "-1.7976931348623157e+308, a = -inf, of x = 0"),
        std::string::npos)
        << lowest.warnings()[0];
    const auto nan = fold("-inf", std::nan(""));
    EXPECT_TRUE(nan.agrees()) << nan.check()[0];
    EXPECT_TRUE(std::isnan(nan.values<double>()[0]));
    EXPECT_TRUE(fold("-inf", 3).warnings().empty());
}

/// Finite elements may give 0 / 0, which is NaN.
TEST(ElementLaws, FiniteElementsWhoseStateIsNoneAreFoldedWithoutTheIdentity)
{
    auto session = session_on("cpu");
    const auto op = greatest("x: f64, y: f64, z: f64", "-inf", "(x - y) / (y - z)");
    const std::vector<double> x = {5, 1, 5, 2}, y = {5, 1, 5, 1}, z = {5, 3, 5, 2}, other = {6, 3, 6, 2};
    const auto shown = session.fold(op, {x, y, z}, uniform(1), {.check = true});
    EXPECT_TRUE(shown.agrees()) << shown.check()[0];
    EXPECT_TRUE(std::isnan(shown.values<double>()[0]));
    ASSERT_EQ(shown.warnings().size(), 1U);
    EXPECT_TRUE(shown.warnings()[0].starts_with("operator greatest runs without its identity: "))
        << shown.warnings()[0];
    EXPECT_FALSE(core(session)
                     .laws(borrow_workload(op, std::vector<ArrayView>{x, y, other}, whole()))
                     .without_identity);
}

/// combine(identity, a) overflows although a is finite: without the identity the result is a.
TEST(ElementLaws, AnIdentityThatOverflowsIsLeftOut)
{
    auto session = session_on("cpu");
    const auto op = parse_operator("spread.seg",
                                   "operator spread(x: f32) -> (mean: f32, m2: f32) {\n"
                                   "  state { n: i32 = 0; mean: f32 = 0; m2: f32 = 0 }\n"
                                   "  lift { n = 1; mean = x; m2 = 0 }\n"
                                   "  combine(a, b) {\n"
                                   "    let total = a.n + b.n;\n"
                                   "    let delta = b.mean - a.mean;\n"
                                   "    let share = total == 0 ? 0.0 : f32(b.n) / f32(total);\n"
                                   "    n = total;\n"
                                   "    mean = a.mean + delta * share;\n"
                                   "    m2 = a.m2 + b.m2 + delta * delta * f32(a.n) * share\n"
                                   "  }\n"
                                   "  finish { mean = mean; m2 = m2 }\n"
                                   "}\n");
    std::vector<float> x(4000, 1);
    EXPECT_FALSE(
        core(session).laws(borrow_workload(op, std::vector<ArrayView>{x}, whole())).without_identity);
    x[1234] = 1e20F;  // the highest element
    const auto folded = session.fold(op, {x}, uniform(1));
    EXPECT_EQ(folded.values<float>("m2")[1234], 0);
    ASSERT_EQ(folded.warnings().size(), 1U);
    EXPECT_NE(folded.warnings()[0].find("on element 1234 of the data"), std::string::npos)
        << folded.warnings()[0];
}

/// The lowest and the highest element of each column are tried, for any number of columns. If elements are
/// not finite, more are tried.
TEST(ElementLaws, WhatIsExtremeIsTried)
{
    const auto op = parse_operator(
        "low.seg",
        "operator low(x: i32, y: u16) -> i32 { state v: i32 = 0  lift x * 2 == 1975308642 && y < "
        "u16(70) ? -7 : abs(x / 2)  combine(a, b) max(a, b)  laws commutative }");
    auto session = session_on("reference");
    std::vector<int> x(300000);
    std::vector<std::uint16_t> y(x.size(), 60000);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int>(i);
    const auto laws = [&] {
        return core(session).laws(borrow_workload(op, std::vector<ArrayView>{x, y}, whole()));
    };
    ASSERT_FALSE(laws().report.refuted(Law::identity));
    x[123457] = 987654321;
    EXPECT_TRUE(laws().has_sound_identity);
    y[123457] = 5;
    const auto found = laws();
    EXPECT_FALSE(found.has_sound_identity);
    EXPECT_NE(found.report.find(Law::identity)->counter_example->text.find("on element 123457 of the data"),
              std::string::npos);
}

/// No element is tried for a standard operator, or if lift cannot make a state that the identity changes.
TEST(ElementLaws, AnIdentityIsDoubtedOnlyWhereItMayChangeAState)
{
    auto session = session_on("reference");
    const auto doubts = [&](const Operator& op) { return session.laws(op).doubts_identity; };
    for (const auto& standard : standard_operators())
        EXPECT_FALSE(doubts(standard_operator(standard.name))) << standard.name;
    EXPECT_FALSE(doubts(greatest("x: f64", "-inf", "0")));
    EXPECT_TRUE(doubts(greatest("x: f64", "-inf", "isnan(x) ? -inf : x")));
    EXPECT_FALSE(doubts(parse_operator("s.seg",
                                       "operator s(x: f32) -> f32 { state v: f32 = 0  lift x * x  "
                                       "combine(a, b) a + b }")));
}

}  // namespace
}  // namespace segfold::test::element_laws_test
