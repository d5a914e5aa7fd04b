#include "runtime/cli/arguments/backend_argument.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/catalogue.h"
#include "dsl/error.h"

namespace segfold::cli {
namespace {

/// True if the flags request something that exists only for CUDA: a CUDA stage, tunables passed at launch, or
/// a folder of kernels.
bool asks_for_cuda(const Arguments& arguments)
{
    const auto is_given = [&](std::string_view flag) {
        return arguments.declares(flag) && arguments.has(flag);
    };
    if (is_given("kernels") || is_given("at-launch"))
        return true;
    std::vector<std::string> stages;
    if (is_given("stage"))
        stages.push_back(*arguments.value("stage"));
    if (is_given("plan"))
        for (const auto& plan : arguments.values("plan"))
            stages.push_back(plan.substr(0, plan.find(':')));
    const auto& native = Catalogue::native().stages();
    return std::ranges::any_of(stages, [&](const std::string& stage) {
        return std::ranges::find(native, stage, &Stage::name) == native.end();
    });
}

}  // namespace

std::unique_ptr<Backend> backend_argument(const Arguments& arguments, bool finds_faults,
                                          std::optional<int> first_device)
{
    std::vector<std::string_view> names;
    for (const auto& entry : backends())
        names.push_back(entry.name);
    names.emplace_back("auto");
    if (arguments.value("backend") == "gpu")  // the closest spelling is 'cpu', which the user never means
        throw InputError(fmt::format("--backend: unknown 'gpu'; it is one of {}; did you mean 'cuda'?",
                                     fmt::join(names, ", ")));
    const auto asked = arguments.choice("backend", names);
    BackendOptions options;
    if (const auto device = arguments.integer("device", 0, 1023))
        options.device = static_cast<int>(*device);
    if (const auto seed = arguments.declares("schedule-seed")
                              ? arguments.integer("schedule-seed", 0, kLargestSeed)
                              : std::nullopt)
        options.schedule_seed = static_cast<std::uint64_t>(*seed);
    const auto name = asked && names[*asked] != "auto"
                          ? names[*asked]
                          : automatic_backend(options, finds_faults || asks_for_cuda(arguments));
    const auto& entry = *std::ranges::find(backends(), name, &BackendEntry::name);
    if (!entry.takes_device)
        arguments.refuse("device", fmt::format("chooses a GPU, and the back end {} uses none", name));
    if (!entry.takes_schedule_seed && arguments.declares("schedule-seed"))
        arguments.refuse("schedule-seed",
                         fmt::format("orders the threads of simt, and the back end is {}", name));
    if (entry.takes_device && first_device)
        options.device = first_device;
    return make_backend(name, options);
}

bool takes_native_stages(const Arguments& arguments)
{
    const auto name = arguments.value("backend").value_or("auto");
    if (name != "auto")
        return name == "cpu";
    return !arguments.has("device") && automatic_backend({}, asks_for_cuda(arguments)) == "cpu";
}

std::string no_timed_device(bool runs_cuda_stage)
{
    const auto name = automatic_backend({}, runs_cuda_stage);
    if (name == "cuda" || make_backend(name)->identity())
        return "";
    const auto reason = cuda::no_device_reason();
    // Cuts off the advice to use the back end cpu, because cpu cannot measure CUDA stages.
    return reason.substr(0, reason.find("; use the back end"));
}

void require_timed_device(const Arguments& arguments)
{
    if (arguments.value("backend").value_or("auto") != "auto")
        return;
    if (const auto reason = no_timed_device(asks_for_cuda(arguments)); !reason.empty())
        throw DeviceError(fmt::format("{} measures stages of CUDA on a GPU: {}", arguments.verb(), reason));
}

std::unique_ptr<Backend> timed_backend_argument(const Arguments& arguments)
{
    require_timed_device(arguments);
    return backend_argument(arguments);
}

}  // namespace segfold::cli
