#pragma once
// A fold for a Thrust system, free of Thrust's own types; all arrays lie in host memory.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dsl/evaluation/interpreter.h"
#include "runtime/backends/thrust/flat_program.h"
#include "runtime/backends/thrust/reduce_by_key.h"

namespace segfold {

/// Fields that Thrust's states have where the operator's has `num_fields`: two sizes for all operators, since
/// each costs nvcc another set of kernels.
constexpr int state_slots(int num_fields)
{
    constexpr int kSmallState = 2;
    return num_fields <= kSmallState ? kSmallState : kMaxThrustFields;
}

/// An array of `bytes` bytes in host memory.
struct HostBytes {
    const void* data;
    std::size_t bytes;
};

/// A reduction by key. The keys are the numbers of the runs: the non-empty segments in order.
struct ThrustJob {
    FlatProgram lift, combine, finish;
    int state_fields = 0;

    std::vector<HostBytes> columns;
    std::vector<Type> column_types;
    std::vector<HostBytes> tables;
    std::vector<std::int64_t> table_lengths;

    std::int64_t num_runs = 0;
    std::int64_t num_elements = 0;  ///< of all runs together
    std::vector<std::int64_t>
        starts;  ///< [num_runs + 1] place of a run's first element among all runs' elements
    std::vector<std::int64_t>
        begins;  ///< [num_runs] index of a run's first element; empty: the same as starts
    std::vector<std::int64_t> segments;  ///< [num_runs] a run's segment; empty: 0, 1, 2, ...

    std::vector<void*> results;  ///< [fields] arrays over all segments; only runs are written
    std::vector<Type> result_types;
    std::int64_t num_segments = 0;
};

/// Runs a job on a system; the outcome tells of a table read outside of its length. Throws DeviceError.
Outcome run_on_cuda(const ThrustJob& job, int device);
Outcome run_on_cpu(const ThrustJob& job);

/// Empty, or why the system cannot run.
std::string cuda_objection();

/// "Thrust 3.0.1, NVIDIA H200", "Thrust 3.0.1, OpenMP with 16 threads"
std::string describe_cuda();
std::string describe_cpu();

}  // namespace segfold
