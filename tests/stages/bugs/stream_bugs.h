#pragma once
// Bugs of lean_stream, gather_tiles and appends, which planted_bugs_test plants beside its own.
#include <ostream>
#include <string>
#include <vector>

#include "dsl/layout.h"

namespace segfold::test {

/// A bug: a place of a stage's emitted text, and its replacement.
struct Bug {
    std::string name;
    std::string stage;
    std::string op;
    LayoutKind kind;
    std::string from, to;
    int occurrence = 0;  ///< which occurrence of `from` is changed
};

/// Every process of a test program prints its parameters. Printed as bytes, bugs would take 10 ms.
[[maybe_unused]] inline void PrintTo(const Bug& bug, std::ostream* out) { *out << bug.name; }

inline const std::vector<Bug> kStreamBugs = {
    {"LeanFirstItemOfARowJoined", "lean_stream", "sum_i32", LayoutKind::offsets, "Bits(lane != 0)",
     "Bits(0)"},
    {"LeanRunKeptBehindTheLastItem", "lean_stream", "sum_i32", LayoutKind::offsets, "run = identity();", ";"},
    {"LeanScanReachesBeyondAnEnd", "lean_stream", "sum_i32", LayoutKind::offsets, "if (delta <= span)",
     "if (delta <= lane)"},
    {"LeanAppendedOperandsSwapped", "lean_stream", "appended_hash", LayoutKind::offsets,
     "return append(run, items.x[0].at[k], index);",
     "return combine(append(identity(), items.x[0].at[k], index), run);"},
    {"LeanAppendedBehindAnEnd", "lean_stream", "appended_hash", LayoutKind::offsets,
     "if (ends >> item & 1)\n                run = identity();", ""},
    {"LeanCarryAppendedByEveryLane", "lean_stream", "appended_hash", LayoutKind::offsets,
     "if (lane != 0)\n            carry = identity();", ""},
    {"StreamAppendedBehindAnEnd", "warp_stream", "appended_hash", LayoutKind::offsets,
     "append_item(is_head ? identity() : run,", "append_item(run,"},
    {"LoadedOperandsSwapped", "warp_per_segment", "appended_hash", LayoutKind::offsets,
     "return append(run, items.x[0].at[k], index);",
     "return combine(append(identity(), items.x[0].at[k], index), run);"},
    {"LeanCarryLost", "lean_stream", "sum_i32", LayoutKind::offsets, "carry = rotated;", ";"},
    {"LeanEmptySegmentsTakeWhatStandsThere", "lean_stream", "sum_i32", LayoutKind::offsets,
     "are_filled[k] ? unsigned(behind - 1)", "behind > 0 ? unsigned(behind - 1) % kTileItems"},
    {"LeanEmptySegmentsFilled", "lean_stream", "appended_pair", LayoutKind::offsets,
     "*place_filled = are_filled[k];", "*place_filled = true;"},
    {"LeanFilledOfAnotherSegment", "lean_stream", "appended_pair", LayoutKind::offsets,
     "filled + (next - base) + lane;", "filled + lane;"},
    {"LeanLastTileDoneTooEarly", "lean_stream", "sum_i32", LayoutKind::offsets, "if (!is_done && !is_last)",
     "if (!is_done)"},
    {"LeanFullTileDoneTooEarly", "lean_stream", "sum_i32", LayoutKind::offsets, "tile_begin >= kTileItems;",
     "tile_begin >= kTileItems - 1;"},
    {"LeanNextTileInsteadOfTheSame", "lean_stream", "sum_i32", LayoutKind::offsets, "is_marked = !is_done;",
     "is_marked = false;"},
    {"LeanRingReadBeyondWhatIsThere", "lean_stream", "sum_i32", LayoutKind::offsets,
     "Index known = copied - 1;", "Index known = end_segment;"},
    {"LeanRoomForTotalsForgotten", "lean_stream", "sum_i32", LayoutKind::offsets,
     "next + held_totals / 2);\n        const Index ended", "end_segment);\n        const Index ended"},
    {"LeanHeadForgotten", "lean_stream", "sum_i32", LayoutKind::offsets, "desk.staged[0] = desk.staged[1];",
     ";"},
    {"LeanByteMarksKept", "lean_stream", "sum_i32", LayoutKind::offsets, "mine[k] = uint4{0, 0, 0, 0};", ""},
    {"GatherOperandsSwappedAtABorder", "gather_tiles", "hash_u8", LayoutKind::offsets,
     "combine(other, state) : combine(state, other)", "combine(state, other) : combine(other, state)"},
    {"GatherTileForgottenThatCameMeanwhile", "gather_tiles", "hash_u64", LayoutKind::offsets,
     "atomicCAS(const_cast<u64*>(borders.words) + border, u64(0), word)",
     "atomicExch(const_cast<u64*>(borders.words) + border, word)"},
    {"GatherGroupBegunWhereAnEndWaited", "gather_tiles", "hash_u64", LayoutKind::offsets,
     "has_waited ? border + Index(other_what >> kWhatBits)", "has_waited ? border"},
    {"GatherWaitedElsewhere", "gather_tiles", "hash_u64", LayoutKind::offsets,
     "kWaiting | unsigned(behind) << kWhatBits", "kWaiting | unsigned(behind / 2) << kWhatBits"},
    {"GatherBeginInTheLastTileOfAGroupNotSeen", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "if (first < kWarpThreads) {", "if (first < kWarpThreads - 1) {"},
    {"GatherGroupJoinedInParts", "gather_tiles", "hash_u64", LayoutKind::offsets, "if (there < taken) {",
     "if (there == 0) {"},
    {"GatherEarlierRowsForgotten", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "return began_before_row ? combine", "return false ? combine"},
    {"GatherEarlierRowsJoinedTwice", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "return began_before_row ? combine", "return true ? combine"},
    {"GatherRunJoinedOverAnEnd", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "k == 0 || (ends >> (k - 1) & 1u) != 0 ? item", "k == 0 ? item"},
    {"GatherOpenRunKeptBehindAnEnd", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "!= 0 ? identity() : run, ends != 0};", "== 0 ? run : run, ends != 0};"},
    {"GatherKnownSegmentTrusted", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "const bool is_known = from <= begin &&", "const bool is_known = true ||"},
    {"GatherMarkBehindTheTile", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "if (ends.at[k] > begin && ends.at[k] <= end)", "if (ends.at[k] > begin)"},
    {"GatherPiecesOfEarlierTilesNotAwaited", "gather_tiles", "hash_u64", LayoutKind::offsets,
     "is_there = is_there && words[k] != 0;", "is_there = is_there && (k > 0 || words[k] != 0);"},
    {"GatherPiecesNotCleared", "gather_tiles", "hash_u64", LayoutKind::offsets, "other_rest[k - 1] = 0;",
     ";"},
    {"GatherOwnPiecesNotCleared", "gather_tiles", "hash_u64", LayoutKind::offsets, "own_rest[k - 1] = 0;",
     ";"},
    {"GatherPiecesOfJoinedTilesNotCleared", "gather_tiles", "hash_u64", LayoutKind::offsets,
     "borders.rest[2 * mine * kRest + k - 1] = 0;", ";"},
    {"GatherPiecesOfTheOtherSide", "gather_tiles", "hash_u64", LayoutKind::offsets, "what <= kNoHead ? 1 : 0",
     "0"},
    {"GatherJoinGoesOnBehindTheBegin", "gather_tiles", "hash_u8", LayoutKind::offsets,
     "const int taken = min(num_tiles, first + 1);", "const int taken = num_tiles;"},
    {"GatherFirstTileNeverBegins", "gather_tiles", "sum_i32", LayoutKind::offsets,
     "before.ends || tile == 0 ? kBegun", "before.ends ? kBegun"},
};

}  // namespace segfold::test
