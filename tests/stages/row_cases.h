#pragma once
// Operators over rows of features with data, and pairs of a stage and an operator for tests on the fiber
// executor and on a GPU.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/emit.h"
#include "dsl/check/check.h"
#include "dsl/text/parser.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/resolve.h"
#include "tests/common/stage_cases.h"

namespace segfold::test {

/// Makes every parameter of an operator a row.
inline Operator over_rows(Operator op)
{
    for (auto& parameter : op.parameters)
        parameter.row = true;
    return check(std::move(op));
}

/// Sparse matrix times dense matrix in integers, exact.
inline Operator spmm()
{
    return parse_operator("spmm", R"(
        operator spmm(value: i32, column: i32, x: table row i32) -> i64 {
            state sum: i64 = 0
            lift i64(value) * i64(x[column - 1])
            combine(a, b) a + b
            laws commutative
        })");
}

/// An operator that is not commutative and reads numbers, rows, gathered rows and places.
inline Operator everything_at_once()
{
    return parse_operator("everything_at_once", R"(
        operator everything_at_once(x: row u32, weight: u16, t: table row u32, s: table u32) -> (hash: u64, power: u64) {
            state { hash: u64 = 0; power: u64 = 1 }
            lift {
                let other = t[i32(weight) + 1];
                hash = u64(x) * 0xbf58476d1ce4e5b9 + u64(other) * 31 + u64(s[weight]) + u64(position) * 7 + 1;
                power = 0xd1342543de82ef95 + 2 * u64(weight) + 2 * u64(x)
            }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        })");
}

inline Workload rows_of_numbers(const Operator& op, Segments segments, std::int64_t num_features,
                                std::uint64_t seed)
{
    constexpr std::int64_t kEntries = 40;
    Workload workload{op, {}, std::move(segments), num_features};
    for (const auto& parameter : op.parameters) {
        const auto places = parameter.scalar  ? 1
                            : parameter.table ? kEntries
                                              : workload.segments.num_elements;
        auto array = generate_values(parameter.type, places * (parameter.row ? num_features : 1), ++seed,
                                     ValueRange::small_integers);
        if (parameter.name == "column" || parameter.name == "weight")
            for (std::size_t i = 0; i < array.length(); ++i) {
                if (parameter.type == Type::i32)
                    array.as<std::int32_t>()[i] = static_cast<std::int32_t>(1 + (i * 7 + seed) % kEntries);
                else
                    array.as<std::uint16_t>()[i] =
                        static_cast<std::uint16_t>((i * 5 + seed) % (kEntries - 1));
            }
        workload.arrays.push_back(std::move(array));
    }
    return workload;
}

inline Emitted emitted_for(const Operator& op, const Stage& stage, SegmentForm form,
                           std::int64_t num_features, const Configuration& settings = {}, int bits = 32)
{
    Problem problem(op, form, bits);
    for (const auto& parameter : op.parameters)
        if (parameter.table && !parameter.scalar)
            problem.checked_tables.push_back(parameter.name);
    const Shape shape{10000, 700, 0, num_features};
    auto configuration = default_configuration(stage, plan_facts(problem, shape));
    for (const auto& [name, value] : settings)
        configuration[name] = value;
    return emit(problem, stage, configuration);
}

/// An exact operator that is not commutative. Each output encodes its row, its place and its segment's total.
inline Operator rows_told_back(bool keeps_results)
{
    return parse_operator("rows_told_back",
                          std::string("operator rows_told_back(x: row u32, weight: u16) -> ") +
                              (keeps_results ? "(a: u32, b: u32, each told: u64)" : "each u64") +
                              R"( {
            state { a: u32 = 1; b: u32 = 0 }
            lift { a = x * 2 + 1; b = x + u32(weight) }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
            map u64(a) * 31 + u64(b) * 17 + u64(x) * 7 + u64(weight) + u64(position) * 1000003 + u64(index)
        })");
}

/// Tables that map reads: of numbers and of rows, by columns, places and another table, one row that lift
/// reads too, and a scalar. Lift and map find rows by a table of numbers.
inline Operator rows_by_tables()
{
    return parse_operator("rows_by_tables", R"(
        operator rows_by_tables(x: row u32, weight: u16, t: table row u32, code: table row u64, k: table u16,
                                scale: scalar u32) -> (a: u32, b: u32, each told: u64, each second: u32) {
            state { a: u32 = 1; b: u32 = 0 }
            lift { a = x * 2 + t[weight]; b = x + t[k[weight] % 7] }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
            map {
                let row = code[segment % 40];
                let unused = code[k[weight & 7] % 5];
                told = u64(a) * 31 + row + u64(t[weight]) * 7 + code[position % 40] + u64(k[weight]);
                second = b * scale + t[k[length % 40] % 9] + u32(k[x & 3])
            }
        })");
}

