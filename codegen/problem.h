#pragma once
// A problem is an operator, the form of its segments and the width of indices. It has no sizes. Texts are
// emitted for problems.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsl/layout.h"
#include "dsl/operator.h"

namespace segfold {

/// The laws on which a stage may rely: the operator claims them, and no check has refuted them.
struct UsableLaws {
    bool associative = true;
    bool commutative = false;
    bool idempotent = false;
    bool assumes_associative = false;  ///< associativity is refuted, but the user asked to rely on it

    /// False if only the fold from left to right gives right results. If the user assumes associativity,
    /// stages still combine in other orders.
    [[nodiscard]] bool is_associative() const { return associative && !assumes_associative; }
};

/// Most bytes of `__shared__` variables in a kernel on any GPU. A launch may ask for more dynamic memory.
inline constexpr std::int64_t kMostStaticSharedBytes = std::int64_t{48} * 1024;

/// Capabilities of a device that matter to texts and plans. The defaults describe a Hopper GPU and are also
/// used for hosts.
struct Target {
    /// True if copies to shared memory can bypass registers: compute capability 8.0 and later.
    bool has_async_copies = true;
    bool has_bf16_conversions = true;                            ///< true from compute capability 8.0 on
    std::int64_t block_shared_bytes = std::int64_t{227} * 1024;  ///< most shared memory of a block
    int compute_capability = 90;  ///< ten times the major number plus the minor one
    /// For a host: true if its compiler knows _Float16 and its processor converts it.
    bool has_f16_conversions = false;
    bool has_wide_vectors = true;  ///< for a host: true if a register holds sixteen words, as in AVX-512
};

/// Returns the target of the oldest devices: GPUs of compute capability 7.5, hosts without wide registers.
/// Texts for the oldest target also run on `target`.
[[nodiscard]] Target oldest_target(const Target& target);

class FormulaNames;

struct Problem {
    Problem(Operator checked, SegmentForm segment_form, int bits = 32);

    Operator written;  ///< checked, as the author wrote it; shown in headings of texts
    /// The operator after rewriting: with 32-bit indices, states keep places and counts in 32 bits; sums of
    /// bytes have an append.
    Operator op;
    std::shared_ptr<const FormulaNames> facts;  ///< operator_facts() of `op`
    SegmentForm form;
    int index_bits;                ///< 32 or 64
    Type number_type = Type::i32;  ///< for form groups: the integer type of the numbers of groups
    int key_bytes = 4;             ///< for form keys: 1, 2, 4 or 8 bytes, compared as bits
    /// For form ranges: true if kernels get the ends of segments, false if they get the offsets of their
    /// items.
    bool has_ends = false;
    UsableLaws laws;  ///< the declared laws, unless the caller refutes one
    Target target;
    /// Tables for which kernels check each index. The caller must ensure that no index into another table is
    /// past its end.
    std::vector<std::string> checked_tables = {};
};

}  // namespace segfold
