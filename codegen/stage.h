#pragma once
// A stage file and its front matter as data.
#include <optional>
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/weave/formula.h"
#include "codegen/weave/front_matter.h"
#include "codegen/weave/weave.h"
#include "dsl/layout.h"

namespace segfold {

/// The content of a stage file. It does not depend on an operator.
struct Stage {
    std::string file;      ///< "stages/tile_scan.cu"
    std::string place;     ///< name in messages: `file`, with the user's folder in front if there is one
    bool is_rung = false;  ///< from ladder/: only for measurements, never a default
    Dialect dialect = Dialect::cuda;  ///< native for files of cpu/
    std::string name, title;
    std::string after;   ///< the stage on which it improves; empty for a first stage
    std::string source;  ///< origin of the idea
    std::vector<SegmentForm> forms;
    std::vector<Formula> needs;     ///< on an operator: associative, commutative, identity, state_bytes <= 64
    std::vector<Size> needs_sizes;  ///< `let` lines before the last `needs`
    std::optional<Formula> suits;   ///< its rank among the stages that can serve; uses plan_facts()
    std::vector<Size> suits_sizes;  ///< `let` lines before `suits`
    std::vector<Tunable> tunables;
    std::vector<Size> sizes;     ///< `let` lines before the last needs, suits, where or fits
    std::vector<Formula> where;  ///< conditions on the tunables and plan_facts()
    std::vector<Formula> fits;   ///< conditions that hold besides unless the user says otherwise
    /// How many of the tunables give each of `sizes`, `where` and `fits` its value.
    std::vector<std::size_t> sizes_after, where_after, fits_after;
    std::vector<std::string> numbers;  ///< names in `number` lines of all paragraphs: tunables and sizes
    std::string text;                  ///< the file, directives included
};

/// The form in which a stage reads segments of form `form`: that form or its converted_form(); none if the
/// stage takes neither.
std::optional<SegmentForm> served_form(const Stage& stage, SegmentForm form);

/// True if `form` is flags or keys and the stage works on offsets. Another kernel of the stage then makes
/// offsets first.
bool finds_offsets(const Stage& stage, SegmentForm form);

/// Value of `suits`; 0 for a stage without it. `facts` are plan_facts(). Throws SpecError.
std::int64_t rank(const Stage& stage, const FormulaNames& facts);

/// The directives that depend on the problem: sizes, scratch memory and launches.
struct Plumbing {
    std::vector<Size> sizes;  ///< `//% let num_tiles = ...`, in order
    std::vector<Scratch> scratch;
    std::vector<Launch> launches;
};

/// Reads a stage file's front matter. `folder` is the user's folder if the file is in one. Throws SpecError
/// with file and line.
Stage read_stage(std::string file, std::string text, const std::string& folder = "");

/// Reads `let`, `scratch` and `launch` from the directives that weaving returns.
Plumbing read_plumbing(const std::string& file, const std::vector<Directive>& directives);

}  // namespace segfold
