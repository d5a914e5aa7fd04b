#include "runtime/measure/times/uniform_arrays.h"

#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/workload_request.h"

namespace segfold::regress {

std::vector<Array> uniform_arrays(const Operator& op, const Segments& segments, std::uint64_t seed)
{
    return uniform_arrays_beside({})(op, segments, seed);
}

MakeArrays uniform_arrays_beside(std::map<std::string, std::string> scalars)
{
    return [scalars = std::move(scalars)](const Operator& op, const Segments& segments, std::uint64_t seed) {
        std::map<std::string, Array> named;
        for (const auto& parameter : op.parameters)
            if (const auto text = scalars.find(parameter.name); text != scalars.end() && parameter.scalar)
                named.emplace(parameter.name, scalar_array(parameter, text->second));
        complete_arrays(op, segments, {seed, ValueRange::uniform}, named);
        std::vector<Array> arrays;
        for (const auto& parameter : op.parameters)
            arrays.push_back(std::move(named.at(parameter.name)));
        return arrays;
    };
}

}  // namespace segfold::regress
