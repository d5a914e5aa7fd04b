#include "runtime/check/operators/stage_operators.h"

#include <algorithm>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::regress {
namespace {

/// A polynomial hash of the elements and of every index and length that lift and finish can read.
constexpr std::string_view kPlacedHash = R"(
operator placed_hash(column: i32, t: table i64) -> (hash: u64, count: i64) {
  state  { hash: u64 = 0; power: u64 = 1 }
  lift   { hash = u64(t[column]) + u64(index * 3 + position * 5 + segment * 7); power = 31 }
  combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
  finish { hash = hash + u64(segment); count = length }
})";

/// A hash of table entries that also reads the segment's length. A stage that locates segment ends itself
/// knows the length only late.
constexpr std::string_view kCountedHash = R"(
operator counted_hash(column: i32, t: table u32) -> (hash: u64, count: i64) {
  state  { hash: u64 = 0; power: u64 = 1 }
  lift   { hash = u64(t[column]) + 1; power = 31 }
  combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
  finish { hash = hash; count = length }
})";

/// Returns the last nonzero element. Lift only copies the element, so a stage may load elements straight into
/// shared memory, without registers.
constexpr std::string_view kCountedLast = R"(
operator counted_last(x: i32) -> (last: i32, count: i64) {
  state last: i32 = 0
  lift x
  combine(a, b) b == 0 ? a : b
  finish { last = last; count = length }
})";

/// A commutative sum that also adds each element's indices. Many of its bf16 results lie halfway between two
/// bf16 values.
constexpr std::string_view kPlacedSum = R"(
operator placed_sum(x: i32) -> (sum: i64, half: bf16) {
  state sum: i64 = 0
  lift i64(x) + index * 3 + position * 5 + segment * 7
  combine(a, b) a + b
  finish { sum = sum; half = bf16(i32(sum & 511)) }
  laws commutative
})";

/// A commutative sum whose append is written by hand.
constexpr std::string_view kAppendedSum = R"(
operator appended_sum(x: i32) -> i64 {
  state sum: i64 = 0
  lift i64(x) * 5 + index
  combine(a, b) a + b
  append(a) a + (i64(x) * 5 + index)
  laws commutative
})";

/// A map: each output depends on the element, its index, and the result and length of its segment.
constexpr std::string_view kToldHash = R"(
operator told_hash(x: u32) -> (hash: u64, power: u64, each told: u64) {
  state { hash: u64 = 0; power: u64 = 1 }
  lift  { hash = u64(x) + 1; power = 31 }
  combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
  map (hash * 31 + power) * 0x9e3779b97f4a7c15 + u64(x) + u64(index * 3 + length * 11)
})";

constexpr std::string_view kToldSum = R"(
operator told_sum(x: i32) -> (sum: i32, each told: i64) {
  state sum: i32 = 0
  lift x
  combine(a, b) a + b
  map i64(sum) * 31 + i64(x) + position * 5 + segment * 7
  laws commutative
})";

constexpr std::string_view kRowHash = R"(
operator row_hash(x: row u32, weight: u16) -> (a: u32, b: u32) {
  state { a: u32 = 1; b: u32 = 0 }
  lift  { a = x * 2 + 1; b = x + u32(weight) + u32(index) }
  combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
  empty { a = 5; b = 6 }
})";

constexpr std::string_view kRowSum = R"(
operator row_sum(x: row i32) -> i32 {
  state sum: i32 = 0
  lift x
  combine(a, b) a + b
  laws commutative
})";

/// Combines rows of a column with rows of a table. Another column selects the table rows.
constexpr std::string_view kRowLookup = R"(
operator row_lookup(x: row u32, column: i32, t: table row u32) -> (a: u32, b: u32) {
  state { a: u32 = 1; b: u32 = 0 }
  lift  { a = x * 2 + 1; b = t[column] + 3 }
  combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
})";

