// The search for counter-examples finds rare values, long segments and far places, and never makes a false
// claim about random operators whose laws are known by brute force.
#include <gtest/gtest.h>

#include <random>

#include "dsl/evaluation/evaluator.h"
#include "dsl/laws/laws.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::law_search_test {
namespace {

/// Limits of the search before every run, but with time for every case.
constexpr LawOptions kQuick{kQuickLawOptions.most_cases, 600, 1};

Operator short_form(const std::string& combine, Type type, const std::string& identity = {})
{
    ShortForm form;
    form.combine = combine;
    form.type = type;
    form.identity = identity;
    return parse_short_form(form);
}

Operator parsed(const std::string& head, const std::string& body)
{
    return parse_operator("test.seg", "operator test(" + head + ") -> i64 {\n" + body + "}\n");
}

/// The longest time between two readings. They are sorted by `read`.
Operator longest_gap(const std::string& head, const std::string& read)
{
    return parsed(
        head, "state { first: i64; last: i64; gap: i64 } lift { first = " + read + "; last = " + read +
                  "; gap = 0 } combine(a, b) { first = min(a.first, b.first); last = max(a.last, b.last); "
                  "gap = max(max(a.gap, b.gap), b.first - a.last) } finish gap\n");
}

TEST(LawSearch, SaysWhichColumnSortedKeepsALaw)
{
    const auto found = [](const Operator& op) { return *check_laws(op, kQuick).find(Law::associative); };
    EXPECT_EQ(found(longest_gap("time: i32", "i64(time)")).sorted_by, "time");
    EXPECT_EQ(found(longest_gap("value: f32, time: u16", "i64(time)")).sorted_by, "time");
    const auto cases = found(longest_gap("time: i32", "i64(time)")).sorted_cases;
    EXPECT_GE(cases, 64);
    EXPECT_LT(cases, 512) << "those that hold as they are drawn say nothing of an order";
    for (const auto* combine : {"a - b", "a / 2 + b", "a > b ? a : b - 1"}) {
        const auto finding = found(short_form(combine, Type::i32));
        EXPECT_EQ(finding.verdict, Verdict::refuted) << combine;
        EXPECT_EQ(finding.sorted_by, "") << combine;
    }
}

TEST(LawSearch, TriesTheConstantsOfTheText)
{
    const std::pair<std::string, Type> broken[] = {
        {"a == 123456 ? 0 : a + b", Type::i32},
        {"a == 123456 && b == 987654 ? 5 : a ^ b", Type::i64},
        {"a + b == 40000 ? 40000 : max(a, b)", Type::u16},
        {"b - a == 777777 ? 3 : a + b", Type::i64},
        {"a > 70000 && a < 70003 ? a : max(a, b)", Type::u32},
        {"a == 1000.5 ? 0.0 : a + b", Type::f64},
        {"a > 96.25 && a <= 96.25 + 0.00001 ? 0.0 : max(a, b)", Type::f32},
    };
    for (const auto& [combine, type] : broken)
        EXPECT_TRUE(check_laws(short_form(combine, type), kQuick).refuted(Law::associative)) << combine;
}

TEST(LawSearch, FoldsLongSegments)
{
    const auto counter = parsed("x: i32",
                                "  state n: i64 = 0\n"
                                "  lift 1\n"
                                "  combine(a, b) a >= 100 ? a : a + b\n");
    const auto found = check_laws(counter, kQuick);
    ASSERT_TRUE(found.refuted(Law::associative));
    EXPECT_NE(found.find(Law::associative)->counter_example->text.find("elements)"), std::string::npos)
        << found.find(Law::associative)->counter_example->text;
    EXPECT_LE(found.find(Law::associative)->counter_example->states[0].elements.size(), 127U);
    // The length wraps after 127 elements.
    const auto narrow =
        parsed("x: i32",
               "  state { n: i8; total: i64 }\n"
               "  lift { n = 1; total = 1 }\n"
               "  combine(a, b) { n = a.n + b.n; total = a.total + (b.n < 0 ? 0 : b.total) }\n"
               "  finish total\n");
    EXPECT_TRUE(check_laws(narrow, kQuick).refuted(Law::associative));
}

TEST(LawSearch, LooksAtFarPlaces)
{
    const auto ascending = [](const std::string& place) {
        return parsed(
            "x: i32",
            "  state { place: i64; sum: i64 }\n"
            "  lift { place = i64(" +
                place +
                "); sum = 1 }\n"
                "  combine(a, b) { place = b.place; sum = a.sum + (b.place > a.place ? b.sum : 0) }\n"
                "  finish sum\n");
    };
    for (const auto* place : {"i16(index)", "i8(position)", "u16(index)", "i32(index)", "u32(position)"})
        EXPECT_TRUE(check_laws(ascending(place), kQuick).refuted(Law::associative)) << place;
    EXPECT_FALSE(check_laws(ascending("index"), {20000, 600, 1}).any_refuted());
    const auto found = check_laws(ascending("i16(index)"), kQuick);
    EXPECT_NE(found.find(Law::associative)->counter_example->text.find(" from index 3276"), std::string::npos)
        << found.find(Law::associative)->counter_example->text;
}

TEST(LawSearch, DrawsFromTheDataAlone)
{
    const auto subarray = standard_operator("max_subarray_i64");
    EXPECT_TRUE(check_laws(subarray, kQuick).refuted(Law::identity));
    const auto integer = [](std::int64_t value) {
        return FieldValue{Type::i64, static_cast<std::uint64_t>(value), 0};
    };
    const auto real = [](double value) { return FieldValue{Type::f32, 0, value}; };
    DataRanges ranges = {{integer(-8), integer(8)}};
    auto options = kQuick;
    options.data = &ranges;
    EXPECT_FALSE(check_laws(subarray, options).refuted(Law::identity));
    ranges = {{integer(-8), integer(std::numeric_limits<std::int64_t>::max())}};
    EXPECT_TRUE(check_laws(subarray, options).refuted(Law::identity));

    const auto first = short_form("a != 0 ? a : b", Type::f32, "0");
    EXPECT_TRUE(check_laws(first, kQuick).refuted(Law::identity));
    ranges = {{real(-1), real(1)}};
    EXPECT_FALSE(check_laws(first, options).refuted(Law::identity));
    ranges[0].has_negative_zero = true;
    EXPECT_TRUE(check_laws(first, options).refuted(Law::identity));

    const auto greatest = short_form("max(a, b)", Type::f32, "-3.0");
    EXPECT_TRUE(check_laws(greatest, kQuick).refuted(Law::identity));
    EXPECT_FALSE(check_laws(greatest, options).refuted(Law::identity));
    ranges[0].lowest = real(-3.5);
    const auto found = check_laws(greatest, options);
    ASSERT_TRUE(found.refuted(Law::identity));
    const auto& value = found.find(Law::identity)->counter_example->states[0].fields[0];
    EXPECT_GE(value.real, -3.5);
    EXPECT_LT(value.real, -3);
}

TEST(LawSearch, LeavesTheIdentityOut)
{
    const auto mean = without_identity(standard_operator("log_sum_exp_f32"));
    EXPECT_FALSE(mean.has_identity());
    EXPECT_TRUE(mean.allows_empty());
    for (const auto& standard : standard_operators()) {
        const auto op = standard_operator(standard.name);
        if (!op.has_identity())
            continue;
        const auto with = compile_bytecode(op);
        const auto without = compile_bytecode(without_identity(op));
        Evaluator<double> first(with), second(without);
        std::vector<Slot<double>> expected(op.results.size()), actual(op.results.size());
        first.empty(3, expected.data());
        second.empty(3, actual.data());
        for (std::size_t i = 0; i < op.results.size(); ++i)
            EXPECT_EQ(actual[i].bits, expected[i].bits) << standard.name;
    }
}

/// Operators over one field of at most 8 bits, in which every state occurs.
class SmallOperators {
public:
    explicit SmallOperators(std::uint32_t seed) : random_(seed) {}

