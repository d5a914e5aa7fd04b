#include "runtime/judge/checked_workload.h"

#include "runtime/judge/table_check.h"

namespace segfold {
namespace {

constexpr std::int64_t kCheckedAtOnce = std::int64_t{1} << 16;

}  // namespace

PreparedWorkload make_checked_workload(const Operator& op, const WorkloadRequest& request)
{
    auto prepared = make_workload(op, request);
    if (num_items(prepared.workload.segments) <= kCheckedAtOnce)
        check_tables(prepared.workload);
    return prepared;
}

}  // namespace segfold
