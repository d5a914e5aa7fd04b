#include "runtime/data/workload.h"

#include <cstring>

namespace segfold {

Results allocate_results(const Workload& workload)
{
    return allocate_results(workload, converted_form(workload.segments.form));
}

Results allocate_results(const Workload& workload, SegmentForm form)
{
    constexpr int kPoison = 0xcd;
    const auto& segments = workload.segments;
    Results results;
    for (const auto& field : workload.op.results) {
        Array array(field.type,
                    static_cast<std::size_t>(is_found(form) ? segments.num_elements : segments.num_segments));
        if (array.bytes() != 0)
            std::memset(array.data(), field.type == Type::boolean ? 0 : kPoison, array.bytes());
        results.push_back({field.name, std::move(array)});
    }
    return results;
}

void check_workload(const Workload& workload)
{
    const auto& op = workload.op;
    const auto& segments = workload.segments;
    if (workload.arrays.size() != op.parameters.size())
        throw InternalError("a workload with " + std::to_string(workload.arrays.size()) + " arrays for " +
                            std::to_string(op.parameters.size()) + " parameters");
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto& array = workload.arrays[i];
        if (array.type() != parameter.type)
            throw InputError("parameter '" + parameter.name + "' of operator " + op.name + " is " +
                             std::string(name(parameter.type)) + ", but its array is " +
                             std::string(name(array.type())) + "; give an array of " +
                             std::string(name(parameter.type)) + ", or write the operator for " +
                             std::string(name(array.type())));
        if (parameter.scalar && array.length() != 1)
            throw InputError("scalar '" + parameter.name + "' has " + std::to_string(array.length()) +
                             " values; give it one");
        if (!parameter.table && static_cast<std::int64_t>(array.length()) != segments.num_elements)
            throw InputError("column '" + parameter.name + "' has " + std::to_string(array.length()) +
                             " elements, but the layout covers " + std::to_string(segments.num_elements) +
                             "; both must agree");
    }
    if (op.allows_empty())
        return;
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        if (segments.length(s) == 0)
            throw InputError(
                "segment " + std::to_string(s) + " is empty, and operator " + op.name +
                " has no identity; give its state fields an identity (= VALUE), or an 'empty' part");
}

}  // namespace segfold
