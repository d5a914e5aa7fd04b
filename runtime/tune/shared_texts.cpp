#include "runtime/tune/shared_texts.h"

#include <utility>

namespace segfold::tune {

SharedTexts::SharedTexts(const Problem& problem, const Catalogue& catalogue, MakeVariant make_variant)
    : problem_(problem), catalogue_(catalogue), make_variant_(std::move(make_variant))
{}

const cuda::Variant& SharedTexts::of(const Point& point)
{
    const auto& stage = catalogue_.stage(point.stage);
    auto key = point;
    for (const auto& number : stage.numbers)
        key.configuration.erase(number);
    auto found = variants_.find(key);
    if (found == variants_.end()) {
        const auto emitted = emit(problem_, stage, point.configuration, catalogue_, Numbers::at_launch);
        found = variants_.emplace(std::move(key), make_variant_(emitted, stage.name)).first;
    }
    return found->second;
}

}  // namespace segfold::tune
