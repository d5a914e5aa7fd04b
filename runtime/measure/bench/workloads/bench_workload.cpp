#include "runtime/measure/bench/workloads/bench_workload.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "runtime/data/shape.h"
#include "runtime/judge/table_check.h"
#include "runtime/measure/bench/plans.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"

namespace segfold {

bench::WorkloadRecord bench_workload(Session& session, const Operator& op, std::span<const ArrayView> inputs,
                                     const SegmentsView& segments, const BenchOptions& options)
{
    if (options.repeats < 1)
        throw InputError(fmt::format("repeats is {}; each plan is timed 1 time or more", options.repeats));
    const auto workload = borrow_workload(op, inputs, segments);
    check_workload(workload);
    check_tables(workload);  // checked here, because peers do not check table reads
    const auto laws = core(session).laws(workload);
    auto problem = make_problem(workload, laws);
    problem.target = core(session).backend().target();
    bench::PlanSelection selection;
    for (const auto& stage : options.stages)
        selection.others.push_back({stage});
    std::vector<const Peer*> peers;
    for (const auto& name : options.peers)
        peers.push_back(&peer(name));
    bench::Bench bench(core(session).backend());
    std::vector<std::string> warnings;
    const bench::LadderRequest request{
        problem,
        workload,
        bench.timing->load(borrowed(workload.arrays)),
        std::string(name(workload.segments.form)),
        bench::ladder_plans(session, problem, shape_of(workload), laws, selection, warnings),
        peers,
        core(session).catalogue(),
        {.repeats = options.repeats}};
    return bench::climb(bench, request, {});
}

}  // namespace segfold
