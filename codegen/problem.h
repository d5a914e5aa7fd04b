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

/// The laws on which a stage may rely: laws that are claimed and not refuted.
struct UsableLaws {
    bool associative = true;
    bool commutative = false;
    bool idempotent = false;
    bool assumes_associative = false;  ///< associativity is refuted, but the user asked to rely on it

    /// False if only the fold from left to right gives right results, even if stages may combine in another
    /// order.
    [[nodiscard]] bool is_associative() const { return associative && !assumes_associative; }
};

/// Most bytes of `__shared__` variables in a kernel on any GPU. A launch may ask for more dynamic memory.
inline constexpr std::int64_t kMostStaticSharedBytes = std::int64_t{48} * 1024;

/// Capabilities of a device that matter to texts and plans. The defaults describe a Hopper GPU, and hold for
/// any host.
struct Target {
    /// True if copies to shared memory can bypass registers: compute capability 8.0 and later.
    bool has_async_copies = true;
    bool has_bf16_conversions = true;                            ///< true from compute capability 8.0 on
    std::int64_t block_shared_bytes = std::int64_t{227} * 1024;  ///< most shared memory of a block
    int compute_capability = 90;  ///< ten times the major number plus the minor one
    /// For a host: true if its compiler knows _Float16 and its processor converts it.
    bool has_f16_conversions = false;
    bool has_wide_vectors = true;  ///< of a host: true if a register holds sixteen words, as in AVX-512
};

/// Returns the target of the oldest devices, of compute capability 7.5 or, on a host, without wide registers.
/// Texts for it run on `target`, too.
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
    /// Tables whose reads are checked. The caller must ensure that other tables are never read past their
    /// ends.
    std::vector<std::string> checked_tables = {};
};

}  // namespace segfold
