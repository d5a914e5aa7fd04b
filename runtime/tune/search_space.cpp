#include "runtime/tune/search_space.h"

#include <algorithm>
#include <cmath>

#include "dsl/error.h"

namespace segfold::tune {
namespace {

constexpr double kOtherStage = 100;

}  // namespace

std::string print(const Point& point)
{
    const auto values = segfold::print(point.configuration);
    return values.empty() ? point.stage : point.stage + " " + values;
}

std::optional<std::string> impossible(const Point& point, const Problem& problem, const Shape& shape,
                                      const Catalogue& catalogue)
{
    try {
        const auto& stage = catalogue.stage(point.stage);
        if (auto why = catalogue.unmet(stage, problem))
            return stage.name + " " + *why;
        for (const auto& tunable : stage.tunables)
            if (!point.configuration.contains(tunable.name))
                return "stage " + stage.name + " has a tunable " + tunable.name + ", which is not given";
        (void)configure(stage, {point.configuration.begin(), point.configuration.end()},
                        plan_facts(problem, shape));
    } catch (const InputError& error) {
        return error.what();
    }
    return std::nullopt;
}

SearchSpace::SearchSpace(std::vector<Point> points, std::vector<std::size_t> starts)
    : points_(std::move(points)), starts_(std::move(starts))
{
    for (std::size_t place = 0; place < points_.size(); ++place) {
        const auto& [stage, configuration] = points_[place];
        if (!places_.emplace(points_[place], place).second)
            throw InternalError("a search space has " + print(points_[place]) + " twice");
        for (const auto& [name, value] : configuration)
            values_[stage][name].push_back(value);
    }
    for (auto& [stage, tunables] : values_)
        for (auto& [name, values] : tunables) {
            std::ranges::sort(values);
            values.erase(std::unique(values.begin(), values.end()), values.end());
        }
    for (const auto& [stage, configuration] : points_) {
        auto& ranks = ranks_.emplace_back();
        for (const auto& [name, value] : configuration) {
            const auto& values = values_[stage][name];
            ranks.push_back(static_cast<int>(std::ranges::lower_bound(values, value) - values.begin()));
        }
    }
    for (const auto start : starts_)
        if (start >= points_.size())
            throw InternalError("a search space of " + std::to_string(points_.size()) +
                                " points starts at place " + std::to_string(start));
}

SearchSpace SearchSpace::of(const Problem& problem, const Shape& shape, const Catalogue& catalogue)
{
    const auto facts = plan_facts(problem, shape);
    const auto& favourite = catalogue.rule_of_thumb(problem, shape);
    std::vector<Point> points;
    std::vector<Point> first;
    for (const auto& stage : catalogue.stages()) {
        if (stage.is_rung || catalogue.unmet(stage, problem))
            continue;
        const auto all = configurations(stage, facts);
        if (all.empty())
            continue;
        for (const auto& configuration : all)
            points.push_back({stage.name, configuration});
        // What the stage prefers may be excluded for this problem; then any configuration is as good.
        Point start{stage.name, all.front()};
        try {
            start.configuration = default_configuration(stage, facts);
        } catch (const InputError&) {}
        first.insert(&stage == &favourite ? first.begin() : first.end(), std::move(start));
    }
    std::vector<std::size_t> starts;
    for (const auto& start : first)
        starts.push_back(static_cast<std::size_t>(std::ranges::find(points, start) - points.begin()));
    return {std::move(points), std::move(starts)};
}

std::optional<std::size_t> SearchSpace::find(const Point& point) const
{
    const auto found = places_.find(point);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> SearchSpace::neighbours(std::size_t place) const
{
    std::vector<std::size_t> all;
    auto other = points_[place];
    const auto values = values_.find(other.stage);
    if (values == values_.end())
        return all;
    for (auto& [name, value] : other.configuration) {
        const int own = value;
        for (const int candidate : values->second.at(name)) {
            value = candidate;
            if (const auto found = find(other); found && candidate != own)
                all.push_back(*found);
        }
        value = own;
    }
    return all;
}

std::optional<std::size_t> SearchSpace::cross(std::size_t first, std::size_t second, std::uint64_t bits) const
{
    auto child = points_[first];
    if (child.stage != points_[second].stage)
        return std::nullopt;
    for (auto& [name, value] : child.configuration) {
        if ((bits & 1) != 0)
            value = points_[second].configuration.at(name);
        bits >>= 1;
    }
    return find(child);
}

double SearchSpace::distance(std::size_t first, std::size_t second) const
{
    if (points_[first].stage != points_[second].stage)
        return kOtherStage;
    const auto& own = ranks_[first];
    const auto& other = ranks_[second];
    double sum = 0;
    // A step costs half of what another value costs at all: far values of one tunable are still one change.
    for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] != other[i])
            sum += 0.5 + 0.5 * std::abs(own[i] - other[i]);
    return sum;
}

}  // namespace segfold::tune
