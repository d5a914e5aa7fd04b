#pragma once
// Numbers of a plan, such as tunables, are constants of a text or parameters of its kernels.

namespace segfold {

/// Tells how a text gets the numbers that a stage declares in `//% number NAME` lines.
///
/// `constant` writes the numbers into the text, which then runs faster. `at_launch` passes the numbers as
/// kernel parameters. One compiled text then serves all configurations that differ only in numbers, as a
/// tuner needs.
enum class Numbers { constant, at_launch };

}  // namespace segfold
