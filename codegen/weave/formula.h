#pragma once
// The integer expressions of stage files: sizes of grids and scratch, needs, conditions on tunables.
#include <cstdint>
#include <map>
#include <string>

#include "dsl/expression.h"

namespace segfold {

/// Values of the names that a formula may use; bools are 0 and 1.
using FormulaNames = std::map<std::string, std::int64_t, std::less<>>;

/// An expression over 64-bit integers, in the language's own grammar, with ceil_div(a, b), min and max.
class Formula {
public:
    Formula() = default;
    /// `place` names the text in messages, e.g. "stages/tile_scan.cu:9". Throws SpecError.
    Formula(std::string place, const std::string& text);

    /// The value; comparisons and logic give 0 or 1. Throws SpecError for an unknown name, a division by
    /// zero, and a value beyond 64 bits.
    [[nodiscard]] std::int64_t value(const FormulaNames& names) const;
    /// Whether `names` has all names that the formula mentions.
    [[nodiscard]] bool is_over(const FormulaNames& names) const;
    [[nodiscard]] const std::string& text() const { return text_; }
    /// File and line, for messages.
    [[nodiscard]] const std::string& place() const { return place_; }

private:
    std::string place_;
    std::string text_;
    Expression expression_;
};

}  // namespace segfold
