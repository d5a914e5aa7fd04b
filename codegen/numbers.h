#pragma once
// Where a text has the numbers of a plan.

namespace segfold {

/// Where a text has the numbers that a stage lets a launch say (`//% number NAME`).
///
/// Constants are faster to run. Given at the launch, one text, compiled once, serves all configurations that
/// differ in nothing else, which is how a tuner looks through many.
enum class Numbers { constant, at_launch };

}  // namespace segfold
