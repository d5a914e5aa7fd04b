#pragma once
// Texts for screening plans, each emitted once and shared by many plans.
#include <map>

#include "codegen/emit.h"
#include "runtime/measure/tune/search_space.h"

namespace segfold::tune {

/// Emits the texts of one problem's plans. Some tunables are numbers that a launch can pass as arguments.
/// Plans that differ only in these numbers share a text.
class SharedTexts {
public:
    /// Problem and catalogue must outlive this object.
    SharedTexts(const Problem& problem, const Catalogue& catalogue);

    /// Returns the text for `point` and for all points that differ from it only in numbers. Throws the errors
    /// of emit().
    [[nodiscard]] const Emitted& of(const Point& point);

private:
    const Problem& problem_;
    const Catalogue& catalogue_;
    std::map<Point, Emitted> texts_;  ///< the key is the point without its numbers
};

}  // namespace segfold::tune
