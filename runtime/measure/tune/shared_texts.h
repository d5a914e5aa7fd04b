#pragma once
// The texts with which a tuner looks through plans, each emitted once.
#include <map>

#include "codegen/emit.h"
#include "runtime/measure/tune/search_space.h"

namespace segfold::tune {

/// Plans of one problem with their numbers said by the launch.
class SharedTexts {
public:
    /// Problem and catalogue must outlive this object.
    SharedTexts(const Problem& problem, const Catalogue& catalogue);

    /// The text that serves `point` and all that differ from it in numbers only. Throws as emit() does.
    [[nodiscard]] const Emitted& of(const Point& point);

private:
    const Problem& problem_;
    const Catalogue& catalogue_;
    std::map<Point, Emitted> texts_;  ///< by a point without its numbers
};

}  // namespace segfold::tune
