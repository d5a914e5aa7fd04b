#pragma once
// Bindings of the module besides operators.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace segfold::python {

/// Binds plans, which are chosen and compiled once, and run on arrays of the same sizes.
void bind_plan(nanobind::module_& module);

/// Binds functions for laws, tuning and devices.
void bind_verbs(nanobind::module_& module);

/// Binds operators made of traced Python functions.
void bind_trace(nanobind::module_& module);

/// Binds folds within programs of XLA.
void bind_xla(nanobind::module_& module);

}  // namespace segfold::python
