#include "dsl/laws/shrink.h"

#include <algorithm>
#include <cmath>

#include "dsl/laws/laws.h"

namespace segfold {
namespace {

int complexity_of_integer(Type type, std::uint64_t bits)
{
    const bool negative = is_signed_integer(type) && bits >> 63 != 0;
    const std::uint64_t size = negative ? 0 - bits : bits;
    if (size <= 100)
        return static_cast<int>(2 * size) + (negative ? 1 : 0);
    if (bits == highest_integer(type) || bits == lowest_integer(type))
        return negative ? 211 : 210;
    return 400 + 2 * static_cast<int>(std::bit_width(size)) + (negative ? 1 : 0);
}

int complexity_of_real(Type type, const Slot<double>& slot)
{
    const double value = Machine<double>::get_real(slot, type);
    const int sign = std::signbit(value) ? 1 : 0;
    if (std::isnan(value))
        return 302;
    if (std::isinf(value))
        return 300 + sign;
    const double size = std::fabs(value);
    if (size == 0)
        return 20 * sign;
    if (size <= 100 && size == std::floor(size))
        return 2 * static_cast<int>(size) + sign;
    if (size == highest_float(type))
        return 210 + sign;
    const auto digits = print(FieldValue{type, 0, value}).size();
    return 400 + 10 * static_cast<int>(digits) + sign;
}

int complexity(Type type, const Slot<double>& slot)
{
    return is_float(type) ? complexity_of_real(type, slot) : complexity_of_integer(type, slot.bits);
}

/// Returns values to try in place of `slot`, simplest first.
std::vector<Slot<double>> simpler(Type type, const Slot<double>& slot)
{
    auto candidates = edge_values(type);
    auto& near = candidates.emplace_back(slot);
    if (is_float(type)) {
        const double value = Machine<double>::get_real(slot, type);
        Machine<double>::set_real(near, type, std::trunc(value));
        Machine<double>::set_real(candidates.emplace_back(slot), type, std::trunc(value / 2));
        Machine<double>::set_real(candidates.emplace_back(slot), type, std::round(value * 8) / 8);
    } else {
        near.bits = divide_integers(type, slot.bits, 2, false);
        const std::uint64_t step = is_signed_integer(type) && slot.bits >> 63 != 0 ? 1 : ~std::uint64_t{0};
        candidates.emplace_back(slot).bits = wrap(type, slot.bits + step);
    }
    const int own = complexity(type, slot);
    std::erase_if(candidates, [&](const Slot<double>& s) { return complexity(type, s) >= own; });
    std::ranges::stable_sort(candidates, {}, [&](const Slot<double>& s) { return complexity(type, s); });
    return candidates;
}

/// A try of a long case counts as several tries: one more for every kElementsPerTry elements.
constexpr std::size_t kElementsPerTry = 16;

/// Shortest run of elements that is dropped as a whole. Fewer elements are dropped one at a time.
constexpr std::size_t kShortestRun = 4;

class Shrinker {
public:
    Shrinker(LawCase recipes, const std::vector<Type>& columns,
             const std::function<bool(const LawCase&)>& breaks, int most_tries)
        : best_(std::move(recipes)), columns_(columns), breaks_(breaks), tries_left_(most_tries)
    {}

    LawCase run() &&
    {
        while (drop_runs() || move_to_front() || drop_elements() || simplify_all_alike() || simplify_one()) {}
        return std::move(best_);
    }

private:
    bool accept(LawCase candidate)
    {
        std::size_t elements = 0;
        for (const auto& recipe : candidate.recipes)
            elements += recipe.size();
        tries_left_ -= 1 + static_cast<int>(elements / kElementsPerTry);
        if (tries_left_ < 0 || !breaks_(candidate))
            return false;
        best_ = std::move(candidate);
        return true;
    }

    bool move_to_front()
    {
        for (std::size_t place = 0; place < best_.place; ++place) {
            LawCase candidate = best_;
            candidate.place = place;
            if (accept(std::move(candidate)))
                return true;
        }
        return false;
    }

    /// Drops runs of elements from long recipes: first halves, then quarters, and so on.
    bool drop_runs()
    {
        for (std::size_t r = 0; r < best_.recipes.size(); ++r)
            for (std::size_t run = best_[r].size() / 2; run >= kShortestRun; run /= 2)
                for (std::size_t i = 0; i + run <= best_[r].size(); i += run) {
                    LawCase without = best_;
                    const auto first = without[r].begin() + static_cast<std::ptrdiff_t>(i);
                    without[r].erase(first, first + static_cast<std::ptrdiff_t>(run));
                    if (accept(std::move(without)))
                        return true;
                }
        return false;
    }

    bool drop_elements()
    {
        for (std::size_t r = 0; r < best_.recipes.size(); ++r) {
            if (best_[r].size() < 2)
                continue;
            for (std::size_t i = 0; i < best_[r].size(); ++i) {
                LawCase alone = best_;
                alone[r] = {best_[r][i]};
                LawCase without = best_;
                without[r].erase(without[r].begin() + static_cast<std::ptrdiff_t>(i));
                if (accept(std::move(alone)) || accept(std::move(without)))
                    return true;
            }
        }
        return false;
    }

    /// Tries every simpler value for each value of each element. `change` puts a value into a case.
    template <class Change>
    bool simplify(Change change)
    {
        for (std::size_t r = 0; r < best_.recipes.size(); ++r)
            for (std::size_t i = 0; i < best_[r].size(); ++i)
                for (std::size_t k = 0; k < columns_.size(); ++k)
                    for (const auto& value : simpler(columns_[k], best_[r][i][k])) {
                        LawCase candidate = best_;
                        change(candidate, best_[r][i][k], value, r, i, k);
                        if (accept(std::move(candidate)))
                            return true;
                    }
        return false;
    }

    bool simplify_one()
    {
        return simplify([](LawCase& recipes, const Slot<double>&, const Slot<double>& value, std::size_t r,
                           std::size_t i, std::size_t k) { recipes[r][i][k] = value; });
    }

    /// Changes equal values of a column together, because some laws break only while these values are equal.
    bool simplify_all_alike()
    {
        return simplify([](LawCase& recipes, const Slot<double>& old, const Slot<double>& value, std::size_t,
                           std::size_t, std::size_t k) {
            for (auto& recipe : recipes.recipes)
                for (auto& element : recipe)
                    if (element[k].bits == old.bits)
                        element[k] = value;
        });
    }

    LawCase best_;
    const std::vector<Type>& columns_;
    const std::function<bool(const LawCase&)>& breaks_;
    int tries_left_;
};

}  // namespace

LawCase shrink(LawCase recipes, const std::vector<Type>& columns,
               const std::function<bool(const LawCase&)>& breaks, int most_tries)
{
    return Shrinker(std::move(recipes), columns, breaks, most_tries).run();
}

}  // namespace segfold
