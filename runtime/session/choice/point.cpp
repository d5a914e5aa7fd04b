#include "runtime/session/choice/point.h"

#include "dsl/error.h"

namespace segfold {

std::string print(const Point& point)
{
    const auto values = segfold::print(point.configuration);
    return values.empty() ? point.stage : point.stage + " " + values;
}

std::optional<std::string> impossible(const Point& point, const Problem& problem, const Shape& shape,
                                      const Catalogue& catalogue)
{
    try {
        const auto& stage = catalogue.stage(point.stage);
        if (auto why = catalogue.unmet(stage, problem))
            return stage.name + " " + *why;
        for (const auto& tunable : stage.tunables)
            if (!point.configuration.contains(tunable.name))
                return "stage " + stage.name + " has a tunable " + tunable.name + ", which is not given";
        (void)configure(stage, {point.configuration.begin(), point.configuration.end()},
                        plan_facts(problem, shape));
    } catch (const InputError& error) {
        return error.what();
    }
    return std::nullopt;
}

}  // namespace segfold
