#pragma once
// Z3's answers to get-value and get-unsat-core.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold::prove {

/// The values of "((name value) ...)", in their order, as texts; empty if the reply has another form.
std::vector<std::string> values_of(std::string_view reply);

/// A value as a slot of `type`: "#x0f", "true", "(- 5)", "(/ 1.0 3.0)". Floats given by bits are read as
/// bits. Nothing if it is no such number.
std::optional<Slot<double>> slot_of(std::string_view value, Type type);

/// The numbers of "(inv.3 inv.17)".
std::set<std::size_t> core_of(std::string_view reply);

}  // namespace segfold::prove
