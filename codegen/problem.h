#pragma once
// A problem consists of an operator, the form of its segments and the width of indices. A text is emitted for
// a problem. The text does not depend on the numbers of elements and segments, so a problem does not contain
// these numbers.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/layout.h"
#include "dsl/operator.h"

namespace segfold {

/// Greatest total size in bytes of the `__shared__` variables of a kernel, on any GPU. Dynamic shared memory,
/// whose size a launch sets, may be larger.
inline constexpr std::int64_t kMostStaticSharedBytes = std::int64_t{48} * 1024;

/// Capabilities of a device on which texts and plans depend. The defaults describe a Hopper GPU; targets of
/// hosts begin with the same values.
struct Target {
    /// True if copies to shared memory can bypass registers: compute capability 8.0 and later.
    bool has_async_copies = true;
    bool has_bf16_conversions = true;                            ///< true from compute capability 8.0 on
    std::int64_t block_shared_bytes = std::int64_t{227} * 1024;  ///< greatest size of a block's shared memory
    int compute_capability = 90;  ///< ten times the major number plus the minor one
    /// For a host: true if its compiler knows the type _Float16 and its processor has instructions to convert
    /// it.
    bool has_f16_conversions = false;
    bool has_wide_vectors = true;  ///< for a host: true if a register holds sixteen words, as in AVX-512
};

/// Returns the capabilities of the oldest supported devices: GPUs of compute capability 7.5, and hosts
/// without wide registers. No returned capability exceeds the one of `target`, so the texts also run on
/// `target`.
[[nodiscard]] Target oldest_target(const Target& target);

class FormulaNames;

/// Returns the form in which kernels for an operator receive segments. A kernel that maps elements or scans
/// rows must know each element's segment before it runs. For such operators, flags and keys become offsets.
[[nodiscard]] SegmentForm kernel_form(const Operator& op, SegmentForm form);

struct Problem {
    Problem(Operator checked, SegmentForm segment_form, int bits = 32);

    /// The checked operator as its author wrote it; shown in the comment at the top of texts.
    Operator written;
    /// The operator after rewriting, from which code is emitted. With 32-bit indices, its states keep places
    /// and counts in 32 bits. If it sums bytes, it has an append.
    Operator op;
    std::shared_ptr<const FormulaNames> facts;  ///< the result of operator_facts(op), computed once
    SegmentForm form;
    int index_bits;                ///< 32 or 64
    Type number_type = Type::i32;  ///< for form groups: the integer type of the elements' group numbers
    int key_bytes = 4;             ///< for form keys: 1, 2, 4 or 8 bytes, compared as bits
    /// For form ranges: true if kernels get the end of each range, false if kernels get offsets that count
    /// the items of all earlier ranges.
    bool has_ends = false;
    UsableLaws laws;  ///< declared laws, except laws that the caller has refuted
    Target target;
    /// Names of the tables whose indices kernels check. For all other tables, the caller must ensure that
    /// every index is inside the table.
    std::vector<std::string> checked_tables = {};
};

}  // namespace segfold
