#pragma once
// Costs of kernels that are known before they run: registers, spills, memory, instructions, as the compiler
// reports them.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// The costs of a stage's text for an operator on one architecture. If a text has several kernels, each value
/// is their sum or their largest value.
struct StaticCost {
    std::string op;  ///< the operator's name on a command line
    std::string stage;
    std::string form;  ///< form of the segments
    std::string configuration;
    std::string architecture;       ///< "sm_90"
    std::int64_t registers = 0;     ///< per thread; the largest
    std::int64_t spill_bytes = 0;   ///< stored and loaded per thread; the sum
    std::int64_t stack_bytes = 0;   ///< per thread; the largest
    std::int64_t shared_bytes = 0;  ///< static shared memory per block; the largest
    std::int64_t instructions = 0;  ///< the sum, including functions that are not inlined

    /// True if `other` has the same stage, operator, form and architecture. The configuration may differ.
    [[nodiscard]] bool same_case(const StaticCost& other) const;
    bool operator==(const StaticCost&) const = default;
};

/// Costs and the compiler that produced them.
struct StaticCosts {
    std::string compiler;  ///< "NVRTC 13.0"
    std::vector<StaticCost> costs;
};

/// An operator with the name used in its costs.
struct NamedOperator {
    std::string name;
    Operator op;
    UsableLaws laws;
};

/// Compiles every stage that serves an operator and returns the costs. A stage is compiled for unsegmented
/// data if it takes them, and for its first segmented form.
///
/// Skips architectures that NVRTC does not know. `progress` is called with the numbers of compiled texts and
/// of all texts. Throws DeviceError if there is no NVRTC.
[[nodiscard]] StaticCosts static_costs(std::span<const NamedOperator> ops,
                                       std::span<const Stage* const> stages, const Catalogue& catalogue,
                                       std::span<const std::string> architectures,
                                       const std::function<void(std::size_t, std::size_t)>& progress = {});

/// A cost that differs from the baseline's.
struct StaticChange {
    StaticCost cost;   ///< the current cost
    std::string what;  ///< "registers", "spill_bytes", ...
    std::int64_t then = 0;
    std::int64_t now = 0;

    [[nodiscard]] bool is_worse() const { return now > then; }
};

/// The result of a comparison.
struct StaticVerdict {
    bool same_compiler = true;
    std::int64_t num_compared = 0;
    std::int64_t num_new = 0;      ///< cases that the baseline lacks
    std::int64_t num_missing = 0;  ///< cases of the baseline that were not compiled this time
    std::vector<StaticChange> changes;

    [[nodiscard]] bool any_worse() const;
};

/// Compares costs with a baseline. For the same compiler, any increase counts.
///
/// Another compiler may use a few registers and instructions more, which is no change of this project. Then
/// up to 8 more registers, and a quarter more instructions (at least 64), do not count. Spills, stack and
/// shared memory have no such margin: an increase from 0 counts.
[[nodiscard]] StaticVerdict compare(const StaticCosts& now, const StaticCosts& baseline);

}  // namespace segfold::regress
