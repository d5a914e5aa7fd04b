#pragma once
// Source texts for screening plans. Many plans share one text.
#include <map>

#include "codegen/emit.h"
#include "runtime/measure/tune/search_space.h"

namespace segfold::tune {

/// Emits the texts of one problem's plans. Some tunables can be passed as arguments at launch. Plans that
/// differ only in such tunables share a text.
class SharedTexts {
public:
    /// `problem` and `catalogue` must outlive this object.
    SharedTexts(const Problem& problem, const Catalogue& catalogue);

    /// Returns the text for `point`, which serves all points that differ from it only in launch arguments.
    /// Throws the errors of emit().
    [[nodiscard]] const Emitted& of(const Point& point);

private:
    const Problem& problem_;
    const Catalogue& catalogue_;
    std::map<Point, Emitted> texts_;  ///< keyed by the point without its launch arguments
};

}  // namespace segfold::tune
