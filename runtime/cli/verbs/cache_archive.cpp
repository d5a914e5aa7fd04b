#include "runtime/cli/verbs/cache_archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/cli/arguments/form_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/session/shipped/shipped_plans.h"
#include "runtime/support/files/cache_settings.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr Flag kExportFlags[] = {{"for", "ARCH,..."},     {"layout", "LAYOUT", true}, {"elements", "N"},
                                 {"index-bits", "32|64"}, {"key-bytes", "1|2|4|8"},   {"backend", "cuda"}};
constexpr std::array<std::string_view, 2> kShippedIndexBits = {"32", "64"};
constexpr std::array<std::string_view, 2> kShippedBackends = {"cuda", "cpu"};
constexpr std::array<std::string_view, 4> kShippedKeyBytes = {"1", "2", "4", "8"};

/// Takes the file's name from the front of `words`. Throws InputError if it is missing.
std::string take_file(Words& words, std::string_view action, std::string_view example)
{
    if (words.empty() || words.front().starts_with('-'))
        throw InputError(
            fmt::format("cache {} needs the file first; write segfold cache {}", action, example));
    auto file = words.front();
    words.erase(words.begin());
    return file;
}

/// Returns the architectures of --for, or else that of the first GPU.
std::vector<std::string> architectures_of(const Arguments& arguments)
{
    const auto list = arguments.value("for");
    if (!list) {
        const auto gpus = cuda::devices();
        if (gpus.empty())
            throw InputError(
                "there is no GPU here to compile for; say for which GPUs, e.g. --for sm_80,sm_90");
        return {gpus.front().architecture()};
    }
    std::vector<std::string> names;
    for (std::size_t at = 0; at <= list->size();) {
        const auto comma = std::min(list->find(',', at), list->size());
        names.push_back(list->substr(at, comma - at));
        at = comma + 1;
    }
    return names;
}

std::string bytes_text(std::uint64_t bytes) { return fmt::format("{} bytes", bytes); }

/// Writes the number of kernels for each architecture.
void show(std::string_view document, const std::string& file, const Shipped& shipped, bool json,
          const std::string& folder)
{
    std::map<std::string, std::pair<std::int64_t, std::uint64_t>> counts;
    for (const auto& kernel : shipped.kernels) {
        ++counts[kernel.architecture].first;
        counts[kernel.architecture].second += kernel.bytes;
    }
    if (json) {
        Json body = {{"file", file}, {"compiler", shipped.compiler}, {"architectures", Json::object()}};
        for (const auto& [architecture, count] : counts)
            body["architectures"][architecture] = {{"kernels", count.first}, {"bytes", count.second}};
        if (!folder.empty())
            body["folder"] = folder;
        write_json(document, std::move(body));
        return;
    }
    std::vector<std::pair<std::string, std::string>> facts = {{"file", file},
                                                              {"compiler", "NVRTC " + shipped.compiler}};
    if (!folder.empty())
        facts.emplace_back("folder", folder);
    for (const auto& [architecture, count] : counts)
        facts.emplace_back(architecture, fmt::format("{}, {}", count_text(count.first, "program"),
                                                     bytes_text(count.second)));
    write_output(print_facts(facts));
}

}  // namespace

std::vector<Flag> cache_flags()
{
    return join({kOperatorFlags, kScannedFlags, kPlanFlags, kLawFlags, kExportFlags});
}

int export_kernels(const Words& words)
{
    Words rest = words;
    const auto file = take_file(rest, "export", "export plans.zip sum --stage tile_scan --for sm_80");
    constexpr std::size_t kMostOperators = 100;
    const Arguments arguments("cache", rest, cache_flags(), kMostOperators);
    if (arguments.choice("backend", kShippedBackends).value_or(0) == 1)
        throw InputError(
            "--backend cpu: libraries of the host's cores are not exported; each holds instructions of one "
            "processor, and is found by this processor, the C++ compiler and its flags. A C++ compiler makes "
            "them where they run");
    const auto operators = operator_arguments(arguments);
    ExportOptions options{.architectures = architectures_of(arguments)};
    if (arguments.has("layout"))
        options.layouts = arguments.values("layout");
    options.num_elements = arguments.integer("elements", 1, kMostShippedElements);
    options.index_bits = arguments.choice("index-bits", kShippedIndexBits).value_or(0) == 1 ? 64 : 32;
    if (const auto choice = arguments.choice("key-bytes", kShippedKeyBytes))
        options.key_bytes = 1 << *choice;
    for (const auto& layout : options.layouts)
        if (const auto found = key_bytes_of(layout); found && !arguments.has("key-bytes"))
            options.key_bytes = *found;
    options.plan = plan_request(arguments);
    options.kernels = arguments.value("kernels").value_or("");
    for (const auto& op : operators)
        options.assume = assumed_laws(arguments, op);
    show("cache_export", file, export_plans(file, operators, options), arguments.json(), "");
    return 0;
}

int import_kernels(const Words& words)
{
    Words rest = words;
    const auto file = take_file(rest, "import", "import plans.zip");
    const Arguments arguments("cache", rest, {}, 0);
    const auto shipped = import_plans(file);
    show("cache_import", file, shipped, arguments.json(), cache::settings_from_environment().folder.string());
    return 0;
}

}  // namespace segfold::cli
