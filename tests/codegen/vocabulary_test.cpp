// Texts of kernels/vocabulary: holes, lines for each item of a list, and what is ours to get right.
#include "codegen/section/vocabulary.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/common/message_of.h"

namespace segfold::vocabulary_test {
namespace {

std::string failure(std::string_view file, std::string_view piece, const Holes& holes = {})
{
    return test::message_of<InternalError>([&] { (void)vocabulary(file, piece, holes); });
}

TEST(Vocabulary, FillsHoles)
{
    EXPECT_EQ(vocabulary("tile.cuh", "condition", {{{"name", "x"}, {"chunk", "Chunk_x"}}}),
              "(unsigned long long)inputs.x % alignof(Chunk_x) == 0\n");
    EXPECT_EQ(
        vocabulary("helpers.cuh", "opaque"),
        "// Returns x, and hides its origin from compilers, because they forget that some arithmetic wraps.\n"
        "__device__ __forceinline__ int opaque(int x)\n{\n    asm(\"\" : \"+r\"(x));\n    return x;\n}\n");
}

TEST(Vocabulary, WritesLinesForEachItemWithWhatStandsAround)
{
    const auto chunk = [](const std::string& i, const std::string& plus) {
        return Holes{{{"i", i}, {"plus_items", plus}}};
    };
    const Holes x{{{"name", "x"}, {"chunk", "X"}}, {{"chunk", {chunk("0", ""), chunk("1", " + 2")}}}};
    const Holes y{{{"name", "y"}, {"chunk", "Y"}}, {{"chunk", {chunk("0", "")}}}};
    const std::string head =
        "// Loads the kStepItems items from the element at `index` on. `index` must be a multiple of "
        "kStepItems, and\n"
        "// all items must exist.\n"
        "__device__ __forceinline__ Items load_vectors(const Inputs& inputs, Index index)\n{\n"
        "    Items items;\n";
    EXPECT_EQ(vocabulary("tile.cuh", "load_vectors", {{}, {{"column", {x, y}}}}),
              head +
                  "    items.x[0] = *(const X*)(inputs.x + index);\n"
                  "    items.x[1] = *(const X*)(inputs.x + index + 2);\n"
                  "    items.y[0] = *(const Y*)(inputs.y + index);\n"
                  "    return items;\n}\n");
    EXPECT_EQ(vocabulary("tile.cuh", "load_vectors", {{}, {{"column", {}}}}),
              head + "    return items;\n}\n");
}

TEST(Vocabulary, WhatIsUnknownIsAFaultOfOurs)
{
    EXPECT_EQ(failure("tiles.cuh", "Tile"),
              "internal error: kernels/vocabulary: unknown piece 'tiles.cuh Tile'");
    EXPECT_EQ(failure("tile.cuh", "Tiles"),
              "internal error: kernels/vocabulary: unknown piece 'tile.cuh Tiles'");
    EXPECT_EQ(failure("tile.cuh", "Tile"), "internal error: kernels/vocabulary: unknown list 'column'");
    EXPECT_EQ(failure("tile.cuh", "condition", {{{"name", "x"}}}),
              "internal error: kernels/vocabulary: unknown hole 'chunk'");
}

}  // namespace
}  // namespace segfold::vocabulary_test
