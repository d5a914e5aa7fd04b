#pragma once
// Chooses whether a text has the numbers of a plan as constants or as kernel parameters.

namespace segfold {

/// Where a text gets the numbers declared by `//% number NAME`.
///
/// `constant` runs faster. With `at_launch`, one compiled text serves all configurations that differ in these
/// numbers alone, of which a tuner compares many.
enum class Numbers { constant, at_launch };

}  // namespace segfold
