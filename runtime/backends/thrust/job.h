#pragma once
// A fold or scan for a Thrust system, described without Thrust's types. All its data are in host memory.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dsl/evaluation/interpreter.h"
#include "runtime/backends/thrust/flat_program.h"
#include "runtime/backends/thrust/reduce_by_key.h"

namespace segfold {

/// Returns the number of fields of the Thrust state for an operator with `num_fields` fields. There are only
/// two sizes, because nvcc compiles a set of kernels for each size.
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

/// A reduction or a scan by key. The keys are the numbers of the runs, which are the nonempty segments in
/// order.
struct ThrustJob {
    FlatProgram lift, combine, finish;
    FlatProgram scan;  ///< used if `scans` is true; `finish` and `results` are then unused
    bool scans = false;
    bool scans_reversely = false;
    bool reads_before = false;                ///< true if the scan reads the state before an element
    std::vector<Slot<double>> identity = {};  ///< the state before the first element, if reads_before is true
    int state_fields = 0;

    std::vector<HostBytes> columns;
    std::vector<Type> column_types;
    std::vector<HostBytes> tables;
    std::vector<std::int64_t> table_lengths;

    std::int64_t num_runs = 0;
    std::int64_t num_elements = 0;  ///< number of elements in all runs
    /// [num_runs + 1]: index of each run's first element. Elements are numbered over all runs.
    std::vector<std::int64_t> starts;
    /// [num_runs]: index of each run's first element in the columns; empty if it is the same as `starts`
    std::vector<std::int64_t> begins;
    std::vector<std::int64_t> segments;  ///< [num_runs]: segment of each run; empty: 0, 1, 2, ...

    /// [fields]: arrays with a value per segment; only values of nonempty segments are written
    std::vector<void*> results;
    std::vector<Type> result_types;
    std::int64_t num_segments = 0;

    std::vector<void*> outputs;  ///< outputs of a scan: arrays with a value per element of the columns
    std::vector<Type> output_types;
    std::int64_t column_elements = 0;
};

/// Runs a job. The outcome tells whether a table was read past its end. Throws DeviceError if Thrust fails.
Outcome run_on_cuda(const ThrustJob& job, int device);
Outcome run_on_cpu(const ThrustJob& job);

/// Returns the reason why Thrust's CUDA system cannot run; empty if it can.
std::string cuda_objection();

/// Returns text such as "Thrust 3.0.1, NVIDIA H200" or "Thrust 3.0.1, OpenMP with 16 threads".
std::string describe_cuda();
std::string describe_cpu();

}  // namespace segfold