constexpr std::string_view kToldRows = R"(
operator told_rows(x: row u32, weight: u16, column: i32, t: table row u32) -> (a: u32, b: u32, each told: u64) {
  state { a: u32 = 1; b: u32 = 0 }
  lift  { a = x * 2 + 1; b = x + t[column] + u32(weight) + u32(index) }
  combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
  map (u64(a) * 31 + u64(b)) * 0x9e3779b97f4a7c15 + u64(x) * 7 + u64(index * 3 + position * 5 + length * 11)
})";

constexpr std::string_view kToldRowSum = R"(
operator told_row_sum(x: row i32) -> (sum: i32, each told: i64) {
  state sum: i32 = 0
  lift x
  combine(a, b) a + b
  map i64(sum) * 31 + i64(x) + position
  laws commutative
})";

/// A scan: each output depends on the states before and through its element, and on the element's indices.
constexpr std::string_view kRunningHash = R"(
operator running_hash(x: u32) -> (hash: u64, power: u64, each told: u64) {
  state { hash: u64 = 0; power: u64 = 1 }
  lift  { hash = u64(x) * 0xbf58476d1ce4e5b9 + 1; power = 0xd1342543de82ef95 }
  combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
  scan(before, through) through.hash * 31 + before.hash * 7 + u64(x) + u64(index * 3 + position * 5 + segment)
})";

/// A reverse scan (last element first) without identity. Its outputs have different widths.
constexpr std::string_view kRunningLast = R"(
operator running_last(x: i32) -> (each last: i32, each count: i8) {
  state { last: i32; count: i32 }
  lift  { last = x; count = 1 }
  combine(a, b) { last = b.last; count = a.count + b.count }
  empty { last = 0; count = 0 }
  scan reverse(before, through) { last = through.last; count = i8(through.count) }
})";

constexpr std::string_view kRunningRows = R"(
operator running_rows(x: row u32, weight: u16, column: i32, t: table row u32) -> (a: u32, b: u32, each told: u64) {
  state { a: u32 = 1; b: u32 = 0 }
  lift  { a = x * 2 + 1; b = x + t[column] + u32(weight) + u32(index) }
  combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
  scan(before, through) (u64(through.a) * 31 + u64(through.b)) * 0x9e3779b97f4a7c15 + u64(before.b) * 7 + u64(x) + u64(position * 5 + segment)
})";

constexpr std::string_view kRunningRowLast = R"(
operator running_row_last(x: row i32) -> (each last: i32, each low: i8) {
  state { last: i32; sum: i32 }
  lift  { last = x; sum = x }
  combine(a, b) { last = b.last; sum = a.sum + b.sum }
  empty { last = 0; sum = 0 }
  scan reverse(before, through) { last = through.last; low = i8(through.sum) }
})";

bool can_serve(const Stage& stage, const Operator& op, const Catalogue& catalogue, const Target& target)
{
    for (const auto form :
         {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets, SegmentForm::ranges,
          SegmentForm::flags, SegmentForm::keys, SegmentForm::groups}) {
        Problem problem(op, kernel_form(op, form));
        problem.target = target;
        if (!catalogue.unmet(stage, problem))
            return true;
    }
    return false;
}

}  // namespace

std::vector<Operator> stage_operators(const Stage& stage, const Catalogue& catalogue, const Target& target)
{
    std::vector<Operator> all = {
        standard_operator("affine", Type::u32), standard_operator("max_subarray", Type::i32),
        standard_operator("keep_first", Type::i32), standard_operator("sum", Type::i32),
        standard_operator("wide_sum", Type::bf16)};
    for (const auto text : {kPlacedHash, kCountedHash, kCountedLast, kPlacedSum, kAppendedSum, kToldHash,
                            kToldSum, kRowHash, kRowSum, kRowLookup, kToldRows, kToldRowSum, kRunningHash,
                            kRunningLast, kRunningRows, kRunningRowLast})
        all.push_back(parse_operator("an operator of the check", std::string(text)));
    std::erase_if(all, [&](const Operator& op) { return !can_serve(stage, op, catalogue, target); });
    return all;
}

}  // namespace segfold::regress
