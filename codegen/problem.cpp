#include "codegen/problem.h"

#include <algorithm>

#include "codegen/facts.h"
#include "dsl/check/rows.h"
#include "dsl/rewrite/byte_sum.h"
#include "dsl/rewrite/short_counts.h"
#include "dsl/rewrite/short_places.h"

namespace segfold {
namespace {

/// Returns the operator with different names for its results and outputs. Renames a result that shares its
/// name with an output, if the operator has no map and returns no results. No other code reads such a result
/// by its name.
Operator with_names_apart(Operator op)
{
    if (op.map || op.keeps_results)
        return op;
    const auto is_output = [&](const std::string& name) {
        return std::ranges::find(op.outputs, name, &ResultField::name) != op.outputs.end();
    };
    const auto is_result = [&](const std::string& name) {
        return std::ranges::find(op.results, name, &ResultField::name) != op.results.end();
    };
    for (auto& result : op.results) {
        if (!is_output(result.name))
            continue;
        auto name = result.name + "_";
        while (is_output(name) || is_result(name))
            name += "_";
        for (auto* block : {op.finish ? &*op.finish : nullptr, op.empty ? &*op.empty : nullptr})
            for (std::size_t i = 0; block != nullptr && i < block->assignments.size(); ++i)
                if (block->assignments[i].field == result.name)
                    block->assignments[i].field = name;
        result.name = name;
    }
    return op;
}

}  // namespace

SegmentForm kernel_form(const Operator& op, SegmentForm form)
{
    return op.map || (op.scan && has_rows(op)) ? converted_form(form) : form;
}

Problem::Problem(Operator checked, SegmentForm segment_form, int bits)
    : written(std::move(checked)),
      op(with_names_apart(with_byte_append(bits == 32 ? short_counts(short_places(written)) : written))),
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
