#include "tests/mutants/case_operators.h"

#include <bit>
#include <iterator>
#include <vector>

#include "dsl/check/rows.h"
#include "dsl/derived.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/scan_cases.h"

namespace segfold::test {
namespace {

constexpr std::int64_t kTableLength = 8;

/// Asks for everything that a lift and a finish may know; the order of elements shows in the results.
Operator places()
{
    return parse_operator("places", R"(
        operator places(column: i32, t: table i64) -> (a: u64, b: u64, c: i64, n: i64) {
            state { a: u64 = 0; b: u64 = 1; c: i64 = 0 }
            lift { a = u64(index * 3 + position); b = u64(segment * position * 2 + 1); c = t[column & 7] }
            combine(a, b) { a = a.a * b.b + b.a; b = a.b * b.b; c = a.c + b.c }
            finish { a = a; b = b + u64(segment); c = c; n = length }
            empty { a = 7; b = u64(segment); c = 0; n = length }
        })");
}

/// Asks for the same, and commutes.
Operator placed_sum()
{
    return parse_operator("placed_sum", R"(
        operator placed_sum(column: i32, t: table i64) -> (a: i64, b: i64, c: i64, n: i64) {
            state { a: i64 = 0; b: i64 = 0; c: i64 = 0 }
            lift { a = index * 3 + position; b = segment * position; c = t[column & 7] }
            combine(a, b) { a = a.a + b.a; b = a.b + b.b; c = a.c + b.c }
            laws commutative
            finish { a = a; b = b + segment; c = c; n = length }
            empty { a = -1; b = segment; c = 0; n = length }
        })");
}

/// A sum that commutes and has an append of its own; of the elements' places too, where its name says so.
Operator appended(const std::string& name)
{
    const std::string lifted =
        name == "appended_places" ? "i64(column) * 5 + index * 3 + position" : "i64(column) * 5 + index * 3";
    return parse_operator(name, "operator " + name + "(column: i32) -> i64 { state sum: i64 = 0 lift " +
                                    lifted + " combine(a, b) a + b append(a) a + (" + lifted +
                                    ") laws commutative }");
}

/// A sum that an atomic function does, and that asks for the segment.
Operator sum_and_segment()
{
    return parse_operator("sum_and_segment", R"(
        operator sum_and_segment(x: i32) -> i32 {
            state sum: i32 = 0
            lift x + i32(segment)
            combine(a, b) a + b
            laws commutative
        })");
}

/// The same for stages that find the segments, or read elements in vectors.
Operator indices()
{
    return parse_operator("indices", R"(
        operator indices(column: i32, t: table i64) -> (a: i64, b: i64, n: i64) {
            state { a: i64 = 0; c: i64 = 0 }
            lift { a = index * 3; c = t[column & 7] }
            combine(a, b) { a = a.a + b.a; c = a.c + b.c }
            finish { a = a * 7 + c; b = segment; n = length }
        })");
}

/// The polynomial hash, which does not commute, and the length.
Operator counted_hash()
{
    return parse_operator("counted_hash", R"(
        operator counted_hash(x: u32) -> (hash: u64, count: i64) {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = u64(x) + 1; power = 31 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
            finish { hash = hash; count = length }
        })");
}

/// A state of five bytes: one more than a word has.
Operator five_bytes()
{
    return parse_operator("five_bytes", R"(
        operator five_bytes(x: u8) -> (a: u8, b: u8, c: u8, d: u8, e: u8) {
            state { a: u8 = 0; b: u8 = 0; c: u8 = 0; d: u8 = 0; e: u8 = 0 }
            lift { a = x; b = x * 3; c = x * 5; d = x * 7; e = x * 11 }
            combine(p, q) { a = p.a + q.a; b = p.b + q.b; c = p.c + q.c; d = p.d + q.d; e = p.e + q.e }
        })");
}

/// Looks its column up in a table whose entries are counted from 1: a column of 0 reads before the first.
Operator lookup()
{
    return parse_operator("lookup", R"(
        operator lookup(column: i32, t: table i64) -> i64 {
            state sum: i64 = 0
            lift t[column - 1]
            combine(a, b) a + b
            laws commutative
        })");
}

/// Write-back: each output tells its element, its place and the total of its segment.
Operator told()
{
    return parse_operator("told", R"(
        operator told(x: u32) -> (a: u32, b: u32, each told: u64) {
            state { a: u32 = 1; b: u32 = 0 }
            lift { a = x * 2 + 1; b = x * x + 3 }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
            map (u64(a) * 31 + u64(b)) * 0x9e3779b97f4a7c15 + u64(x) + u64(index * 3 + position * 5 + segment * 7 + length * 11)
        })");
}

/// The same of an operator that commutes.
Operator told_sum()
{
    return parse_operator("told_sum", R"(
        operator told_sum(x: u32) -> each u64 {
            state sum: u64 = 0
            lift u64(x) * 0x9e3779b97f4a7c15
            combine(p, q) p + q
            map sum * 31 + u64(x) + u64(index * 3 + position * 5 + segment * 7 + length * 11)
            laws commutative
        })");
}

/// Write-back by a table of the segments, one of the places in them, and a scalar.
Operator told_looked()
{
    return parse_operator("told_looked", R"(
        operator told_looked(x: u32, t: table u64, weight: table u32, scale: scalar u64) -> (a: u32, b: u32, each told: u64) {
            state { a: u32 = 1; b: u32 = 0 }
            lift { a = x * 2 + 1; b = x * x + 3 }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
            map {
                let factor = t[segment] * scale + 1;
                told = (u64(a) * 31 + u64(b)) * 0x9e3779b97f4a7c15 + (u64(x) + u64(weight[position]) * 5) * factor + u64(index * 3 + length * 11)
            }
        })");
}

/// Rows of features that do not commute, with numbers beside them; with write-back where `is_told`.
Operator rows(const std::string& name, bool is_told)
{
    return parse_operator(name, "operator " + name + "(x: row u32, weight: u16) -> (a: u32, b: u32" +
                                    (is_told ? ", each told: u64" : "") + R"() {
            state { a: u32 = 1; b: u32 = 0 }
            lift { a = x * 2 + 1; b = x + u32(weight) + u32(index) }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
            empty { a = 5; b = 6 } )" +
                                    (is_told ? R"(
            map (u64(a) * 31 + u64(b)) * 0x9e3779b97f4a7c15 + u64(x) * 7 + u64(weight) + u64(index * 3 + position * 5 + segment * 11 + length * 13)
            )"
                                             : "") +
                                    "}");
}

