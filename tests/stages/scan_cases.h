#pragma once
// Operators of columns with running results, and what plain loops give for them.
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "runtime/data/index_at.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/row_cases.h"

namespace segfold::test {

/// An exact operator that is not commutative. Outputs encode both states, the element and its places; another
/// is narrow. With a map, `last` is the total of the segment.
struct ScanOperator {
    bool reverse = false;
    bool keeps_results = true;
    bool identity = true;
    bool map = false;
    bool lifts_places = false;  ///< lift reads position and segment
    bool associative = true;    ///< else combine is not; its states then show the grouping
    bool tells_places = true;   ///< outputs read segment and position, and a table
};

inline std::string print(const ScanOperator& c)
{
    return std::string(c.reverse ? "reverse" : "forward") + (c.keeps_results ? "" : "_alone") +
           (c.identity ? "" : "_semigroup") + (c.map ? "_mapped" : "") + (c.lifts_places ? "_places" : "") +
           (c.associative ? "" : "_refuted") + (c.tells_places ? "" : "_placeless");
}

inline Operator scan_operator(const ScanOperator& c)
{
    const std::string outputs =
        std::string("each told: u64, each narrow: i8") + (c.map ? ", each last: u64" : "");
    return parse_operator(
        "running", std::string("operator running(x: u32") + (c.tells_places ? ", code: table u64" : "") +
                       ") -> (" + (c.keeps_results || c.map ? "hash: u64, power: u64, " + outputs : outputs) +
                       R"() {
            state { hash: u64)" +
                       (c.identity ? " = 0" : "") + "; power: u64" + (c.identity ? " = 1" : "") +
                       R"( }
            lift { hash = u64(x) * 0xbf58476d1ce4e5b9 + )" +
                       (c.lifts_places ? "u64(position * 7 + segment * 3 + 1)" : "1") +
                       R"(; power = 0xd1342543de82ef95 }
            combine(a, b) { hash = a.hash * b.power + b.hash)" +
                       (c.associative ? "" : " * 3") + R"(; power = a.power * b.power }
            )" + (c.identity ? "" : "empty { hash = 5; power = 6 }\n") +
                       "scan " + (c.reverse ? "reverse" : "") + R"((before, through) {
                let both = through.hash * 3 + )" +
                       (c.identity ? "before.hash * 5 + before.power" : "through.power") +
                       R"(;
                told = (both ^ u64(x)) + u64(index) * 3)" +
                       (c.tells_places ? " + u64(position) * 1000003 + code[segment]" : "") + R"(;
                narrow = i8(through.hash >> 56)
            })" + (c.map ? "\n map { last = hash + u64(position) }" : "") +
                       "\n}");
}

inline Workload scan_workload(const ScanOperator& c, Segments segments)
{
    Workload workload{scan_operator(c), {}, {}};
    workload.arrays.push_back(
        generate_values(Type::u32, segments.num_elements, 5, ValueRange::small_integers));
    if (c.tells_places)
        workload.arrays.push_back(generate_values(Type::u64, std::max<std::int64_t>(segments.num_segments, 1),
                                                  6, ValueRange::small_integers));
    workload.segments = std::move(segments);
    return workload;
}

/// The first array and byte in which results differ; empty if none does.
inline std::string first_difference(const Results& found, const Results& expected)
{
    if (found.size() != expected.size())
        return std::to_string(found.size()) + " arrays";
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].array.bytes() != expected[i].array.bytes())
            return found[i].name + " has another length";
        for (std::size_t k = 0; k < found[i].array.bytes(); ++k)
            if (found[i].array.data()[k] != expected[i].array.data()[k])
                return found[i].name + "[" + std::to_string(k / size_bytes(found[i].array.type())) + "]";
    }
    return "";
}

