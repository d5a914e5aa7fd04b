#include "runtime/scale/column_lengths.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "runtime/support/files/refuse.h"
#include "runtime/support/text_table.h"

namespace segfold {

ColumnLengths::ColumnLengths(const Operator& op, const StreamInput& input, bool has_engine)
    : op_(op), kind_(input.segments.kind)
{
    if (input.parameters.size() != op.parameters.size())
        throw InternalError("a stream with " + std::to_string(input.parameters.size()) + " sources for " +
                            std::to_string(op.parameters.size()) + " parameters");
    while (first_ < op.parameters.size() && op.parameters[first_].table)
        ++first_;
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto& source = *input.parameters[i];
        if (source.on_device(0) != nullptr && (!has_engine || parameter.table))
            throw InputError(fmt::format("'{}' lies on a GPU; {}", parameter.name,
                                         parameter.table ? "tables of a stream are given on the host"
                                                         : "the session folds elsewhere"));
        if (source.type() != parameter.type)
            refuse(source.where(),
                   fmt::format("holds {}, and parameter '{}' of operator {} is {}", name(source.type()),
                               parameter.name, op.name, name(parameter.type)));
        if (!parameter.table)
            take(i, source);
    }
}

void ColumnLengths::take(std::size_t column, const ArraySource& source)
{
    const auto length = source.length();
    if (!length)
        return;
    if (known_ && *known_ != *length)
        refuse(source.where(), fmt::format("column '{}' has {}, but {}", op_.parameters[column].name,
                                           count_text(*length, "element"), others(column, *known_, true)));
    known_ = length;
    known_by_ = column;
}

void ColumnLengths::require_end(std::size_t column, std::int64_t length, std::int64_t read,
                                std::optional<std::int64_t> all) const
{
    if (column == first_ && kind_ == LayoutKind::whole && !all)
        return;
    throw InputError(fmt::format("column '{}' has {}, but {}", op_.parameters[column].name,
                                 count_text(length, "element"),
                                 others(column, all.value_or(read), all.has_value())));
}

void ColumnLengths::require_no_more(const StreamInput& input, std::int64_t all) const
{
    for (std::size_t i = 0; i < op_.parameters.size(); ++i)
        if (!op_.parameters[i].table)
            require_no_more(i, *input.parameters[i], all);
}

void ColumnLengths::require_no_more(std::size_t column, ArraySource& source, std::int64_t all) const
{
    if (!source.has_more(all))
        return;
    const auto& label = op_.parameters[column].name;
    const auto elements = count_text(all, "element");
    throw InputError(source.length() ? fmt::format("column '{}' has more than {}, and {} were announced",
                                                   label, elements, all)
                                     : fmt::format("column '{}' has more than {}, but {}", label, elements,
                                                   others(column, all, true)));
}

std::string ColumnLengths::others(std::size_t column, std::int64_t length, bool is_exact) const
{
    const auto* const least = is_exact ? "" : "at least ";
    const bool is_marked = kind_ == LayoutKind::flags || kind_ == LayoutKind::keys;
    if (!known_ && (is_marked || column == first_))
        return fmt::format("there are {}{} {}; give one for each element", least, length, name(kind_));
    return fmt::format("column '{}' has {}{}; they must agree",
                       op_.parameters[known_ ? known_by_ : first_].name, least, length);
}

}  // namespace segfold
