#include "runtime/session/plan_request.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "runtime/backends/backend.h"

namespace segfold {

void require_stages(const PlanRequest& request, const Backend& backend)
{
    if (backend.runs_stages() || (!request.stage && request.settings.empty()))
        return;
    const auto what = request.stage ? fmt::format("stage '{}'", *request.stage)
                                    : fmt::format("setting '{}'", request.settings.begin()->first);
    throw InputError(
        fmt::format("{} chooses what a kernel does, and the back end {} runs none; leave it out, or take "
                    "another back end",
                    what, backend.name()));
}

}  // namespace segfold
