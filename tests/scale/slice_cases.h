#pragma once
// Operators and segments for tests of slices: the operators use everything that depends on an element's
// place.
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "dsl/derived.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/workload.h"
#include "tests/common/stage_cases.h"

namespace segfold::test {

/// Exact operators that are not commutative: polynomial hashes of the inputs of lift. An element that is
/// dropped, doubled, misplaced or has a wrong index changes the result.
inline std::vector<Operator> slice_operators()
{
    std::vector<Operator> operators = {standard_operator("trace_u64"), standard_operator("keep_first_i32")};
    const auto add = [&](const std::string& text) { operators.push_back(parse_operator("slices", text)); };
    // Uses every place in lift, finish and empty.
    add(R"(operator places(x: i32) -> (hash: u64, where: i64) {
        state { hash: u64 = 0; power: u64 = 1 }
        lift { hash = u64(index) * 1000003 + u64(position) * 10007 + u64(segment) * 101 + u64(x); power = 31 }
        combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        finish { hash = hash ^ u64(length); where = segment * 3 + length }
        empty { hash = 7; where = -segment }
    })");
    // The result of an empty segment is the finished identity, which depends on the segment's number.
    add(R"(operator numbered(x: i32) -> (hash: u64, slice_place: i64) {
        state { hash: u64 = 0; power: u64 = 1 }
        lift { hash = u64(x) + 3; power = 1000003 }
        combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        finish { hash = hash; slice_place = segment }
    })");
    // A semigroup with a result for empty segments, and two columns.
    add(R"(operator last_pair(x: i32, y: i16) -> (first: i32, last: i16, which: i64) {
        state { first: i32; last: i16 }
        lift { first = x; last = y }
        combine(a, b) { first = a.first; last = b.last }
        finish { first = first; last = last; which = segment }
        empty { first = -1; last = -2; which = segment }
    })");
    // A table, indexed by a column.
    add(R"(operator looked_up(column: i32, t: table u32) -> u64 {
        state { hash: u64 = 0; power: u64 = 1 }
        lift { hash = u64(t[column]) + u64(index); power = 257 }
        combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        finish hash
    })");
    // A scalar, and an array in the state.
    add(R"(operator spread(x: i32, seed: scalar u64) -> (hash: u64, count: i32[3]) {
        state { hash: u64 = 0; power: u64 = 1; count: i32[3] = 0 }
        lift {
            hash = u64(x) ^ seed;
            power = 8191;
            for k in 0..3 { count[k] = position % 3 == k ? 1 : 0 }
        }
        combine(a, b) {
            hash = a.hash * b.power + b.hash;
            power = a.power * b.power;
            for k in 0..3 { count[k] = a.count[k] + b.count[k] }
        }
        finish { hash = hash; for k in 0..3 { count[k] = count[k] } }
    })");
    // Two operators in one pass.
    operators.push_back(operators[2] & operators[3]);
    return operators;
}

/// Lengths of segments with borders of every kind.
inline std::vector<std::pair<std::string, std::vector<std::int64_t>>> border_cases()
{
    std::vector<std::int64_t> mixed;
    for (std::int64_t i = 0; i < 60; ++i)
        mixed.push_back(i % 11 == 0 ? 40 : i % 3 == 0 ? 0 : i % 7);
    return {{"no segment", {}},
            {"empty ones only", std::vector<std::int64_t>(9, 0)},
            {"one", {37}},
            {"ones", std::vector<std::int64_t>(53, 1)},
            {"a giant between", {3, 0, 100, 0, 2}},
            {"first and last empty", {0, 0, 20, 5, 20, 0, 0}},
            {"empty ones at every border", {10, 0, 0, 10, 0, 10, 0, 0, 0, 10, 0}},
            {"mixed", mixed}};
}

/// Makes a workload of the usual values, or of valid indices for columns that index a table.
inline Workload slice_workload(const Operator& op, Segments segments,
                               ValueRange range = ValueRange::small_integers)
{
    std::map<std::string, Array> named;
    complete_arrays(op, segments, {11, range}, named);
    Workload workload{op, {}, std::move(segments)};
    for (const auto& parameter : op.parameters)
        workload.arrays.push_back(std::move(named.at(parameter.name)));
    return workload;
}

/// Ranges in descending order that overlap their neighbours, with gaps.
inline Segments overlapping_ranges(const std::vector<std::int64_t>& lengths)
{
    const auto offsets = offsets_of(lengths);
    std::vector<std::int64_t> begins, ends;
    for (auto s = std::ssize(lengths) - 1; s >= 0; --s) {
        const auto begin = offsets[static_cast<std::size_t>(s)];
        begins.push_back(std::max<std::int64_t>(0, begin - s % 3));
        ends.push_back(offsets[static_cast<std::size_t>(s) + 1]);
    }
    return segments_from_ranges(index_array(begins), index_array(ends), offsets.back() + 4);
}

/// Returns segments of these lengths in every layout that can express them.
inline std::vector<SegmentCase> slice_segments(const std::string& name,
                                               const std::vector<std::int64_t>& lengths)
{
    const auto n = total(lengths);
    const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), n);
    std::vector<SegmentCase> cases;
    cases.push_back({name + ", offsets", offsets.copy()});
    cases.push_back({name + ", offsets of 64 bits", with_index_bits(offsets.copy(), 64)});
    cases.push_back({name + ", ranges", overlapping_ranges(lengths)});
    if (std::ranges::find(lengths, 0) == lengths.end() && !lengths.empty()) {
        cases.push_back({name + ", flags", given_as(SegmentForm::flags, offsets)});
        cases.push_back({name + ", keys", given_as(SegmentForm::keys, offsets)});
    }
    cases.push_back({name + ", whole", whole_segments(n)});
    if (n % 5 == 0)
        cases.push_back({name + ", uniform", uniform_segments(n, 5)});
    return cases;
}

}  // namespace segfold::test