/// Rows that commute; with write-back where `is_told`.
Operator rows_sum(const std::string& name, bool is_told)
{
    return parse_operator(name, "operator " + name + "(x: row i32) -> (sum: i32" +
                                    (is_told ? ", each share: i64" : "") + R"() {
            state sum: i32 = 0
            lift x
            combine(a, b) a + b
            laws commutative )" + (is_told ? "map i64(sum) * 31 + i64(x) + position" : "") +
                                    "}");
}

/// Rows beside rows of a table, as many, that a row's number and a column choose; another column is lifted.
/// With write-back where `is_told`.
Operator rows_found(const std::string& name, bool is_told)
{
    return parse_operator(name,
                          "operator " + name +
                              "(x: row u32, column: i32, value: u32, t: table row u32) -> (a: u32, b: u32" +
                              (is_told ? ", each told: u64" : "") + R"() {
            state { a: u32 = 1; b: u32 = 0 }
            lift { a = x * 2 + 1; b = t[max(index - i64(column & 1), 0)] + value }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b } )" +
                              (is_told ? "map u64(b) * 31 + u64(x)" : "") + "}");
}

/// Rows with states of 24 bytes, of which a block that joins has 256.
Operator rows_of_large_states(const std::string& name)
{
    return parse_operator(name, "operator " + name + R"((x: row u32) -> (a: u64, b: u64, c: u64) {
            state { a: u64 = 1; b: u64 = 0; c: u64 = 0 }
            lift { a = u64(x) * 2 + 1; b = u64(x); c = u64(x) * 3 }
            combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b; c = p.c + q.c }
        })");
}

/// The length of their rows: no vectors, vectors in whole blocks of features, more than a block of threads,
/// vectors and a part of a block, in lanes of two, four or eight features; one; half of a block that joins,
/// and one more than all of it; more blocks of 32 features than there are groups to map them.
std::int64_t features_of(const std::string& name)
{
    return name == "rows_affine"    ? 7
           : name == "rows_sum"     ? 8
           : name == "rows_shares"  ? 20
           : name == "rows_wide"    ? 70
           : name == "rows_narrow"  ? 3
           : name == "rows_many"    ? 128
           : name == "rows_long"    ? 257
           : name == "rows_one"     ? 1
           : name == "rows_endless" ? 641 * 32
                                    : 6;
}

/// The polynomial hash with three numbers of a type: states of 3, 12 and 24 bytes.
Operator hash_of(const std::string& type)
{
    const std::string name = "hash_" + type;
    const auto all = "hash: " + type + ", power: " + type + ", count: " + type;
    const auto state = "hash: " + type + " = 0; power: " + type + " = 1; count: " + type + " = 0";
    return parse_operator(name,
                          "operator " + name + "(x: " + type + ") -> (" + all + ") { state { " + state + R"( }
            lift { hash = x; power = 31; count = 1 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power; count = a.count + b.count }
        })");
}

