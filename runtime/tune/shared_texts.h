#pragma once
// The texts with which a tuner looks through plans, each emitted once.
#include <functional>
#include <map>
#include <string>

#include "codegen/emit.h"
#include "runtime/backends/cuda/compile_batch.h"
#include "runtime/tune/search_space.h"

namespace segfold::tune {

/// Plans of one problem with their numbers said by the launch, as variants to be compiled.
class SharedTexts {
public:
    /// Makes a variant of an emitted text and its stage's name.
    using MakeVariant = std::function<cuda::Variant(const Emitted& emitted, const std::string& stage)>;

    /// Problem and catalogue must outlive this object.
    SharedTexts(const Problem& problem, const Catalogue& catalogue, MakeVariant make_variant);

    /// The variant that serves `point` and all that differ from it in numbers only. Throws as emit() does.
    [[nodiscard]] const cuda::Variant& of(const Point& point);

private:
    const Problem& problem_;
    const Catalogue& catalogue_;
    MakeVariant make_variant_;
    std::map<Point, cuda::Variant> variants_;  ///< by what is left of a point without its numbers
};

}  // namespace segfold::tune
