#include "runtime/backends/thrust/reduce_by_key.h"

#include <span>
#include <utility>
#include <vector>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/backends/thrust/job.h"
#include "runtime/judge/reference.h"
#include "runtime/judge/running_state.h"
#include "runtime/judge/table_check.h"

namespace segfold {
namespace {

std::string not_built(ThrustSystem system)
{
    return "thrust::reduce_by_key on " +
           std::string(system == ThrustSystem::cuda
                           ? "CUDA is not part of this build; build with nvcc (SEGFOLD_CUDA=ON)"
                           : "the CPU is not part of this build; build with CCCL's headers and OpenMP");
}

Outcome run_on(ThrustSystem system, [[maybe_unused]] const ThrustJob& job, [[maybe_unused]] int device)
{
#ifdef SEGFOLD_THRUST_CUDA
    if (system == ThrustSystem::cuda)
        return run_on_cuda(job, device);
#endif
#ifdef SEGFOLD_THRUST_CPU
    if (system == ThrustSystem::cpu)
        return run_on_cpu(job);
#endif
    throw DeviceError(not_built(system));
}

std::string objection_of(const Bytecode& bytecode, const std::string& name)
{
    const auto fields = bytecode.state.size();
    if (fields > kMaxThrustFields)
        return "operator " + name + " has a state of " + std::to_string(fields) +
               " fields; thrust's functors hold at most " + std::to_string(kMaxThrustFields);
    for (const auto& [block, program] :
         {std::pair{"lift", &bytecode.lift}, std::pair{"combine", &bytecode.combine},
          std::pair{"finish", &bytecode.finish}, std::pair{"scan", &bytecode.scan}}) {
        const int slots = flatten(*program).num_slots;
        if (slots > kMaxThrustSlots)
            return "operator " + name + " needs " + std::to_string(slots) + " values at a time in its " +
                   block + " part; thrust's functors hold at most " + std::to_string(kMaxThrustSlots);
    }
    return {};
}

/// Adds the runs of a workload to a job, with the positions of their elements.
void add_runs(const Segments& segments, ThrustJob& job)
{
    bool scattered = false;
    bool gaps = false;
    job.num_segments = segments.num_segments;
    for (auto* list : {&job.starts, &job.begins, &job.segments})
        list->reserve(static_cast<std::size_t>(segments.num_segments) + 1);
    for (std::int64_t segment = 0; segment < segments.num_segments; ++segment) {
        const std::int64_t begin = segments.begin(segment);
        const std::int64_t length = segments.end(segment) - begin;
        if (length == 0) {
            gaps = true;
            continue;
        }
        scattered = scattered || begin != job.num_elements;
        job.starts.push_back(job.num_elements);
        job.begins.push_back(begin);
        job.segments.push_back(segment);
        job.num_elements += length;
    }
    job.num_runs = static_cast<std::int64_t>(job.starts.size());
    job.starts.push_back(job.num_elements);
    if (!scattered)
        job.begins = {};
    if (!gaps)
        job.segments = {};
}

ThrustJob make_job(const Workload& workload, const Bytecode& bytecode, Results& results)
{
    ThrustJob job;
    job.lift = flatten(bytecode.lift);
    job.combine = flatten(bytecode.combine);
    job.finish = flatten(bytecode.finish);
    job.state_fields = static_cast<int>(bytecode.state.size());
    job.column_types = bytecode.columns;
    for (std::size_t p = 0; p < workload.arrays.size(); ++p) {
        const auto& array = workload.arrays[p];
        if (workload.op.parameters[p].table) {
            job.tables.push_back({array.data(), array.bytes()});
            job.table_lengths.push_back(static_cast<std::int64_t>(array.length()));
        } else {
            job.columns.push_back({array.data(), array.bytes()});
        }
    }
    add_runs(workload.segments, job);
    for (auto& field : results) {
        job.results.push_back(field.array.data());
        job.result_types.push_back(field.array.type());
    }
    return job;
}

void fill_empty_segments(const Workload& workload, const Bytecode& bytecode, Results& results)
{
    Evaluator<double> evaluator(bytecode, inputs_of(workload).tables);
    std::vector<Slot<double>> result(evaluator.result_fields());
    for (std::int64_t segment = 0; segment < workload.segments.num_segments; ++segment) {
        if (workload.segments.length(segment) != 0)
            continue;
        evaluator.empty(segment, result.data());
        for (std::size_t f = 0; f < results.size(); ++f)
            Machine<double>::store(result[f], results[f].array.type(), results[f].array.data(), segment);
    }
}

/// Runs a job, unless it has no elements. Throws InputError if an element reads past a table's end.
void run(ThrustSystem system, const ThrustJob& job, int device, const Workload& workload,
         const Bytecode& bytecode)
{
    if (job.num_runs == 0)
        return;
    const Outcome outcome = run_on(system, job, device);
    if (outcome.failed)  // the host finds the element that reads past a table's end
        refuse_table_reads(workload, {bytecode.table_names[outcome.table]});
}

/// Computes the outputs of the operator's `scan` with Thrust's scans by key.
void scan_by_key(const Workload& workload, ThrustSystem system, int device, std::span<NamedArray> outputs)
{
    const Bytecode bytecode = compile_bytecode(workload.op);
    Results none;
    auto job = make_job(workload, bytecode, none);
    job.scan = flatten(bytecode.scan);
    job.scans = true;
    job.scans_reversely = bytecode.scans_reversely;
    job.reads_before = reads_before(workload.op);
    job.identity = state_before_first<double>(bytecode);
    job.column_elements = workload.segments.num_elements;
    for (const auto place : bytecode.scanned) {
        job.outputs.push_back(outputs[place].array.data());
        job.output_types.push_back(outputs[place].array.type());
    }
    run(system, job, device, workload, bytecode);
}

/// Returns results and outputs of an operator with outputs. Thrust folds and scans; the evaluator runs `map`.
Results with_outputs(const Workload& workload, ThrustSystem system, int device)
{
    const auto& op = workload.op;
    Results folded;
    if (op.map || op.keeps_results)
        folded = reduce_by_key(fold_of(workload), system, device);
    if (!op.keeps_results && !op.map)
        folded.clear();
    Workload mapped{op, {}, workload.segments.lend()};
    mapped.op.scan.reset();
    for (const auto& array : workload.arrays)
        mapped.arrays.push_back(array.lend());
    auto results = map_elements(mapped, std::move(folded));
    if (op.scan)
        scan_by_key(workload, system, device, std::span(results).last(op.outputs.size()));
    return results;
}

}  // namespace

std::string_view name(ThrustSystem system) { return system == ThrustSystem::cuda ? "cuda" : "cpu"; }

std::string thrust_unavailable_reason(ThrustSystem system)
{
#ifdef SEGFOLD_THRUST_CUDA
    if (system == ThrustSystem::cuda) {
        const auto objection = cuda_objection();
        return objection.empty() ? "" : "thrust::reduce_by_key cannot run on CUDA: " + objection;
    }
#endif
#ifdef SEGFOLD_THRUST_CPU
    if (system == ThrustSystem::cpu)
        return {};
#endif
    return not_built(system);
}

ThrustSystem thrust_system()
{
    return thrust_available(ThrustSystem::cuda) ? ThrustSystem::cuda : ThrustSystem::cpu;
}

bool thrust_available(ThrustSystem system) { return thrust_unavailable_reason(system).empty(); }

std::string thrust_description(ThrustSystem system)
{
    if (!thrust_available(system))
        return {};
#ifdef SEGFOLD_THRUST_CUDA
    if (system == ThrustSystem::cuda)
        return describe_cuda();
#endif
#ifdef SEGFOLD_THRUST_CPU
    if (system == ThrustSystem::cpu)
        return describe_cpu();
#endif
    return {};
}

std::string thrust_objection(const Operator& op) { return objection_of(compile_bytecode(op), op.name); }

double thrust_host_bytes(const Workload& workload, ThrustSystem system)
{
    const auto& segments = workload.segments;
    double bytes_of_segment = 3 * sizeof(std::int64_t);  // ThrustJob::starts, begins, segments
    for (const auto& field : workload.op.results)
        bytes_of_segment += static_cast<double>(size_bytes(field.type));
    double bytes_of_element = 0;
    const auto state_bytes =
        static_cast<double>(state_slots(static_cast<int>(workload.op.state.size())) * sizeof(Slot<double>));
    if (system == ThrustSystem::cpu) {
        bytes_of_segment += sizeof(std::int64_t) + state_bytes;  // ends and states of runs
        // Per element: its key, and the memory that Thrust allocates in reduce_by_key, a state and three
        // flags.
        bytes_of_element = sizeof(std::int64_t) + state_bytes + 3 * sizeof(unsigned);
    }
    if (workload.op.scan && system == ThrustSystem::cpu)  // states before and through, and Thrust's own copy
        bytes_of_element += 3 * (state_bytes + sizeof(Slot<double>));
    return bytes_of_element * static_cast<double>(num_items(segments)) +
           bytes_of_segment * static_cast<double>(segments.num_segments);
}

Results reduce_by_key(const Workload& workload, ThrustSystem system, int device)
{
    check_workload(workload);
    if (has_rows(workload.op))
        return fold_features(workload,
                             [&](const Workload& feature) { return reduce_by_key(feature, system, device); });
    if (const auto reason = thrust_unavailable_reason(system); !reason.empty())
        throw DeviceError(reason);
    const Bytecode bytecode = compile_bytecode(workload.op);
    if (const auto objection = objection_of(bytecode, workload.op.name); !objection.empty())
        throw InputError(objection);
    if (!workload.op.outputs.empty())
        return with_outputs(workload, system, device);
    Results results = allocate_results(workload);
    const auto job = make_job(workload, bytecode, results);
    run(system, job, device, workload, bytecode);
    if (job.num_runs != job.num_segments)
        fill_empty_segments(workload, bytecode, results);
    return results;
}

}  // namespace segfold
