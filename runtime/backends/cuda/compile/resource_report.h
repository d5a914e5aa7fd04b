#pragma once
// Reads ptxas's report of the registers, stack and shared memory of each kernel.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace segfold::cuda {

/// Resources of one kernel. Sizes are per thread unless a comment says otherwise.
struct KernelResources {
    std::string kernel;
    int registers = 0;
    int spill_store_bytes = 0;
    int spill_load_bytes = 0;
    int stack_bytes = 0;          ///< local memory: spills and indexed arrays
    int static_shared_bytes = 0;  ///< bytes per block

    bool operator==(const KernelResources&) const = default;
};

/// Splits a compiler's log into ptxas's report and the remaining lines, which are warnings. The report is
/// that of `--ptxas-options=-v`.
///
/// Kernels are sorted by name, because the order of ptxas's report varies.
[[nodiscard]] std::pair<std::vector<KernelResources>, std::string> split_resource_report(
    std::string_view log);

}  // namespace segfold::cuda
