#pragma once
// Registers and memory that a compiled kernel takes of a multiprocessor, as ptxas reports them.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace segfold::cuda {

/// Resources of one kernel, per thread unless said otherwise.
struct KernelResources {
    std::string kernel;
    int registers = 0;
    int spill_store_bytes = 0;
    int spill_load_bytes = 0;
    int stack_bytes = 0;          ///< local memory: spills and indexed arrays
    int static_shared_bytes = 0;  ///< per block

    bool operator==(const KernelResources&) const = default;
};

/// Splits a compiler log into the report of `--ptxas-options=-v` and the rest, the warnings.
///
/// Kernels come in order of name, so that the report does not depend on the order in which ptxas worked.
[[nodiscard]] std::pair<std::vector<KernelResources>, std::string> split_resource_report(
    std::string_view log);

}  // namespace segfold::cuda
