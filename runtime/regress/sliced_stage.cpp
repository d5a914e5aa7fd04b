#include "runtime/regress/sliced_stage.h"

namespace segfold::regress {

Results run_sliced(const SliceDevice& device, const Workload& workload, const OperatorLaws& laws,
                   const Catalogue& catalogue, const Stage& stage, std::int64_t num_slices,
                   const std::function<Configuration(const Stage&, const Problem&)>& configure)
{
    SliceProblem problem{workload.op, laws};
    problem.choose = [&](const Problem& of, const Shape& shape) {
        const auto& serving = catalogue.unmet(stage, of) ? catalogue.rule_of_thumb(of, shape) : stage;
        return PlanChoice{&serving, true, emit(of, serving, configure(serving, of), catalogue)};
    };
    return std::move(fold_sliced(std::span(&device, 1), std::move(problem), workload, num_slices).results);
}

}  // namespace segfold::regress
