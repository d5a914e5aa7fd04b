#pragma once
// Scans for tests of slices: exact operators that are not commutative, in both directions.
#include <string>
#include <utility>
#include <vector>

#include "dsl/derived.h"
#include "tests/scale/slice_cases.h"

namespace segfold::test {

/// Running results that change if an element is dropped, doubled, misplaced, or given a wrong place.
inline std::vector<Operator> scan_operators()
{
    std::vector<Operator> operators;
    for (const bool is_exclusive : {false, true})
        for (const bool is_reverse : {false, true})
            for (const auto* name : {"affine_u32", "max_subarray_i32"})
                operators.push_back(scanned(standard_operator(name), {is_exclusive, is_reverse}));
    operators.push_back(scanned(standard_operator("keep_first_i32"), {}));
    operators.push_back(scanned(standard_operator("keep_first_i32"), {false, true}));
    const auto add = [&](const std::string& text) { operators.push_back(parse_operator("scans", text)); };
    for (const std::string direction : {"", "reverse"}) {
        // Every place, a table in both parts, lets in combine, results of segments, and an output with the
        // name of a field.
        add("operator places(x: i32, column: i32, t: table u32) -> (total: u64, each power: u64, each where: "
            "i64) {"
            R"(
            state { hash: u64 = 0; power: u64 = 1 }
            lift {
                hash = u64(index) * 1000003 + u64(position) * 10007 + u64(segment) * 101 + u64(x) + u64(t[column]);
                power = 31
            }
            combine(a, b) {
                let moved = a.hash * b.power;
                let both = a.power * b.power;
                hash = moved + b.hash;
                power = both
            }
            finish hash ^ u64(length * 7 + segment)
            empty 5
            scan )" +
            direction + R"((before, through) {
                let seen = before.hash * 3 + through.hash;
                power = seen + u64(t[column]) * 17;
                where = index * 5 + position * 3 + segment
            }
        })");
        // Without an identity, and with a result for empty segments.
        add("operator ends(x: i32) -> (first: i32, each last: i32) {"
            R"(
            state { first: i32; last: i32 }
            lift { first = x; last = x }
            combine(a, b) { first = a.first; last = b.last }
            finish first
            empty -3
            scan )" +
            direction + R"((none, seen) seen.first * 1000 + seen.last
        })");
    }
    return operators;
}

/// Those that streams scan: from the front.
inline std::vector<Operator> forward_scans()
{
    auto operators = scan_operators();
    std::erase_if(operators, [](const Operator& op) { return op.scan->reverse; });
    return operators;
}

/// Ranges in descending order with gaps, of which none meets another.
inline Segments apart_ranges(const std::vector<std::int64_t>& lengths)
{
    const auto offsets = offsets_of(lengths);
    std::vector<std::int64_t> begins, ends;
    for (auto s = std::ssize(lengths) - 1; s >= 0; --s) {
        const auto begin = offsets[static_cast<std::size_t>(s)] + s * 2;
        begins.push_back(begin);
        ends.push_back(begin + lengths[static_cast<std::size_t>(s)]);
    }
    return segments_from_ranges(index_array(begins), index_array(ends),
                                offsets.back() + 2 * std::ssize(lengths) + 1);
}

/// The layouts in which an operator is scanned over segments of these lengths.
inline std::vector<SegmentCase> scan_segments(const Operator& op, const std::string& name,
                                              const std::vector<std::int64_t>& lengths)
{
    std::vector<SegmentCase> cases;
    for (auto& one : slice_segments(name, lengths)) {
        if (one.segments.form == SegmentForm::ranges)
            one.segments = apart_ranges(lengths);
        if (op.takes_empty_segments() || one.segments.num_segments == 0 ||
            length_range(one.segments).shortest > 0)
            cases.push_back(std::move(one));
    }
    return cases;
}

}  // namespace segfold::test