    /// An operator that obeys the law: a known operator under a bijection, or a projection.
    std::string associative(Type type)
    {
        if (type == Type::boolean)
            return pick({"a && b", "a || b", "a != b", "a == b", "a", "b", "true", "!(!a && !b)"});
        const std::string c = std::to_string(random_() % 100);
        const std::string operation = pick({"+", "^", "&", "|", "*"});
        switch (random_() % 5) {
            case 0: return "((a ^ " + c + ") " + operation + " (b ^ " + c + ")) ^ " + c;
            case 1: return "((a + " + c + ") " + operation + " (b + " + c + ")) - " + c;
            case 2: return pick({"min", "max"}) + "(a * 9, b * 9) * 57";  // 9 * 57 is 1 modulo 256
            case 3: return pick({"min(a, b)", "max(a, b)", "a", "b", "42"});
            default: return pick({"min", "max"}) + "(a ^ " + c + ", b ^ " + c + ") ^ " + c;
        }
    }

    std::string any(Type type, int depth = 3)
    {
        if (depth == 0 || random_() % 5 == 0)
            return type == Type::boolean ? pick({"a", "b", "true"})
                   : random_() % 3 != 0  ? pick({"a", "b"})
                                         : std::string(name(type)) + pick({"(1)", "(7)", "(64)"});
        const auto left = any(type, depth - 1);
        const auto right = any(type, depth - 1);
        if (type == Type::boolean)
            return "(" + left + pick({" && ", " || ", " != ", " == "}) + right + ")";
        switch (random_() % 4) {
            case 0: return pick({"min", "max"}) + "(" + left + ", " + right + ")";
            case 1:
                return "(" + left + pick({" < ", " == "}) + right + " ? " + any(type, depth - 1) + " : " +
                       right + ")";
            default: return "(" + left + pick({" + ", " - ", " ^ ", " & ", " | ", " * "}) + right + ")";
        }
    }

