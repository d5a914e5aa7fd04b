#pragma once
// Plans that are compiled on one machine for the GPUs of other machines, which then need no NVRTC.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/operator.h"
#include "runtime/session/plan_request.h"

namespace segfold {

/// The largest number of elements in ExportOptions. Sizes that stages compute from it fit 64 bits.
inline constexpr std::int64_t kMostShippedElements = std::int64_t{1} << 40;

/// The plans that export_plans() compiles.
struct ExportOptions {
    /// Targets of the compiler. "sm_90" is for GPUs of compute capability 9.0; "compute_90" gives the same
    /// texts as PTX. Texts are emitted for the shared memory of this compute capability, and a GPU of another
    /// capability needs other texts. So name the architecture of each GPU.
    std::vector<std::string> architectures = {};
    /// Layouts of segments: "offsets", "uniform=4", "keys" or any other. Only the form is used, and the
    /// length of uniform segments. Files in a layout need not exist.
    std::vector<std::string> layouts = {"offsets"};
    std::optional<std::int64_t> num_elements =
        {};                        ///< if given, at least 1, and plans are for this number of elements only
    int index_bits = 32;           ///< 32 or 64
    int key_bytes = 4;             ///< bytes of a key: 1, 2, 4 or 8
    PlanRequest plan = {};         ///< restricts the plans, as in a fold
    std::string kernels = {};      ///< a folder with the caller's stages
    std::vector<Law> assume = {};  ///< laws to rely on even if a search refutes them
};

/// A compiled text in an archive.
struct ShippedKernel {
    std::string name;          ///< such as "tile_scan.cu"
    std::string architecture;  ///< such as "sm_90"
    std::uint64_t bytes = 0;   ///< size of the compiled image
};

/// The contents of an archive.
struct Shipped {
    std::string compiler;  ///< version of NVRTC
    std::vector<ShippedKernel> kernels;
};

/// Compiles the plans that folds of `operators` may need, and writes them to one file. Needs no GPU.
///
/// These are the plans that the order of stages and the tuning records give for numbers of elements and
/// lengths of segments of all magnitudes. Throws InputError for options out of range, for an empty
/// `operators`, for an operator and a layout that no stage takes, for an architecture that NVRTC does not
/// know, and for a file that cannot be written. Throws DeviceError if a text does not compile.
Shipped export_plans(const std::string& path, std::span<const Operator> operators,
                     const ExportOptions& options);

/// Adds the plans in a file of export_plans() to this machine's kernel cache.
///
/// A fold of the same operator by the same version of segfold then compiles nothing, if NVRTC is absent or
/// has the same version. The plans stay in the cache until it is cleared. If the file is damaged, or all
/// imports would take more than half of the cache, throws InputError and adds nothing.
Shipped import_plans(const std::string& path);

}  // namespace segfold
