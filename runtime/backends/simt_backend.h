#pragma once
// The back end "simt": a workload through an emitted text, on the CPU, with every check.
#include <cstdint>
#include <optional>

#include "codegen/emit.h"
#include "runtime/data/workload.h"
#include "runtime/simt/program.h"
#include "runtime/support/run_times.h"

namespace segfold::simt {

/// Runs `emitted` on a workload. The grid is sized as for `num_multiprocessors` multiprocessors.
///
/// Runs it `num_launches` times, as a plan that stays loaded is, and gives the results of the last time.
/// Columns, tables and offsets begin `shifted_elements` of their elements behind an address that is a
/// multiple of 256, as parts of larger arrays do. `scratch_poison` fills scratch memory that need not be
/// zero, once. `earlier`, where given, are the segments of all launches but the last: of the workload's form,
/// in arrays as long as its own. `times`, where given, is told how long compiling and the launches took.
/// Throws SimtError for a fault of a kernel, InputError for a read outside of a checked table, DeviceError if
/// the text does not compile.
Results run(const Workload& workload, const Emitted& emitted, const Options& options = {},
            const CompileOptions& compile_options = {}, int num_multiprocessors = 4, int num_launches = 1,
            int shifted_elements = 0, std::optional<std::uint8_t> scratch_poison = {},
            RunTimes* times = nullptr, const Segments* earlier = nullptr);

}  // namespace segfold::simt
