#include "runtime/cli/fault_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "runtime/cli/operator_argument.h"

namespace segfold::cli {
namespace {

/// A word as a shell takes it.
std::string quoted(const std::string& word)
{
    const auto is_plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("_-./=+,:@").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::ranges::all_of(word, is_plain))
        return word;
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// The command that shows a fault, for the operator of this command.
std::string command_of(const Arguments& arguments, const Operator& op, const Backend& backend,
                       const regress::FaultInput& fault)
{
    std::string text = "segfold run";
    auto flags = join({kOperatorFlags});
    flags.push_back({"kernels", "DIR"});
    const auto add = [&](const std::string& word) { text += " " + quoted(word); };
    for (const auto& operand : arguments.operands())
        add(operand);
    for (const auto& flag : flags)
        if (arguments.has(flag.name)) {
            add("--" + std::string(flag.name));
            if (const auto value = arguments.value(flag.name); value && !flag.value.empty())
                add(*value);
        }
    add("--backend");
    add(std::string(backend.name()));
    for (const auto law : fault.assumed) {
        add("--assume");
        add(std::string(name(law)));
    }
    add("--stage");
    add(fault.stage);
    for (const auto& [name, value] : fault.settings) {
        add("--set");
        add(fmt::format("{}={}", name, value));
    }
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        add("--input");
        add(op.parameters[i].name + "=" + fault.columns[i]);
    }
    add("--layout");
    add("offsets=" + fault.offsets);
    return fault.fails_check ? text + " --check" : text;
}

}  // namespace

std::string print_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                         const std::vector<regress::FaultInput>& faults)
{
    std::string text;
    for (const auto& fault : faults)
        text += fmt::format(
            "\nwhat comes of it where {} relies on the law '{}': {} instead of {} in segment {} of\n    {}\n",
            fault.stage, name(fault.law), fault.given, fault.expected, fault.segment,
            command_of(arguments, op, backend, fault));
    return text;
}

Json json_of_faults(const Arguments& arguments, const Operator& op, const Backend& backend,
                    const std::vector<regress::FaultInput>& faults)
{
    Json list = Json::array();
    for (const auto& fault : faults) {
        Json one = {{"law", name(fault.law)},
                    {"stage", fault.stage},
                    {"configuration", fault.settings},
                    {"offsets", fault.offsets},
                    {"segment", fault.segment},
                    {"given", fault.given},
                    {"expected", fault.expected},
                    {"fails_check", fault.fails_check},
                    {"command", command_of(arguments, op, backend, fault)}};
        for (const auto law : fault.assumed)
            one["assumed"].push_back(name(law));
        for (std::size_t i = 0; i < op.parameters.size(); ++i)
            one["inputs"][op.parameters[i].name] = fault.columns[i];
        list.push_back(std::move(one));
    }
    return list;
}

}  // namespace segfold::cli
