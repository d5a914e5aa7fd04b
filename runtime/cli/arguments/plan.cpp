#include "runtime/cli/arguments/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "dsl/error.h"
#include "dsl/integer_text.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kMostMeasured = 1000;

/// Parses "NAME=VALUE", a value of `flag`, and adds it to `chosen`.
void add_setting(std::map<std::string, int>& chosen, std::string_view flag, const std::string& text)
{
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw InputError(
            fmt::format("--{} '{}': a tunable and its value are needed; write NAME=VALUE, such as "
                        "block_threads=128",
                        flag, text));
    const auto name = text.substr(0, equals);
    const auto value = parse_integer(text.substr(equals + 1));
    constexpr int kMost = std::numeric_limits<int>::max();
    if (!value || *value < 0 || *value > kMost)
        throw InputError(fmt::format("--{} '{}': '{}' is not a number from 0 to {}; write {}=NUMBER", flag,
                                     text, text.substr(equals + 1), kMost, name));
    if (!chosen.emplace(name, static_cast<int>(*value)).second)
        throw InputError(
            fmt::format("--{} gives {} twice, {} and {}; once is enough", flag, name, chosen[name], *value));
}

}  // namespace

bool shows_native(const Arguments& arguments)
{
    constexpr std::array<std::string_view, 2> kBackends = {"cuda", "cpu"};
    return arguments.choice("backend", kBackends).value_or(0) == 1;
}

std::string shown_backend(const Arguments& arguments) { return shows_native(arguments) ? "cpu" : "simt"; }

Kernels::Kernels(const Arguments& arguments)
{
    if (const auto folder = arguments.value("kernels"))
        own_ = Catalogue::overlaid(*folder);
}

const Catalogue& Kernels::catalogue() const { return own_ ? *own_ : Catalogue::standard(); }

PlanRequest plan_request(const Arguments& arguments)
{
    if (arguments.has("reproducible"))
        for (const auto flag : {"stage", "set"})
            arguments.refuse(flag, "changes the order of combination, which --reproducible fixes");
    PlanRequest request{arguments.value("stage"), settings(arguments), arguments.has("reproducible"),
                        arguments.has("at-launch") ? Numbers::at_launch : Numbers::constant};
    if (!arguments.declares("measure"))
        return request;
    constexpr std::array<std::string_view, 2> kFirst = {"best", "fast"};
    if (const auto flag = chosen_by_flag(arguments); !flag.empty()) {
        arguments.refuse("measure", "looks for the fastest stage, and " + flag + " chooses");
        arguments.refuse("first", "says how a stage is chosen, and " + flag + " chooses");
    }
    if (arguments.has("measure"))
        arguments.refuse("first", "says how a stage is chosen, and --measure measures them");
    request.measured_stages = static_cast<int>(arguments.integer("measure", 1, kMostMeasured).value_or(1));
    if (const auto first = arguments.choice("first", kFirst))
        request.first = *first == 0 ? First::best : First::fast;
    return request;
}

SessionOptions session_options(const Arguments& arguments, const Operator& op)
{
    SessionOptions options;
    options.kernels = arguments.value("kernels").value_or("");
    options.assume = assumed_laws(arguments, op);
    options.assume_option = "--assume LAW";
    return options;
}

std::string chosen_by_flag(const Arguments& arguments)
{
    for (const auto* flag : {"stage", "set", "reproducible"})
        if (arguments.has(flag))
            return fmt::format("--{}", flag);
    return "";
}

std::map<std::string, int> settings(const Arguments& arguments)
{
    std::map<std::string, int> chosen;
    for (const auto& text : arguments.values("set"))
        add_setting(chosen, "set", text);
    return chosen;
}

std::vector<PlanWord> plan_words(const Arguments& arguments)
{
    std::vector<PlanWord> plans;
    for (const auto& text : arguments.values("plan")) {
        const auto colon = std::min(text.find(':'), text.size());
        PlanWord plan{text.substr(0, colon), text.substr(std::min(colon + 1, text.size()))};
        for (std::size_t begin = 0; begin < plan.tunables.size();) {
            const auto end = std::min(plan.tunables.find(',', begin), plan.tunables.size());
            const auto setting = plan.tunables.substr(begin, end - begin);
            if (begin == 0 && setting == "near")
                plan.is_near = true;
            else
                add_setting(plan.chosen, "plan", setting);
            begin = end + 1;
        }
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace segfold::cli
