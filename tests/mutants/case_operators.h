#pragma once
// The operators that stages are run with to find mutants, and their columns.
#include <string>

#include "dsl/operator.h"
#include "runtime/data/workload.h"

namespace segfold::test {

/// An operator by its name: one that is made for mutants, or that of matrix_operator().
Operator operator_of(const std::string& name);

/// The operator on generated columns over `segments`.
Workload workload_of(const Operator& op, Segments segments);

}  // namespace segfold::test
