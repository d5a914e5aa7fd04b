#include "dsl/check/outputs.h"

#include <algorithm>

namespace segfold {
namespace {

const Assignment* find_set(const Block& block, const std::string& name)
{
    const auto found = std::ranges::find(block.assignments, name, &Assignment::field);
    return found == block.assignments.end() ? nullptr : &*found;
}

bool has(const auto& fields, const std::string& name)
{
    return std::ranges::any_of(fields, [&](const auto& field) { return field.name == name; });
}

/// True if `block` may set any output, because it gives one value without a name or sets an unknown name.
bool is_open(const Operator& op, const Block& block)
{
    return std::ranges::any_of(block.assignments,
                               [&](const Assignment& set) { return !has(op.outputs, set.field); });
}

/// Finds outputs that both `map` and `scan` set. If both parts could be read (`is_read`), also finds outputs
/// that neither sets.
void find_unshared(const Operator& op, bool is_read, std::vector<OutputFault>& faults)
{
    const auto& scan = op.scan->block;
    const bool may_set_all = !is_read || is_open(op, *op.map) || is_open(op, scan);
    for (const auto& output : op.outputs) {
        const auto* scanned = find_set(scan, output.name);
        const auto* mapped = find_set(*op.map, output.name);
        if (scanned && mapped)
            faults.push_back({scanned->position, "map and scan both set '" + output.name + "'",
                              "each output is set by one of them"});
        if (!scanned && !mapped && !may_set_all)
            faults.push_back({output.position, "neither map nor scan sets '" + output.name + "'",
                              "each output is set by one of them"});
    }
}

/// Finds results that `map` cannot read, because a parameter has the same name or the name is reserved.
void find_hidden_results(const Operator& op, std::vector<OutputFault>& faults)
{
    for (const auto& result : op.results) {
        if (has(op.parameters, result.name))
            faults.push_back(
                {result.position,
                 "map cannot tell the result '" + result.name + "' from the parameter of that name",
                 "give the result another name"});
        else if (is_reserved(result.name))
            faults.push_back({result.position,
                              "map cannot read the result '" + result.name +
                                  "', because the name has a meaning in the language",
                              "give the result another name"});
    }
}

}  // namespace

std::vector<OutputFault> output_faults(const Operator& op, const Unread& unread)
{
    std::vector<OutputFault> faults;
    const bool is_declared = unread.declared.empty() && !unread.parts;
    const auto refuse_unnamed = [&](Position position, const std::string& part) {
        faults.push_back({position, "operator " + op.name + " has a " + part + " but names no output",
                          "say what each element gets: operator " + op.name + "(...) -> (..., each y: f32)"});
    };
    if (op.map && op.outputs.empty() && is_declared)
        refuse_unnamed(op.map->position, "map");
    if (op.scan && op.outputs.empty() && is_declared)
        refuse_unnamed(op.scan->block.position, "scan");
    if (!op.map && !op.scan && !op.outputs.empty() && is_declared)
        faults.push_back(
            {op.outputs[0].position, "operator " + op.name + " has no map and no scan",
             "map gives each element its output, e.g. map x - mean; scan gives it a running one"});
    if (op.map && op.scan)
        find_unshared(op, is_declared && !unread.blocks.contains("map") && !unread.blocks.contains("scan"),
                      faults);
    if (op.map)
        find_hidden_results(op, faults);
    const bool are_seen = op.map || op.keeps_results;  // hidden results may share names with outputs
    for (const auto& result : op.results)
        if (are_seen && has(op.outputs, result.name))
            faults.push_back({result.position, "'" + result.name + "' is both a result and an output",
                              "give them different names"});
    if (!op.scan)
        return faults;
    const auto& [before, through, reverse, block] = *op.scan;
    if (before == through)
        faults.push_back({block.position, "both states of scan are called '" + before + "'",
                          "name them apart: scan(before, through); the second has the element, too"});
    for (const auto& parameter : op.parameters)
        if (parameter.name == before || parameter.name == through)
            faults.push_back({parameter.position,
                              "scan knows a parameter and a state '" + parameter.name + "'",
                              "name the states of scan otherwise"});
    return faults;
}

std::vector<ResultField> settable_outputs(const Operator& op, std::string_view part, const Unread& unread)
{
    static const Block unread_block;
    const bool is_map = part == "map";
    const auto* missing =
        unread.parts || unread.blocks.contains(is_map ? "scan" : "map") ? &unread_block : nullptr;
    const auto* map = op.map ? &*op.map : missing;
    const auto* scan = op.scan ? &op.scan->block : missing;
    const auto* other = is_map ? scan : map;
    if (other == nullptr)
        return op.outputs;
    const auto& block = is_map ? *map : *scan;
    std::vector<ResultField> fields;
    for (const auto& output : op.outputs)
        if (find_set(block, output.name) || (is_open(op, block) && !find_set(*other, output.name)))
            fields.push_back(output);
    return fields;
}

}  // namespace segfold
