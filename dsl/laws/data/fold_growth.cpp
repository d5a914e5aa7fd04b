#include "dsl/laws/data/fold_growth.h"

#include <algorithm>
#include <optional>

#include "dsl/laws/data/affine.h"
#include "dsl/laws/data/block_values.h"
#include "dsl/laws/data/overflow_matters.h"

namespace segfold {
namespace {

/// Number of rounds in which combine may widen a constant bound. The bound then becomes the next constant in
/// the operator's text, and finally a multiple of the number of elements.
constexpr int kConstantRounds = 3;
constexpr int kMostRounds = 40;

/// Bounds on a field in a state of n elements, of the form constant + earlier * n.
struct FieldBounds {
    GrowingValues values, lifted = {};
    int rounds = 0;
    bool grows_up = false, grows_down = false;  ///< true if the bound is a multiple of the number of elements

    /// Returns the values of the field in an operand of combine. These are all values of the type if the type
    /// cannot hold the bounds.
    [[nodiscard]] GrowingValues of_operand(Type type, bool is_earlier, const Corners& corners) const
    {
        GrowingValues of;
        const auto turned = [&](const Affine& bound) {
            return is_earlier ? bound : Affine{bound.constant, 0, bound.earlier};
        };
        if (values.has_range())
            of.take(turned(values.low()), turned(values.high()));
        for (const auto point : values.points())
            of.take_point(point);
        return type == Type::boolean || of.all(corners).is_within(values_of(type)) ? of : whole(type);
    }
};

/// Bounds the fields of all states that a fold may reach.
class FoldGrowth {
public:
    FoldGrowth(const Operator& op, const KnownValues& known, FoldLength length, bool has_identity)
        : op_(op),
          known_(known),
          has_identity_(has_identity),
          length_{std::max<std::int64_t>(length.longest, 1), std::max<std::int64_t>(length.num_elements, 1)},
          matters_(op),
          fields_(op.state.size())
    {
        for (const auto& program : {op.lift, op.combine})
            collect_constants(program);
    }

    OverflowSites run()
    {
        OverflowSites sites;
        take_lifted();
        for (int round = 0; round < kMostRounds && take_combined(sites); ++round)
            sites = {};
        if (op_.append)
            see_append(sites);
        return sites;
    }

private:
    static constexpr std::size_t kMostConstants = 16;
    static constexpr Corners kOfOne = {{{{1, 0}}}, 1};

    void collect_constants(const Block& block)
    {
        for (const auto& let : block.lets)
            collect_constants(let.value);
        for (const auto& assignment : block.assignments)
            collect_constants(assignment.value);
    }

    void collect_constants(const Expression& value)
    {
        if (value->kind == ExpressionKind::integer && constants_.size() < kMostConstants)
            constants_.insert(value->negative ? -WideInteger(value->magnitude)
                                              : WideInteger(value->magnitude));
        for (const auto& argument : value->arguments)
            collect_constants(argument);
    }

    [[nodiscard]] Type type(std::size_t field) const { return op_.state[field].type; }

    /// Tells `block` the ranges of the columns and places, which lift and append read.
    void know_element(BlockValues& block) const
    {
        for (const auto& parameter : op_.parameters)
            if (const auto values = known_.find(parameter.name); !parameter.table && values != known_.end())
                block.know(parameter.name, GrowingValues(values->second));
        for (const auto* place : {"index", "position", "segment"})
            block.know(place, GrowingValues(Interval{0, length_.num_elements - 1}));
    }

    void take_lifted()
    {
        BlockValues block(known_, {{{{0, 1}}}, 1});
        know_element(block);
        std::set<const ExpressionNode*> ignored;  // lift may wrap, because an element may have any value
        const auto lifted = block.run(op_.lift, std::vector<bool>(fields_.size()), ignored);
        for (std::size_t i = 0; i < fields_.size(); ++i)
            if (!is_float(type(i)))
                fields_[i].values = fields_[i].lifted = lifted[i].is_empty() ? whole(type(i)) : lifted[i];
    }

    [[nodiscard]] std::vector<GrowingValues> identity() const
    {
        std::vector<GrowingValues> values;
        if (!has_identity_)
            return values;
        BlockValues block(known_, {{{{0, 0}}}, 1});
        Block assigned;
        for (const auto& field : op_.state)
            assigned.assignments.push_back({field.name, *field.identity, {}});
        std::set<const ExpressionNode*> ignored;
        return block.run(assigned, std::vector<bool>(fields_.size()), ignored);
    }

    /// A kind of operand pair for combine. Each operand is a state of elements or the identity.
    struct Case {
        bool is_earlier_identity, is_later_identity;
        Corners corners;
    };

    [[nodiscard]] std::vector<Case> cases() const
    {
        const auto n = length_.longest;
        std::vector<Case> list;
        if (n > 1)
            list.push_back({false, false, {{{{1, 1}, {n - 1, 1}, {1, n - 1}}}, 3}});
        if (has_identity_)
            for (const auto& other : std::initializer_list<Case>{{true, false, {{{{0, 1}, {0, n}}}, 2}},
                                                                 {false, true, {{{{1, 0}, {n, 0}}}, 2}},
                                                                 {true, true, {{{{0, 0}}}, 1}}})
                list.push_back(other);
        return list;
    }

