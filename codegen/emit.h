#pragma once
// Emits CUDA text for a problem, a stage and a configuration, with everything that a launch needs.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "codegen/numbers.h"

namespace segfold {

class LineMap;

/// Memory that a plan needs in addition to inputs and results.
struct EmittedScratch {
    std::string name;  ///< the kernel parameter that points to it
    std::int64_t element_bytes;
    Formula count;
    bool zero;  ///< must be zero before the first launch
    /// For a result that only `map` reads: index of the pointer to this memory in the struct Results;
    /// otherwise -1.
    int result = -1;
};

/// A kernel and its parameters in order. A parameter is "inputs", "segments", "results", or the name of a
/// scratch buffer or of a number.
struct EmittedLaunch {
    std::string kernel;
    std::vector<std::string> parameters;
    Formula grid, block;
    std::int64_t shared_bytes = 0;  ///< dynamic shared memory for each block
};

/// CUDA text, and how to launch it.
///
/// `inputs` is a struct with one pointer for each parameter of the operator. After the pointer of a checked
/// table come the table's length, a pointer to an `unsigned` that becomes 1 after a read past the end, and 8
/// bytes of zeros. `results` is a struct with a pointer for each result, then for each output, then the
/// length of rows if there are any. kernels/README.md describes `segments`. Formulas may use num_elements,
/// num_items, num_segments (unless kernels find the segments), num_multiprocessors, state_bytes, the
/// tunables, and the stage's own sizes.
struct Emitted {
    std::string source;
    std::shared_ptr<const LineMap> lines;  ///< origins of the text's lines, for messages
    Dialect dialect = Dialect::cuda;       ///< the dialect of the stage
    SegmentForm form;     ///< the form that kernels read: the problem's form, or its converted_form()
    int index_bits = 32;  ///< width of the problem's indices
    /// True if kernels read the number of items, or the first item of a segment. If the caller gives only the
    /// ends of ranges, the host must count items before the launch.
    bool counts_items = false;
    std::int64_t state_bytes;
    std::vector<Size> sizes;  ///< in the order of evaluation; a size may use earlier sizes
    std::vector<EmittedScratch> scratch;
    std::vector<EmittedLaunch> launches;
    /// The `int` parameters of kernels, by name.
    std::map<std::string, int, std::less<>> numbers;
    std::vector<std::string> checked_tables;  ///< the checked tables of the problem
    bool is_associative = true;               ///< true if the problem's laws include associativity
    Configuration configuration;
    /// True if the order of combination depends on the data only, not on the GPU. Grids then have the sizes
    /// for one fixed GPU, and the compiler does not fuse products and sums.
    bool is_reproducible = false;
};

/// Returns the text of a part for a problem. The operator's section contains some parts, such as
/// parts/bf16.cuh.
std::string part_text(std::string_view path, const Problem& problem,
                      const Catalogue& catalogue = Catalogue::standard());

/// Writes the CUDA text of `stage` for `problem`. This is a pure function: the same arguments give the same
/// bytes.
///
/// If the segments are flags or keys and the stage takes neither, the text reads offsets; the host computes
/// the offsets from the flags or keys. The heading names the tunables that are constants of the text. Throws
/// InputError if the stage cannot serve the problem, and SpecError if the stage's file is faulty.
Emitted emit(const Problem& problem, const Stage& stage, const Configuration& configuration,
             const Catalogue& catalogue = Catalogue::standard(), Numbers numbers = Numbers::constant);

}  // namespace segfold
