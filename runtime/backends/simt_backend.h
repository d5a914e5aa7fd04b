#pragma once
// The back end "simt". Runs a workload's emitted text on the CPU with every check.
#include <cstdint>
#include <optional>

#include "codegen/emit.h"
#include "runtime/data/workload.h"
#include "runtime/simt/program.h"
#include "runtime/support/run_times.h"

namespace segfold::simt {

/// Runs `emitted` on a workload and returns the results of the last launch. Grids have the size for
/// `num_multiprocessors` multiprocessors.
///
/// The plan stays loaded for `num_launches` launches. Columns, tables and offsets begin `shifted_elements`
/// elements after a 256-byte boundary, like parts of larger arrays. The byte `scratch_poison` fills scratch
/// memory once, except where kernels need zeros. If `earlier` is not null, all launches but the last take
/// their segments from it; its arrays must have the same form and lengths as the workload's. If `times` is
/// not null, sets its times of compiling and launching.
///
/// Throws SimtError for a fault of a kernel, InputError for a read outside of a checked table, and
/// DeviceError if the text does not compile.
Results run(const Workload& workload, const Emitted& emitted, const Options& options = {},
            const CompileOptions& compile_options = {}, int num_multiprocessors = 4, int num_launches = 1,
            int shifted_elements = 0, std::optional<std::uint8_t> scratch_poison = {},
            RunTimes* times = nullptr, const Segments* earlier = nullptr);

}  // namespace segfold::simt
