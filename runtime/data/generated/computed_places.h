#pragma once
// Tables that are read at computed places: lengths of them that fit the values of columns.
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "dsl/evaluation/interval.h"
#include "dsl/operator.h"

namespace segfold {

/// Known facts of an operator's arrays before all of them are made.
struct KnownPlaces {
    /// The values of index, position, segment and of whatever has an array; nothing of what is to be made.
    std::function<std::optional<Interval>(const std::string& name)> values;
    /// The entries of a table that has an array.
    std::function<std::optional<std::int64_t>(const std::string& table)> length;
};

/// How the arrays that are to be made have to be.
class ComputedPlaces {
public:
    ComputedPlaces(const Operator& op, KnownPlaces known);

    /// True for a column that takes part in computing where a table is read: it holds integers from 0 to
    /// limit() - 1.
    [[nodiscard]] bool takes_part(const std::string& column) const { return taking_part_.contains(column); }

    /// 16, or the greatest smaller power of two by which the tables that have an array are read inside of
    /// them; 16 where no such power is found.
    [[nodiscard]] std::int64_t limit() const { return limit_; }

    /// The least length by which `lift` reads a table inside of it; nothing where none up to 2^22 is found.
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
