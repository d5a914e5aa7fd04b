#pragma once
// The plans that a tuner may choose from: stages, configurations, and their neighbours.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "runtime/session/choice/point.h"

namespace segfold::tune {

/// A finite set of points, each known by its place.
class SearchSpace {
public:
    /// Any points, each once; `starts` are the places of those to be looked at first, in order, `across` of
    /// those next. Throws InternalError for a point that is there twice or a place that is none.
    SearchSpace(std::vector<Point> points, std::vector<std::size_t> starts,
                std::vector<std::size_t> across = {});

    /// What the operator's needs, the device's limits and the `where` conditions allow, rungs left out.
    ///
    /// The first start is the rule of thumb in its preferred configuration, then come those of the other
    /// stages. Across the thresholds lies what stages prefer where segments are twice to sixteen times as
    /// long or as short, the nearest first.
    static SearchSpace of(const Problem& problem, const Shape& shape, const Catalogue& catalogue);

    [[nodiscard]] std::size_t size() const { return points_.size(); }
    [[nodiscard]] const Point& operator[](std::size_t place) const { return points_[place]; }
    [[nodiscard]] const std::vector<std::size_t>& starts() const { return starts_; }
    [[nodiscard]] const std::vector<std::size_t>& across() const { return across_; }
    [[nodiscard]] std::optional<std::size_t> find(const Point& point) const;

    /// Points of the same stage that differ in one tunable.
    [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t place) const;
    /// The point that takes each tunable from one of two points of one stage, from `second` where the bit of
    /// its place is set; nothing where the conditions exclude it.
    [[nodiscard]] std::optional<std::size_t> cross(std::size_t first, std::size_t second,
                                                   std::uint64_t bits) const;
    /// Steps between values of tunables, added up; points of two stages are far apart.
    [[nodiscard]] double distance(std::size_t first, std::size_t second) const;

private:
    /// Values that occur, in increasing order.
    using Values = std::map<std::string, std::vector<int>, std::less<>>;

    std::vector<Point> points_;
    std::vector<std::size_t> starts_;
    std::vector<std::size_t> across_;
    std::map<Point, std::size_t> places_;
    std::map<std::string, Values, std::less<>> values_;  ///< by stage
    std::vector<std::vector<int>> ranks_;                ///< of each point's values among those that occur
};

}  // namespace segfold::tune
