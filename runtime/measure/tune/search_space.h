#pragma once
// The plans that a tuner may choose from: stages with configurations, and which of them are close together.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "runtime/session/choice/point.h"

namespace segfold::tune {

/// A finite set of points: stages with their configurations. A point's place is its index in the set.
class SearchSpace {
public:
    /// Makes a space of any points, each of which occurs once. `starts` are the indices of points to try
    /// first, in this order; `across` are the indices of points to try next. Throws InternalError if a point
    /// occurs twice or an index does not exist.
    SearchSpace(std::vector<Point> points, std::vector<std::size_t> starts,
                std::vector<std::size_t> across = {});

    /// Makes the space that the operator's needs, the device's limits and the `where` conditions allow,
    /// without rungs: stages that are measured for comparison and never chosen.
    ///
    /// The first start is the rule of thumb's stage in its preferred configuration, followed by the starts of
    /// the other stages. `across` holds the configurations that stages prefer for segments two to sixteen
    /// times as long or as short, the nearest first.
    static SearchSpace of(const Problem& problem, const Shape& shape, const Catalogue& catalogue);

    [[nodiscard]] std::size_t size() const { return points_.size(); }
    [[nodiscard]] const Point& operator[](std::size_t place) const { return points_[place]; }
    [[nodiscard]] const std::vector<std::size_t>& starts() const { return starts_; }
    [[nodiscard]] const std::vector<std::size_t>& across() const { return across_; }
    [[nodiscard]] std::optional<std::size_t> find(const Point& point) const;

    /// Returns the points of the same stage that differ in one tunable.
    [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t place) const;
    /// Combines two points of one stage. Tunable i comes from `second` if bit i of `bits` is set. Returns
    /// nothing if the conditions exclude the combination.
    [[nodiscard]] std::optional<std::size_t> cross(std::size_t first, std::size_t second,
                                                   std::uint64_t bits) const;
    /// Returns how far apart two points are, in steps between values of their tunables. Points of different
    /// stages are far apart.
    [[nodiscard]] double distance(std::size_t first, std::size_t second) const;

private:
    /// For each tunable, the values that occur in the space, ascending.
    using Values = std::map<std::string, std::vector<int>, std::less<>>;

    std::vector<Point> points_;
    std::vector<std::size_t> starts_;
    std::vector<std::size_t> across_;
    std::map<Point, std::size_t> places_;
    std::map<std::string, Values, std::less<>> values_;  ///< values of tunables, by stage
    std::vector<std::vector<int>> ranks_;  ///< for each point, the ranks of its values in values_
};

}  // namespace segfold::tune
