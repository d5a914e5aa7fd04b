#pragma once
// A probe is a file of kernels/measuring: a small kernel that shows one property of a GPU and does no
// reduction.
#include <string>
#include <vector>

#include "codegen/configuration.h"
#include "codegen/weave/front_matter.h"
#include "codegen/weave/weave.h"

namespace segfold {

/// The content of a probe's file.
struct Probe {
    std::string file;   ///< "probes/divergence.cu"
    std::string place;  ///< name in messages: `file`, with the user's folder in front if there is one
    std::string name, title, source;
    std::vector<Tunable> tunables;
    std::vector<Formula> where;  ///< conditions on the tunables
    std::string text;            ///< the file, directives included
};

/// CUDA text of a probe, with the arguments and shape of its only launch.
///
/// Formulas may use num_elements and the tunables. A parameter has the name of the buffer to which it points,
/// or is the int `num_elements`.
struct EmittedProbe {
    std::string source;
    std::vector<Scratch> inputs;   ///< filled with values of probe_word()
    std::vector<Scratch> scratch;  ///< undefined before the launch
    Scratch output;                ///< the buffer that is checked
    Formula moves;                 ///< bytes that all threads together read and write
    Launch launch;
    std::vector<std::string> parameters;
    Configuration configuration;
};

/// Reads a probe's front matter. `folder` is the user's folder if the file is in one. Throws SpecError with
/// file and line.
Probe read_probe(std::string file, std::string text, const std::string& folder = "");

/// Sets every tunable to its chosen value, else to its first. Throws InputError for a name or value that the
/// probe does not have, and for values that a `where` line excludes.
Configuration configure(const Probe& probe, const std::map<std::string, int>& chosen);

/// Writes the CUDA text of a probe. It is a pure function. Throws SpecError if the file is faulty.
EmittedProbe emit(const Probe& probe, const Configuration& configuration, const ReadPart& read_part);

}  // namespace segfold