/// The arrays that a fold of scan_operator() returns, by a loop over each segment. Results of segments are
/// folded from left to right.
inline Results scanned_by_loops(const Workload& workload, const ScanOperator& c)
{
    auto results = allocate_results(workload.op, converted_form(workload.segments.form),
                                    workload.segments.num_segments, workload.segments.num_elements, 1);
    const auto x = workload.arrays[0].as<std::uint32_t>();
    std::span<const std::uint64_t> code;
    if (c.tells_places)
        code = workload.arrays[1].as<std::uint64_t>();
    const std::size_t first = c.keeps_results || c.map ? 2 : 0;
    const auto told = results[first].array.as<std::uint64_t>();
    const auto narrow = results[first + 1].array.as<std::int8_t>();
    const auto& segments = workload.segments;
    for (std::int64_t s = 0; s < segments.num_segments; ++s) {
        const auto begin = segments.begin(s), length = segments.length(s);
        constexpr std::uint64_t kPower = 0xd1342543de82ef95;
        const std::uint64_t factor = c.associative ? 1 : 3;
        const auto lifted = [&](std::int64_t position) {
            return x[static_cast<std::size_t>(begin + position)] * 0xbf58476d1ce4e5b9 +
                   (c.lifts_places ? static_cast<std::uint64_t>(position * 7 + s * 3 + 1) : 1);
        };
        std::uint64_t hash = 0, power = 1, total = 0;
        for (std::int64_t k = 0; k < length; ++k) {
            const auto position = c.reverse ? length - 1 - k : k;
            const auto i = static_cast<std::size_t>(begin + position);
            const auto before = c.identity ? hash * 5 + power : 0;
            const auto own = lifted(position);
            hash = k == 0 ? own : c.reverse ? own * power + hash * factor : hash * kPower + own * factor;
            total = k == 0 ? lifted(0) : total * kPower + lifted(k) * factor;
            power *= kPower;
            const auto both = hash * 3 + (c.identity ? before : power);
            told[i] = (both ^ x[i]) + i * 3;
            if (c.tells_places)
                told[i] += static_cast<std::uint64_t>(position) * 1000003 + code[static_cast<std::size_t>(s)];
            narrow[i] = static_cast<std::int8_t>(hash >> 56);
        }
        if (length == 0 && !c.identity)
            total = 5, power = 6;
        if (first == 2) {
            results[0].array.as<std::uint64_t>()[static_cast<std::size_t>(s)] = total;
            results[1].array.as<std::uint64_t>()[static_cast<std::size_t>(s)] = power;
        }
        for (std::int64_t position = 0; c.map && position < length; ++position)
            results[first + 2].array.as<std::uint64_t>()[static_cast<std::size_t>(begin + position)] =
                total + static_cast<std::uint64_t>(position);
    }
    return results;
}

/// An operator over segments in one form.
struct ScanCase {
    ScanOperator op;
    SegmentForm form;
    int bits = 32;
};

inline std::string print(const ScanCase& c)
{
    return print(c.op) + "_" + std::string(name(c.form)) + (c.bits == 64 ? "_wide" : "");
}

inline void PrintTo(const ScanCase& c, std::ostream* out) { *out << print(c); }

/// All forms in both directions, and operators of every kind over one form.
inline std::vector<ScanCase> all_scan_cases()
{
    using enum SegmentForm;
    std::vector<ScanCase> cases;
    for (const bool reverse : {false, true}) {
        for (const auto form : {whole, uniform, offsets, ranges})
            cases.push_back({{.reverse = reverse}, form});
        cases.push_back({{.reverse = reverse, .keeps_results = false}, offsets});
        for (const auto form : {whole, uniform, offsets, ranges, flags, keys})
            cases.push_back({{.reverse = reverse, .keeps_results = false, .tells_places = false}, form});
        for (const auto form : {flags, keys})
            cases.push_back({{.reverse = reverse}, form});
        cases.push_back(
            {{.reverse = reverse, .keeps_results = false, .identity = false, .tells_places = false},
             offsets,
             64});
        cases.push_back({{.reverse = reverse, .identity = false}, offsets, 64});
        cases.push_back({{.reverse = reverse, .identity = false, .lifts_places = true}, ranges});
        cases.push_back({{.reverse = reverse, .map = true, .lifts_places = true}, offsets});
    }
    return cases;
}

inline Segments segments_of(const ScanCase& c, const std::vector<std::int64_t>& lengths)
{
    auto segments = c.form == SegmentForm::ranges ? ranges_apart(lengths) : segments_in_form(c.form, lengths);
    if (c.form == SegmentForm::uniform && total(lengths) > 0)
        segments = uniform_segments(total(lengths) / 7 * 7, lengths.size() % 2 == 0 ? 7 : 1);
    return with_index_bits(std::move(segments), c.bits);
}

}  // namespace segfold::test
