#pragma once
// Parses Z3's answers to get-value and get-unsat-core.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold::prove {

/// Returns the values in "((name value) ...)", in order. Empty if the reply has another form.
std::vector<std::string> values_of(std::string_view reply);

/// Parses a value such as "#x0f", "true", "(- 5)" or "(/ 1.0 3.0)" for a slot of `type`. For a float type,
/// "#x0f" is a bit pattern. Returns nothing if the text is not a value.
std::optional<Slot<double>> slot_of(std::string_view value, Type type);

/// Returns the numbers in a core: for "(inv.3 inv.17)" 3 and 17.
std::set<std::size_t> core_of(std::string_view reply);

}  // namespace segfold::prove
