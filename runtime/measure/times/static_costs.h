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

/// A stage's text for an operator, compiled for one architecture; the sums or largest of its kernels.
struct StaticCost {
    std::string op;  ///< by the name that a command line has for it
    std::string stage;
    std::string form;  ///< form of the segments
    std::string configuration;
    std::string architecture;       ///< "sm_90"
    std::int64_t registers = 0;     ///< of a thread; the largest
    std::int64_t spill_bytes = 0;   ///< stored and loaded, of a thread; the sum
    std::int64_t stack_bytes = 0;   ///< of a thread; the largest
    std::int64_t shared_bytes = 0;  ///< static ones of a block; the largest
    std::int64_t instructions = 0;  ///< the sum, functions that are not inlined among them

    /// True if both are of one stage, operator, form and architecture; its configuration may have changed.
    [[nodiscard]] bool same_case(const StaticCost& other) const;
    bool operator==(const StaticCost&) const = default;
};

/// Costs, and the compiler that they are of.
struct StaticCosts {
    std::string compiler;  ///< "NVRTC 13.0"
    std::vector<StaticCost> costs;
};

/// One operator under the name that its costs have.
struct NamedOperator {
    std::string name;
    Operator op;
    UsableLaws laws;
};

/// Compiles every stage that serves an operator, unsegmented where it can be and in its first segmented form,
/// as runs have it.
///
/// Architectures that NVRTC does not know are left out. `progress` is told the number of compiled texts, and
/// of all. Throws DeviceError without an NVRTC.
[[nodiscard]] StaticCosts static_costs(std::span<const NamedOperator> ops,
                                       std::span<const Stage* const> stages, const Catalogue& catalogue,
                                       std::span<const std::string> architectures,
                                       const std::function<void(std::size_t, std::size_t)>& progress = {});

/// One cost that differs from the baseline's.
struct StaticChange {
    StaticCost cost;   ///< now
    std::string what;  ///< "registers", "spill_bytes", ...
    std::int64_t then = 0;
    std::int64_t now = 0;

    [[nodiscard]] bool is_worse() const { return now > then; }
};

/// A comparison's findings.
struct StaticVerdict {
    bool same_compiler = true;
    std::int64_t num_compared = 0;
    std::int64_t num_new = 0;      ///< cases that the baseline does not have
    std::int64_t num_missing = 0;  ///< cases of the baseline that were not compiled now
    std::vector<StaticChange> changes;

    [[nodiscard]] bool any_worse() const;
};

/// Compares costs with a baseline: exactly for the same compiler.
///
/// Another compiler may give a few registers and instructions more or less, whatever this project does. Then
/// up to 8 more `registers` and a quarter more instructions (of at least 64) do not count. Spills, stack and
/// shared memory have no margin.
[[nodiscard]] StaticVerdict compare(const StaticCosts& now, const StaticCosts& baseline);

}  // namespace segfold::regress
