#include "dsl/laws/data/block_values.h"

#include <algorithm>
#include <array>
#include <utility>

namespace segfold {
namespace {

/// Largest number of repeated analyses of locals. A use of a local is analysed again, because conditions may
/// narrow its values there.
constexpr int kMostAgain = 64;

bool is_known(const Expression& value) { return value->type && !is_float(*value->type); }

GrowingValues constant(Type type, WideInteger value)
{
    GrowingValues values(Interval{value, value});
    values.set_apart(type);
    return values;
}

}  // namespace

std::vector<GrowingValues> BlockValues::run(const Block& block, const std::vector<bool>& field_matters,
                                            Sites& sites)
{
    for (const auto& let : block.lets) {
        Sites found;
        sites_ = &found;
        auto values = is_known(let.value) ? of(let.value, true) : GrowingValues();
        if (!is_known(let.value))
            see_arguments(let.value);
        lets_[let.name] = {let.value, values, !found.empty()};
        know(let.name, values);
    }
    sites_ = &sites;
    std::vector<GrowingValues> results;
    for (std::size_t i = 0; i < block.assignments.size(); ++i)
        results.push_back(of(block.assignments[i].value, field_matters[i]));
    return results;
}

const GrowingValues* BlockValues::find(std::string_view name) const
{
    for (auto known = known_.rbegin(); known != known_.rend(); ++known)
        if (known->first == name)
            return &known->second;
    return nullptr;
}

void BlockValues::see_arguments(const Expression& value)
{
    if (value->kind == ExpressionKind::conditional) {
        of(value, true);
        return;
    }
    for (const auto& argument : value->arguments)
        of(argument, true);
}

GrowingValues BlockValues::overflow(const Expression& at, bool matters)
{
    if (matters)
        sites_->insert(&*at);
    return whole(*at->type);
}

GrowingValues BlockValues::bounded(const Expression& at, bool matters, const GrowingValues& exact)
{
    return exact.all(corners_).is_within(values_of(*at->type)) ? exact : overflow(at, matters);
}

GrowingValues BlockValues::of(const Expression& value, bool matters)
{
    switch (value->kind) {
        case ExpressionKind::boolean:
            return GrowingValues(Interval{WideInteger(value->magnitude), WideInteger(value->magnitude)});
        case ExpressionKind::integer:
            if (!is_known(value))
                return {};
            return constant(*value->type,
                            value->negative ? -WideInteger(value->magnitude) : WideInteger(value->magnitude));
        case ExpressionKind::limit:
            if (!is_known(value))
                return {};
            return constant(*value->type, value->name == "lowest" ? values_of(*value->type).low
                                                                  : values_of(*value->type).high);
        case ExpressionKind::name: return name(value, matters);
        case ExpressionKind::field: {
            const auto* found = find(key_of(value));
            return found == nullptr ? whole(*value->type) : *found;
        }
        case ExpressionKind::conditional: return conditional(value, matters);
        default: return is_known(value) ? operation(value, matters) : (see_arguments(value), GrowingValues());
    }
}

GrowingValues BlockValues::name(const Expression& value, bool matters)
{
    const auto let = lets_.find(value->name);
    const auto* found = find(value->name);
    if (let != lets_.end() && let->second.may_overflow) {
        // Analyses the local again. At this use its value may not overflow, or its overflow may not matter.
        if (++again_ > kMostAgain)
            return overflow(let->second.value, matters);
        if (is_known(value))
            return of(let->second.value, matters);
        see_arguments(let->second.value);
    }
    if (!is_known(value))
        return {};
    return found == nullptr ? whole(*value->type) : *found;
}

GrowingValues BlockValues::conditional(const Expression& value, bool matters)
{
    const auto& condition = value->arguments[0];
    const auto truth = of(condition, true).all(corners_);
    GrowingValues values;
    for (const bool side : {true, false}) {
        const auto before = known_.size();
        if (truth.contains(side ? 1 : 0) && assume(condition, side))
            values.take(of(value->arguments[side ? 1 : 2], matters));
        known_.resize(before);
    }
    return values;
}

bool BlockValues::assume(const Expression& condition, bool holds)
{
    const auto& arguments = condition->arguments;
    if (condition->kind == ExpressionKind::unary && condition->symbol == "!")
        return assume(arguments[0], !holds);
    if (condition->kind != ExpressionKind::binary)
        return true;
    if (condition->symbol == (holds ? "&&" : "||"))
        return assume(arguments[0], holds) && assume(arguments[1], holds);
    if (!is_known(arguments[0]) || !is_known(arguments[1]))
        return true;
    static constexpr std::array<std::array<std::string_view, 3>, 6> kComparisons = {{{"==", "==", "!="},
                                                                                     {"!=", "!=", "=="},
                                                                                     {"<", ">", ">="},
                                                                                     {"<=", ">=", ">"},
                                                                                     {">", "<", "<="},
                                                                                     {">=", "<=", "<"}}};
    for (const auto& [symbol, turned, negated] : kComparisons)
        if (condition->symbol == symbol) {
            const auto said = holds ? symbol : negated;
            const auto swapped = std::ranges::find(kComparisons, said, [](const auto& c) { return c[0]; });
            return compare(said, arguments[0], arguments[1]) &&
                   compare((*swapped)[1], arguments[1], arguments[0]);
        }
    return true;
}

bool BlockValues::compare(std::string_view symbol, const Expression& left, const Expression& right)
{
    if (left->kind != ExpressionKind::name && left->kind != ExpressionKind::field)
        return true;
    Sites ignored;
    auto* const before = std::exchange(sites_, &ignored);
    const auto values = of(left, false);
    const auto other = of(right, false).all(corners_);
    sites_ = before;
    if (other.is_empty())
        return false;
    const auto all = values_of(*left->type);
    GrowingValues kept = values;
    if (symbol == "!=" && other.low == other.high)
        kept = values.without(other.low);
    else if (symbol == "==")
        kept = values.meet(other, corners_);
    else if (symbol == "<" || symbol == "<=")
        kept = values.meet({all.low, other.high - (symbol == "<" ? 1 : 0)}, corners_);
    else if (symbol == ">" || symbol == ">=")
        kept = values.meet({other.low + (symbol == ">" ? 1 : 0), all.high}, corners_);
    const bool is_possible = !kept.is_empty();
    if (!(kept == values))
        know(left->kind == ExpressionKind::field ? key_of(left) : left->name, kept);
    return is_possible;
}

GrowingValues BlockValues::operation(const Expression& value, bool matters)
{
    if (value->kind == ExpressionKind::binary && (value->symbol == "&&" || value->symbol == "||"))
        return connective(value);
    if (value->kind == ExpressionKind::gather) {
        of(value->arguments[0], true);
        const auto known = tables_.find(value->name);
        return known == tables_.end() ? whole(*value->type) : GrowingValues(known->second);
    }
    std::vector<GrowingValues> arguments;
    bool are_known = true;
    for (std::size_t i = 0; i < value->arguments.size(); ++i) {
        arguments.push_back(of(value->arguments[i], OverflowMatters::of_argument(value, i, matters)));
        are_known = are_known && is_known(value->arguments[i]);
    }
    if (!are_known)
        return whole(*value->type);
    if (std::ranges::any_of(arguments, [](const auto& a) { return a.is_empty(); }))
        return {};
    switch (value->kind) {
        case ExpressionKind::unary: return unary(value, matters, arguments[0]);
        case ExpressionKind::binary: return binary(value, matters, arguments[0], arguments[1]);
        case ExpressionKind::convert: return converted(value, matters, arguments[0]);
        default: return function(value, matters, arguments);
    }
}

GrowingValues BlockValues::connective(const Expression& value)
{
    const bool is_and = value->symbol == "&&";
    const auto left = of(value->arguments[0], true).all(corners_);
    GrowingValues values;
    if (left.contains(is_and ? 0 : 1))
        values = GrowingValues(Interval{is_and ? 0 : 1, is_and ? 0 : 1});
    const auto before = known_.size();
    if (left.contains(is_and ? 1 : 0) && assume(value->arguments[0], is_and))
        values.take(of(value->arguments[1], true));
    known_.resize(before);
    return values;
}

GrowingValues BlockValues::unary(const Expression& value, bool matters, const GrowingValues& argument)
{
    if (value->symbol == "!")
        return GrowingValues(unary_values("!", Type::boolean, argument.all(corners_)));
    const Affine zero{value->symbol == "-" ? 0 : -1};
    if (value->symbol == "~" && !is_signed_integer(*value->type))
        return GrowingValues(unary_values("~", *value->type, argument.all(corners_)));
    GrowingValues negated;
    if (argument.has_range())
        negated.take(zero - argument.high(), zero - argument.low());
    for (const auto point : argument.points())
        negated.take_point(zero.constant - point);
    return bounded(value, matters, negated);
}

template <class Operation>
GrowingValues BlockValues::each_with_each(Type type, const GrowingValues& left, const GrowingValues& right,
                                          const Operation& operation)
{
    const auto parts = [](const GrowingValues& values) {
        std::vector<std::pair<Affine, Affine>> list;
        if (values.has_range())
            list.emplace_back(values.low(), values.high());
        for (const auto point : values.points())
            list.push_back({Affine{point}, Affine{point}});
        return list;
    };
    GrowingValues all;
    for (const auto& x : parts(left))
        for (const auto& y : parts(right)) {
            const auto [low, high] = operation(x, y);
            GrowingValues part(low, high);
            part.set_apart(type);
            all.take(part);
        }
    return all;
}

GrowingValues BlockValues::binary(const Expression& value, bool matters, const GrowingValues& left,
                                  const GrowingValues& right)
{
    const auto& symbol = value->symbol;
    const auto type = *value->arguments[0]->type;
    if (symbol == "+")
        return bounded(value, matters,
                       each_with_each(type, left, right, [](const Bounds& x, const Bounds& y) {
                           return Bounds{x.first + y.first, x.second + y.second};
                       }));
    if (symbol == "-") {
        const auto exact = each_with_each(type, left, right, [](const Bounds& x, const Bounds& y) {
            return Bounds{x.first - y.second, x.second - y.first};
        });
        const auto least = least_difference(value->arguments[0], value->arguments[1]);
        return bounded(value, matters,
                       least ? exact.meet({*least, values_of(Type::u64).high}, corners_) : exact);
    }
    const auto x = left.all(corners_), y = right.all(corners_);
    if (symbol == "*" || symbol == "<<")
        return product(value, matters, left, right);
    if (symbol == "/" && is_signed_integer(type) && x.contains(values_of(type).low) && y.contains(-1))
        return overflow(value, matters);
    return GrowingValues(binary_values(symbol, type, x, y));
}

bool BlockValues::is_of(const Expression& value, std::string_view function, const Expression& one) const
{
    if (value->kind == ExpressionKind::name)
        if (const auto let = lets_.find(value->name); let != lets_.end())
            return is_of(let->second.value, function, one);
    return value->kind == ExpressionKind::call && value->name == function &&
           (same(value->arguments[0], one) || same(value->arguments[1], one));
}

std::optional<WideInteger> BlockValues::least_difference(const Expression& left, const Expression& right)
{
    if (is_of(right, "min", left) || is_of(left, "max", right))
        return 0;
    if (left->kind != ExpressionKind::binary || left->symbol != "+")
        return std::nullopt;
    for (const std::size_t i : {0U, 1U})
        if (is_of(right, "min", left->arguments[i])) {
            const auto other = of(left->arguments[1 - i], true).all(corners_);
            return other.is_empty() ? std::nullopt : std::optional(other.low);
        }
    return std::nullopt;
}

GrowingValues BlockValues::product(const Expression& value, bool matters, const GrowingValues& left,
                                   const GrowingValues& right)
{
    const auto type = *value->type;
    const auto x = left.all(corners_);
    auto y = right.all(corners_);
    if (value->symbol == "<<") {
        const int width = static_cast<int>(8 * size_bytes(type));
        const auto count = y.low == y.high               ? Interval{y.low & (width - 1), y.low & (width - 1)}
                           : y.is_within({0, width - 1}) ? y
                                                         : Interval{0, width - 1};
        y = {WideInteger{1} << static_cast<int>(count.low), WideInteger{1} << static_cast<int>(count.high)};
    }
    Interval exact;
    for (const auto p : {x.low, x.high})
        for (const auto q : {y.low, y.high}) {
            WideInteger corner = 0;
            if (__builtin_mul_overflow(p, q, &corner))
                return overflow(value, matters);
            exact = hull(exact, {corner, corner});
        }
    if (!exact.is_within(values_of(type)))
        return overflow(value, matters);
    // A constant factor scales both bounds.
    const bool is_scaled = y.low == y.high && y.low >= 0 && left.has_range() && left.points().empty();
    return is_scaled ? GrowingValues(scaled(left.low(), y.low), scaled(left.high(), y.low))
                     : GrowingValues(exact);
}

GrowingValues BlockValues::converted(const Expression& value, bool matters, const GrowingValues& argument)
{
    const auto all = argument.all(corners_);
    if (*value->type == Type::boolean)
        return GrowingValues(Interval{all.contains(0) ? 0 : 1, all == Interval{0, 0} ? 0 : 1});
    if (all.is_within(values_of(*value->type)))
        return argument;
    overflow(value, matters);
    return GrowingValues(wrapped(*value->type, all));
}

GrowingValues BlockValues::function(const Expression& value, bool matters,
                                    const std::vector<GrowingValues>& arguments)
{
    const auto type = *value->arguments[0]->type;
    const auto x = arguments[0].all(corners_);
    if (value->name == "min" || value->name == "max")
        return extreme(type, arguments[0], arguments[1], value->name == "min");
    if (value->name == "abs") {
        if (is_signed_integer(type) && x.contains(values_of(type).low))
            return overflow(value, matters);
        return x.low >= 0 ? arguments[0] : GrowingValues(function_values("abs", type, x, {}));
    }
    return GrowingValues(function_values(value->name, type, x, {}));
}

GrowingValues BlockValues::extreme(Type type, const GrowingValues& left, const GrowingValues& right,
                                   bool least)
{
    return each_with_each(type, left, right, [&](const Bounds& x, const Bounds& y) {
        GrowingValues both(x.first, x.second);
        both.take(y.first, y.second);
        const auto end = [&](const Affine& bound) {
            WideInteger most =
                least ? values_of(Type::u64).low - values_of(Type::u64).high : values_of(Type::u64).high;
            for (const auto& [j, k] : corners_.all())
                most = least ? std::max(most, bound.at(j, k)) : std::min(most, bound.at(j, k));
            return most;
        };
        if (least)
            return Bounds{both.low(), end(x.second) <= end(y.second) ? x.second : y.second};
        return Bounds{end(x.first) >= end(y.first) ? x.first : y.first, both.high()};
    });
}

}  // namespace segfold
