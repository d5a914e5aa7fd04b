#pragma once
// Judges gradients: compares them with differences of the operator itself, in wide precision.
#include <cstdint>
#include <optional>
#include <string>

#include "dsl/rewrite/gradient/gradient_trial.h"

namespace segfold {

/// An element whose gradient is not what differences of the results tell.
struct WrongGradient {
    GradientCase segment;  ///< one segment
    std::size_t element = 0;
    double gradient = 0, difference = 0;
};

/// What a judgement of a gradient has found.
struct GradientFinding {
    std::string op, parameter, means;
    std::size_t num_points = 0;   ///< elements compared
    std::size_t num_corners = 0;  ///< elements left out, where differences of several steps do not agree
    std::optional<WrongGradient> wrong;  ///< the shortest segment found

    /// True if nothing is wrong and something was compared.
    [[nodiscard]] bool is_right() const { return !wrong && num_points > 0; }
};

/// Compares the gradient of a checked operator, or `found`, with central differences at points by lot.
///
/// All is computed with f64 in place of the operator's floats, and results in long double. The gradients of
/// results are drawn by lot too. Throws InputError if the operator has no gradient by `parameter`.
[[nodiscard]] GradientFinding judge_gradient(const Operator& op, const std::string& parameter,
                                             int num_segments, std::uint64_t seed = 1,
                                             const Gradient* found = nullptr);

/// A program of Python that computes the wrong gradient. The finding must have one.
[[nodiscard]] std::string program_of(const GradientFinding& finding, const Operator& op);

/// The finding as text. A wrong gradient is shown with its program.
[[nodiscard]] std::string print(const GradientFinding& finding, const Operator& op);

}  // namespace segfold
