#pragma once
// Estimates the cost of an operator's combine(). Emitted texts and the choice of a stage depend on this cost.
#include <cstdint>

#include "dsl/operator.h"

namespace segfold {

/// Returns the cost of one combine() as a number of additions. A division, or a mathematical function such as
/// exp, counts as eight additions.
std::int64_t combine_cost(const Operator& op);

/// Returns the cost of adding one more element, as a number of additions: the cost of append() if there is
/// one, else of lift() and combine().
std::int64_t element_cost(const Operator& op);

/// True if one more copy of combine() costs more compile time than a loop around one copy costs run time.
bool is_costly(const Operator& op);

/// True if combine() is so long that a function call costs little in comparison. CUDA texts then hold one
/// copy of combine(), which is called instead of inlined.
///
/// If such a combine() were inlined, NVRTC would take seconds to compile a plan. An `append` that the
/// operator's author wrote is always inlined.
bool is_called(const Operator& op);

/// True if the fields of the state differ in size and the smallest has fewer than four bytes. Compilers do
/// not vectorise loops over lanes that combine such states.
bool has_mixed_fields(const Operator& op);

/// True if the state has so many fields that native texts must call combine() instead of inlining it. If
/// combine() were inlined, the host's compiler would take minutes.
bool has_many_fields(const Operator& op);

/// True if combine() calls a function of the C library, such as exp. Loops over lanes then call this function
/// for one lane at a time.
bool combine_calls_library(const Operator& op);

}  // namespace segfold
