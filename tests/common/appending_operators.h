#pragma once
// Operators with an append of their own: exact, and the order of elements shows in every bit.
#include "dsl/text/parser.h"

namespace segfold::test {

/// A polynomial hash of the elements and their places.
inline Operator appended_hash()
{
    return parse_operator("appended_hash.seg", R"(
operator appended_hash(x: i32) -> (hash: u64, power: u64, last: i64) {
  state   { hash: u64 = 0; power: u64 = 1; last: i64 = -1 }
  lift    { hash = u64(x) * 31 + u64(index); power = 6364136223846793005; last = index }
  combine(a, b) {
    hash = a.hash * b.power + b.hash;
    power = a.power * b.power;
    last = max(a.last, b.last)
  }
  append(a) {
    hash = a.hash * 6364136223846793005 + (u64(x) * 31 + u64(index));
    power = a.power * 6364136223846793005;
    last = index
  }
})");
}

/// A map a * v + b of two columns, with no identity and a scalar.
inline Operator appended_pair()
{
    return parse_operator("appended_pair.seg", R"(
operator appended_pair(scale: u32, shift: i32, most: scalar i32) -> (scale: u32, shift: u32, first: i32) {
  state   { scale: u32; shift: u32; first: i32 }
  lift    { scale = 2 * scale + 1; shift = u32(min(shift, most)); first = shift }
  combine(a, b) { scale = a.scale * b.scale; shift = a.shift * b.scale + b.shift; first = a.first }
  append(a) {
    let factor = 2 * scale + 1;
    scale = a.scale * factor;
    shift = a.shift * factor + u32(min(shift, most));
    first = a.first
  }
  empty   { scale = 0; shift = 7; first = 0 }
})");
}

}  // namespace segfold::test
