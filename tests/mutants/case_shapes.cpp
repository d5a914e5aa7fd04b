#include "tests/mutants/case_shapes.h"

#include <algorithm>
#include <iterator>

#include "tests/stages/write_back_cases.h"

namespace segfold::test {
namespace {

/// Segments of the given lengths.
Shapes in_form(SegmentForm form, const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& cases)
{
    Shapes shapes;
    for (const auto& [name, lengths] : cases)
        shapes.push_back({name, segments_in_form(form, lengths)});
    return shapes;
}

}  // namespace

/// Shapes that cross most borders with few elements.
Shapes few_shapes(SegmentForm form, std::int64_t tile, bool empties)
{
    Shapes shapes;
    if (form == SegmentForm::whole) {
        for (const auto n : {3 * tile + 1, tile - 1, std::int64_t{1}, 20 * tile + 5})
            shapes.push_back({"whole " + std::to_string(n), whole_segments(n)});
        return shapes;
    }
    if (form == SegmentForm::uniform) {
        for (const auto& [length, count] :
             std::vector<std::pair<std::int64_t, std::int64_t>>{{7, 3 * tile / 7 + 1},
                                                                {5, 3 * tile},
                                                                {tile + 1, 3},
                                                                {4, tile / 3},
                                                                {33, 5},
                                                                {1, tile + 2},
                                                                {3 * tile, 2}})
            shapes.push_back({"uniform " + std::to_string(length) + " x " + std::to_string(count),
                              uniform_segments(length * count, length)});
        return shapes;
    }
    const auto add = [&](const std::string& name, std::vector<std::int64_t> lengths) {
        if (!empties)
            std::erase(lengths, 0);
        shapes.push_back({name, segments_in_form(form, lengths)});
    };
    std::vector<std::int64_t> many(static_cast<std::size_t>(tile) + 3, 1);
    many[many.size() / 2] = 2 * tile + 3;
    add("lengths about a tile",
        {0, tile - 1, 1, 2 * tile + 3, 0, 0, 31, 33, tile, 5, 3, 0, 3 * tile, 7, 2, tile + 1, 0});
    add("a giant among ones", many);
    std::vector<std::int64_t> half;
    for (std::int64_t i = 0; i < 3 * tile; ++i)
        half.push_back(i % 2 == 0 ? 0 : i % 7);
    add("half empty", half);
    add("one", {tile + 1});
    add("less than a tile", {tile - 1});
    add("tiles exactly", {tile, tile});
    if (empties)
        add("all empty", std::vector<std::int64_t>(static_cast<std::size_t>(tile) + 3, 0));
    if (is_found(form))  // segments that begin in one warp's share and end two shares on
        add("nine of one length", std::vector<std::int64_t>(9, tile * 11 / 15));
    return shapes;
}

Shapes mapped_shapes(const Stage& stage, SegmentForm form)
{
    Shapes shapes;
    const auto add = [&](const char* name, const std::vector<std::int64_t>& lengths) {
        shapes.push_back({name, segments_in_form(SegmentForm::offsets, lengths)});
    };
    if (form == SegmentForm::whole)
        shapes.push_back({"whole", whole_segments(4099)});
    if (form == SegmentForm::uniform)
        shapes.push_back({"41 each", uniform_segments(4100, 41)});
    if (form == SegmentForm::ranges) {
        shapes.push_back(
            {"gaps", segments_from_ranges(index_array({900, 5, 2000, 130, 640, 10, 11}),
                                          index_array({1033, 5, 2601, 431, 641, 11, 15}), 2700)});
        std::vector<std::int64_t> begins, ends;
        for (std::int64_t i = 0; i < 80; ++i) {
            begins.push_back(4 * i);
            ends.push_back(4 * i + i % 4);
        }
        shapes.push_back({"short ones", segments_from_ranges(index_array(begins), index_array(ends), 320)});
    }
    if (form != SegmentForm::offsets)
        return shapes;
    std::vector<std::int64_t> crowd(5000, 0), mixed;
    crowd.front() = 3;
    crowd[2500] = 1;
    crowd[2501] = 2050;
    crowd.back() = 2047;
    for (int i = 0; i < 700; ++i)
        mixed.push_back(i % 5 == 0 ? 0 : i % 89 == 0 ? 300 : i % 7);
    add("tiles", {5, 2043, 2, 2047, 1, 6 * 2048 + 1, 3, 0});
    add("a tile", {0, 0, 2048, 0, 0, 2048, 0});
    add("ones", std::vector<std::int64_t>(4100, 1));
    add("mixed", mixed);
    add("crowd", crowd);
    if (stage.name == "fused_tiles")
        for (const auto& lengths : tile_lists(16 * 32))
            add("a warp's tiles", lengths);
    return shapes;
}

Shapes all_shapes(const Stage& stage, SegmentForm form, std::int64_t block, std::int64_t tile, bool empties)
{
    Shapes shapes;
    if (stage.is_rung)
        shapes = rung_shapes(form, tile);
    const auto kind = form == SegmentForm::whole     ? LayoutKind::whole
                      : form == SegmentForm::uniform ? LayoutKind::uniform
                      : form == SegmentForm::ranges  ? LayoutKind::ranges
                      : form == SegmentForm::flags   ? LayoutKind::flags
                      : form == SegmentForm::keys    ? LayoutKind::keys
                                                     : LayoutKind::offsets;
    auto more = segment_cases(kind, block, tile, empties);
    std::ranges::move(more, std::back_inserter(shapes));
    if (is_found(form))  // segments that begin in one warp's share and end two shares on
        for (const std::int64_t length : {tile * 11 / 15, tile * 11 / 30, tile * 11 / 60})
            shapes.push_back(
                {"nine of one length", segments_in_form(form, std::vector<std::int64_t>(9, length))});
    return shapes;
}

Shapes offsets_shape(const std::string& name, const std::vector<std::int64_t>& lengths)
{
    Shapes shapes;
    shapes.push_back({name, segments_in_form(SegmentForm::offsets, lengths)});
    return shapes;
}

Shapes long_row_shapes()
{
    auto shapes = offsets_shape("giants of long rows", {3, 0, 200, 1, 0, 96, 2});
    shapes.push_back({"few long rows", segments_in_form(SegmentForm::offsets, {3, 0, 4})});
    return shapes;
}

Shapes mapped_rows_shapes(std::int64_t num_elements)
{
    constexpr std::int64_t kLengths[] = {5, 0, 0, 9, 1, 1, 0, 14, 26, 0, 40, 3, 2, 17, 8, 0, 8};
    std::vector<std::int64_t> lengths;
    for (auto rest = num_elements; rest > 0; rest -= lengths.back())
        lengths.push_back(std::min(rest, kLengths[lengths.size() % std::size(kLengths)]));
    return offsets_shape("mapped rows", lengths);
}

Segments from_wide_keys(const std::vector<std::int64_t>& lengths)
{
    std::vector<std::int64_t> keys;
    std::int64_t key = 0;
    for (const auto length : lengths)
        keys.insert(keys.end(), static_cast<std::size_t>(length), ++key << 32 | 5);
    return segments_from_keys(Array::of<std::int64_t>(Type::i64, keys), total(lengths));
}

std::vector<std::int64_t> empty_segment_first()
{
    constexpr std::int64_t kBefore = 127;
    std::vector<std::int64_t> behind(300, 3);
    for (std::size_t i = 5; i < behind.size(); i += 9)
        behind[i] = 0;
    const auto num_behind = static_cast<std::int64_t>(behind.size());
    // Half of all places falls among the three of the empty segment.
    const auto items_before = total(behind) + 3 * num_behind - 3 * kBefore + 1;
    std::vector<std::int64_t> lengths(kBefore, items_before / kBefore);
    lengths.front() += items_before % kBefore;
    lengths.push_back(0);
    lengths.insert(lengths.end(), behind.begin(), behind.end());
    return lengths;
}

std::vector<std::int64_t> one_total_too_many()
{
    std::vector<std::int64_t> lengths(100, 2);
    lengths.push_back(60);
    lengths.insert(lengths.end(), 186, 1);
    const auto num_ended = static_cast<std::int64_t>(lengths.size());
    constexpr std::int64_t kEnd = 480;  // the first share's
    // All places are twice those up to the share's end.
    lengths.push_back(2 * (kEnd + 3 * num_ended) - total(lengths) - 3 * (num_ended + 1));
    return lengths;
}

Shapes empty_range_at_the_end()
{
    return one({"an empty range at the end",
                segments_from_ranges(index_array({0, 32, 3}), index_array({20, 32, 32}), 32)});
}

Shapes full_block_shapes()
{
    std::vector<std::int64_t> lengths(2 * 64, 1);
    lengths[63] = 5;
    return offsets_shape("a full block", lengths);
}

Shapes one(SegmentCase shape)
{
    Shapes shapes;
    shapes.push_back(std::move(shape));
    return shapes;
}

Shapes tree_shapes(std::int64_t tile)
{
    const auto n = tile * (32 * 32 + 40) + 7;
    Shapes shapes;
    for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{n},
                                                     {3, tile * 70, 1, tile * 955, tile, n - tile * 1026 - 4},
                                                     {tile * 32, tile * 31, tile * 33, n - tile * 96},
                                                     {tile * 40 + 3, tile * 24 - 3}})
        shapes.push_back({"levels of the tree", segments_in_form(SegmentForm::keys, lengths)});
    return shapes;
}

