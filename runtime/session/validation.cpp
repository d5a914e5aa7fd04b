#include "runtime/session/validation.h"

#include <algorithm>

#include "runtime/backends/thrust/reduce_by_key.h"

namespace segfold {

ThrustResults run_thrust(const Workload& workload)
{
    const auto system = thrust_system();
    if (!thrust_available(system))
        return {std::nullopt, "", thrust_unavailable_reason(system)};
    if (auto objection = thrust_objection(workload.op); !objection.empty())
        return {std::nullopt, thrust_description(system), std::move(objection)};
    return {reduce_by_key(workload, system), thrust_description(system), ""};
}

bool Validation::agrees() const
{
    return std::ranges::all_of(comparisons, [](const auto& comparison) { return comparison.agrees(); });
}

Validation validate(const Workload& workload, const Results& results, bool with_thrust)
{
    const Judge reference(workload);
    Validation validation;
    validation.comparisons.push_back(reference.compare(results));
    if (!with_thrust)
        return validation;
    const auto thrust = run_thrust(workload);
    validation.thrust = thrust.description;
    validation.without_thrust = thrust.reason;
    if (thrust.results)
        validation.comparisons.push_back(reference.compare(results, *thrust.results, "thrust"));
    return validation;
}

}  // namespace segfold
