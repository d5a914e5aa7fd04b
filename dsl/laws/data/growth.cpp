#include "dsl/laws/data/growth.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/laws/elements.h"

namespace segfold {
namespace {

/// A bound on a value of combine: so many times the earlier state's largest field, and the later one's.
struct Multiple {
    std::int64_t earlier = 0, later = 0;

    [[nodiscard]] std::int64_t largest() const { return std::max(earlier, later); }
};

Multiple either(const Multiple& x, const Multiple& y)
{
    return {std::max(x.earlier, y.earlier), std::max(x.later, y.later)};
}

/// Bounds the values of a combine that does no more than add, compare and choose.
class CombineGrowth {
public:
    /// Nothing where combine does something else, or where a state is larger than both it was made of
    /// together.
    static std::optional<CombineGrowth> of(const Operator& op)
    {
        for (const auto& field : op.state)
            if (!is_integer(field.type) || (field.identity && !is_zero(*field.identity)))
                return std::nullopt;
        CombineGrowth growth;
        for (const auto& let : op.combine.lets)
            if (const auto multiple = growth.see(let.value))
                growth.lets_[let.name] = *multiple;
            else
                return std::nullopt;
        for (const auto& assignment : op.combine.assignments)
            if (const auto multiple = growth.see(assignment.value); !multiple || multiple->largest() > 1)
                return std::nullopt;
        return growth;
    }

    /// The largest magnitude that all values may have which combine computes.
    [[nodiscard]] WideInteger room() const { return room_; }
    /// How often it adds a state to itself on the way.
    [[nodiscard]] std::int64_t times() const { return times_; }

private:
    static bool is_zero(const Expression& value)
    {
        return value->kind == ExpressionKind::integer && value->magnitude == 0;
    }

    std::optional<Multiple> see(const Expression& value)
    {
        const auto multiple = bound(value);
        if (!multiple || !value->type || !is_integer(*value->type) || multiple->largest() > kMostTimes)
            return std::nullopt;
        room_ = std::min(room_, values_of(*value->type).high);
        times_ = std::max(times_, multiple->largest());
        return multiple;
    }

    std::optional<Multiple> bound(const Expression& value)
    {
        switch (value->kind) {
            case ExpressionKind::integer:
                return is_zero(value) ? std::optional(Multiple{}) : std::nullopt;
            case ExpressionKind::field:
                return value->operand == Operand::earlier ? Multiple{1, 0} : Multiple{0, 1};
            case ExpressionKind::name:
                if (const auto let = lets_.find(value->name); let != lets_.end())
                    return let->second;
                return std::nullopt;
            case ExpressionKind::unary:
                return value->symbol == "-" && is_signed_integer(*value->type) ? see(value->arguments[0])
                                                                               : std::nullopt;
            case ExpressionKind::convert:
                return widens(value) ? see(value->arguments[0]) : std::nullopt;
            case ExpressionKind::conditional:
                return compares(value->arguments[0])
                           ? of_both(value->arguments[1], value->arguments[2], either)
                           : std::nullopt;
            case ExpressionKind::call:
                return value->name == "max" || value->name == "min"
                           ? of_both(value->arguments[0], value->arguments[1], either)
                           : std::nullopt;
            case ExpressionKind::binary:
                if (value->symbol != "+" && (value->symbol != "-" || !is_signed_integer(*value->type)))
                    return std::nullopt;
                return of_both(value->arguments[0], value->arguments[1],
                               [](const Multiple& x, const Multiple& y) {
                                   return Multiple{x.earlier + y.earlier, x.later + y.later};
                               });
            default:
                return std::nullopt;
        }
    }

    template <class Join>
    std::optional<Multiple> of_both(const Expression& left, const Expression& right, const Join& join)
    {
        const auto x = see(left), y = see(right);
        return x && y ? std::optional(join(*x, *y)) : std::nullopt;
    }

    static bool widens(const Expression& value)
    {
        const auto& from = value->arguments[0]->type;
        return from && is_integer(*from) && values_of(*from).is_within(values_of(*value->type));
    }

    /// Whether a condition asks no more than which of such values are the larger ones.
    bool compares(const Expression& condition)
    {
        const auto& arguments = condition->arguments;
        if (condition->kind == ExpressionKind::unary)
            return condition->symbol == "!" && compares(arguments[0]);
        if (condition->kind != ExpressionKind::binary)
            return false;
        if (condition->symbol == "&&" || condition->symbol == "||")
            return compares(arguments[0]) && compares(arguments[1]);
        constexpr std::string_view kComparisons[] = {"==", "!=", "<", "<=", ">", ">="};
        return std::ranges::find(kComparisons, condition->symbol) != std::end(kComparisons) &&
               see(arguments[0]) && see(arguments[1]);
    }

