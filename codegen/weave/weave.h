#pragma once
// Weaving resolves the conditional paragraphs of a stage file and gathers the parts that it uses.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/weave/formula.h"

namespace segfold {

/// Values of the names in conditions `//% if FORMULA`. The names are facts, such as {"commutative", 1}, and
/// tunables.
using Facts = FormulaNames;

/// The text of a part, and the part's name in messages. If the name is empty, messages use the part's path.
struct PartText {
    PartText(std::string_view part_text, std::string part_place = "")  // NOLINT: converts from plain text
        : text(part_text), place(std::move(part_place))
    {}
    std::string_view text;
    std::string place;
};

/// Returns a part by its path, such as "parts/reduce/warp_reduce.cuh".
using ReadPart = std::function<PartText(std::string_view path)>;

/// A line `//% WORD ARGUMENT` of a stage or part. An example is {"launch", "reduce grid = ...", 7}, from line
/// 7 of a file.
struct Directive {
    std::string word;
    std::string argument;
    int line;
    std::string file = {};  ///< the part's file; empty for the stage file
};

struct Woven {
    /// Texts of the used parts, each once; a part comes after the parts that it uses.
    std::vector<std::string> parts;
    std::string body;                  ///< the stage's own text, without directives
    std::vector<std::string> numbers;  ///< names in `//% number NAME` lines, in order
    /// Directives of kept paragraphs in the stage file and the parts, in order. Parts contribute only `let`,
    /// `scratch` and `launch`.
    std::vector<Directive> directives;
};

/// Resolves `//% if / elif / else / end` by `facts`, and includes the parts that `//% use` lines name.
///
/// A condition is a formula over the facts: `//% if offsets || ranges`, `if !commutative`. `//% number NAME`
/// becomes the parameter `int NAME,` if the fact at_launch is true; otherwise the line is removed. Throws
/// SpecError with file and line for an unknown fact, an unbalanced block, an unknown part, or a cycle of
/// parts.
Woven weave(std::string_view file, std::string_view text, const Facts& facts, const ReadPart& read_part);

/// Returns all directives in the text of a file, including those in conditional paragraphs.
std::vector<Directive> directives_of(std::string_view text);

}  // namespace segfold
