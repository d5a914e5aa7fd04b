#include "runtime/session/folded.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"

namespace segfold {
namespace {

/// Throws InputError if `results` is empty. Every fold has results, so empty results have been moved from.
void require_there(const Results& results)
{
    if (results.empty())
        throw InputError("these results have been moved from; use those that they were moved to");
}

}  // namespace

std::int64_t Folded::num_segments() const
{
    require_there(results_);
    return num_segments_;
}

const Array& Folded::find(std::string_view field) const
{
    require_there(results_);
    std::vector<std::string_view> names;
    for (const auto& named : results_) {
        if (named.name == field || (field.empty() && results_.size() == 1))
            return named.array;
        names.push_back(named.name);
    }
    throw InputError(
        fmt::format("the results have {}; {}", fmt::join(names, ", "),
                    field.empty() ? "name one of them" : fmt::format("none is called '{}'", field)));
}

const Array& Folded::keys_array() const
{
    require_there(results_);
    if (!results_.keys)
        throw InputError("the segments were not given by keys, so that there are none");
    return *results_.keys;
}

void Folded::require_type(std::string_view field, Type type, Type asked)
{
    const bool asks_for_bits = asked == Type::u16 && (type == Type::f16 || type == Type::bf16);
    if (type != asked && !asks_for_bits)
        throw InputError(fmt::format("{} hold {}; they were asked for as {}",
                                     field.empty() ? "the results" : fmt::format("the values of '{}'", field),
                                     name(type), name(asked)));
}

}  // namespace segfold
