#include "runtime/cli/views/tuned.h"

#include <nlohmann/json.hpp>

namespace segfold::cli {

Json json_of(const Explanation& explanation)
{
    const auto& lookup = explanation.lookup;
    Json considered = Json::array();
    for (const auto& one : lookup.considered)
        considered.push_back({{"stage", one.point.stage},
                              {"configuration", json_of(one.point.configuration)},
                              {"milliseconds", one.milliseconds},
                              {"why", one.why}});
    Json document = {{"plan", explanation.taken},
                     {"lookup", name(lookup.match)},
                     {"reason", lookup.reason},
                     {"rule_of_thumb", explanation.rule},
                     {"expected", explanation.expected},
                     {"nearest", explanation.nearest},
                     {"record", lookup.record},
                     {"considered", std::move(considered)},
                     {"ignored", lookup.ignored},
                     {"compulsory_bytes", explanation.traffic.total()},
                     {"scratch_bytes", explanation.scratch_bytes}};
    if (lookup.predicted_milliseconds)
        document["predicted_milliseconds"] = *lookup.predicted_milliseconds;
    return document;
}

}  // namespace segfold::cli