    static constexpr std::int64_t kMostTimes = 1 << 10;
    WideInteger room_ = values_of(Type::u64).high;
    std::int64_t times_ = 1;
    std::map<std::string, Multiple> lets_;
};

WideInteger integer_of(const FieldValue& value)
{
    return is_signed_integer(value.type) ? WideInteger(static_cast<std::int64_t>(value.bits))
                                         : WideInteger(value.bits);
}

/// The values of an expression of lift; all of its type where nothing better is known.
Interval lifted_values(const Expression& value, const std::map<std::string, Interval>& names)
{
    const auto all = value->type && !is_float(*value->type) ? values_of(*value->type) : Interval{};
    const auto of = [&](std::size_t i) { return lifted_values(value->arguments[i], names); };
    const bool are_integers =
        std::ranges::none_of(value->arguments, [](const auto& a) { return !a->type || is_float(*a->type); });
    if (!are_integers)
        return all;
    const auto operand = [&] { return *value->arguments[0]->type; };
    switch (value->kind) {
        case ExpressionKind::integer: {
            const auto size = WideInteger(value->magnitude);
            return {value->negative ? -size : size, value->negative ? -size : size};
        }
        case ExpressionKind::name: {
            const auto found = names.find(value->name);
            return found == names.end() ? all : found->second;
        }
        case ExpressionKind::unary:
            return unary_values(value->symbol, operand(), of(0));
        case ExpressionKind::binary:
            return binary_values(value->symbol, operand(), of(0), of(1));
        case ExpressionKind::conditional:
            return hull(of(1), of(2));
        case ExpressionKind::convert:
            return wrapped(*value->type, of(0));
        case ExpressionKind::call:
            return value->name == "max" || value->name == "min" || value->name == "abs"
                       ? function_values(value->name, operand(), of(0),
                                         value->arguments.size() > 1 ? of(1) : Interval{})
                       : all;
        default:
            return all;
    }
}

/// The largest magnitude of a field that lift gives for elements of these ranges.
WideInteger largest_lifted(const Operator& op, const DataRanges& ranges)
{
    std::map<std::string, Interval> names;
    std::size_t column = 0;
    for (const auto& parameter : op.parameters) {
        if (parameter.table)
            continue;
        const auto& range = ranges.at(column++);
        if (is_integer(parameter.type) && range.lowest)
            names[parameter.name] = {integer_of(*range.lowest), integer_of(*range.highest)};
    }
    for (const auto& let : op.lift.lets)
        if (let.value->type && is_integer(*let.value->type))
            names[let.name] = lifted_values(let.value, names);
    WideInteger largest = 0;
    for (const auto& assignment : op.lift.assignments) {
        const auto values = lifted_values(assignment.value, names);
        largest = std::max({largest, values.high, -values.low});
    }
    return largest;
}

/// Whether the elements of a counter-example are so large that something on the way may overflow.
bool may_overflow(const Operator& op, const CounterExample& example)
{
    DataRanges ranges;
    for (const auto& parameter : op.parameters)
        if (!parameter.table)
            ranges.emplace_back();
    std::int64_t num_elements = 0;
    for (const auto& state : example.states)
        for (const auto& element : state.elements) {
            ++num_elements;
            for (std::size_t k = 0; k < std::min(ranges.size(), element.size()); ++k) {
                if (is_float(element[k].type))
                    continue;
                auto& low = ranges[k].lowest;
                auto& high = ranges[k].highest;
                if (!low || integer_of(element[k]) < integer_of(*low))
                    low = element[k];
                if (!high || integer_of(element[k]) > integer_of(*high))
                    high = element[k];
            }
        }
    return !overflows_nowhere(op, ranges, num_elements);
}

}  // namespace

bool overflows_nowhere(const Operator& op, const DataRanges& ranges, std::int64_t num_elements)
{
    const auto growth = CombineGrowth::of(op);
    return growth && largest_lifted(op, ranges) <= growth->room() / (WideInteger(growth->times()) *
                                                                     std::max<std::int64_t>(num_elements, 1));
}

std::vector<Law> refuted_by_overflow_alone(const Operator& op, const LawReport& report,
                                           const LawOptions& options)
{
    const auto has_example = [](const LawFinding& finding) { return finding.counter_example.has_value(); };
    if (std::ranges::none_of(report.findings, has_example) || !CombineGrowth::of(op))
        return {};
    // The largest elements of which a search cannot make anything overflow.
    DataRanges ranges;
    const auto are_small = [&](int bits) {
        ranges.clear();
        for (const auto& parameter : op.parameters) {
            if (parameter.table)
                continue;
            const auto type = parameter.type;
            if (is_float(type)) {
                ranges.push_back({FieldValue{type, 0, -highest_float(type)},
                                  FieldValue{type, 0, highest_float(type)}, true});
                continue;
            }
            const auto size = std::min(highest_integer(type), (std::uint64_t{1} << bits) - 1);
            ranges.push_back(
                {FieldValue{type, is_signed_integer(type) ? 0 - size : 0}, FieldValue{type, size}});
        }
        return overflows_nowhere(op, ranges, kFoldOfSearch);
    };
    int bits = 63;
    while (bits > 0 && !are_small(bits))
        --bits;
    if (bits == 0)
        return {};
    auto restricted = options;
    restricted.data = &ranges;
    const auto found = check_laws(op, restricted);
    std::vector<Law> laws;
    for (const auto law : {Law::associative, Law::identity, Law::commutative})
        if (const auto* finding = report.find(law); report.refuted(law) && finding->counter_example &&
                                                    !found.refuted(law) &&
                                                    may_overflow(op, *finding->counter_example))
            laws.push_back(law);
    return laws;
}

}  // namespace segfold
