#pragma once
// The integer expressions of stage files, for sizes of grids and scratch memory, needs, and conditions on
// tunables.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/weave/formula_names.h"

namespace segfold {

/// An expression over 64-bit integers in the language's own grammar, with ceil_div(a, b), min and max.
class Formula {
public:
    Formula() = default;
    /// Parses `text`. `place` is its file and line for messages, such as "stages/tile_scan.cu:9". Throws
    /// SpecError if `text` is no valid expression.
    Formula(std::string place, const std::string& text);

    /// Returns the value. Comparisons and logical operations give 0 or 1. Throws SpecError for an unknown
    /// name, a division by zero, or a value that does not fit into 64 bits.
    [[nodiscard]] std::int64_t value(const FormulaNames& names) const;
    /// True if `names` has a value for every name in the formula.
    [[nodiscard]] bool is_over(const FormulaNames& names) const;
    [[nodiscard]] const std::string& text() const { return text_; }
    /// The formula's file and line, for messages.
    [[nodiscard]] const std::string& place() const { return place_; }

private:
    struct Compiled;
    class Evaluation;

    std::string place_;
    std::string text_;
    std::shared_ptr<const Compiled> compiled_;
};

/// A `let` line: a name and its formula, which may use earlier names.
using Size = std::pair<FormulaName, Formula>;

/// Returns `names` with the values of `sizes` added. Evaluates the sizes in order.
FormulaNames with_sizes(FormulaNames names, const std::vector<Size>& sizes);

}  // namespace segfold
