#pragma once
// The text that codegen writes for operators, without a stage.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/section/operator_section.h"
#include "codegen/section/tile_section.h"
#include "codegen/weave/mention.h"

namespace segfold {

/// Returns the text of each operator that all stages share, each in its own namespace. It contains all names
/// that users write, and compiles fast because it has no kernels.
inline std::string generated_text(const std::vector<Operator>& operators)
{
    std::string text =
        "__device__ void copy_column(char* to, const char* from, int bytes, long long count);\n"
        "__device__ int tile_place(int lane, int byte, int row_bytes);\n"
        "__device__ void copy_chunk_async(void* to, const void* from, int bytes);\n";
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Problem problem(operators[i], SegmentForm::offsets);
        auto pieces =
            operator_section(problem, {{"kItemsPerThread", 16}, {"kSharedVectors", 2}, {"kBlockThreads", 64}},
                             [&](std::string_view path) { return part_text(path, problem); });
        std::ranges::move(tile_section(problem), std::back_inserter(pieces));
        Identifiers names;
        for (const auto& piece : pieces)
            names.insert(piece.name);
        text += "namespace variant_" + std::to_string(i) + " {\n" + keep_mentioned(pieces, names) + "}\n";
    }
    return text;
}

}  // namespace segfold
