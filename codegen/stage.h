#pragma once
// A stage file and its front matter, as data.
#include <optional>
#include <string>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/weave/formula.h"
#include "codegen/weave/front_matter.h"
#include "codegen/weave/weave.h"
#include "dsl/layout.h"

namespace segfold {

/// A stage file that was read. It does not depend on an operator.
struct Stage {
    std::string file;                 ///< "stages/tile_scan.cu"
    std::string place;                ///< its name in messages: `file`, after the folder that a user gave
    bool is_rung = false;             ///< of ladder/: there to be measured, never taken by a rule of thumb
    Dialect dialect = Dialect::cuda;  ///< native: of cpu/
    std::string name, title;
    std::string after;   ///< the stage it improves on; empty for a first one
    std::string source;  ///< where the idea comes from
    std::vector<SegmentForm> forms;
    std::vector<Formula> needs;  ///< of an operator: associative, commutative, identity, state_bytes <= 64
    std::vector<std::pair<std::string, Formula>>
        needs_sizes;               ///< `let` lines that stand before the last of them
    std::optional<Formula> suits;  ///< its rank among those that can serve; over plan_facts()
    std::vector<std::pair<std::string, Formula>> suits_sizes;  ///< `let` lines that stand before `suits`
    std::vector<Tunable> tunables;
    std::vector<std::pair<std::string, Formula>>
        sizes;                   ///< `let` lines that stand before the last needs, suits, where or prefer
    std::vector<Formula> where;  ///< over the tunables and plan_facts()
    std::vector<std::pair<std::string, Formula>>
        prefer;                        ///< tunable, its best value; in order, over plan_facts()
    std::vector<std::string> numbers;  ///< of `number` lines, in any paragraph: tunables and sizes
    std::string text;                  ///< the file, directives included
};

/// The form in which a stage reads segments given as `form`: that form, or the one that the host makes of it;
/// nothing if the stage takes neither.
std::optional<SegmentForm> served_form(const Stage& stage, SegmentForm form);

/// True for flags and keys of a stage that works on offsets: a kernel of its own makes offsets of them first.
bool finds_offsets(const Stage& stage, SegmentForm form);

/// The value of `suits`; 0 for a stage without it. `facts` are plan_facts(). Throws SpecError.
std::int64_t rank(const Stage& stage, const FormulaNames& facts);

/// The directives that depend on the problem: sizes by name, scratch, launches.
struct Plumbing {
    std::vector<std::pair<std::string, Formula>> sizes;  ///< `//% let num_tiles = ...`, in order
    std::vector<Scratch> scratch;
    std::vector<Launch> launches;
};

/// Reads a stage file's front matter. `folder` is that of a user's own file. Throws SpecError with file and
/// line.
Stage read_stage(std::string file, std::string text, const std::string& folder = "");

/// Reads `let`, `scratch` and `launch` from the directives that weaving leaves.
Plumbing read_plumbing(const std::string& file, const std::vector<Directive>& directives);

}  // namespace segfold