/// The last element, stored in a half type: every rounding is a result.
Operator half_of(const std::string& type)
{
    const std::string name = "half_" + type;
    return parse_operator(name, "operator " + name + "(x: f32) -> (half: " + type + ", back: f32) {" +
                                    "state { any: i32 = 0; half: " + type + " = 0 }" +
                                    "lift { any = 1; half = " + type + "(x) }" + R"(
            combine(a, b) { any = max(a.any, b.any); half = b.any != 0 ? b.half : a.half }
            finish { half = half; back = f32(half) }
        })");
}

/// Floats where the halves round to even, overflow, vanish or are no numbers.
Array edges_of_halves(std::int64_t count)
{
    // Upper halves: 0, the least, an odd and an even one, the greatest of f16 and of all, infinity, NaN; both
    // signs.
    constexpr std::uint32_t kUpper[] = {0x0000, 0x0001, 0x3301, 0x3f80, 0x3f81,
                                        0x4780, 0x7f7f, 0x7f80, 0x7fc1};
    // Lower halves: exact, just above, below, at and above the middle between two values of bf16.
    constexpr std::uint32_t kLower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000, 0x3000};
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto upper = kUpper[i % std::size(kUpper)] | (i % 2 == 0 ? 0u : 0x8000u);
        const auto lower = kLower[i / std::size(kUpper) % std::size(kLower)];
        values[i] = std::bit_cast<float>(upper << 16 | lower);
    }
    return Array::of<float>(Type::f32, std::span<const float>(values));
}

/// Numbers from 1 to `most`.
Array counted_from_one(std::int64_t count, std::int64_t most)
{
    std::vector<std::int32_t> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1 + static_cast<std::int32_t>(i * 5 % static_cast<std::size_t>(most));
    return Array::of<std::int32_t>(Type::i32, std::span<const std::int32_t>(values));
}

Operator scan_of_trace(const std::string& name, ScanForm form)
{
    auto op = scanned(matrix_operator("trace_u64"), form);
    op.name = name;
    return op;
}

}  // namespace

Operator operator_of(const std::string& name)
{
    if (name.starts_with("half_"))
        return half_of(name.substr(5));
    if (name.starts_with("hash_"))
        return hash_of(name.substr(5));
    return name == "places"            ? places()
           : name == "placed_sum"      ? placed_sum()
           : name == "appended_sum"    ? appended(name)
           : name == "appended_places" ? appended(name)
           : name == "sum_and_segment" ? sum_and_segment()
           : name == "lookup"          ? lookup()
           : name == "indices"         ? indices()
           : name == "counted_hash"    ? counted_hash()
           : name == "five_bytes"      ? five_bytes()
           : name == "told"            ? told()
           : name == "told_looked"     ? told_looked()
           : name == "told_sum"        ? told_sum()
           : name == "scan_trace"      ? scan_of_trace(name, {})
           : name == "scan_back"       ? scan_of_trace(name, {.exclusive = true, .reverse = true})
           : name == "scan_kept"       ? scan_operator({.lifts_places = true})
           : name == "rows_affine"     ? rows(name, false)
           : name == "rows_wide"       ? rows(name, false)
           : name == "rows_narrow"     ? rows(name, false)
           : name == "rows_one"        ? rows(name, false)
           : name == "rows_told"       ? rows(name, true)
           : name == "rows_endless"    ? rows(name, true)
           : name == "rows_found"      ? rows_found(name, false)
           : name == "rows_traced"     ? rows_found(name, true)
           : name == "rows_many"       ? rows_of_large_states(name)
           : name == "rows_long"       ? rows_of_large_states(name)
           : name == "rows_sum"        ? rows_sum(name, false)
           : name == "rows_shares"     ? rows_sum(name, true)
                                       : matrix_operator(name);
}

Workload workload_of(const Operator& op, Segments segments)
{
    const bool has_tables_by_segment = op.name == "told_looked" || op.scan;
    auto workload = has_tables_by_segment ? make_workload_with_tables(op, std::move(segments), 11)
                                          : make_workload(op, std::move(segments), 11, kTableLength);
    const auto count = workload.segments.num_elements;
    if (has_rows(op)) {
        workload.num_features = features_of(op.name);
        for (std::size_t i = 0; i < op.parameters.size(); ++i)
            if (const auto& parameter = op.parameters[i]; parameter.row)
                workload.arrays[i] = generate_values(parameter.type, count * workload.num_features, 11,
                                                     ValueRange::small_integers);
    }
    if (op.name.starts_with("half_"))
        workload.arrays.front() = edges_of_halves(count);
    if (op.name == "lookup")
        workload.arrays.front() = counted_from_one(count, kTableLength);
    return workload;
}

}  // namespace segfold::test
