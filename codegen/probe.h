#pragma once
// A probe, a file of kernels/measuring: a small kernel that shows one property of a GPU and is not a
// reduction.
#include <string>
#include <vector>

#include "codegen/configuration.h"
#include "codegen/weave/front_matter.h"
#include "codegen/weave/weave.h"

namespace segfold {

/// A probe's file that was read.
struct Probe {
    std::string file;   ///< "probes/divergence.cu"
    std::string place;  ///< its name in messages: `file`, after the folder that a user gave
    std::string name, title, source;
    std::vector<Tunable> tunables;
    std::vector<Formula> where;  ///< over the tunables
    std::string text;            ///< the file, directives included
};

/// CUDA text of a probe, and the arguments of its one launch.
///
/// Formulas know num_elements and the tunables. Parameters are named as the buffers they point to;
/// `num_elements` is an int.
struct EmittedProbe {
    std::string source;
    std::vector<Scratch> inputs;   ///< filled with the words of probe_word()
    std::vector<Scratch> scratch;  ///< may have any contents before the launch
    Scratch output;                ///< the checked buffer
    Formula moves;                 ///< bytes that all threads together must read and write
    Launch launch;
    std::vector<std::string> parameters;
    Configuration configuration;
};

/// Reads a probe's front matter. `folder` is that of a user's own file. Throws SpecError with file and line.
Probe read_probe(std::string file, std::string text, const std::string& folder = "");

/// The first value of every tunable with the given ones set. Throws InputError for a name or value that the
/// probe does not have, or values that a `where` line excludes.
Configuration configure(const Probe& probe, const std::map<std::string, int>& chosen);

/// Writes the CUDA text of a probe. A pure function. Throws SpecError if its file is at fault.
EmittedProbe emit(const Probe& probe, const Configuration& configuration, const ReadPart& read_part);

}  // namespace segfold
