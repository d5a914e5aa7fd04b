#pragma once
// Estimates the cost of an operator's combine(). Emitted texts and the choice of a stage depend on it.
#include <cstdint>

#include "dsl/operator.h"

namespace segfold {

/// Cost of combine() in additions; a division or a call of the C library counts as eight.
std::int64_t combine_cost(const Operator& op);

/// Cost of one more element in additions: that of append(), else of lift() and combine().
std::int64_t element_cost(const Operator& op);

/// True if one more copy of combine() costs more compile time than a loop around one copy costs run time.
bool is_costly(const Operator& op);

/// True if combine() is long compared with a call. CUDA texts then hold one copy, and every place calls it.
///
/// With a copy in each place, NVRTC took seconds for a plan. An append that the author wrote is still copied
/// to each place.
bool is_called(const Operator& op);

/// True if the fields of the state differ in size and the smallest has fewer than four bytes. Compilers do
/// not vectorise loops over lanes that combine such states.
bool has_mixed_fields(const Operator& op);

/// True if the state has so many fields that native texts hold one copy of combine(), and every place calls
/// it. With a copy in each place, a compiler took minutes.
bool has_many_fields(const Operator& op);

/// True if combine calls a function of the C library. Loops over lanes then call it for one lane at a time.
bool combine_calls_library(const Operator& op);

}  // namespace segfold
