#pragma once
// Plans compiled on one machine for the GPUs of others, which need no NVRTC.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/operator.h"
#include "runtime/session/plan_request.h"

namespace segfold {

/// The most elements that ExportOptions may name. Sizes that stages compute from them stay within 64 bits.
inline constexpr std::int64_t kMostShippedElements = std::int64_t{1} << 40;

/// The plans that export_plans() compiles.
struct ExportOptions {
    /// For what to compile: "sm_90" for GPUs of compute capability 9.0; "compute_90" for the same texts as
    /// PTX. Texts are emitted for the shared memory of this compute capability, and a GPU of another one asks
    /// for other texts. Name each GPU's own architecture.
    std::vector<std::string> architectures = {};
    /// How segments are given: "offsets", "uniform=4", "keys" or any other layout. Only its form counts, and
    /// the length of uniform segments, so that files need not exist.
    std::vector<std::string> layouts = {"offsets"};
    std::optional<std::int64_t> num_elements =
        {};                        ///< plans for this many elements, 1 or more; if empty, for any number
    int index_bits = 32;           ///< 32 or 64
    int key_bytes = 4;             ///< 1, 2, 4 or 8, for keys
    PlanRequest plan = {};         ///< narrows the plans, as it does those of a fold
    std::string kernels = {};      ///< a folder with the caller's stages
    std::vector<Law> assume = {};  ///< laws to rely on even if a search refutes them
};

/// A compiled text in an archive.
struct ShippedKernel {
    std::string name;          ///< "tile_scan.cu"
    std::string architecture;  ///< "sm_90"
    std::uint64_t bytes = 0;   ///< of the compiled image
};

/// The contents of an archive.
struct Shipped {
    std::string compiler;  ///< version of the NVRTC that compiled
    std::vector<ShippedKernel> kernels;
};

/// Compiles the plans that folds of `operators` may take, and writes them into one file. No GPU is needed.
///
/// They are the plans that the order of stages, and the tuning records, have for numbers of elements and
/// lengths of segments of all magnitudes. Throws InputError for options out of their range, for no operator,
/// for an architecture that NVRTC does not know, and for a file that cannot be written, DeviceError if a text
/// does not compile.
Shipped export_plans(const std::string& path, std::span<const Operator> operators,
                     const ExportOptions& options);

/// Adds the plans in a file that export_plans() has written to this machine's kernel cache. A fold of the
/// same operator, by the same version of segfold, then compiles nothing if NVRTC is absent or has the same
/// version. Throws InputError, and adds nothing, if anything in the file is damaged.
Shipped import_plans(const std::string& path);

}  // namespace segfold
