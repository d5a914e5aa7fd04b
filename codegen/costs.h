#pragma once
// Costs of an operator's combine() that texts and choices depend on.
#include "dsl/operator.h"

namespace segfold {

/// True if copies of combine() cost more compile time than a loop costs run time.
bool is_costly(const Operator& op);

/// True if a call is a small part of combine(): CUDA texts then have one copy of it, called in all places.
///
/// With a copy in each place NVRTC took seconds for a plan. An append that the author wrote is still copied.
bool is_called(const Operator& op);

/// True for a state whose fields differ in size, the least of them having fewer than four bytes: loops over
/// lanes that combine such states become no vectors.
bool has_mixed_fields(const Operator& op);

/// True for a state of so many fields that native texts have one copy of combine(), called in all places:
/// with a copy in each place a compiler took minutes.
bool has_many_fields(const Operator& op);

/// Whether combine calls a function of the C library. Loops over lanes call it for one lane after the other.
bool combine_calls_library(const Operator& op);

}  // namespace segfold
