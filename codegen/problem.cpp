#include "codegen/problem.h"

#include <algorithm>

#include "codegen/facts.h"
#include "dsl/rewrite/byte_sum.h"
#include "dsl/rewrite/short_counts.h"
#include "dsl/rewrite/short_places.h"

namespace segfold {

Problem::Problem(Operator checked, SegmentForm segment_form, int bits)
    : written(std::move(checked)),
      op(with_byte_append(bits == 32 ? short_counts(short_places(written)) : written)),
      facts(std::make_shared<const FormulaNames>(operator_facts(op))),
      form(segment_form),
      index_bits(bits),
      laws{true, op.laws.commutative, op.laws.idempotent}
{}

Target oldest_target(const Target& target)
{
    return {.has_async_copies = false,
            .has_bf16_conversions = false,
            .block_shared_bytes = std::min(target.block_shared_bytes, std::int64_t{64} * 1024),
            .compute_capability = std::min(target.compute_capability, 75),
            .has_f16_conversions = false,
            .has_wide_vectors = false};
}

}  // namespace segfold
