#pragma once
// Operators of columns with write-back.
#include <cstdint>
#include <string>
#include <vector>

#include "dsl/text/parser.h"

namespace segfold::test {

/// An exact operator on integers of a type that is not commutative. Every output encodes its element, its
/// place, its segment and the segment's total.
inline Operator told_back_of(const std::string& type, bool keeps_results)
{
    return parse_operator("told_back",
                          "operator told_back(x: " + type + ") -> " +
                              (keeps_results ? "(hash: u64, power: u64, each told: u64)" : "each u64") +
                              R"( {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = u64(x) * 0xbf58476d1ce4e5b9 + 1; power = 0xd1342543de82ef95 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
            map {
                let place = u64(index) * 3 + u64(position) * 1000003 + u64(segment) * 998244353;
                )" + (keeps_results ? "told" : "result") +
                              R"( = (hash ^ u64(x)) * 0x9e3779b97f4a7c15 + place + u64(length) * 31
            }
        })");
}

inline Operator told_back(bool keeps_results) { return told_back_of("u32", keeps_results); }

/// An operator without identity, with outputs of several widths and two columns. Lift does not read one of
/// them.
inline Operator several_outputs()
{
    return parse_operator("several_outputs", R"(
        operator several_outputs(x: i32, weight: f64) -> (first: i32, each is_first: bool, each byte: i8,
                                                          each scaled: f64, each short: i16) {
            state first: i32
            lift x
            combine(a, b) a
            empty 7
            map {
                is_first = x == first;
                byte = i8(x);
                scaled = weight * 2 + f64(position);
                short = i16(x - first)
            }
        })");
}

/// An operator whose map has a let of the segment, a let that uses it, a let of the element, and an unused
/// let.
inline Operator in_parts()
{
    return parse_operator("in_parts", R"(
        operator in_parts(x: f32) -> each f32 {
            state sum: f32 = 0
            lift x
            combine(a, b) a + b
            map {
                let whole = sum + f32(length % 7) + 1;
                let share = 1 / whole;
                let part = x * share;
                let other = sum - 1;
                result = part + f32(position)
            }
            laws commutative
        })");
}

/// What map reads by the segment, by the place in it, by a column and by a result, and a scalar. Exact and
/// not commutative.
inline Operator told_by_tables(bool keeps_results)
{
    return parse_operator("told_by_tables",
                          std::string(
                              "operator told_by_tables(x: u32, place: i32, code: table u64, weight: table "
                              "u32, entry: table u16, mix: table u32, scale: scalar u64) -> ") +
                              (keeps_results ? "(hash: u64, power: u64, each told: u64)" : "each u64") +
                              R"( {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = u64(x) * 0xbf58476d1ce4e5b9 + 1; power = 0xd1342543de82ef95 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
            map {
                let by_segment = code[segment] * scale + u64(mix[hash & 15]);
                let by_place = u64(weight[position]) * 1000003;
                let unused = entry[place];
                )" + (keeps_results ? "told" : "result") +
                              R"( = (hash ^ u64(x)) * 0x9e3779b97f4a7c15 + by_segment + by_place +
                    (x % 2 == 0 ? u64(entry[place]) * 31 : scale)
            }
        })");
}

/// The tables that are no scalars.
inline std::vector<std::string> tables_of(const Operator& op)
{
    std::vector<std::string> tables;
    for (const auto& parameter : op.parameters)
        if (parameter.table && !parameter.scalar)
            tables.push_back(parameter.name);
    return tables;
}

/// Lengths at the borders of tiles of fused_tiles: of `tile` items, an eighth of which is the most segments
/// that end in one. Copies begin at multiples of 16 items.
inline std::vector<std::vector<std::int64_t>> tile_lists(std::int64_t tile)
{
    const auto most = static_cast<std::size_t>(tile / 8);
    std::vector<std::int64_t> mixed, empty(2 * most + 2, 0), ones(tile + 188, 1);
    empty[most + 1] = 3;
    empty.back() = tile + 88;
    for (int i = 0; i < 300; ++i)
        mixed.push_back(i % 5 == 0 ? 0 : i % 89 == 0 ? tile * 3 / 5 : i % 61);
    return {{},
            {0},
            {1},
            {tile - 1, 1, tile, 0, tile + 1, 3},
            {5, tile - 5, 2, tile - 2, 1, tile * 3 + 164, 3, 0},
            {0, 0, tile, 0, 0, tile - 16, 16, 0},
            {16, tile - 16, 17, tile - 17, 15, tile - 15},
            {tile + 188, tile + 388, 0, 1},
            empty,
            ones,
            mixed};
}

}  // namespace segfold::test
