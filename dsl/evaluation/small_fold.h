#pragma once
// Runs operators over a few elements in wide precision, without a back end.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/operator.h"

namespace segfold {

/// Arrays by name.
using ArraysByName = std::map<std::string, Array, std::less<>>;

/// Values by the name of a result or an output, before they are rounded to its type. Integers are exact up to
/// 2^63.
using WideByName = std::map<std::string, std::vector<long double>>;

/// Folds a checked operator in wide precision, from left to right, and computes the outputs of `map` and
/// `scan`.
///
/// `arrays` holds its parameters, and may hold more; a scalar is an array of one. `offsets` has the segments'
/// first elements and the end. Throws InputError if a table is read outside of its length or an array is
/// missing, and for an empty segment that has no result.
[[nodiscard]] WideByName fold_few(const Operator& op, const ArraysByName& arrays,
                                  std::span<const std::int64_t> offsets);

/// Folds operators in turn. Each adds its results and outputs to `arrays`, in their types, for later
/// operators.
void fold_few_in_turn(std::span<const Operator> operators, ArraysByName& arrays,
                      std::span<const std::int64_t> offsets);

}  // namespace segfold
