#pragma once
// Emits the text of a plan for a problem, a stage and a configuration, with all data that a launch needs.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "codegen/numbers.h"

namespace segfold {

class LineMap;

/// A scratch buffer: memory that a plan's kernels need in addition to inputs and results.
struct EmittedScratch {
    std::string name;  ///< name of the kernel parameter that points to the buffer
    std::int64_t element_bytes;
    Formula count;
    bool zero;  ///< true if the buffer must be zero before the first launch
    /// If the buffer holds a result that only `map` reads, the index of this result in the struct Results;
    /// else -1.
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

/// An emitted text, and everything that is needed to launch its kernels.
///
/// The kernel parameter `inputs` is a struct with one pointer for each parameter of the operator. After the
/// pointer of a checked table come the table's length, a pointer to an `unsigned` that becomes 1 after a read
/// past the table's end, and 8 bytes of zeros.
///
/// The kernel parameter `results` is a struct with one pointer for each result, then one for each output,
/// then the length of rows if the operator has rows. kernels/README.md describes the parameter `segments`.
///
/// The formulas below may use num_elements, num_items, num_segments (only if the host knows the number of
/// segments), num_multiprocessors, state_bytes, the tunables, and the stage's own sizes.
struct Emitted {
    std::string source;
    std::string stage;                     ///< name of the stage
    std::shared_ptr<const LineMap> lines;  ///< origins of the text's lines, for messages
    Dialect dialect = Dialect::cuda;       ///< the dialect of the stage
    /// The form of segments that kernels read: the problem's form, or its converted_form().
    SegmentForm form;
    int index_bits = 32;  ///< width of the problem's indices: 32 or 64
    /// True if kernels read the number of items or the number of a segment's first item. If the segments are
    /// ranges, the host must then count the items before the launch.
    bool counts_items = false;
    std::int64_t state_bytes;
    std::vector<Size> sizes;  ///< `let` sizes in the order of evaluation; a size may use earlier sizes
    std::vector<EmittedScratch> scratch;
    std::vector<EmittedLaunch> launches;
    /// Values of the kernels' `int` parameters, by the parameter's name.
    std::map<std::string, int, std::less<>> numbers;
    std::vector<std::string> checked_tables;  ///< names of the tables whose reads kernels check
    bool is_associative = true;               ///< true if the problem's laws include associativity
    Configuration configuration;
    /// True if all GPUs must combine the elements in the same order, so that results are equal on all GPUs.
    /// Grids then have the sizes for one fixed GPU, and the compiler does not fuse products and sums.
    bool is_reproducible = false;
};

/// Returns the text of the part at `path`, woven for `problem`. Some parts, such as parts/bf16.cuh, belong in
/// the text's section on the operator.
std::string part_text(std::string_view path, const Problem& problem,
                      const Catalogue& catalogue = Catalogue::standard());

/// Writes the text of `stage` for `problem`. This is a pure function: the same arguments give the same bytes.
///
/// If the segments are given as flags or keys but the stage takes only offsets, the text reads offsets; the
/// caller must compute the offsets from the flags or keys. The comment at the top of the text names the
/// tunables that are constants of the text. Throws InputError if the stage cannot serve the problem, and
/// SpecError if the stage's file is faulty.
Emitted emit(const Problem& problem, const Stage& stage, const Configuration& configuration,
             const Catalogue& catalogue = Catalogue::standard(), Numbers numbers = Numbers::constant);

}  // namespace segfold