/// Rows that commute, whose totals go back to the elements.
inline Operator rows_of_shares()
{
    return parse_operator("rows_of_shares", R"(
        operator rows_of_shares(x: row i32) -> (sum: i32, each share: i64) {
            state sum: i32 = 0
            lift x
            combine(a, b) a + b
            laws commutative
            map i64(sum) * 31 + i64(x) + position
        })");
}

/// An operator with two columns of rows and one of numbers. Lift does not read one of them. Results are kept
/// beside outputs.
inline Operator rows_of_several()
{
    return parse_operator("rows_of_several", R"(
        operator rows_of_several(x: row i32, y: row i16, weight: u16) -> (sum: i64, first: i32, each near: i32,
                                                                          each far: i64) {
            state { sum: i64; first: i32 }
            lift { sum = i64(x) * i64(weight); first = x }
            combine(a, b) { sum = a.sum + b.sum; first = a.first }
            empty { sum = 5; first = 7 }
            map { near = x - first + i32(y); far = sum * 3 + i64(weight) + i64(length) }
        })");
}

struct RowCase {
    std::string stage;
    SegmentForm form;
    Operator op;
    std::vector<std::int64_t> features;
    Configuration settings = {};
    int bits = 32;
};

inline std::vector<std::int64_t> border_lengths(std::int64_t num_features)
{
    std::vector<std::int64_t> lengths = {0, 1, 7, 8, 9, 0, 0, 31, 33, 2, 64, 0};
    if (num_features <= 33) {
        lengths.push_back(1500);
        for (int i = 0; i < 120; ++i)
            lengths.push_back(i % 4);
    }
    return lengths;
}

/// Cases of stage, form, operator, configuration and length of rows in which most pairs of values occur
/// together.
inline std::vector<RowCase> row_cases()
{
    const auto affine = over_rows(standard_operator("affine_u32"));
    const auto sum = over_rows(standard_operator("sum_i32"));
    const auto first = over_rows(standard_operator("keep_first_i16"));
    const auto subarray = over_rows(standard_operator("max_subarray_i64"));
    const auto mean = over_rows(standard_operator("mean_variance_f32"));
    using enum SegmentForm;
    return {{"row_groups", offsets, affine, {64, 100, 7, 1}},
            {"row_groups", uniform, sum, {8, 33, 3}},
            {"row_groups", ranges, affine, {1, 2, 3, 16, 33}, {{"row_lanes", 32}, {"feature_lanes", 1}}},
            {"row_groups", whole, everything_at_once(), {2, 8}, {{"row_lanes", 4}, {"feature_lanes", 2}}},
            {"row_groups", offsets, first, {16, 1024, 7}, {{"features_per_lane", 8}}},
            {"row_groups", offsets, spmm(), {8, 128}, {{"row_lanes", 8}, {"feature_lanes", 2}}},
            {"row_groups", offsets, sum, {7, 256}, {{"segments_per_group", 4}}, 64},
            {"row_stream", offsets, affine, {64, 1, 100, 33}},
            {"row_stream", uniform, subarray, {3, 8}},
            {"row_stream", whole, sum, {1, 16, 128}, {{"block_threads", 64}}},
            {"row_stream", offsets, first, {2, 256, 1024}, {{"features_per_lane", 2}}},
            {"row_stream", offsets, spmm(), {7, 64}},
            {"row_stream", uniform, spmm(), {16, 8, 100}, {{"feature_lanes", 8}, {"rows_per_step", 2}}, 64},
            {"row_stream", whole, spmm(), {4}, {{"feature_lanes", 4}, {"rows_per_step", 8}}},
            {"row_stream", offsets, mean, {16}, {{"feature_lanes", 4}}},
            {"row_stream", offsets, affine, {8, 3}, {{"rows_per_step", 1}, {"feature_lanes", 1}}, 64},
            {"fused_row_groups", offsets, rows_told_back(true), {16, 100}, {{"segments_per_group", 2}}},
            {"row_groups", offsets, rows_by_tables(), {8, 7}},
            {"row_groups", ranges, rows_by_tables(), {3, 16}},
            {"row_stream", offsets, rows_by_tables(), {8, 33}}};
}

