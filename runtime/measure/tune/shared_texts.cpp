#include "runtime/measure/tune/shared_texts.h"

#include <utility>

namespace segfold::tune {

SharedTexts::SharedTexts(const Problem& problem, const Catalogue& catalogue)
    : problem_(problem), catalogue_(catalogue)
{}

const Emitted& SharedTexts::of(const Point& point)
{
    const auto& stage = catalogue_.stage(point.stage);
    auto key = point;
    for (const auto& number : stage.numbers)
        key.configuration.erase(number);
    auto found = texts_.find(key);
    if (found == texts_.end())
        found = texts_
                    .emplace(std::move(key),
                             emit(problem_, stage, point.configuration, catalogue_, Numbers::at_launch))
                    .first;
    return found->second;
}

}  // namespace segfold::tune
