#pragma once
// Emits the CUDA text of a problem, a stage and a configuration, with its launches, arrays and scratch
// memory.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "codegen/numbers.h"

namespace segfold {

class LineMap;

/// Memory that a plan needs beside inputs and results.
struct EmittedScratch {
    std::string name;  ///< the kernel parameter that points to it
    std::int64_t element_bytes;
    Formula count;
    bool zero;  ///< must be zero before the first launch
    /// The place in the struct Results that points to it, where only `map` sees the result; else -1.
    int result = -1;
};

/// A kernel with its parameters in order: "inputs", "segments", "results", or the name of a scratch buffer or
/// of a number.
struct EmittedLaunch {
    std::string kernel;
    std::vector<std::string> parameters;
    Formula grid, block;
    std::int64_t shared_bytes = 0;  ///< of dynamic shared memory, each block
};

/// CUDA text and how to launch it.
///
/// inputs is a struct of one pointer for each parameter of the operator; the pointer of a checked table is
/// followed by its length, a pointer to an `unsigned` that becomes 1 where it is read outside, and 8 zeros.
/// results is a struct of a pointer for each result, then each output, then the length of rows if it has any;
/// segments is described in kernels/README.md. Formulas know num_elements, num_items, num_segments (but for
/// forms of which kernels find the segments), num_multiprocessors, state_bytes, the tunables, and the stage's
/// own sizes.
struct Emitted {
    std::string source;
    std::shared_ptr<const LineMap> lines;  ///< of the text; for messages
    Dialect dialect = Dialect::cuda;       ///< the stage's
    SegmentForm form;     ///< form of segments that the kernels read: the problem's, or the one that the host
                          ///< makes of it
    int index_bits = 32;  ///< the problem's
    std::int64_t state_bytes;
    std::vector<std::pair<std::string, Formula>>
        sizes;  ///< evaluated in order, each may use the earlier ones
    std::vector<EmittedScratch> scratch;
    std::vector<EmittedLaunch> launches;
    /// The `int` parameters of kernels, by name.
    std::map<std::string, int, std::less<>> numbers;
    std::vector<std::string> checked_tables;  ///< the problem's
    bool is_associative = true;               ///< the problem's law
    Configuration configuration;
    /// Whether the order of combination follows from the data alone. Grids are then sized as for one GPU,
    /// whatever GPU is there, and products and sums are not contracted.
    bool is_reproducible = false;
};

/// The text of a part that stands among the operator's pieces, such as parts/bf16.cuh, for a problem.
std::string part_text(std::string_view path, const Problem& problem,
                      const Catalogue& catalogue = Catalogue::standard());

/// Writes the CUDA text of `stage` for `problem`. A pure function: same arguments, same bytes.
///
/// A stage that takes neither flags nor keys is emitted for the offsets that the host makes of them. The
/// heading names the tunables that are constants of the text.
/// Throws InputError if the stage cannot serve the problem, SpecError if its file is at fault.
Emitted emit(const Problem& problem, const Stage& stage, const Configuration& configuration,
             const Catalogue& catalogue = Catalogue::standard(), Numbers numbers = Numbers::constant);

}  // namespace segfold
