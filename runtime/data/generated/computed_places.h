#pragma once
// Finds lengths of tables and values of columns for generated data, such that reads at computed indices stay
// inside the tables.
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/operator.h"

namespace segfold {

/// Facts about an operator's arrays. Some of the arrays may not exist yet.
struct KnownPlaces {
    /// Returns the range of `index`, `position`, `segment` or an existing array; nothing for an array that
    /// does not exist yet.
    std::function<std::optional<Interval>(const std::string& name)> values;
    /// Returns the number of entries of a table; nothing if the table does not exist yet.
    std::function<std::optional<std::int64_t>(const std::string& table)> length;
};

/// Bounds for arrays that are still to be generated. Within them, reads at computed indices stay inside the
/// tables.
class ComputedPlaces {
public:
    ComputedPlaces(const Operator& op, KnownPlaces known);

    /// True if an index of a table is computed from the column. The column must then have integers from 0 to
    /// limit() - 1.
    [[nodiscard]] bool takes_part(const std::string& column) const { return taking_part_.contains(column); }

    /// Number of different values in a column of takes_part(). It is the greatest power of two up to 16 that
    /// keeps all reads inside the existing tables; 16 if no power does.
    [[nodiscard]] std::int64_t limit() const { return limit_; }

    /// The least length of a table for which all reads of `lift` stay inside the table; nothing if it exceeds
    /// 2^22.
    [[nodiscard]] std::optional<std::int64_t> length(const std::string& table) const;

private:
    [[nodiscard]] bool is_inside(const std::string& table, std::int64_t length) const;
    [[nodiscard]] Interval values(const std::string& name) const;

    const Operator& op_;
    KnownPlaces known_;
    std::set<std::string> taking_part_;
    std::int64_t limit_ = 16;
};

}  // namespace segfold
