#include "codegen/problem.h"

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

}  // namespace segfold
