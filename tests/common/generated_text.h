#pragma once
// What codegen writes around the expressions of operators, without a stage.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/section/operator_section.h"
#include "codegen/section/tile_section.h"
#include "codegen/weave/mention.h"

namespace segfold {

/// What is generated of each operator for all stages together, each in a namespace of its own: what users
/// name is in it, and without kernels it takes a compiler no time.
inline std::string generated_text(const std::vector<Operator>& operators)
{
    std::string text =
        "__device__ void copy_column(char* to, const char* from, int bytes, long long count);\n"
        "__device__ int tile_place(int lane, int byte, int row_bytes);\n";
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Problem problem(operators[i], SegmentForm::offsets);
        auto pieces = operator_section(problem, {{"kItemsPerThread", 16}},
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
