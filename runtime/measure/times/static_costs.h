#pragma once
// Costs of kernels that the compiler reports before they run: registers, spills, memory, instructions.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// The costs of one stage for one operator on one architecture. If there are several kernels, each value is
/// their sum or maximum.
struct StaticCost {
    std::string op;  ///< the operator's name on a command line
    std::string stage;
    std::string form;  ///< form of the segments, such as "offsets"
    std::string configuration;
    std::string architecture;       ///< "sm_90"
    std::int64_t registers = 0;     ///< registers per thread; the maximum
    std::int64_t spill_bytes = 0;   ///< spill stores and loads per thread; the sum
    std::int64_t stack_bytes = 0;   ///< stack per thread; the maximum
    std::int64_t shared_bytes = 0;  ///< static shared memory per block; the maximum
    std::int64_t instructions = 0;  ///< the sum, with functions that are not inlined

    /// True if `other` has the same stage, operator, form and architecture. The configuration may differ.
    [[nodiscard]] bool same_case(const StaticCost& other) const;
    bool operator==(const StaticCost&) const = default;
};

/// Costs, and the compiler that reported them.
struct StaticCosts {
    std::string compiler;  ///< "NVRTC 13.0"
    std::vector<StaticCost> costs;
};

/// An operator, and the name under which its costs are stored.
struct NamedOperator {
    std::string name;
    Operator op;
    UsableLaws laws;
};

/// Compiles every stage that serves an operator, and returns the costs. A stage is compiled for unsegmented
/// data and for its first segmented form, if it supports them.
///
/// Skips architectures that NVRTC does not know. Calls `progress` with the number of compiled texts and of
/// all texts. Throws DeviceError if NVRTC is missing.
[[nodiscard]] StaticCosts static_costs(std::span<const NamedOperator> ops,
                                       std::span<const Stage* const> stages, const Catalogue& catalogue,
                                       std::span<const std::string> architectures,
                                       const std::function<void(std::size_t, std::size_t)>& progress = {});

/// A cost that differs from the baseline.
struct StaticChange {
    StaticCost cost;   ///< the current cost
    std::string what;  ///< name of the member, such as "registers" or "spill_bytes"
    std::int64_t then = 0;
    std::int64_t now = 0;

    [[nodiscard]] bool is_worse() const { return now > then; }
};

/// The outcome of comparing static costs with a baseline.
struct StaticVerdict {
    bool same_compiler = true;
    std::int64_t num_compared = 0;
    std::int64_t num_new = 0;      ///< number of cases that the baseline lacks
    std::int64_t num_missing = 0;  ///< number of baseline cases that were not compiled this time
    std::vector<StaticChange> changes;

    [[nodiscard]] bool any_worse() const;
};

/// Compares costs with a baseline. If the compiler is the same, every increase counts.
///
/// Another compiler may use a few more registers and instructions for reasons of its own. In that case, up to
/// 8 more registers and up to a quarter more instructions (at least 64) are tolerated. Any increase of
/// spills, stack or shared memory counts.
[[nodiscard]] StaticVerdict compare(const StaticCosts& now, const StaticCosts& baseline);

}  // namespace segfold::regress
