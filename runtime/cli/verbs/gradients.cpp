#include "runtime/cli/verbs/gradients.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "dsl/laws/gradient_law.h"
#include "dsl/text/standard_operators.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr int kSegments = 40;

/// A row of the table of gradients.
struct TableRow {
    std::string op, parameter, means, reason;
};

/// Returns a row for each floating-point parameter of `op`.
std::vector<TableRow> rows_of(const Operator& op)
{
    std::vector<TableRow> rows;
    for (const auto& parameter : op.parameters) {
        if (!is_float(parameter.type))
            continue;
        try {
            rows.push_back({op.name, parameter.name, gradient(op, parameter.name).means, ""});
        } catch (const InputError& error) {
            const std::string message = error.what();
            rows.push_back({op.name, parameter.name, "none", message.substr(message.find(": ") + 2)});
        }
    }
    return rows;
}

}  // namespace

void print_gradient(const Arguments& arguments)
{
    const auto op = operator_argument(arguments);
    const auto found = gradient(op, *arguments.value("gradient"));
    if (!arguments.json()) {
        write_output(print(found));
        return;
    }
    Json operators = Json::array();
    for (const auto& step : found.operators)
        operators.push_back(json_of(step));
    write_json("gradient", {{"operator", json_of(op)},
                            {"parameter", found.parameter},
                            {"means", found.means},
                            {"result", found.result},
                            {"of", found.of},
                            {"names", found.names},
                            {"operators", std::move(operators)}});
}

void print_gradient_table(const Arguments& arguments)
{
    if (names_operator(arguments))
        throw InputError(
            "--gradients lists the standard operators; of one operator give --gradient PARAMETER");
    std::vector<TableRow> rows;
    for (const auto& known : standard_operators()) {
        const auto floats = std::ranges::find(known.types, Type::f32);
        if (floats == known.types.end())
            continue;
        const auto of_operator = rows_of(standard_operator(known.name, *floats));
        rows.insert(rows.end(), of_operator.begin(), of_operator.end());
    }
    if (arguments.json()) {
        Json list = Json::array();
        for (const auto& row : rows)
            list.push_back({{"operator", row.op},
                            {"parameter", row.parameter},
                            {"means", row.reason.empty() ? Json(row.means) : Json()},
                            {"reason", row.reason.empty() ? Json() : Json(row.reason)}});
        write_json("gradients", {{"gradients", std::move(list)}});
        return;
    }
    TextTable table({{"operator"}, {"parameter"}, {"means"}, {"reason"}});
    for (const auto& row : rows)
        table.add({row.op, row.parameter, row.means, row.reason});
    write_output(table.print());
}

int check_gradient(const Arguments& arguments)
{
    for (const auto flag :
         {"stage",        "set",     "kernels", "seeds",         "prove",    "smt-lib", "tree",
          "reproducible", "scalar",  "layout",  "elements",      "features", "values",  "index-bits",
          "sort-keys",    "backend", "device",  "schedule-seed", "slices",   "devices", "assume"})
        arguments.refuse(
            flag,
            "has no meaning beside --gradient, which compares a gradient with differences of the reference");
    const auto op = operator_argument(arguments);
    const auto seed =
        static_cast<std::uint64_t>(arguments.integer("seed", 0, std::int64_t{1} << 40).value_or(1));
    const auto finding = judge_gradient(op, *arguments.value("gradient"), kSegments, seed);
    if (arguments.json())
        write_json("gradient_check", {{"operator", json_of(op)},
                                      {"parameter", finding.parameter},
                                      {"means", finding.means},
                                      {"points", finding.num_points},
                                      {"corners", finding.num_corners},
                                      {"program", finding.wrong ? Json(program_of(finding, op)) : Json()},
                                      {"agrees", finding.is_right()}});
    else
        write_output(print(finding, op));
    return finding.is_right() ? 0 : 1;
}

}  // namespace segfold::cli