    void know_operand(BlockValues& block, bool is_earlier, const std::vector<GrowingValues>* identity,
                      const Corners& corners) const
    {
        for (std::size_t i = 0; i < fields_.size(); ++i)
            if (!is_float(type(i)))
                block.know((is_earlier ? "a." : "b.") + op_.state[i].name,
                           identity != nullptr ? (*identity)[i]
                                               : fields_[i].of_operand(type(i), is_earlier, corners));
    }

    /// Widens the bounds to cover the values that combine makes. Returns true if a bound has grown.
    bool take_combined(OverflowSites& sites)
    {
        const auto of_identity = identity();
        bool has_grown = false;
        for (const auto& [is_earlier_identity, is_later_identity, corners] : cases()) {
            BlockValues block(known_, corners);
            know_operand(block, true, is_earlier_identity ? &of_identity : nullptr, corners);
            know_operand(block, false, is_later_identity ? &of_identity : nullptr, corners);
            const bool is_of_identity = is_earlier_identity || is_later_identity;
            const auto combined = block.run(op_.combine, matters_.fields(),
                                            is_of_identity ? sites.combine_identity : sites.combine);
            for (std::size_t i = 0; i < fields_.size(); ++i)
                if (!is_float(type(i)) &&
                    !(is_earlier_identity && is_later_identity && combined[i] == of_identity[i]))
                    has_grown |= take(i, combined[i], corners);
        }
        return has_grown;
    }

    void see_append(OverflowSites& sites) const
    {
        const auto of_identity = identity();
        const auto n = length_.longest;
        for (const bool is_first : {false, true}) {
            if (is_first ? !has_identity_ : n < 2)
                continue;
            const Corners corners = is_first ? Corners{{{{0, 1}}}, 1} : Corners{{{{1, 1}, {n - 1, 1}}}, 2};
            BlockValues block(known_, corners);
            know_operand(block, true, is_first ? &of_identity : nullptr, corners);
            know_element(block);
            block.run(*op_.append, matters_.fields(), is_first ? sites.append_to_identity : sites.append);
        }
    }

    /// Widens the bounds of a field until they contain `values`. Returns false if they contain them already.
    bool take(std::size_t number, const GrowingValues& values, const Corners& corners)
    {
        auto& field = fields_[number];
        auto& bounds = field.values;
        const auto before = bounds;
        for (const auto point : values.points())
            if (!bounds.has_range() || !bounds.range(kOfOne).contains(point))
                bounds.take_point(point);
        if (values.has_range() && !bounds.has_range())
            bounds.take({values.low().at(0, 0)}, {values.high().at(0, 0)});
        if (values.has_range()) {
            GrowingValues wider(widened(field, values, corners, -1), widened(field, values, corners, 1));
            for (const auto point : bounds.points())
                wider.take_point(point);
            bounds = wider;
        }
        if (bounds == before)
            return false;
        if (++field.rounds > kMostRounds / 2)
            bounds = whole(type(number));
        return true;
    }

    /// Returns a bound of the field that also covers `values`. It is the upper bound if `sign` is 1, the
    /// lower if it is -1.
    [[nodiscard]] Affine widened(FieldBounds& field, const GrowingValues& values, const Corners& corners,
                                 int sign) const
    {
        const auto& bound = sign > 0 ? field.values.high() : field.values.low();
        const auto& other = sign > 0 ? values.high() : values.low();
        auto& grows = sign > 0 ? field.grows_up : field.grows_down;
        WideInteger farthest = sign * bound.constant, each = sign * bound.earlier;
        bool holds = true;
        for (const auto& [j, k] : corners.all()) {
            const auto value = sign * other.at(j, k);
            holds = holds && value <= sign * bound.at(j + k, 0);
            farthest = std::max(farthest, value);
            if (j + k > 0)
                each = std::max(each, (std::max<WideInteger>(value, 0) + j + k - 1) / (j + k));
        }
        if (holds)
            return bound;
        if (grows)
            return {0, sign * each};
        if (other.is_constant() && field.rounds < kConstantRounds)
            return {sign * farthest};
        if (const auto next = other.is_constant() ? constant_beyond(farthest, sign) : std::nullopt)
            return {*next};
        grows = true;  // begin with the multiple that a single lifted element needs
        const auto lifted = field.lifted.range(kOfOne);
        return {0, sign > 0 ? std::max<WideInteger>(lifted.high, 0) : std::min<WideInteger>(lifted.low, 0)};
    }

    [[nodiscard]] std::optional<WideInteger> constant_beyond(WideInteger farthest, int sign) const
    {
        std::optional<WideInteger> nearest;
        for (const auto constant : constants_)
            if (sign * constant >= farthest && (!nearest || sign * constant < sign * *nearest))
                nearest = constant;
        return nearest;
    }

    const Operator& op_;
    const KnownValues& known_;
    bool has_identity_;
    FoldLength length_;
    OverflowMatters matters_;
    std::vector<FieldBounds> fields_;
    std::set<WideInteger> constants_;
};

}  // namespace

OverflowSites overflow_sites(const Operator& op, const KnownValues& known, FoldLength length)
{
    return FoldGrowth(op, known, length, op.has_identity()).run();
}

OverflowSites overflow_sites_without_identity(const Operator& op, const KnownValues& known, FoldLength length)
{
    return FoldGrowth(op, known, length, false).run();
}

}  // namespace segfold
