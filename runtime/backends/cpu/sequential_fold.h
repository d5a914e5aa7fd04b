#pragma once
// Folds with one host thread in native code, to compare with a sequential CPU program.
#include <span>
#include <string>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold::cpu {

/// Results and times of a fold on the host.
struct SequentialFold {
    Results results;
    std::vector<double> seconds;  ///< seconds of each timed run
};

/// Folds every segment from left to right in one thread. Makes one untimed run, then `repeats` timed runs.
///
///   segments  form whole, uniform, offsets or ranges; flags and keys need offsets as well
///   columns   one array of num_elements values for each parameter
///
/// Compiles the text of stage thread_per_segment with the system's C++ compiler at -O3. For one segment this
/// text is the loop that a programmer would write. Floating-point operations keep their order. Throws
/// DeviceError if there is no compiler, and InputError if the stage cannot serve the operator.
[[nodiscard]] SequentialFold fold_sequentially(const Operator& op, const Segments& segments,
                                               std::span<const std::byte* const> columns, int repeats);

/// Returns the CPU's name as the system gives it, or "unknown CPU".
[[nodiscard]] std::string processor_name();

}  // namespace segfold::cpu
