#pragma once
// Bindings of the module besides operators.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace segfold::python {

/// Plans: chosen and compiled once, run on arrays of the same sizes.
void bind_plan(nanobind::module_& module);

/// Laws, tuning, devices.
void bind_verbs(nanobind::module_& module);

/// Operators made of traced Python functions.
void bind_trace(nanobind::module_& module);

/// Folds within programs of XLA.
void bind_xla(nanobind::module_& module);

}  // namespace segfold::python
