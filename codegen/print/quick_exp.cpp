#include "codegen/print/quick_exp.h"

#include <algorithm>

#include "codegen/print/opaque.h"

namespace segfold {

bool rounds_to_halves(const Operator& op)
{
    const auto rounds = [](const auto& returned) { return is_half(returned.type); };
    const bool rounds_results = !op.keeps_results || std::ranges::all_of(op.results, rounds);
    return rounds_results && std::ranges::all_of(op.outputs, rounds);
}

}  // namespace segfold
