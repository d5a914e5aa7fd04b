#pragma once
// A stage in one configuration: a candidate for a plan.
#include <compare>
#include <optional>
#include <string>

#include "codegen/catalogue.h"

namespace segfold {

/// A stage in one configuration.
struct Point {
    std::string stage;
    Configuration configuration;

    auto operator<=>(const Point&) const = default;
};

/// Returns text such as "warp_stream block_threads=256 items_per_thread=32".
std::string print(const Point& point);

/// Returns the reason why `point` cannot be run, as a sentence without its final dot; nothing if it can be
/// run.
///
/// Reasons are an unknown stage, an unmet need, a missing or unknown tunable, an unlisted value, and a
/// `where` condition that does not hold.
std::optional<std::string> impossible(const Point& point, const Problem& problem, const Shape& shape,
                                      const Catalogue& catalogue);

}  // namespace segfold
