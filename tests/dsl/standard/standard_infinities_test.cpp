// Compares standard operators over infinities, NaN and the greatest finite values, at every place and in
// every grouping, with their definitions on whole rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "dsl/text/standard_operators.h"
#include "tests/dsl/standard/standard_definitions.h"

namespace segfold::standard_infinities_test {
namespace {

using standard_definitions::Columns;
using standard_definitions::kAny;
using standard_definitions::kInf;
using standard_definitions::kMeanings;
using standard_definitions::kNan;
using standard_definitions::Meaning;
using standard_definitions::Real;
using standard_definitions::Row;
using State = std::vector<Slot<double>>;

Slot<double> slot_of(Type type, double value)
{
    Slot<double> slot{};
    Machine<double>::set_real(slot, type, value);
    return slot;
}

Real number_of(Type type, const Slot<double>& held)
{
    return is_float(type)      ? static_cast<Real>(Machine<double>::get_real(held, type))
           : type == Type::u64 ? static_cast<Real>(held.bits)
                               : static_cast<Real>(static_cast<std::int64_t>(held.bits));
}

/// Folds single rows with one operator and compares the results with its meaning.
class Trial {
public:
    Trial(std::string name, const Meaning& meaning, Type type)
        : name_(std::move(name)),
          meaning_(meaning),
          type_(type),
          op_(standard_operator(name_, type)),
          bytecode_(compile_bytecode(op_)),
          evaluator_(bytecode_)
    {}

    [[nodiscard]] bool is_of_pairs() const { return op_.parameters.size() == 2; }

    void run(const Columns& rows)
    {
        const std::size_t length = rows.x.size();
        elements_.clear();
        columns_.clear();
        for (std::size_t p = 0; p < op_.parameters.size(); ++p)
            columns_.emplace_back(type_, length);
        for (std::size_t i = 0; i < length; ++i) {
            State element;
            for (std::size_t p = 0; p < op_.parameters.size(); ++p) {
                element.push_back(slot_of(type_, static_cast<double>(p == 0 ? rows.x[i] : rows.y[i])));
                Machine<double>::store(element.back(), type_, columns_[p].data(),
                                       static_cast<std::int64_t>(i));
            }
            for (const auto place :
                 {static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(i), std::uint64_t{0}}) {
                Slot<double> slot{};
                slot.bits = place;
                element.push_back(slot);
            }
            elements_.push_back(std::move(element));
        }
        const Row wanted = meaning_.results(rows);
        for (const auto& state : groupings(0, length))
            compare(results_of(state, length), wanted, rows);
    }

private:
    /// The states of all groupings of the elements in their order, by append and combine.
    std::vector<State> groupings(std::size_t begin, std::size_t end)
    {
        std::vector<State> states;
        const auto place = static_cast<std::int64_t>(begin);
        if (end - begin == 1) {
            State state(op_.state.size());
            evaluator_.lift(elements_[begin].data(), place, place, 0, state.data());
            return {state};
        }
        for (std::size_t cut = begin + 1; cut < end; ++cut)
            for (const auto& left : groupings(begin, cut)) {
                State out(left.size());
                for (const auto& right : groupings(cut, end)) {
                    evaluator_.combine(left.data(), right.data(), out.data());
                    states.push_back(out);
                }
                if (op_.append && cut + 1 == end) {
                    evaluator_.append(left.data(), elements_[cut].data(), out.data());
                    states.push_back(out);
                }
            }
        return states;
    }

    Row results_of(const State& state, std::size_t length)
    {
        const auto size = static_cast<std::int64_t>(length);
        State results(op_.results.size()), outputs(op_.outputs.size());
        evaluator_.finish(state.data(), 0, size, results.data());
        Row row;
        for (std::size_t r = 0; op_.keeps_results && r < results.size(); ++r)
            row.push_back(number_of(op_.results[r].type, results[r]));
        std::vector<const void*> data;
        for (const auto& column : columns_)
            data.push_back(column.data());
        for (std::int64_t i = 0; op_.map && i < size; ++i) {
            evaluator_.map(data, i, i, 0, size, results.data(), outputs.data());
            row.push_back(number_of(op_.outputs[0].type, outputs[0]));
        }
        return row;
    }

    [[nodiscard]] Type type_of(std::size_t result) const
    {
        return op_.keeps_results && result < op_.results.size() ? op_.results[result].type : type_;
    }

