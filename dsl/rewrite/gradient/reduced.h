#pragma once
// Removes parts of operators, and changes their types.
#include <optional>
#include <set>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// The given fields, and all fields that `combine` reads to compute them, directly or through other fields.
[[nodiscard]] std::set<std::string> fields_behind(const Operator& op, std::set<std::string> fields);

/// The operator with only the given fields in its state, which must include fields_behind() them. These
/// fields are its results; it has no outputs. Unread locals are dropped.
[[nodiscard]] Operator with_fields(Operator op, const std::set<std::string>& fields);

/// Drops parameters that no part reads, except the one called `kept`.
[[nodiscard]] Operator without_unread_parameters(Operator op, const std::string& kept);

/// Renames the fields of the state that have the name of a parameter.
[[nodiscard]] Operator with_own_field_names(Operator op);

/// The first expression by which lift, map or scan reads a table or a scalar; none if they read none.
[[nodiscard]] std::optional<Expression> first_read(const Operator& op, const std::string& table);

/// True if lift, map or scan reads the table at two or more places, such as [segment] and [position].
[[nodiscard]] bool reads_several_entries(const Operator& op, const std::string& table);

/// The operator with f64 instead of each floating-point type.
[[nodiscard]] Operator in_f64(Operator op);

}  // namespace segfold
