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
/// `arrays` holds the operator's parameters, and may hold other arrays; a scalar is an array of one value.
/// `offsets` holds the index of each segment's first element, then the number of elements. Throws InputError
/// if a table is read outside of its length, if an array is missing, or if an empty segment has no result.
[[nodiscard]] WideByName fold_few(const Operator& op, const ArraysByName& arrays,
                                  std::span<const std::int64_t> offsets);

/// Folds several operators, one after another. Adds the results and outputs of each operator to `arrays`,
/// rounded to their types, as inputs of later operators.
void fold_few_in_turn(std::span<const Operator> operators, ArraysByName& arrays,
                      std::span<const std::int64_t> offsets);

}  // namespace segfold