Shapes few_border_shapes(SegmentForm form, std::int64_t tile)
{
    return in_form(form,
                   {{"over three tiles", {5, 3 * tile, 1, tile - 6, 2 * tile, tile, tile + 1, 3 * tile - 2}},
                    {"one giant", {6 * tile + 7}},
                    {"the last tile has no head", {tile + 3, 4 * tile - 3}}});
}

Shapes border_shapes(SegmentForm form, std::int64_t tile)
{
    std::vector<std::int64_t> threes(40, 3 * tile + 1), twos(60, 2 * tile);
    return in_form(
        form,
        {{"one giant over three groups", {90 * tile + 5}},
         {"giants that end where groups do", {32 * tile, 32 * tile, 33 * tile, tile}},
         {"giants behind the borders of groups", {tile + 1, 31 * tile, 32 * tile, 36 * tile + 3, 7}},
         {"giants that begin before the last border of a group", {31 * tile + 2, 35 * tile, 30 * tile, 1}},
         {"a giant that begins in the last tile of a group", {tile + 3, 33 * tile, 2}},
         {"a giant among short ones", {3, tile, 5, 40 * tile + 2, 1, tile - 4, 2 * tile, 1, 33 * tile, 1}},
         {"three tiles each", threes},
         {"two tiles each", twos},
         {"a giant ends in the last tile", {tile - 1, 70 * tile + 1, 2, 3}},
         {"the last tile has no head", {40 * tile, 2 * tile - 1}}});
}

