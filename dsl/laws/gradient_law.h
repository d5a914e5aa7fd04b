#pragma once
// Judges gradients: compares them with finite differences of the operator, in wide precision.
#include <cstdint>
#include <optional>
#include <string>

#include "dsl/rewrite/gradient/gradient_trial.h"

namespace segfold {

/// An element whose gradient differs from a finite difference of the results.
struct WrongGradient {
    GradientCase segment;  ///< a single segment, which contains the element
    std::size_t element = 0;
    double gradient = 0, difference = 0;
};

/// The outcome of comparing a gradient with finite differences.
struct GradientFinding {
    std::string op, parameter, means;
    std::size_t num_points = 0;          ///< number of elements compared
    std::size_t num_corners = 0;         ///< number left out, because step sizes disagree
    std::optional<WrongGradient> wrong;  ///< a wrong gradient, in the shortest segment found; else none

    /// True if elements were compared and no gradient is wrong.
    [[nodiscard]] bool is_right() const { return !wrong && num_points > 0; }
};

/// Compares the gradient of a checked operator with central differences at random points. Judges `found`
/// instead if it is given.
///
/// All floats of the operator are computed in f64, and results in long double. The gradients of results are
/// random, too. Throws InputError if the operator has no gradient by `parameter`.
[[nodiscard]] GradientFinding judge_gradient(const Operator& op, const std::string& parameter,
                                             int num_segments, std::uint64_t seed = 1,
                                             const Gradient* found = nullptr);

/// Returns a Python program that computes the wrong gradient. `finding` must have a wrong gradient.
[[nodiscard]] std::string program_of(const GradientFinding& finding, const Operator& op);

/// Prints the finding. For a wrong gradient, adds the program of program_of().
[[nodiscard]] std::string print(const GradientFinding& finding, const Operator& op);

}  // namespace segfold
