#pragma once
// Whether a text has the numbers of a plan as constants or as parameters.

namespace segfold {

/// Where a text has the numbers that the launch may pass (`//% number NAME`).
///
/// Constants run faster. Where the launch passes the numbers, one text, compiled once, serves all
/// configurations that differ in nothing else: a tuner compares many of them.
enum class Numbers { constant, at_launch };

}  // namespace segfold
