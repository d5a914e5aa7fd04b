#include "dsl/derived.h"

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
    const auto returned = returned_fields(op);
    if (std::ranges::none_of(returned, [](const ResultField& field) { return is_float(field.type); }))
        refuse("it returns no floats");
    const auto read = found->table ? first_read(op, found->name) : std::nullopt;
    if (found->table && !read)
        refuse("no part reads it");
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

/// Returns the operator with only the outputs that `part` sets.
Operator with_outputs_of(Operator op, const Block& part)
{
    std::erase_if(op.outputs, [&](const ResultField& output) {
        return std::ranges::find(part.assignments, output.name, &Assignment::field) == part.assignments.end();
    });
    return op;
}

/// Returns the operator with only its scan.
Operator scan_of(const Operator& op)
{
    auto found = with_outputs_of(op, op.scan->block);
    found.map.reset();
    found.keeps_results = false;
    return found;
}

/// Returns the operator without its scan. Returns none if the rest would return no floats.
std::optional<Operator> rest_of(const Operator& op)
{
    if (!op.map && !op.keeps_results)
        return std::nullopt;
    auto found = op.map ? with_outputs_of(op, *op.map) : without_outputs(op);
    found.scan.reset();
    const auto returned = returned_fields(found);
    if (std::ranges::none_of(returned, [](const ResultField& field) { return is_float(field.type); }))
        return std::nullopt;
    return found;
}

Gradient cheapest(const Operator& op, const Backward& backward, const std::string& parameter)
{
    if (backward.has_sums())
        return backward.totals();
    if (auto found = backward.places())
        return std::move(*found);
    if (const Backward wide(in_f64(op), parameter); wide.has_totals())
        try {
            if (gradients_agree(in_f64(op), wide.totals(), wide.two_scans()))
                return backward.totals();
        } catch (const ZeroGradient&) {  // only two scans can prove that the gradient is 0
        }
    return backward.two_scans();
}

/// Returns the gradient of an operator with a scan. It is the sum of the gradients of the scan and of the
/// other parts. `of_rest` makes the gradient of the other parts.
template <class OfRest>
Gradient gradient_of_running(const Operator& op, const std::string& parameter, const OfRest& of_rest)
{
    const auto running = scan_of(op);
    const auto rest = rest_of(op);
    const bool is_table = std::ranges::find(op.parameters, parameter, &Parameter::name)->table;
    const auto reads_it = [&](const Operator& part) { return !is_table || first_read(part, parameter); };
    if (!rest || !reads_it(*rest))
        return Backward(running, parameter, &op).running();
    if (!reads_it(running))
        return of_rest(*rest, Backward(*rest, parameter, &op));
    std::optional<Gradient> of_scan, of_others;
    const Backward whole(op, parameter);
    try {
        of_scan = Backward(running, parameter, &op, "running_grad_").running();
    } catch (const ZeroGradient&) {
        return of_rest(*rest, Backward(*rest, parameter, &op));
    }
    try {
        of_others = of_rest(*rest, Backward(*rest, parameter, &op, "rest_of_grad_"));
    } catch (const ZeroGradient&) {
        return Backward(running, parameter, &op).running();
    }
    return whole.sum(std::move(*of_others), std::move(*of_scan));
}

}  // namespace

Gradient gradient_by_scans(const Operator& op, std::string_view parameter)
{
    refuse_gradient(op, parameter);
    const std::string name(parameter);
    const auto of_rest = [](const Operator&, const Backward& backward) { return backward.two_scans(); };
    return op.scan ? gradient_of_running(op, name, of_rest) : of_rest(op, Backward(op, name));
}

Gradient gradient(const Operator& op, std::string_view parameter)
{
    refuse_gradient(op, parameter);
    const std::string name(parameter);
    const auto of_rest = [&](const Operator& rest, const Backward& backward) {
        return cheapest(rest, backward, name);
    };
    return op.scan ? gradient_of_running(op, name, of_rest) : of_rest(op, Backward(op, name));
}

std::string print(const Gradient& gradient)
{
    std::string text;
    for (const auto& op : gradient.operators)
        text += (text.empty() ? "" : "\n") + print(op);
    return text;
}

}  // namespace segfold
