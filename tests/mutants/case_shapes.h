#pragma once
// The shapes that stages are run on to find mutants.
#include <cstdint>
#include <vector>

#include "codegen/stage.h"
#include "tests/common/stage_cases.h"

namespace segfold::test {

using Shapes = std::vector<SegmentCase>;

/// Shapes that cross most borders with few elements.
Shapes few_shapes(SegmentForm form, std::int64_t tile, bool empties);

/// All shapes of the tests of stages, and more where segments are found in flags or keys.
Shapes all_shapes(const Stage& stage, SegmentForm form, std::int64_t block, std::int64_t tile, bool empties);

/// Shapes at the borders of the kernel that maps, whose tiles have 2048 elements and keep as many ends;
/// ranges with gaps, and short ones. For fused_tiles those of its tiles too, of 16 items a thread.
Shapes mapped_shapes(const Stage& stage, SegmentForm form);

/// One shape from offsets.
Shapes offsets_shape(const std::string& name, const std::vector<std::int64_t>& lengths);

/// Giants over many shares of rows, and fewer rows than groups of lanes.
Shapes long_row_shapes();

/// Short segments and empty ones, so many elements in all.
Shapes mapped_rows_shapes(std::int64_t num_elements);

/// The segments given by keys of 8 bytes that differ in their upper halves alone.
Segments from_wide_keys(const std::vector<std::int64_t>& lengths);

/// Lengths of which two equal shares are made, items and segments three times as much counted: the second one
/// begins with an empty segment whose number is one less than a multiple of 128, and 300 more follow.
std::vector<std::int64_t> empty_segment_first();

/// Lengths of which two equal shares are made, likewise: 287 segments end in the first two tiles of 256
/// items, which is one more than a warp may hold, and the share ends amid the next segment.
std::vector<std::int64_t> one_total_too_many();

/// Ranges of which an empty one begins where the array ends, at the border of a vector.
Shapes empty_range_at_the_end();

/// As many segments as a block of 64 threads takes by two: what stands behind the last one's end is not of
/// the array, and its thread has a longer one under way.
Shapes full_block_shapes();

/// A single shape.
Shapes one(SegmentCase shape);

/// Segments of keys over some tiles, and over so many that a tree over tiles has three levels.
Shapes tree_shapes(std::int64_t tile);

/// Segments through a few whole tiles, which end and begin at their borders and within them.
Shapes few_border_shapes(SegmentForm form, std::int64_t tile);

/// Segments through more tiles than a warp has lanes, and over several groups of 32 borders.
Shapes border_shapes(SegmentForm form, std::int64_t tile);

/// Ever longer segments, so that tiles differ in their numbers of ends.
Shapes growing_shapes(SegmentForm form, std::int64_t num_elements);

/// Segments over units of 2048 items, of which a warp makes offsets, over several blocks of 32 units; some
/// inputs end with a unit or one item before or behind its end.
Shapes unit_shapes(SegmentForm form);

/// Segments of about `mean` over 258 units, of which 128 are counted together.
Segments many_units(SegmentForm form, std::int64_t mean);

/// A tile of segments of one element, one of three, and a long one.
Shapes crowded_shapes(SegmentForm form, std::int64_t tile);

}  // namespace segfold::test
