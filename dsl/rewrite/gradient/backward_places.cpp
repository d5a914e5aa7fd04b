// Gradients by fields that are copied from one element. The state also holds the element's index.
#include <algorithm>

#include "dsl/rewrite/gradient/backward.h"
#include "dsl/rewrite/gradient/reduced.h"
#include "dsl/rewrite/neutral_identity.h"

namespace segfold {
namespace {

/// The index for a field that belongs to no element.
Expression no_place(TermGraph& terms) { return terms.limit("highest", Type::i64); }

/// Finds the index of the element from which a value was copied, by following choices among fields of two
/// states.
class ChosenPlace {
public:
    /// `places` holds the index for each field. `dependence` has derivatives of the fields that count. Among
    /// equal values, max takes the value with the lower index and min takes the value with the higher index,
    /// so that pairs of value and index have one order. `prefers_least` exchanges these two rules.
    ChosenPlace(TermGraph& terms, std::map<const ExpressionNode*, Expression> places, Derivative& dependence,
                bool prefers_least)
        : terms_(terms), places_(std::move(places)), dependence_(dependence), prefers_least_(prefers_least)
    {}

    /// Returns the index as a term; none if the value is computed.
    std::optional<Expression> of(const Expression& value)
    {
        if (const auto found = places_.find(&*value); found != places_.end())
            return found->second;
        const bool is_choice =
            value->kind == ExpressionKind::conditional ||
            (value->kind == ExpressionKind::call && (value->name == "min" || value->name == "max"));
        if (!dependence_.of(value).has_value())
            return no_place(terms_);
        if (!is_choice)
            return std::nullopt;
        const auto first = value->arguments.size() - 2;
        const auto left = of(value.argument(first)), right = of(value.argument(first + 1));
        if (!left || !right)
            return std::nullopt;
        Expression found;
        if (first == 1) {
            found = terms_.select(value.argument(0), *left, *right);
        } else {
            const auto &u = value.argument(0), &v = value.argument(1);
            const auto* lower = (value->name == "min") == prefers_least_ ? "min" : "max";
            found = terms_.select(terms_.binary("==", u, v), terms_.call(lower, {*left, *right}),
                                  terms_.select(terms_.binary("==", value, u), *left, *right));
        }
        if (const auto hint = terms_.hint_of(value); !hint.empty())
            terms_.hint(found, "place_of_" + hint);
        return places_[&*value] = found;
    }

private:
    TermGraph& terms_;
    std::map<const ExpressionNode*, Expression> places_;
    Derivative& dependence_;
    bool prefers_least_;
};

bool calls(const Expression& value, std::string_view function)
{
    return any_subterm(value, [&](const ExpressionNode& node) {
        return node.kind == ExpressionKind::call && node.name == function;
    });
}

/// True if `chosen` holds the least value, or a value chosen along with it, such as the second least. Decided
/// by a field that min alone or max alone chooses. Without such a field, an identity above all numbers means
/// least.
bool prefers_least(const Operator& op, const std::string& chosen,
                   const std::map<std::string, Expression>& joined)
{
    const auto behind = fields_behind(op, {chosen});
    for (const auto& field : behind) {
        const bool least = calls(joined.at(field), "min"), greatest = calls(joined.at(field), "max");
        if (least != greatest)
            return least;
    }
    const auto& field = *std::ranges::find(op.state, chosen, &StateField::name);
    return field.identity && ((*field.identity)->name == "inf" || (*field.identity)->name == "highest");
}

/// True if min and max alone choose the value.
bool is_chosen_in_order(const Expression& value)
{
    return !any_subterm(value,
                        [](const ExpressionNode& node) { return node.kind == ExpressionKind::conditional; });
}

/// Returns the index of an element, or no_place() where the derivative of its field is 0. `known` holds the
/// indices of terms that were visited before. Without it, shared terms would be visited exponentially often.
Expression lifted_place(TermGraph& terms, const Expression& derivative,
                        std::map<const ExpressionNode*, Expression>& known)
{
    if (!derivative.has_value() || literal_value(derivative) == 0.0)
        return no_place(terms);
    if (derivative->kind != ExpressionKind::conditional)
        return terms.name("index", Type::i64);
    if (const auto found = known.find(&*derivative); found != known.end())
        return found->second;
    const auto yes = lifted_place(terms, derivative.argument(1), known);
    const auto no = lifted_place(terms, derivative.argument(2), known);
    return known[&*derivative] = terms.select(derivative.argument(0), yes, no);
}

/// Removes conditionals with a side that is 0 from a derivative; the other side stays.
Expression where_not_zero(const Expression& derivative)
{
    if (derivative.has_value() && derivative->kind == ExpressionKind::conditional)
        for (const std::size_t side : {1, 2})
            if (literal_value(derivative.argument(side)) == 0.0)
                return where_not_zero(derivative.argument(3 - side));
    return derivative;
}

}  // namespace

std::optional<Gradient> Backward::places() const
{
    TermGraph terms;
    Derivative of_total(terms, wide_);
    const auto folded = with_places(terms, fields_that_count(), of_total);
    if (!folded)
        return std::nullopt;
    auto found = parts(terms, totals_by_name(terms), terms.name("length", Type::i64), of_total);
    return by_map(terms, *folded, std::move(found), "places");
}

/// derivatives_by_total() leaves these fields out, and with_places() handles them. An example is the label's
/// logit beside a sum of exponentials.
std::set<std::string> Backward::fields_chosen_apart() const
{
    const auto counted = fields_that_count();
    std::set<std::string> found;
    for (const auto& field : counted) {
        TermGraph terms;
        Derivative of_total(terms, wide_);
        const bool is_read = std::ranges::any_of(counted, [&](const std::string& other) {
            return other != field && fields_behind(op_, {other}).contains(field);
        });
        if (!is_read && with_places(terms, {field}, of_total))
            found.insert(field);
    }
    return found;
}

std::optional<Operator> Backward::with_places(TermGraph& terms, const std::set<std::string>& chosen,
                                              Derivative& of_total) const
{
    const auto a = fields(terms, Operand::earlier), b = fields(terms, Operand::later);
    const auto joined = combined(terms, a, b);
    const auto element = lifted(terms);
    const auto total = totals_by_name(terms);
    auto by_element = derivative_by_element(terms);
    std::map<const ExpressionNode*, Expression> places;
    Derivative dependence(terms, wide_);
    std::map<std::string, std::string> names;
    std::set<std::string> made;
    bool is_commutative = op_.laws.commutative;
    for (const auto& field : op_.state) {
        if (!chosen.contains(field.name))
            continue;
        is_commutative = is_commutative && is_chosen_in_order(joined.at(field.name));
        names[field.name] = unused_name(op_, "place_of_" + field.name, made);
        for (const auto& [operand, value] :
             {std::pair(Operand::earlier, a.at(field.name)), {Operand::later, b.at(field.name)}})
            places[&*value] = terms.field(operand, names[field.name], Type::i64);
    }
    for (const auto& field : fields_that_count())
        for (const auto& value : {a.at(field), b.at(field)})
            dependence.set(value, dependence.one());
    auto folded = op_;
    std::vector<std::pair<std::string, Expression>> lift, combine;
    for (const auto& field : op_.state) {
        terms.hint(joined.at(field.name), "next_" + field.name);
        lift.emplace_back(field.name, element.at(field.name));
        combine.emplace_back(field.name, joined.at(field.name));
    }
    for (const auto& field : chosen) {
        const auto place =
            ChosenPlace(terms, places, dependence, prefers_least(op_, field, joined)).of(joined.at(field));
        if (!place)
            return std::nullopt;
        std::map<const ExpressionNode*, Expression> places_of;
        lift.emplace_back(names[field], lifted_place(terms, by_element.of(element.at(field)), places_of));
        combine.emplace_back(names[field], *place);
        folded.state.push_back({names[field],
                                Type::i64,
                                op_.has_identity() ? std::optional(highest(Type::i64)) : std::nullopt,
                                {}});
        // A field may be copied from another field of an element. The element is already chosen, so its own
        // conditions need not be tested again.
        Expression of_element;
        for (const auto& origin : fields_behind(op_, {field}))
            if (const auto other = where_not_zero(by_element.of(element.at(origin))); other.has_value()) {
                if (of_element.has_value() && &*of_element != &*other)
                    return std::nullopt;
                of_element = other;
            }
        const auto is_here =
            terms.binary("==", terms.name("index", Type::i64), terms.name(names[field], Type::i64));
        of_total.set(total.at(field), of_total.chosen(is_here, of_element, {}));
    }
    folded.lift = block(terms, folded, lift);
    folded.combine = block(terms, folded, combine);
    folded.append.reset();
    folded.laws = {is_commutative, false};
    return folded;
}

}  // namespace segfold
