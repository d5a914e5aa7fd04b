#include "codegen/facts.h"

#include <algorithm>

#include "codegen/costs.h"
#include "codegen/section/append_functions.h"
#include "codegen/section/atomic.h"
#include "codegen/section/map_section.h"
#include "codegen/section/operator_section.h"
#include "codegen/section/scan_section.h"
#include "codegen/section/tile_section.h"
#include "dsl/check/rows.h"
#include "dsl/rewrite/byte_sum.h"

namespace segfold {
namespace {

/// Greatest size in bytes of an element and its outputs for which a scan keeps them in shared memory. The
/// smallest tile has 256 items and takes 40 KiB.
constexpr std::int64_t kWidestScan = 160;

/// Returns the size in bytes of the widest number in the operator's rows; 0 without rows.
std::int64_t row_bytes(const Operator& op)
{
    std::int64_t bytes = 0;
    for (const auto& parameter : op.parameters)
        if (parameter.row)
            bytes = std::max<std::int64_t>(bytes, size_bytes(parameter.type));
    return bytes;
}

/// Returns the bytes of one segment's results; 0 if the operator does not return results.
std::int64_t result_bytes(const Operator& op)
{
    std::int64_t bytes = 0;
    for (const auto& field : op.results)
        bytes += op.keeps_results ? static_cast<std::int64_t>(size_bytes(field.type)) : 0;
    return bytes;
}

/// True if lift or scan reads a table of rows at an index that uses position or segment.
bool reads_rows_by_place(const Operator& op)
{
    if (!has_rows(op))
        return false;
    const auto rows = with_reads_as_columns(op);
    const auto is_by_place = [](const RowRead& read) {
        const Block index{{}, {{"", read.index, {}}}, {}};
        return uses_name(index, "position") || uses_name(index, "segment");
    };
    return std::ranges::any_of(rows.reads, is_by_place) || std::ranges::any_of(rows.scan_reads, is_by_place);
}

bool gathers_rows(const Operator& op)
{
    return std::ranges::any_of(op.parameters,
                               [&](const auto& p) { return p.row && p.table && lift_uses(op, p); });
}

/// True if lift reads at least one column, and all columns that it reads have two-byte elements.
bool has_narrow_columns(const Operator& op)
{
    const auto columns = lifted_columns(op);
    return !columns.empty() &&
           std::ranges::all_of(columns, [](const auto* column) { return size_bytes(column->type) == 2; });
}

bool lifts_from_tables(const Operator& op)
{
    return std::ranges::any_of(
        op.parameters, [&](const auto& parameter) { return parameter.table && lift_uses(op, parameter); });
}

/// Computes the size of a struct in emitted text. Fields must be added in their order.
class StructSize {
public:
    void add(std::size_t field)
    {
        bytes_ = (bytes_ + field - 1) / field * field + field;
        alignment_ = std::max(alignment_, field);
    }
    [[nodiscard]] std::int64_t bytes() const
    {
        return static_cast<std::int64_t>((bytes_ + alignment_ - 1) / alignment_ * alignment_);
    }

private:
    std::size_t bytes_ = 0;
    std::size_t alignment_ = 1;
};

/// True if moving the columns of an element is better than moving its state. The columns must be smaller, and
/// lift() must not read tables or use the element's index or position.
bool moves_columns(const Operator& op)
{
    const auto bytes = columns_bytes(op);
    return bytes > 0 && bytes < state_bytes(op) && !lift_gathers(op) && !uses_name(op.lift, "index") &&
           !uses_name(op.lift, "position");
}

}  // namespace

FormulaNames operator_facts(const Operator& op)
{
    return {{"identity", op.has_identity()},
            {"allows_empty", op.allows_empty()},
            {"tells_empty", tells_empty(op)},
            {"keeps_results", op.keeps_results},
            {"scalar_state", op.state.size() == 1 && op.has_identity()},
            {"uses_position", uses_name(op.lift, "position")},
            {"uses_segment", uses_name(op.lift, "segment")},
            {"uses_length", op.finish && uses_name(*op.finish, "length")},
            {"uses_tables", lifts_from_tables(op)},
            {"gathers", lift_gathers(op)},
            {"map", op.map.has_value()},
            {"map_uses_tables", op.map && uses_tables(*op.map)},
            {"scans", op.scan.has_value()},
            {"reverse", op.scan && op.scan->reverse},
            {"scan_uses_tables", op.scan && uses_tables(op.scan->block)},
            {"scan_places", scan_needs_places(op)},
            {"scanned_bytes", scanned_bytes(op)},
            {"wide_scan", op.scan && element_bytes(op) + scanned_bytes(op) > kWidestScan},
            {"rows", has_rows(op)},
            {"rows_by_place", reads_rows_by_place(op)},
            {"gathers_rows", gathers_rows(op)},
            {"combine_cost", combine_cost(op)},
            {"element_cost", element_cost(op)},
            {"result_bytes", result_bytes(op)},
            {"costly_combine", is_costly(op)},
            {"calls_library", combine_calls_library(op)},
            {"mixed_fields", has_mixed_fields(op)},
            {"many_fields", has_many_fields(op)},
            {"atomic_combine", atomic_function(op).has_value()},
            {"redux_combine", warp_function(op).has_value()},
            {"has_append", has_append(op)},
            {"appends_exactly", has_append(op) && combines_exactly(op)},
            {"exact_combine", combines_exactly(op)},
            {"sums_bytes", summed_bytes(op) != nullptr},
            {"row_bytes", row_bytes(op)},
            {"narrow_columns", has_narrow_columns(op)},
            {"element_bytes", element_bytes(op)},
            {"columns_bytes", columns_bytes(op)},
            {"moves_columns", moves_columns(op)},
            {"state_bytes", state_bytes(op)},
            {"value_bytes", value_bytes(op)}};
}

FormulaNames problem_facts(const Problem& problem)
{
    auto facts = *problem.facts;
    facts["associative"] = problem.laws.associative;
    facts["commutative"] = problem.laws.commutative;
    facts["idempotent"] = problem.laws.idempotent;
    for (const auto form : kSegmentForms)
        facts[name(form)] = problem.form == form;
    facts["ends"] = problem.form == SegmentForm::ranges && problem.has_ends;
    facts["number_bytes"] = static_cast<std::int64_t>(size_bytes(problem.number_type));
    facts["signed_numbers"] = is_signed_integer(problem.number_type);
    facts["index_bytes"] = problem.index_bits / 8;
    facts["wide_index"] = problem.index_bits == 64;
    facts["copies_items"] = copies_items(problem);
    facts["async_copies"] = problem.target.has_async_copies;
    facts["bf16_conversions"] = problem.target.has_bf16_conversions;
    facts["block_shared_bytes"] = problem.target.block_shared_bytes;
    facts["wide_vectors"] = problem.target.has_wide_vectors;
    facts["cc"] = problem.target.compute_capability;
    return facts;
}

FormulaNames plan_facts(const Problem& problem, const Shape& shape)
{
    return with_shape(problem_facts(problem), shape);
}

FormulaNames with_shape(FormulaNames facts, const Shape& shape)
{
    static const FormulaName num_elements("num_elements"), num_segments("num_segments"),
        longest_length("longest_length"), padded_elements("padded_elements"), num_features("num_features"),
        mean_length("mean_length");
    facts[num_elements] = shape.num_elements;
    facts[num_segments] = shape.num_segments;
    facts[longest_length] = shape.longest;
    facts[padded_elements] = shape.padded;
    facts[num_features] = shape.num_features;
    constexpr std::int64_t kUnknownMean = 64;
    facts[mean_length] = shape.num_segments > 0 ? shape.num_elements / shape.num_segments : kUnknownMean;
    return facts;
}

std::int64_t element_bytes(const Operator& op)
{
    std::int64_t bytes = 0;
    for (const auto* column : lifted_columns(op))
        bytes += size_bytes(column->type);
    return bytes;
}

std::int64_t columns_bytes(const Operator& op)
{
    StructSize size;
    for (const auto* column : lifted_columns(op))
        size.add(size_bytes(column->type));
    return size.bytes();
}

std::int64_t state_bytes(const Operator& op)
{
    StructSize size;
    for (const auto& field : op.state)
        size.add(size_bytes(field.type));
    if (!op.has_identity())
        size.add(1);  // for the flag that tells whether the state has any element
    return size.bytes();
}

}  // namespace segfold
