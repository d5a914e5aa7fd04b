#include "dsl/rewrite/gradient/gradient.h"

#include <algorithm>
#include <optional>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "dsl/rewrite/gradient/backward.h"
#include "dsl/rewrite/gradient/gradient_trial.h"
#include "dsl/rewrite/gradient/reduced.h"

namespace segfold {
namespace {

std::string columns_of_floats(const Operator& op)
{
    std::string names;
    for (const auto& parameter : op.parameters)
        if (!parameter.table && is_float(parameter.type))
            names += (names.empty() ? "" : ", ") + parameter.name;
    return names.empty() ? "it has no column of floats" : "its columns of floats are " + names;
}

void refuse_gradient(const Operator& op, std::string_view parameter)
{
    const auto refuse = [&](const std::string& reason) {
        throw InputError("operator " + op.name + " has no gradient by '" + std::string(parameter) +
                         "': " + reason);
    };
    const auto found = std::ranges::find(op.parameters, parameter, &Parameter::name);
    if (found == op.parameters.end())
        refuse("it has no such parameter; " + columns_of_floats(op));
    if (!is_float(found->type))
        refuse("its type is " + std::string(name(found->type)) + ", and only floats have derivatives; " +
               columns_of_floats(op));
    if (op.scan)
        refuse(
            "it has a scan, whose outputs depend on all elements before their own; gradients are made of "
            "results "
            "of segments and of a map");
    const auto returned = returned_fields(op);
    if (std::ranges::none_of(returned, [](const ResultField& field) { return is_float(field.type); }))
        refuse("it returns no floats");
    const auto read = found->table ? first_read(op, found->name) : std::nullopt;
    if (found->table && !read)
        refuse("neither lift nor map reads it");
    if (found->table && !found->scalar &&
        (read->argument(0)->kind != ExpressionKind::name || read->argument(0)->name != "segment" ||
         reads_several_entries(op, found->name)))
        refuse(
            "this is a table that is read elsewhere than at [segment], and of tables gradients are made by "
            "these");
    const bool has_rows = std::ranges::any_of(op.parameters, &Parameter::row);
    if (has_rows && !found->row)
        refuse("'" + found->name + "' has one number for a row of features, and gradients are made by rows");
}

}  // namespace

Gradient gradient_by_scans(const Operator& op, std::string_view parameter)
{
    refuse_gradient(op, parameter);
    return Backward(op, std::string(parameter)).two_scans();
}

Gradient gradient(const Operator& op, std::string_view parameter)
{
    refuse_gradient(op, parameter);
    const std::string name(parameter);
    const Backward backward(op, name);
    if (backward.has_sums())
        return backward.totals();
    if (auto found = backward.places())
        return std::move(*found);
    if (const Backward wide(in_f64(op), name); wide.has_totals())
        try {
            if (gradients_agree(in_f64(op), wide.totals(), wide.two_scans()))
                return backward.totals();
        } catch (const ZeroGradient&) {  // only that of two scans is known to be one
        }
    return backward.two_scans();
}

std::string print(const Gradient& gradient)
{
    std::string text;
    for (const auto& op : gradient.operators)
        text += (text.empty() ? "" : "\n") + print(op);
    return text;
}

}  // namespace segfold
