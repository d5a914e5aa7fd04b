#pragma once
// Facts of a workload from which measured rows predict stages and configurations.
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "codegen/weave/formula_names.h"

namespace segfold {

/// Facts of operators and machines, by their names in problem_facts(). `true` means that StageOrder uses the
/// fact's logarithm.
constexpr std::array<std::pair<std::string_view, bool>, 14> kRowFacts = {{{"element_bytes", true},
                                                                          {"state_bytes", true},
                                                                          {"combine_cost", true},
                                                                          {"commutative", false},
                                                                          {"gathers", false},
                                                                          {"map", false},
                                                                          {"row_bytes", true},
                                                                          {"gathers_rows", false},
                                                                          {"calls_library", false},
                                                                          {"mixed_fields", false},
                                                                          {"many_fields", false},
                                                                          {"wide_vectors", false},
                                                                          {"element_cost", true},
                                                                          {"result_bytes", true}}};

/// Indices of the facts that decide the kind of work. The form of segments follows kRowFacts.
inline constexpr std::size_t kMapFact = 5, kRowBytesFact = 6, kFormFact = kRowFacts.size();

/// The numbers from which StageOrder predicts rates, one for each of FACTS in kernels/ranks/grow.py.
using OrderFacts = std::array<int, 28>;

/// Returns `facts` as if the segments were given as offsets. A kernel can compute offsets from flags or keys.
OrderFacts as_offsets(OrderFacts facts);

/// Stands for the logarithm of 0, and for the length of rows if there are none.
inline constexpr int kUnknownFact = -9999;

/// Computes OrderFacts from the value of plan_facts(). Unknown sizes count as 2^24 elements in segments of
/// 64, and rows of unknown length as 64 features.
OrderFacts order_facts(const FormulaNames& plan_facts);

}  // namespace segfold
