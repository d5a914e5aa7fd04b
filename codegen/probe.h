#pragma once
// A probe is a small kernel in kernels/measuring whose run time shows one property of a GPU. A probe does not
// reduce.
#include <string>
#include <vector>

#include "codegen/configuration.h"
#include "codegen/weave/front_matter.h"
#include "codegen/weave/weave.h"

namespace segfold {

/// The content of a probe's file.
struct Probe {
    std::string file;   ///< path below kernels/, such as "measuring/divergence.cu"
    std::string place;  ///< name in messages: `file`, preceded by the user's folder if the file lies in one
    std::string name, title, source;
    std::vector<Tunable> tunables;
    std::vector<Formula> where;  ///< conditions on the tunables
    std::string text;            ///< the whole file, with its directives
};

/// CUDA text of a probe, with the arguments and shape of its only launch.
///
/// Formulas may use num_elements and the tunables. A kernel parameter is either the int `num_elements`, or a
/// pointer with the name of its buffer.
struct EmittedProbe {
    std::string source;
    std::vector<Scratch> inputs;   ///< buffers that must be filled with values of probe_word()
    std::vector<Scratch> scratch;  ///< buffers that need no values before the launch
    Scratch output;                ///< the buffer whose values are checked after the launch
    Formula moves;                 ///< bytes that all threads together read and write
    Launch launch;
    std::vector<std::string> parameters;
    Configuration configuration;
};

/// Reads a probe's front matter. `folder` is the folder that the user gave; empty for embedded files. Throws
/// SpecError with file and line.
Probe read_probe(std::string file, std::string text, const std::string& folder = "");

/// Returns a value for every tunable: the value in `chosen`, or else the tunable's first value. Throws
/// InputError if `chosen` has a name or value that the probe does not have, or if a `where` line excludes the
/// values.
Configuration configure(const Probe& probe, const std::map<std::string, int>& chosen);

/// Writes the CUDA text of a probe. This is a pure function: the same arguments give the same bytes. Throws
/// SpecError if the file is faulty.
EmittedProbe emit(const Probe& probe, const Configuration& configuration, const ReadPart& read_part);

}  // namespace segfold
