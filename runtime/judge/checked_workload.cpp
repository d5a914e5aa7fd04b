#include "runtime/judge/checked_workload.h"

#include <algorithm>

#include "dsl/check/rows.h"
#include "dsl/evaluation/evaluator.h"
#include "runtime/data/index_at.h"
#include "runtime/judge/table_check.h"

namespace segfold {
namespace {

constexpr std::int64_t kCheckedAtOnce = std::int64_t{1} << 16;

}  // namespace

void naming_places(const PreparedWorkload& prepared, const std::function<void()>& work)
{
    try {
        work();
    } catch (const OutsideTable& outside) {
        if (!prepared.places)
            throw;
        throw outside.by(index_at(*prepared.places, outside.element()));
    }
}

PreparedWorkload make_checked_workload(const Operator& op, const WorkloadRequest& request)
{
    auto prepared = make_workload(op, request);
    const auto& workload = prepared.workload;
    const bool has_tables = std::ranges::any_of(op.parameters, &Parameter::table);
    if (num_items(workload.segments) > kCheckedAtOnce || !has_tables)
        return prepared;
    naming_places(prepared, [&] {
        if (!has_rows(op))
            check_tables(workload);
        else
            for (std::int64_t feature = 0; feature < workload.num_features; ++feature)
                check_tables(feature_of(workload, feature));
    });
    return prepared;
}

}  // namespace segfold
