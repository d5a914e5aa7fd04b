#include "runtime/cli/views/fault_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "runtime/cli/arguments/operator_argument.h"

namespace segfold::cli {
namespace {

/// Quotes a word for a shell if necessary.
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

/// A shell command, built word by word.
class Command {
public:
    explicit Command(std::string begin) : text_(std::move(begin)) {}

    void add(const std::string& word) { text_ += " " + quoted(word); }
    void add(const std::string& flag, const std::string& value)
    {
        add(flag);
        add(value);
    }
    /// Adds the operands of `arguments`, and the flags of `arguments` that are in `flags`, with their values.
    void repeat(const Arguments& arguments, std::span<const Flag> flags)
    {
        for (const auto& operand : arguments.operands())
            add(operand);
        for (const auto& flag : flags)
            for (const auto& value : arguments.values(flag.name)) {
                add("--" + std::string(flag.name));
                if (!flag.value.empty())
                    add(value);
            }
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

constexpr Flag kKernelFlags[] = {{"kernels", "DIR"}};
constexpr Flag kCheckedFlags[] = {{"kernels", "DIR"},      {"features", "K"}, {"values", "RANGE"},
                                  {"index-bits", "32|64"}, {"device", "N"},   {"devices", "all|N,N"},
                                  {"schedule-seed", "N"},  {"slices", "N"},   {"assume", "LAW"},
                                  {"prove", "SECONDS|off"}};

/// Returns the command that shows the wrong result `fault`, which a refuted law causes.
std::string command_of(const Arguments& arguments, const Operator& op, const Backend& backend,
                       const regress::FaultInput& fault)
{
    const bool is_scan = scan_argument(arguments).has_value();
    Command command(is_scan ? "segfold scan" : "segfold run");
    command.repeat(arguments, is_scan ? join({kOperatorFlags, kScanFlags, kKernelFlags})
                                      : join({kOperatorFlags, kKernelFlags}));
    command.add("--backend", std::string(backend.name()));
    for (const auto law : fault.assumed)
        command.add("--assume", std::string(name(law)));
    command.add("--stage", fault.stage);
    for (const auto& [name, value] : fault.settings)
        command.add("--set", fmt::format("{}={}", name, value));
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        command.add("--input", op.parameters[i].name + "=" + fault.columns[i]);
    command.add("--layout", "offsets=" + fault.offsets);
    return fault.fails_check ? command.text() + " --check" : command.text();
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

std::string command_of(const Arguments& arguments, const Backend& backend,
                       const regress::CheckRequest& request, const regress::CheckOutcome& outcome)
{
    if (outcome.stage == "thrust")
        return "";
    Command command(
        (request.ranks != nullptr ? fmt::format("mpirun -n {} ", request.ranks->size()) : std::string()) +
        "segfold check");
    command.repeat(arguments, join({kOperatorFlags, kScannedFlags, kCheckedFlags}));
    for (const auto& [name, value] : request.workload.scalars)
        command.add("--scalar", fmt::format("{}={}", name, value));
    command.add("--backend", std::string(backend.name()));
    // Some layouts cannot be named on the command line. The command then tries all layouts.
    const auto layout = std::ranges::find(request.layouts, outcome.layout, &regress::CheckLayout::name);
    if (layout != request.layouts.end() && layout->is_named())
        command.add("--layout", outcome.layout);
    command.add("--stage", outcome.stage);
    // The tunables of another device's configuration cannot be given by --set.
    if (!outcome.compute_capability)
        for (const auto& [name, value] : outcome.configuration)
            command.add("--set", fmt::format("{}={}", name, value));
    command.add("--elements", std::to_string(outcome.num_elements));
    // simt's schedule depends on the seeds tried before, so the command must start with the first seed.
    const auto first = backend.has_schedules() ? request.workload.seed : outcome.seed;
    command.add("--seed", std::to_string(first));
    if (first != outcome.seed)
        command.add("--seeds", std::to_string(outcome.seed - first + 1));
    return command.text();
}

}  // namespace segfold::cli