/// Typical lengths of rows: shorter than a vector, not a multiple of a vector, as long as a lane's or a
/// warp's part, several such parts.
inline constexpr std::int64_t kRowLengths[] = {1, 2, 3, 7, 8, 16, 33, 64, 100, 128, 256, 1024};

/// Every stage with every form and operator, in the configurations for four lengths of rows, each on all
/// kRowLengths.
inline std::vector<RowCase> all_row_cases()
{
    const std::vector<Operator> operators = {over_rows(standard_operator("affine_u32")),
                                             over_rows(standard_operator("sum_i32")),
                                             over_rows(standard_operator("keep_first_i16")),
                                             over_rows(standard_operator("max_subarray_i64")),
                                             over_rows(standard_operator("mean_variance_f32")),
                                             spmm(),
                                             everything_at_once(),
                                             rows_told_back(true),
                                             rows_told_back(false),
                                             rows_of_several(),
                                             rows_by_tables(),
                                             over_rows(standard_operator("softmax_f32")),
                                             over_rows(standard_operator("softmax_backward_f64"))};
    std::vector<RowCase> cases;
    for (const auto* stage : {"row_groups", "row_stream", "fused_row_groups"})
        for (const auto form : Catalogue::standard().stage(stage).forms)
            for (const auto& op : operators)
                if (!Catalogue::standard().unmet(Catalogue::standard().stage(stage), Problem(op, form)))
                    for (const std::int64_t first : {1, 8, 33, 256}) {
                        cases.push_back({stage, form, op, {first}});
                        for (const auto length : kRowLengths)
                            cases.back().features.push_back(length);
                    }
    return cases;
}

/// `count` random cases of all_row_cases(), each with the length of its configuration and two other lengths.
inline std::vector<RowCase> sampled_row_cases(std::size_t count, std::uint64_t seed)
{
    const auto all = all_row_cases();
    std::mt19937_64 lot(seed);
    std::vector<RowCase> cases;
    while (cases.size() < count) {
        auto sampled = all[lot() % all.size()];
        sampled.features.resize(1);
        for (int i = 0; i < 2; ++i)
            sampled.features.push_back(kRowLengths[lot() % std::size(kRowLengths)]);
        sampled.bits = lot() % 4 == 0 ? 64 : 32;
        cases.push_back(std::move(sampled));
    }
    return cases;
}

/// row_cases() and a few random cases. SEGFOLD_ROWS=all selects all_row_cases(), SEGFOLD_ROWS=SEED 60 random
/// cases of this seed.
inline std::vector<RowCase> asked_row_cases()
{
    const auto* asked = std::getenv("SEGFOLD_ROWS");
    if (asked != nullptr && asked == std::string_view("all"))
        return all_row_cases();
    auto cases = row_cases();
    const auto seed = asked == nullptr ? 1 : std::strtoull(asked, nullptr, 10);
    for (auto& sampled : sampled_row_cases(asked == nullptr ? 4 : 60, seed))
        cases.push_back(std::move(sampled));
    return cases;
}

/// Ranges out of order and with gaps. They share no element, as write-back requires.
inline Segments ranges_apart(const std::vector<std::int64_t>& lengths)
{
    std::vector<std::int64_t> begins, ends;
    auto at = total(lengths) + 3 * static_cast<std::int64_t>(lengths.size());
    const auto num_elements = at;
    for (const auto length : lengths) {
        at -= length + 3;
        begins.push_back(at);
        ends.push_back(at + length);
    }
    return segments_from_ranges(index_array(begins), index_array(ends), num_elements);
}

/// A workload with lengths at the borders of groups, shares and steps.
inline Workload workload_of(const RowCase& row_case, std::int64_t num_features)
{
    auto lengths = border_lengths(num_features);
    if (!row_case.op.allows_empty())
        std::erase(lengths, 0);
    auto segments = row_case.form == SegmentForm::uniform ? uniform_segments(35 * 9, 9)
                    : row_case.form == SegmentForm::ranges && row_case.op.map
                        ? ranges_apart(lengths)
                        : segments_in_form(row_case.form, lengths);
    return rows_of_numbers(row_case.op, with_index_bits(std::move(segments), row_case.bits), num_features, 5);
}

}  // namespace segfold::test
