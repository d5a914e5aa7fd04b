#include "runtime/measure/tune/search_space.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "dsl/error.h"

namespace segfold::tune {
namespace {

constexpr double kOtherStage = 100;

/// Returns a stage's default configuration; nothing if it is not valid.
std::optional<Configuration> preferred(const Stage& stage, const FormulaNames& facts)
{
    try {
        return default_configuration(stage, facts);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// Returns a shape with the same number of elements and segments `times` times as long. If `times` is
/// negative, segments are -`times` times as short.
Shape stretched(const Shape& shape, std::int64_t times)
{
    const auto segments = times < 0 ? shape.num_segments * -times : shape.num_segments / times;
    return {shape.num_elements,
            std::clamp<std::int64_t>(segments, 1, std::max<std::int64_t>(1, shape.num_elements)), 0};
}

}  // namespace

SearchSpace::SearchSpace(std::vector<Point> points, std::vector<std::size_t> starts,
                         std::vector<std::size_t> across)
    : points_(std::move(points)), starts_(std::move(starts)), across_(std::move(across))
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
    for (const auto& places : {starts_, across_})
        for (const auto place : places)
            if (place >= points_.size())
                throw InternalError("a search space of " + std::to_string(points_.size()) +
                                    " points starts at place " + std::to_string(place));
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
        // If the problem excludes the default configuration, any valid configuration will do.
        first.insert(&stage == &favourite ? first.begin() : first.end(),
                     {stage.name, preferred(stage, facts).value_or(all.front())});
    }
    std::map<Point, std::size_t> places;
    for (std::size_t place = 0; place < points.size(); ++place)
        places.emplace(points[place], place);
    std::vector<std::size_t> starts, across;
    for (const auto& start : first)
        starts.push_back(places.at(start));
    std::set<std::size_t> taken(starts.begin(), starts.end());
    for (const std::int64_t times : {2, -2, 4, -4, 8, -8, 16, -16})
        for (const auto& start : first) {
            auto other =
                preferred(catalogue.stage(start.stage), plan_facts(problem, stretched(shape, times)));
            const auto found = other ? places.find({start.stage, std::move(*other)}) : places.end();
            if (found != places.end() && taken.insert(found->second).second)
                across.push_back(found->second);
        }
    return {std::move(points), std::move(starts), std::move(across)};
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
    // Each tunable that differs costs half a step, plus half a step per value between. A large change of one
    // tunable is thus still one change.
    for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] != other[i])
            sum += 0.5 + 0.5 * std::abs(own[i] - other[i]);
    return sum;
}

}  // namespace segfold::tune
