#pragma once
// A stage file and its front matter (its directives) as data.
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
    std::string file;  ///< path below kernels/, such as "stages/tile_scan.cu"
    /// Name in messages: `file`, preceded by the user's folder if the file lies in one.
    std::string place;
    /// True for a file of ladder/, which is only for measurements and never the default.
    bool is_rung = false;
    Dialect dialect = Dialect::cuda;  ///< native for files of cpu/
    std::string name, title;
    std::string after;   ///< name of the stage on which this stage improves; may be empty
    std::string source;  ///< origin of the idea, such as a publication
    std::vector<SegmentForm> forms;
    std::vector<Formula> needs;  ///< conditions on the problem, such as commutative or state_bytes <= 64
    /// `let` sizes that formulas in `needs` may use. They stand above the last `needs` line.
    std::vector<Size> needs_sizes;
    /// Formula for the stage's rank among stages that can serve; uses plan_facts().
    std::optional<Formula> suits;
    std::vector<Size> suits_sizes;  ///< `let` sizes that `suits` may use; they stand above the `suits` line
    std::vector<Tunable> tunables;
    std::vector<Size> sizes;     ///< `let` lines above the last `needs`, `suits`, `where` or `fits` line
    std::vector<Formula> where;  ///< conditions on the tunables and plan_facts()
    std::vector<Formula> fits;   ///< further conditions, which must hold unless the user chooses otherwise
    /// For each entry of `sizes`, `where` and `fits`: number of leading tunables that determine its value.
    std::vector<std::size_t> sizes_after, where_after, fits_after;
    std::vector<std::string> numbers;  ///< names in `number` lines of all paragraphs: tunables and sizes
    std::string text;                  ///< the file, directives included
};

/// Returns the form in which a stage reads segments that are given in `form`: `form` itself, or its
/// converted_form(). Returns nothing if the stage takes neither.
std::optional<SegmentForm> served_form(const Stage& stage, SegmentForm form);

/// True if `form` is flags or keys and the stage first computes offsets from them with a kernel of its own.
bool finds_offsets(const Stage& stage, SegmentForm form);

/// Returns the value of the stage's `suits` line; 0 if there is none. `facts` must be the value of
/// plan_facts(). Throws SpecError if the formula cannot be evaluated.
std::int64_t rank(const Stage& stage, const FormulaNames& facts);

/// The sizes, scratch memory and launches of a stage for one problem. Facts of the problem decide which
/// paragraphs of the stage are kept, and thus which of these exist.
struct Plumbing {
    std::vector<Size> sizes;  ///< the `let` lines in order, such as `//% let num_tiles = ...`
    std::vector<Scratch> scratch;
    std::vector<Launch> launches;
};

/// Reads a stage file's front matter. `folder` is the folder that the user gave; empty for embedded files.
/// Throws SpecError with file and line.
Stage read_stage(std::string file, std::string text, const std::string& folder = "");

/// Reads the sizes, scratch memory and launches of a stage. `directives` holds the `let`, `scratch` and
/// `launch` lines of the kept paragraphs, which weave() returns.
Plumbing read_plumbing(const std::string& file, const std::vector<Directive>& directives);

}  // namespace segfold
