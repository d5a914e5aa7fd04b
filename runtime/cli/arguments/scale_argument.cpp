#include "runtime/cli/arguments/scale_argument.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "runtime/session/core.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kMostDevices = 1023;

/// True if the back end's devices are GPUs. Other back ends have only one device, the host.
bool takes_gpus(const Arguments& arguments)
{
    const auto name = arguments.value("backend").value_or("auto");
    if (name == "auto")
        return !cuda::devices().empty();
    const auto entry = std::ranges::find(backends(), name, &BackendEntry::name);
    return entry != backends().end() && entry->takes_device;
}

std::vector<int> ordinals_of(const Arguments& arguments, const std::string& text)
{
    std::vector<int> ordinals;
    if (text == "all") {
        if (!takes_gpus(arguments))
            return {0};
        for (const auto& device : cuda::devices())
            ordinals.push_back(device.ordinal);
        if (ordinals.empty())
            throw DeviceError("--devices all: " + cuda::no_device_reason());
        return ordinals;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const auto word = text.substr(begin, end - begin);
        const auto ordinal = parse_integer(word);
        if (!ordinal || *ordinal < 0 || *ordinal > kMostDevices)
            throw InputError(
                fmt::format("--devices '{}': '{}' is not the number of a device; write all, or "
                            "numbers with commas between, such as 0,1",
                            text, word));
        if (std::ranges::find(ordinals, static_cast<int>(*ordinal)) != ordinals.end())
            throw InputError(
                fmt::format("--devices '{}': device {} is given twice; once is enough", text, *ordinal));
        ordinals.push_back(static_cast<int>(*ordinal));
        begin = end + 1;
    }
    return ordinals;
}

}  // namespace

bool is_sliced(const Arguments& arguments) { return arguments.has("slices") || arguments.has("devices"); }

Devices::Devices(const Arguments& arguments)
{
    if (const auto list = arguments.value("devices")) {
        arguments.refuse("device", "chooses one device, and --devices chooses several");
        arguments.refuse("schedule-seed", "orders the threads of one device, and --devices takes several");
        ordinals_ = ordinals_of(arguments, *list);
    }
    num_slices_ = std::max<std::int64_t>(1, std::ssize(ordinals_));
    if (arguments.declares("slices"))
        num_slices_ = arguments.integer("slices", 1, kMostSlices).value_or(num_slices_);
}

std::optional<int> Devices::first() const
{
    return ordinals_.empty() ? std::nullopt : std::optional(ordinals_.front());
}

std::vector<std::unique_ptr<Backend>> Devices::others(const Backend& first) const
{
    const auto entry = std::ranges::find(backends(), first.name(), &BackendEntry::name);
    std::vector<std::unique_ptr<Backend>> made;
    for (std::size_t i = 1; i < ordinals_.size(); ++i) {
        BackendOptions wanted;
        if (entry->takes_device)
            wanted.device = ordinals_[i];
        made.push_back(make_backend(first.name(), wanted));
    }
    return made;
}

FoldRun Devices::fold(Session& session, const Workload& workload, FoldWishes wishes,
                      const SessionOptions& session_options) const
{
    wishes.num_slices = num_slices_;
    std::vector<Session> sessions;
    for (auto& backend : others(core(session).backend()))
        sessions.emplace_back(std::move(backend), session_options);
    std::vector<SessionCore*> other_devices;
    for (auto& other : sessions)
        other_devices.push_back(&core(other));
    return core(session).fold(workload, wishes, other_devices);
}

std::vector<Backend*> pointers_to(const std::vector<std::unique_ptr<Backend>>& backends)
{
    std::vector<Backend*> pointers;
    for (const auto& backend : backends)
        pointers.push_back(backend.get());
    return pointers;
}

}  // namespace segfold::cli
