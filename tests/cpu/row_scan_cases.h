#pragma once
// Operators of rows with running results, and their workloads.
#include <ostream>
#include <string>
#include <vector>

#include "dsl/text/parser.h"
#include "tests/stages/scan_cases.h"

namespace segfold::test {

/// An exact operator of rows that is not commutative. Its output tells both states, a feature, its places,
/// entries of a table of numbers and of one of rows. With a map, `last` is the total of the segment.
struct RowScanOperator {
    bool reverse = false;
    bool keeps_results = true;
    bool identity = true;
    bool map = false;
    bool associative = true;  ///< else combine is not; its states then show the grouping
};

inline std::string print(const RowScanOperator& c)
{
    return print(ScanOperator{.reverse = c.reverse,
                              .keeps_results = c.keeps_results,
                              .identity = c.identity,
                              .map = c.map,
                              .associative = c.associative});
}

inline Operator row_scan_operator(const RowScanOperator& c)
{
    const std::string outputs = std::string("each told: u64") + (c.map ? ", each last: u64" : "");
    return parse_operator("row_scan",
                          "operator row_scan(x: row u32, w: u32, code: table u64, wide: table row u32) -> (" +
                              (c.keeps_results || c.map ? "hash: u64, power: u64, " + outputs : outputs) +
                              ") { state { hash: u64" + (c.identity ? " = 0" : "") + "; power: u64" +
                              (c.identity ? " = 1" : "") + R"( }
            lift {
                hash = u64(x) * 0xbf58476d1ce4e5b9 + u64(wide[w]) * 11 + u64(position * 7 + segment * 3 + 1);
                power = 0xd1342543de82ef95 + u64(x) * 2
            }
            combine(a, b) { hash = a.hash * b.power + b.hash)" +
                              (c.associative ? "" : " * 3") + R"(; power = a.power * b.power }
            )" + (c.identity ? "" : "empty { hash = 5; power = 6 }\n") +
                              "scan " + (c.reverse ? "reverse" : "") + R"((before, through) {
                let both = through.hash * 3 + )" +
                              (c.identity ? "before.hash * 5 + before.power" : "through.power") + R"(;
                told = (both ^ u64(x)) + u64(index) * 3 + u64(position) * 1000003 + code[segment] + u64(wide[w + 1])
            })" + (c.map ? "\n map { last = hash + u64(position) }" : "") +
                              "\n}");
}

inline Workload row_scan_workload(const RowScanOperator& c, Segments segments, std::int64_t num_features)
{
    constexpr std::int64_t kEntries = 6;
    Workload workload{row_scan_operator(c), {}, {}, num_features};
    const auto n = segments.num_elements;
    const auto values = [](Type type, std::int64_t count, std::uint64_t seed) {
        return generate_values(type, count, seed, ValueRange::small_integers);
    };
    workload.arrays.push_back(values(Type::u32, n * num_features, 5));
    workload.arrays.emplace_back(Type::u32, static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        workload.arrays[1].as<std::uint32_t>()[static_cast<std::size_t>(i)] =
            static_cast<std::uint32_t>(i % (kEntries - 1));
    workload.arrays.push_back(values(Type::u64, std::max<std::int64_t>(segments.num_segments, 1), 6));
    workload.arrays.push_back(values(Type::u32, kEntries * num_features, 7));
    workload.segments = std::move(segments);
    return workload;
}

}  // namespace segfold::test
