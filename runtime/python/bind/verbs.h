#pragma once
// Functions that bind everything in the module except operators.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace segfold::python {

/// Binds plans. A plan is chosen and compiled once, and can then run on any arrays of the same sizes.
void bind_plan(nanobind::module_& module);

/// Binds functions for laws, tuning and devices.
void bind_verbs(nanobind::module_& module);

/// Binds operators that are made from traced Python functions.
void bind_trace(nanobind::module_& module);

/// Binds folds for programs that XLA compiles.
void bind_xla(nanobind::module_& module);

}  // namespace segfold::python