Shapes growing_shapes(SegmentForm form, std::int64_t num_elements)
{
    std::vector<std::int64_t> lengths;
    for (auto rest = num_elements; rest > 0; rest -= lengths.back())
        lengths.push_back(std::min(rest, 3 + std::ssize(lengths) / 16));
    return one({"growing lengths", segments_in_form(form, lengths)});
}

Shapes crowded_shapes(SegmentForm form, std::int64_t tile)
{
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(tile), 1);
    lengths.insert(lengths.end(), static_cast<std::size_t>(tile / 3), 3);
    lengths.push_back(tile + 11);
    return one({"crowded, then long", segments_in_form(form, lengths)});
}

Shapes unit_shapes(SegmentForm form)
{
    constexpr std::int64_t unit = 2048;
    Shapes shapes;
    for (const std::int64_t n : {3 * unit - 1, 3 * unit, 3 * unit + 1, 33 * unit + 700, 32 * unit}) {
        std::vector<std::int64_t> lengths = {1, unit - 1, 2, 1};
        std::int64_t rest = n - unit - 3;
        for (std::int64_t k = 1; rest > 0; k = k * 7 % 331 + 1) {
            lengths.push_back(std::min(rest, k));
            rest -= lengths.back();
        }
        shapes.push_back({std::to_string(n) + " items in units", segments_in_form(form, lengths)});
    }
    return shapes;
}

Segments many_units(SegmentForm form, std::int64_t mean)
{
    std::vector<std::int64_t> lengths;
    std::int64_t rest = 258 * 2048 + 77;
    for (std::int64_t k = 1; rest > 0; k = k * 7 % (2 * mean + 1) + 1) {
        lengths.push_back(std::min(rest, k));
        rest -= lengths.back();
    }
    return segments_in_form(form, lengths);
}

}  // namespace segfold::test