    /// The greatest finite value, and the distance from 1 to the next value.
    [[nodiscard]] static std::pair<Real, Real> range_of(Type type)
    {
        switch (type) {
            case Type::f16: return {65504, 0x1p-10L};
            case Type::bf16: return {0x1.fep127L, 0x1p-7L};
            case Type::f32: return {std::numeric_limits<float>::max(), 0x1p-23L};
            default: return {std::numeric_limits<double>::max(), 0x1p-52L};
        }
    }

    void compare(const Row& found, const Row& wanted, const Columns& rows) const
    {
        ASSERT_EQ(found.size(), wanted.size()) << name_;
        const Real most = range_of(type_).first;
        const auto is_extreme = [&](Real v) { return std::fabs(v) == most; };
        const bool leaves =
            std::ranges::any_of(rows.x, is_extreme) || std::ranges::any_of(rows.y, is_extreme);
        const auto is_infinite = [](Real v) { return std::isinf(v); };
        const bool is_infinity =
            std::ranges::any_of(rows.x, is_infinite) || std::ranges::any_of(rows.y, is_infinite);
        const Real scale = leaves && meaning_.cancels ? most : 1;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const bool may_be_none =
                (leaves && i >= meaning_.whole) || (is_infinity && meaning_.is_nan_of_infinities);
            EXPECT_TRUE(wanted[i] == kAny || is_right(found[i], wanted[i], type_of(i), may_be_none, scale))
                << name_ << ' ' << name(type_) << ", result " << i << " of " << testing::PrintToString(rows.x)
                << (is_of_pairs() ? " and " + testing::PrintToString(rows.y) : "") << ": " << found[i]
                << " instead of " << wanted[i];
        }
    }

    static bool is_right(Real found, Real wanted, Type type, bool may_be_none, Real scale)
    {
        if (may_be_none && !std::isfinite(found))
            return true;
        if (std::isnan(wanted) || std::isnan(found))
            return std::isnan(wanted) && std::isnan(found);
        if (!is_float(type))
            return found == wanted;
        const auto [most, step] = range_of(type);
        if (std::fabs(wanted) > most * (1 - 8 * step) && std::isinf(found))
            return std::signbit(wanted) == std::signbit(found);
        if (std::isinf(wanted))
            return false;
        return std::fabs(found - wanted) <=
               (step > 1e-6L ? 16 : 512) * step * std::max(scale, std::fabs(wanted));
    }

    std::string name_;
    const Meaning& meaning_;
    Type type_;
    Operator op_;
    Bytecode bytecode_;
    Evaluator<double> evaluator_;
    std::vector<State> elements_;
    std::vector<Array> columns_;
};

/// Every row of one, two and three of these values.
std::vector<Row> rows_of(const Row& values)
{
    std::vector<Row> rows = {{}};
    for (std::size_t begin = 0, length = 0; length < 3; ++length) {
        const std::size_t end = rows.size();
        for (; begin < end; ++begin)
            for (const Real value : values) {
                rows.push_back(rows[begin]);
                rows.back().push_back(value);
            }
    }
    rows.erase(rows.begin());
    return rows;
}

Real greatest_of(Type type)
{
    return type == Type::f16    ? 65504
           : type == Type::bf16 ? 0x1.fep127L
           : type == Type::f32  ? static_cast<Real>(std::numeric_limits<float>::max())
                                : static_cast<Real>(std::numeric_limits<double>::max());
}

TEST(StandardInfinities, ResultsAreWhatDefinitionsSayOrNone)
{
    for (const auto& [name, meaning] : kMeanings)
        for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
            const Real most = greatest_of(type);
            Trial trial(name, meaning, type);
            const Row beside = {1, 3, -2};
            for (const auto& row : rows_of({0, 1, -2, 8, most, -most, kInf, -kInf, kNan})) {
                const Row other(beside.begin(), beside.begin() + static_cast<std::ptrdiff_t>(row.size()));
                trial.run({row, other});
                if (!trial.is_of_pairs())
                    continue;
                trial.run({other, row});
                Row turned = row;
                std::ranges::rotate(turned, turned.begin() + 1);
                trial.run({row, turned});
            }
        }
}

}  // namespace
}  // namespace segfold::standard_infinities_test
