#pragma once
// The subject of a text: an operator, the form of its segments, the width of an index. No sizes.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsl/layout.h"
#include "dsl/operator.h"

namespace segfold {

/// The laws that a stage may rely on: claimed and not refuted.
struct UsableLaws {
    bool associative = true;
    bool commutative = false;
    bool idempotent = false;
    bool assumes_associative = false;  ///< it is refuted, and relied on because the user asked for it

    /// False where the fold from left to right alone is right, though stages may rely on other orders.
    [[nodiscard]] bool is_associative() const { return associative && !assumes_associative; }
};

/// Most bytes of a kernel's `__shared__` variables on any GPU; a launch may ask for more.
inline constexpr std::int64_t kMostStaticSharedBytes = std::int64_t{48} * 1024;

/// The capabilities of a device that texts and plans depend on. The defaults are a Hopper's, and those of any
/// host.
struct Target {
    /// Whether it copies to shared memory past registers: compute capability 8.0 and later.
    bool has_async_copies = true;
    bool has_bf16_conversions = true;                            ///< in hardware: likewise
    std::int64_t block_shared_bytes = std::int64_t{227} * 1024;  ///< most that a block may have
    int compute_capability = 90;  ///< ten times the major number, and the minor
    /// Of a host: whether its compiler knows _Float16 and its processor converts it.
    bool has_f16_conversions = false;
};

class FormulaNames;

struct Problem {
    Problem(Operator checked, SegmentForm segment_form, int bits = 32);

    Operator written;  ///< checked, as its author has it; shown by headings of texts
    /// The same; with 32-bit indices its states keep short places and counts, and sums of bytes append.
    Operator op;
    std::shared_ptr<const FormulaNames> facts;  ///< operator_facts() of `op`
    SegmentForm form;
    int index_bits;     ///< 32 or 64
    int key_bytes = 4;  ///< form keys: 1, 2, 4 or 8; kernels compare keys by their bits
    /// Form ranges: kernels are given the ends of segments, not the offsets of their items.
    bool has_ends = false;
    UsableLaws laws;  ///< as declared, unless the caller has refuted one
    Target target;
    /// Tables whose reads the text checks. The caller has proved reads of the others.
    std::vector<std::string> checked_tables = {};
};

}  // namespace segfold
