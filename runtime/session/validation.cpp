#include "runtime/session/validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/text_table.h"

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

void require_memory_to_validate(const Workload& workload, bool with_thrust)
{
    const auto features = static_cast<double>(workload.num_features);
    const auto num_segments = features * static_cast<double>(workload.segments.num_segments);
    const auto num_elements = features * static_cast<double>(workload.segments.num_elements);
    const bool is_bit_for_bit = is_exact(workload.op);
    double bytes = 0;
    for (const auto& field : workload.op.results) {
        const auto of_result = static_cast<double>(size_bytes(field.type));
        bytes += num_segments * (of_result + (is_bit_for_bit ? of_result : sizeof(WideValue)));
    }
    for (const auto& field : workload.op.outputs)
        bytes += num_elements * static_cast<double>(size_bytes(field.type));
    const auto system = thrust_system();
    if (with_thrust && thrust_available(system) && thrust_objection(workload.op).empty())
        bytes += thrust_host_bytes(workload, system);
    require_memory(bytes, fmt::format("results of {} in {} and their check",
                                      count_text(workload.segments.num_elements, "element"),
                                      count_text(workload.segments.num_segments, "segment")));
}

Validation validate(const Workload& workload, const Results& results, bool is_associative, bool with_thrust)
{
    const Judge reference(workload, {.is_associative = is_associative});
    Validation validation;
    validation.comparisons.push_back(reference.compare(results));
    if (!with_thrust)
        return validation;
    if (!is_associative) {
        validation.without_thrust = kThrustNeedsAssociative;
        return validation;
    }
    const auto thrust = run_thrust(workload);
    validation.thrust = thrust.description;
    validation.without_thrust = thrust.reason;
    if (thrust.results)
        validation.comparisons.push_back(reference.compare(results, *thrust.results, "thrust"));
    return validation;
}

}  // namespace segfold
