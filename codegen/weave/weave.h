#pragma once
// Weaving: keeps or drops the marked paragraphs of a stage file and gathers the parts it uses.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/weave/formula.h"

namespace segfold {

/// The names that `//% if FORMULA` may use: facts, e.g. {"commutative", 1}, and tunables.
using Facts = FormulaNames;

/// The text of a part, and its name in messages; empty: its path.
struct PartText {
    PartText(std::string_view part_text, std::string part_place = "")  // NOLINT: a text is a part's
        : text(part_text), place(std::move(part_place))
    {}
    std::string_view text;
    std::string place;
};

/// Returns a part by its path, such as "parts/reduce/warp_reduce.cuh".
using ReadPart = std::function<PartText(std::string_view path)>;

/// A directive that weaving does not resolve itself, e.g. {"launch", "reduce grid = ...", 7}.
struct Directive {
    std::string word;
    std::string argument;
    int line;
    std::string file = {};  ///< its path; empty for the stage's own text
};

struct Woven {
    std::vector<std::string> parts;     ///< every used part once, after the parts that it uses itself
    std::string body;                   ///< the stage's own text without its directives
    std::vector<std::string> numbers;   ///< of `//% number NAME`, in order
    std::vector<Directive> directives;  ///< of the stage file and the parts, in order, those in dropped
                                        ///< paragraphs left out; parts bring let, scratch and launch only
};

/// Resolves `//% if / elif / else / end` against `facts` and follows `//% use`.
///
/// Where the fact at_launch holds, `//% number NAME` becomes the parameter `int NAME,`; elsewhere nothing.
/// A condition is a formula over the facts: `//% if offsets || ranges`, `if !commutative`. Throws SpecError
/// naming file and line for an unknown fact, an unbalanced block, an unknown part, or parts that use each
/// other.
Woven weave(std::string_view file, std::string_view text, const Facts& facts, const ReadPart& read_part);

/// The directives of a file as they stand, in all paragraphs.
std::vector<Directive> directives_of(std::string_view text);

}  // namespace segfold
