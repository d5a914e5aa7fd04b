#pragma once
// Chooses whether a text has the numbers of a plan as constants or as kernel parameters.

namespace segfold {

/// The source of the numbers that `//% number NAME` declares.
///
/// `constant` writes them into the text, which runs faster. `at_launch` passes them as parameters: one
/// compiled text then serves all configurations that differ in these numbers alone, of which a tuner compares
/// many.
enum class Numbers { constant, at_launch };

}  // namespace segfold
