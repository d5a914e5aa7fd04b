#pragma once
// A stage in one configuration: what plans are chosen from.
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

/// "warp_stream block_threads=256 items_per_thread=32"
std::string print(const Point& point);

/// Why nobody can run `point`, as a sentence without its end; nothing where it can be run.
///
/// Asks for an unknown stage, an unmet need, tunables that are missing or too many, values that are not
/// listed, and `where` conditions that do not hold.
std::optional<std::string> impossible(const Point& point, const Problem& problem, const Shape& shape,
                                      const Catalogue& catalogue);

}  // namespace segfold
