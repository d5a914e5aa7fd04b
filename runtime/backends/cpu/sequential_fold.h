#pragma once
// The fold of one thread of the host, as native code: the CPU's row of a comparison.
#include <span>
#include <string>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold::cpu {

/// Results and times of a fold on the host.
struct SequentialFold {
    Results results;
    std::vector<double> seconds;  ///< of each run, the first one left out
};

/// Folds every segment from left to right in one thread, `repeats` times after one run that is not counted.
///
///   columns   one for each parameter, [num_elements]
///   segments  whole, uniform, offsets or ranges; flags and keys by their offsets
///
/// Runs the text of the stage thread_per_segment, compiled by the system's C++ compiler with -O3: over one
/// segment it is a programmer's own loop. Floating-point operations keep their order. Throws DeviceError
/// without a compiler, InputError if the stage cannot serve the operator.
[[nodiscard]] SequentialFold fold_sequentially(const Operator& op, const Segments& segments,
                                               std::span<const std::byte* const> columns, int repeats);

/// The CPU's name as the system has it, or "unknown CPU".
[[nodiscard]] std::string processor_name();

}  // namespace segfold::cpu
