#pragma once
// Tells whether a plan's numbers, such as tunables, are constants of the text or parameters of its kernels.

namespace segfold {

/// The way in which a text gets the values of the numbers that a stage declares in `//% number NAME` lines.
///
/// `constant` writes the numbers into the text, which then runs faster. `at_launch` passes the numbers as
/// kernel parameters. One compiled text then serves all configurations that differ only in these numbers, so
/// a tuner compiles less often.
enum class Numbers { constant, at_launch };

}  // namespace segfold