    std::string pick(std::initializer_list<const char*> words)
    {
        return words.begin()[random_() % words.size()];
    }

private:
    std::mt19937 random_;
};

/// The truth, by trying all triples of all states.
bool is_associative(const Operator& op)
{
    const auto bytecode = compile_bytecode(op);
    Evaluator<double> evaluator(bytecode);
    const Type type = op.state[0].type;
    const std::size_t count = type == Type::boolean ? 2 : 256;
    std::vector<std::uint8_t> table(count * count);
    for (std::size_t i = 0; i < table.size(); ++i) {
        Slot<double> a{}, b{}, out{};
        a.bits = wrap(type, i / count);
        b.bits = wrap(type, i % count);
        evaluator.combine(&a, &b, &out);
        table[i] = static_cast<std::uint8_t>(out.bits);
    }
    const auto row = [&](std::size_t state) { return table.data() + state * count; };
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b) {
            const auto *left = row(row(a)[b]), *middle = row(b), *right = row(a);
            unsigned differ = 0;
            for (std::size_t c = 0; c < count; ++c)
                differ |= static_cast<unsigned>(left[c] ^ right[middle[c]]);
            if (differ != 0)
                return false;
        }
    return true;
}

TEST(LawSearch, AgreesWithBruteForce)
{
    SmallOperators small(20);
    int num_associative = 0, num_others = 0;
    for (int i = 0; i < 60; ++i)
        for (const Type type : {Type::i8, Type::u8, Type::boolean}) {
            const auto text = i % 5 == 0 ? small.associative(type) : small.any(type);
            const auto op = short_form(text, type);
            const bool holds = is_associative(op);
            EXPECT_TRUE(holds || i % 5 != 0) << text << " of " << name(type);
            (holds ? num_associative : num_others) += 1;
            const auto quick = check_laws(op, {kQuick.most_cases, 0.0001, static_cast<std::uint64_t>(i)});
            EXPECT_FALSE(holds && quick.any_refuted()) << text << " of " << name(type) << "\n"
                                                       << print(quick, op);
            if (i % 5 != 1)  // all states are tried if there is time
                continue;
            const auto full = check_laws(op, kQuick);
            EXPECT_EQ(full.find(Law::associative)->verdict,
                      holds ? Verdict::holds_exhaustively : Verdict::refuted)
                << text << " of " << name(type);
        }
    EXPECT_GT(num_associative, 36);
    EXPECT_GT(num_others, 40);
}

}  // namespace
}  // namespace segfold::law_search_test
