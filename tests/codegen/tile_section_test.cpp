// How emitted texts move raw elements of every width: Tile, copy_tile(), Items, take_items(), lift_item().
#include "codegen/section/tile_section.h"

#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::tile_section_test {
namespace {

Problem problem(const std::string& parameters, const std::string& lift)
{
    return {parse_operator("t.seg", "operator t(" + parameters + ") -> i64 { state s: i64 = 0 lift " + lift +
                                        " combine(a, b) a + b }"),
            SegmentForm::offsets};
}

std::string piece(const std::string& name, const Problem& of)
{
    for (const auto& piece : tile_section(of))
        if (piece.name == name)
            return piece.text;
    return "no such piece";
}

const Problem kFour = problem("a: u8, b: i64, c: f16, d: i32", "i64(a) + b + i64(c) + i64(d)");

TEST(TileSection, ATileHasARowOfEachColumn)
{
    EXPECT_EQ(piece("kStepItems", kFour), "constexpr int kStepItems = 4;\n");
    EXPECT_EQ(
        piece("Tile", kFour),
        "// The elements of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().\n"
        "struct Tile {\n"
        "    alignas(16) u8 a[kItemsPerThread * kWarpThreads];\n"
        "    alignas(16) i64 b[kItemsPerThread * kWarpThreads];\n"
        "    alignas(16) f16 c[kItemsPerThread * kWarpThreads];\n"
        "    alignas(16) int d[kItemsPerThread * kWarpThreads];\n"
        "};\n");
}

TEST(TileSection, ColumnsAreCopiedByTheirBytes)
{
    EXPECT_EQ(
        piece("copy_tile", kFour),
        "// Starts to copy a tile of elements from `begin` on; elements at `end` and beyond become zero.\n"
        "__device__ __forceinline__ void copy_tile(Tile& tile, const Inputs& inputs, Index begin, Index "
        "end)\n"
        "{\n"
        "    copy_column((char*)tile.a, (const char*)(inputs.a + begin), 1, end - begin);\n"
        "    copy_column((char*)tile.b, (const char*)(inputs.b + begin), 8, end - begin);\n"
        "    copy_column((char*)tile.c, (const char*)(inputs.c + begin), 2, end - begin);\n"
        "    copy_column((char*)tile.d, (const char*)(inputs.d + begin), 4, end - begin);\n"
        "}\n");
}

TEST(TileSection, VectorsAreCopiedToArraysOfEachWidth)
{
    EXPECT_EQ(
        piece("SharedVectors", kFour),
        "// Vectors of kStepItems items in shared memory: kSharedVectors of each thread, which alone reads "
        "them.\n"
        "struct SharedVectors {\n"
        "    Chunk_a a[1][kSharedVectors][kBlockThreads];\n"
        "    Chunk_b b[2][kSharedVectors][kBlockThreads];\n"
        "    Chunk_c c[1][kSharedVectors][kBlockThreads];\n"
        "    Chunk_d d[1][kSharedVectors][kBlockThreads];\n"
        "};\n");
    const auto copies = piece("copy_vectors", kFour);
    for (const auto* copy : {"copy_chunk_async(&to.a[0][v][threadIdx.x], inputs.a + index, 4);",
                             "copy_chunk_async(&to.b[1][v][threadIdx.x], inputs.b + index + 2, 16);",
                             "copy_chunk_async(&to.c[0][v][threadIdx.x], inputs.c + index, 8);"})
        EXPECT_NE(copies.find(copy), copies.npos) << copy << "\n" << copies;
}

TEST(TileSection, ItemsAreTakenInTheWidestVectorsOfFourElements)
{
    EXPECT_EQ(piece("Items", kFour),
              "struct alignas(4) Chunk_a {\n"
              "    u8 at[4];\n"
              "};\n"
              "\n"
              "struct alignas(16) Chunk_b {\n"
              "    i64 at[2];\n"
              "};\n"
              "\n"
              "struct alignas(8) Chunk_c {\n"
              "    f16 at[4];\n"
              "};\n"
              "\n"
              "struct alignas(16) Chunk_d {\n"
              "    int at[4];\n"
              "};\n"
              "\n"
              "// Elements of kStepItems consecutive items.\n"
              "struct Items {\n"
              "    Chunk_a a[1];\n"
              "    Chunk_b b[2];\n"
              "    Chunk_c c[1];\n"
              "    Chunk_d d[1];\n"
              "};\n");
    EXPECT_EQ(piece("take_items", kFour),
              "// Returns the items of this lane's row from step * kStepItems on.\n"
              "__device__ __forceinline__ Items take_items(const Tile& tile, int step)\n"
              "{\n"
              "    const int lane = threadIdx.x % kWarpThreads;\n"
              "    Items items;\n"
              "    items.a[0] = *(const Chunk_a*)((const char*)tile.a + tile_place(lane, step * 4, "
              "kItemsPerThread * 1));\n"
              "    items.b[0] = *(const Chunk_b*)((const char*)tile.b + tile_place(lane, step * 32, "
              "kItemsPerThread * 8));\n"
              "    items.b[1] = *(const Chunk_b*)((const char*)tile.b\n"
              "        + tile_place(lane, step * 32 + 16, kItemsPerThread * 8));\n"
              "    items.c[0] = *(const Chunk_c*)((const char*)tile.c + tile_place(lane, step * 8, "
              "kItemsPerThread * 2));\n"
              "    items.d[0] = *(const Chunk_d*)((const char*)tile.d + tile_place(lane, step * 16, "
              "kItemsPerThread * 4));\n"
              "    return items;\n"
              "}\n");
}

TEST(TileSection, ItemsAreLiftedOutOfTheirChunks)
{
    EXPECT_EQ(
        piece("lift_item", kFour),
        "// Lifts item k of a step, which is the element at `index`.\n"
        "__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)\n"
        "{\n"
        "    return lift(items.a[0].at[k], items.b[k / 2].at[k % 2], items.c[0].at[k], items.d[0].at[k]);\n"
        "}\n");
    EXPECT_EQ(piece("lift_item", problem("x: i64, t: table i64", "x * t[index]")),
              "// Lifts item k of a step, which is the element at `index`.\n"
              "__device__ __forceinline__ State lift_item(const Inputs& inputs, const Items& items, int k, "
              "Index index)\n"
              "{\n"
              "    return lift(items.x[k / 2].at[k % 2], inputs.t, index);\n"
              "}\n");
}

TEST(TileSection, ColumnsThatLiftDoesNotReadStayWhereTheyAre)
{
    const auto some = problem("a: u8, b: i64, t: table i32, u: table i32", "b + i64(t[b])");
    ASSERT_EQ(lifted_columns(some.op).size(), 1u);
    EXPECT_EQ(lifted_columns(some.op)[0]->name, "b");
    EXPECT_EQ(element_bytes(some.op), 8);
    EXPECT_EQ(
        piece("Tile", some),
        "// The elements of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().\n"
        "struct Tile {\n    alignas(16) i64 b[kItemsPerThread * kWarpThreads];\n};\n");
    EXPECT_EQ(
        piece("lift_item", some),
        "// Lifts item k of a step, which is the element at `index`.\n"
        "__device__ __forceinline__ State lift_item(const Inputs& inputs, const Items& items, int k, Index)\n"
        "{\n"
        "    return lift(items.b[k / 2].at[k % 2], inputs.t);\n"
        "}\n");
    const auto none = problem("x: i64", "1");
    EXPECT_TRUE(lifted_columns(none.op).empty());
    EXPECT_EQ(element_bytes(none.op), 0);
}

TEST(TileSection, NamesThatCudaHasTakenAreChanged)
{
    const auto taken = problem("int: i64", "int");
    EXPECT_EQ(
        piece("Tile", taken),
        "// The elements of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().\n"
        "struct Tile {\n"
        "    alignas(16) i64 int_[kItemsPerThread * kWarpThreads];\n"
        "};\n");
}

/// Stages that read elements where they lie get nothing of all this, and those that work on tiles no
/// load_item.
TEST(TileSection, StandsOnlyWhereAStageMentionsIt)
{
    const std::vector<std::string> of_items = {"kStepItems", "struct Items", "lift_item(", "struct alignas"};
    const std::vector<std::string> of_tiles = {"struct Tile", "copy_tile(", "take_items("};
    for (const auto& stage : Catalogue::standard().stages()) {
        if (stage.is_rung)  // a part mentions it, which this test does not read
            continue;
        const Problem sum(standard_operator("sum_i32"), stage.forms.back());
        if (Catalogue::standard().unmet(stage, sum))  // it folds rows
            continue;
        const auto source = emit(sum, stage, default_configuration(stage, plan_facts(sum))).source;
        const auto has = [&](const std::string& word) { return source.find(word) != std::string::npos; };
        // The parts by which a lane reads or folds consecutive elements or its row of a tile mention items,
        // too.
        const bool works_on_items = stage.text.find("lift_item(") != std::string::npos ||
                                    has("fold_consecutive(") || has("fold_strided(") || has("walk_row(") ||
                                    has("read_slice(");
        const bool works_on_tiles = stage.text.find("copy_tile(") != std::string::npos;
        for (const auto& word : of_items)
            EXPECT_EQ(has(word), works_on_items) << stage.name << ": " << word;
        for (const auto& word : of_tiles)
            EXPECT_EQ(has(word), works_on_tiles) << stage.name << ": " << word;
        const bool loads_items = has("load_items(") || has("load_vectors(");
        EXPECT_EQ(loads_items, works_on_items && !works_on_tiles) << stage.name;
        EXPECT_EQ(has("is_aligned("), has("load_vectors(")) << stage.name;
        EXPECT_TRUE(works_on_items || has("load_item(")) << stage.name;
    }
}

}  // namespace
}  // namespace segfold::tile_section_test
