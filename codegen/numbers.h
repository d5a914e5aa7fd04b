#pragma once
// Chooses whether a text has the numbers of a plan as constants or as kernel parameters.

namespace segfold {

/// The way in which a text gets the numbers that `//% number NAME` declares.
///
/// `constant` writes them into the text, which then runs faster. `at_launch` passes them as kernel
/// parameters: one compiled text then serves all configurations that differ only in numbers, as a tuner
/// needs.
enum class Numbers { constant, at_launch };

}  // namespace segfold
