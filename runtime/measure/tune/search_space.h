#pragma once
// The plans among which a tuner searches: stages with configurations, and their distances.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "runtime/session/choice/point.h"

namespace segfold::tune {

/// A finite set of points (stages with configurations). `place` is a point's index in the set.
class SearchSpace {
public:
    /// Makes a space of `points`. `starts` holds the indices of points to try first, in order, and `across`
    /// the indices of points to try next. Throws InternalError if a point occurs twice or an index is out of
    /// range.
    SearchSpace(std::vector<Point> points, std::vector<std::size_t> starts,
                std::vector<std::size_t> across = {});

    /// Makes the space of all points that the operator's needs, the device's limits and the `where`
    /// conditions allow. Leaves out stages that exist only for comparison.
    ///
    /// The first start is the stage of the rule of thumb, in its default configuration. The starts of the
    /// other stages follow. `across` holds the default configurations for segments two to sixteen times as
    /// long or as short, in order of increasing factor.
    static SearchSpace of(const Problem& problem, const Shape& shape, const Catalogue& catalogue);

    [[nodiscard]] std::size_t size() const { return points_.size(); }
    [[nodiscard]] const Point& operator[](std::size_t place) const { return points_[place]; }
    [[nodiscard]] const std::vector<std::size_t>& starts() const { return starts_; }
    [[nodiscard]] const std::vector<std::size_t>& across() const { return across_; }
    [[nodiscard]] std::optional<std::size_t> find(const Point& point) const;

    /// Returns the points of the same stage that differ in only one tunable.
    [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t place) const;
    /// Combines two points of one stage. Takes tunable i from `second` if bit i of `bits` is set, otherwise
    /// from `first`. Returns nothing if the conditions exclude the combination.
    [[nodiscard]] std::optional<std::size_t> cross(std::size_t first, std::size_t second,
                                                   std::uint64_t bits) const;
    /// Returns the distance between two points, in steps between values of tunables. Points of different
    /// stages are far apart.
    [[nodiscard]] double distance(std::size_t first, std::size_t second) const;

private:
    /// For each tunable, the values that occur in the space, ascending.
    using Values = std::map<std::string, std::vector<int>, std::less<>>;

    std::vector<Point> points_;
    std::vector<std::size_t> starts_;
    std::vector<std::size_t> across_;
    std::map<Point, std::size_t> places_;
    std::map<std::string, Values, std::less<>> values_;  ///< values of tunables, keyed by stage
    std::vector<std::vector<int>> ranks_;  ///< for each point, the indices of its values in values_
};

}  // namespace segfold::tune
