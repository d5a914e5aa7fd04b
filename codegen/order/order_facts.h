#pragma once
// The facts of a workload by which measured rows choose stages and configurations.
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "codegen/weave/formula_names.h"

namespace segfold {

/// The facts of operators and machines that measured rows have, by their names in problem_facts(). `true` for
/// those that the order asks as logarithms.
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

/// Places of facts that say which kind of work it is. The form of segments stands behind kRowFacts.
inline constexpr std::size_t kMapFact = 5, kRowBytesFact = 6, kFormFact = kRowFacts.size();

/// What the order asks, one number for each of FACTS in kernels/ranks/grow.py.
using OrderFacts = std::array<int, 28>;

/// Returns `facts` as those of segments by offsets, which a kernel makes of flags and keys.
OrderFacts as_offsets(OrderFacts facts);

/// The value of a logarithm of 0, and of the length of rows without features.
inline constexpr int kUnknownFact = -9999;

/// Returns what the order asks of plan_facts(). Unknown sizes count as 2^24 elements in segments of 64, rows
/// of unknown length as 64 features.
OrderFacts order_facts(const FormulaNames& plan_facts);

}  // namespace segfold
