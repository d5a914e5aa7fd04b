#include "runtime/cli/views/json.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dsl/check/warnings.h"
#include "dsl/printer.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/judge/value_text.h"

namespace segfold::cli {
namespace {

/// Converts the text of a value to JSON. The f32 value 0.1 stays 0.1; converted to double, it would have more
/// digits.
Json number(const std::string& text, Type type)
{
    if (type == Type::boolean)
        return text == "true";
    if (is_unsigned_integer(type))
        return std::stoull(text);
    if (is_integer(type))
        return std::stoll(text);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Replaces non-finite numbers, which JSON lacks, by strings that Python's float(), JavaScript's Number() and
/// C's strtod() can parse.
void name_nonfinite(Json& value)
{
    if (value.is_structured())
        for (auto& part : value)
            name_nonfinite(part);
    if (!value.is_number_float() || std::isfinite(value.get<double>()))
        return;
    const auto number = value.get<double>();
    value = std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

Json fields_json(const std::vector<ResultField>& fields)
{
    Json list = Json::array();
    for (const auto& field : fields)
        list.push_back({{"name", field.name}, {"type", name(field.type)}});
    return list;
}

}  // namespace

Json document(std::string_view document, Json body)
{
    name_nonfinite(body);
    Json whole = {{"segfold", SEGFOLD_VERSION}, {"document", document}};
    for (auto& [key, value] : body.items())
        whole[key] = std::move(value);
    return whole;
}

void write_json(std::string_view name, Json body)
{
    const auto whole = document(name, std::move(body));
    write_document(whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json json_of(const Array& array, std::int64_t i) { return number(value_text(array, i), array.type()); }

Json json_of(const FieldValue& value) { return number(print(value), value.type); }

Json json_of(const Operator& op)
{
    Json parameters = Json::array();
    for (const auto& parameter : op.parameters)
        parameters.push_back({{"name", parameter.name},
                              {"type", name(parameter.type)},
                              {"table", parameter.table && !parameter.scalar},
                              {"scalar", parameter.scalar}});
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (op.parameters[i].row)
            parameters[i]["row"] = true;
    Json laws = Json::array();
    if (op.laws.commutative)
        laws.push_back("commutative");
    if (op.laws.idempotent)
        laws.push_back("idempotent");
    return {{"name", op.name},
            {"parameters", std::move(parameters)},
            {"results", fields_json(op.keeps_results ? op.results : std::vector<ResultField>())},
            {"outputs", fields_json(op.outputs)},
            {"laws", std::move(laws)},
            {"identity", op.has_identity()},
            {"exact", is_exact(op)},
            {"text", print(op)},
            {"warnings", warnings(op)}};
}

Json json_of(const Configuration& configuration)
{
    Json object = Json::object();
    for (const auto& [name, value] : configuration)
        object[name] = value;
    return object;
}

Json json_of(const LawReport& report, const Operator& op)
{
    Json list = Json::array();
    const auto add = [&](const LawFinding& finding, bool is_declared) {
        Json law = {
            {"declared", is_declared},        {"means", name(finding.means)},
            {"seconds", finding.seconds},     {"invariants", finding.invariants},
            {"unproved", finding.unproved},   {"holds_without_overflow", finding.holds_without_overflow},
            {"law", name(finding.law)},       {"verdict", name_of_verdict(finding)},
            {"cases", finding.cases},         {"exhaustive_cases", finding.exhaustive_cases},
            {"eight_bit", finding.eight_bit}, {"spread", finding.spread},
            {"text", print(finding, op)}};
        list.push_back(std::move(law));
    };
    for (const auto& finding : report.findings)
        add(finding, true);
    for (const auto& finding : report.undeclared)
        add(finding, false);
    return list;
}

Json json_of(const Comparison& comparison)
{
    Json object = {{"against", comparison.against},
                   {"agrees", comparison.agrees()},
                   {"bit_for_bit", comparison.bit_for_bit},
                   {"num_segments", comparison.num_segments},
                   {"num_wrong", comparison.num_wrong},
                   {"num_overflowed", comparison.num_overflowed},
                   {"num_unjudged", comparison.num_unjudged},
                   {"precision", name(comparison.bit_for_bit ? Precision::working : Precision::wide)}};
    if (comparison.first_wrong)
        object["first_wrong"] = comparison.first_wrong->segment;
    object["text"] = print(comparison);
    return object;
}

Json json_of_thrust(const std::string& description, const std::string& reason)
{
    if (reason.empty())
        return {{"ran", true}, {"description", description}};
    return {{"ran", false}, {"reason", reason}};
}

}  // namespace segfold::cli
