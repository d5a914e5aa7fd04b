#include "runtime/data/generated/computed_places.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dsl/evaluation/table_reads.h"

namespace segfold {
namespace {

constexpr std::int64_t kLongestTable = std::int64_t{1} << 22;

}  // namespace

ComputedPlaces::ComputedPlaces(const Operator& op, KnownPlaces known) : op_(op), known_(std::move(known))
{
    const auto are_places = columns_of_places(op);
    std::size_t column = 0;
    for (const auto& parameter : op.parameters)
        if (!parameter.table && are_places[column++] && is_integer(parameter.type))
            taking_part_.insert(parameter.name);
    const auto fits = [&](const Parameter& parameter) {
        const auto length =
            parameter.table && !parameter.scalar ? known_.length(parameter.name) : std::nullopt;
        return !length || is_inside(parameter.name, *length);
    };
    for (const std::int64_t limit : {16, 8, 4, 2, 1, 16}) {
        limit_ = limit;
        if (std::ranges::all_of(op.parameters, fits))
            break;
    }
}

std::optional<std::int64_t> ComputedPlaces::length(const std::string& table) const
{
    if (!is_inside(table, kLongestTable))
        return std::nullopt;
    // A length greater than a sufficient length also suffices.
    std::int64_t outside = 0, inside = kLongestTable;
    while (inside - outside > 1) {
        const auto middle = outside + (inside - outside) / 2;
        (is_inside(table, middle) ? inside : outside) = middle;
    }
    return inside;
}

bool ComputedPlaces::is_inside(const std::string& table, std::int64_t length) const
{
    const auto length_of = [&](const std::string& name) {
        return name == table ? length : std::numeric_limits<std::int64_t>::max();
    };
    const auto unproved = unproved_tables(op_, {[&](const auto& name) { return values(name); }, length_of});
    return std::ranges::find(unproved, table) == unproved.end();
}

Interval ComputedPlaces::values(const std::string& name) const
{
    if (const auto known = known_.values(name))
        return *known;
    if (takes_part(name))
        return {0, limit_ - 1};
    const auto parameter = std::ranges::find(op_.parameters, name, &Parameter::name);
    return values_of(parameter->type);
}

}  // namespace segfold
