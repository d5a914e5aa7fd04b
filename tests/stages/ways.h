#pragma once
// Lists, for a stage and an operator, the layouts and index widths that the stage serves.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/common/stage_cases.h"

namespace segfold::test {

/// Whether a stage serves a standard operator. Operators and problems are kept: listing the cases, which
/// every process of a test program does, asks hundreds of times.
inline bool serves(const Catalogue& catalogue, const Stage& stage, const std::string& op, SegmentForm form,
                   int index_bits = 32)
{
    static std::map<std::string, Operator> operators;
    static std::map<std::tuple<std::string, SegmentForm, int>, Problem> problems;
    const std::tuple key(op, form, index_bits);
    auto place = problems.find(key);
    if (place == problems.end()) {
        auto known = operators.find(op);
        if (known == operators.end())
            known = operators.emplace(op, standard_operator(op)).first;
        place = problems.emplace(key, Problem(known->second, form, index_bits)).first;
    }
    return !catalogue.unmet(stage, place->second);
}

/// Whether a stage serves a standard operator in any layout.
inline bool serves(const Catalogue& catalogue, const Stage& stage, const std::string& op)
{
    return std::ranges::any_of(stage.forms,
                               [&](SegmentForm form) { return serves(catalogue, stage, op, form); });
}

/// A layout and an index width in which a stage gets segments.
struct Way {
    LayoutKind kind;
    int index_bits;
};

/// Returns all ways in which a stage serves an operator. Only one operator has 64-bit indices, because
/// nothing else depends on the width.
inline std::vector<Way> ways(const Catalogue& catalogue, const Stage& stage, const std::string& op)
{
    std::vector<Way> all;
    for (const auto kind : kLayoutKinds)
        for (const int bits : {32, 64}) {
            const bool kept = bits == 32 || (op == "trace_u64" && kind != LayoutKind::lengths &&
                                             takes_directly(stage, kind));
            if (kept && serves(catalogue, stage, op, form_of(kind), bits))
                all.push_back({kind, bits});
        }
    return all;
}

}  // namespace segfold::test
