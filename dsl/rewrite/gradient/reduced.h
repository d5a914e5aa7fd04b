#pragma once
// Removes parts of operators and changes their types.
#include <optional>
#include <set>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Returns the given fields and all fields that `combine` reads to compute them, directly or through other
/// fields.
[[nodiscard]] std::set<std::string> fields_behind(const Operator& op, std::set<std::string> fields);

/// Returns the operator with only the given fields in its state. `fields` must include all of
/// fields_behind(). The fields become the results. The operator has no outputs. Drops locals that are no
/// longer read.
[[nodiscard]] Operator with_fields(Operator op, const std::set<std::string>& fields);

/// Drops parameters that no part reads. Keeps the parameter `kept`.
[[nodiscard]] Operator without_unread_parameters(Operator op, const std::string& kept);

/// Renames each field of the state that shares its name with a parameter.
[[nodiscard]] Operator with_own_field_names(Operator op);

/// Returns the first expression by which lift, map or scan reads a table or a scalar; none if no part reads
/// it.
[[nodiscard]] std::optional<Expression> first_read(const Operator& op, const std::string& table);

/// True if lift, map or scan reads the table at several indices, such as [segment] and [position].
[[nodiscard]] bool reads_several_entries(const Operator& op, const std::string& table);

/// Returns the operator with f64 in place of every floating-point type.
[[nodiscard]] Operator in_f64(Operator op);

}  // namespace segfold
