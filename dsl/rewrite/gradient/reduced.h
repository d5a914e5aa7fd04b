#pragma once
// Takes parts of operators away, and changes their types.
#include <optional>
#include <set>
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// The fields that `combine` reads, directly and through others, to compute the given ones, with these.
[[nodiscard]] std::set<std::string> fields_behind(const Operator& op, std::set<std::string> fields);

/// The operator whose state has only the given fields, which must include all behind them. It returns them,
/// and has no other results and no outputs. Locals that nothing reads go.
[[nodiscard]] Operator with_fields(Operator op, const std::set<std::string>& fields);

/// Drops parameters that no part reads, except the one called `kept`.
[[nodiscard]] Operator without_unread_parameters(Operator op, const std::string& kept);

/// The operator with other names for the fields of its state that are called like a parameter.
[[nodiscard]] Operator with_own_field_names(Operator op);

/// The first expression by which lift, map or scan reads a table or a scalar; none if they read none.
[[nodiscard]] std::optional<Expression> first_read(const Operator& op, const std::string& table);

/// True if lift, map or scan reads the table at two places or more, as [segment] and [position].
[[nodiscard]] bool reads_several_entries(const Operator& op, const std::string& table);

/// The operator with f64 in place of each floating-point type.
[[nodiscard]] Operator in_f64(Operator op);

}  // namespace segfold
