#pragma once
// Folds columns that are read piece by piece.
#include <nanobind/nanobind.h>

namespace segfold::python {

void bind_stream(nanobind::module_& module);

}  // namespace segfold::python
