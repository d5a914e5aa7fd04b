// segfold devices: lists this machine's GPUs, compilers and libraries.
#include "runtime/backends/cuda/driver/device.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "codegen/order/stage_order.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/session/choice/record_store.h"
#include "runtime/simt/toolchain.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

/// A description of something that is present, or the reason why it is missing.
struct Presence {
    std::string found;  ///< a description; empty if it is missing
    std::string reason;

    [[nodiscard]] std::string text() const { return found.empty() ? "none: " + reason : found; }
};

Presence find_nvrtc()
{
    try {
        const auto& nvrtc = cuda::nvrtc();
        return {fmt::format("{}, {}", nvrtc.version(), nvrtc.library.path()), ""};
    } catch (const DeviceError& error) {
        return {"", error.what()};
    }
}

/// Finds the C++ compiler that simt uses.
Presence find_compiler()
{
    try {
        return {fmt::format("{}", fmt::join(simt::choose_compiler({}), " ")), ""};
    } catch (const DeviceError& error) {
        return {"", error.what()};
    }
}

Presence find_thrust(ThrustSystem system)
{
    if (thrust_available(system))
        return {thrust_description(system), ""};
    return {"", thrust_unavailable_reason(system)};
}

/// Returns the read ceiling of a GPU. This is the rate, in bytes per second, of a kernel that only reads
/// memory; 0 if the kernel cannot run.
double measured_rate(const cuda::DeviceInfo& gpu)
{
    try {
        const cuda::Context context(gpu.ordinal);
        return cuda::CudaTiming(context).read_ceiling().bytes_per_second;
    } catch (const Error& error) {
        write_error(
            fmt::format("warning: the memory of GPU {} was not measured: {}", gpu.ordinal, error.what()));
        return 0;
    }
}

std::string bandwidth_text(double bytes_per_second)
{
    return bytes_per_second > 0 ? fmt::format("{:.0f} GB/s", bytes_per_second / kGigabyte) : "unknown";
}

std::string device_table(const std::vector<cuda::DeviceInfo>& gpus)
{
    using Align = TextTable::Align;
    TextTable table({{"GPU", Align::right},
                     {"name"},
                     {"cc", Align::right},
                     {"SMs", Align::right},
                     {"memory", Align::right},
                     {"L2", Align::right},
                     {"peak", Align::right},
                     {"measured", Align::right},
                     {"driver", Align::right}});
    for (const auto& gpu : gpus)
        table.add({std::to_string(gpu.ordinal), gpu.name,
                   fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor),
                   std::to_string(gpu.multiprocessors),
                   fmt::format("{:.0f} GB", static_cast<double>(gpu.memory_bytes) / kGigabyte),
                   fmt::format("{:.0f} MiB", static_cast<double>(gpu.l2_bytes) / kMebibyte),
                   bandwidth_text(gpu.peak_bytes_per_second), bandwidth_text(measured_rate(gpu)),
                   cuda::version_text(gpu.driver_version)});
    return table.print();
}

/// The tuning records of one GPU.
struct OwnRecords {
    std::size_t rows = 0;
    std::set<std::string> shapes;  ///< problems and shapes for which a record names the fastest plan
};

OwnRecords records_of(const RecordStore& store, const cuda::DeviceInfo& gpu)
{
    OwnRecords own;
    for (const auto& record : store.rows()) {
        if (record.device != identity_of(gpu))
            continue;
        ++own.rows;
        if (record.phase >= TuningPhase::chosen)
            own.shapes.insert(fmt::format("{} {} {} {} {}", print(record.problem), record.shape.num_elements,
                                          record.shape.num_segments, record.shape.longest,
                                          record.shape.padded));
    }
    return own;
}

/// Describes the folder of tuning records: its path, or a note that it does not exist.
std::string folder_text(const std::string& folder)
{
    std::error_code ignored;
    if (folder.empty())
        return " of the program's own";
    return std::filesystem::is_directory(folder, ignored)
               ? ", " + folder
               : fmt::format(" of the program's own; {}, which 'segfold tune' makes, is not there", folder);
}

std::string records_text(const RecordStore& store, const std::vector<cuda::DeviceInfo>& gpus)
{
    std::string text = fmt::format("{}{}", count_text(static_cast<std::int64_t>(store.rows().size()), "row"),
                                   folder_text(record_folder()));
    for (const auto& gpu : gpus) {
        const auto own = records_of(store, gpu);
        text += fmt::format("\nGPU {}: {}, {}", gpu.ordinal,
                            count_text(static_cast<std::int64_t>(own.rows), "row"),
                            count_text(static_cast<std::int64_t>(own.shapes.size()), "tuned shape"));
    }
    return text;
}

/// Describes the measured rows from which the order of stages is learned, such as "5902 measured rows: 3524
/// of NVIDIA H100, 2378 of NVIDIA H200".
std::string order_text()
{
    std::int64_t all = 0;
    std::vector<std::string> texts;
    for (const auto& [device, count] : StageOrder::standard().rows()) {
        all += count;
        texts.push_back(fmt::format("{} of {}", count, device));
    }
    return fmt::format("{}: {}", count_text(all, "measured row"), fmt::join(texts, ", "));
}

Json device_json(const cuda::DeviceInfo& gpu)
{
    return {{"ordinal", gpu.ordinal},
            {"name", gpu.name},
            {"compute_capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
            {"multiprocessors", gpu.multiprocessors},
            {"memory_bytes", gpu.memory_bytes},
            {"l2_bytes", gpu.l2_bytes},
            {"peak_bytes_per_second", gpu.peak_bytes_per_second},
            {"measured_bytes_per_second", measured_rate(gpu)},
            {"driver", cuda::version_text(gpu.driver_version)},
            {"uuid", gpu.uuid}};
}

Json device_json(const Presence& presence)
{
    if (presence.found.empty())
        return {{"found", false}, {"reason", presence.reason}};
    return {{"found", true}, {"description", presence.found}};
}

}  // namespace

int verb_devices(const Words& words)
{
    const Arguments arguments("devices", words, {}, 0);
    const auto gpus = cuda::devices();
    const auto nvrtc = find_nvrtc();
    const auto compiler = find_compiler();
    const auto thrust_cuda = find_thrust(ThrustSystem::cuda);
    const auto thrust_cpu = find_thrust(ThrustSystem::cpu);
    const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    const auto store = RecordStore::open(record_folder());
    for (const auto& complaint : store.complaints())
        write_error("warning: " + complaint);
    if (arguments.json()) {
        Json list = Json::array();
        for (const auto& gpu : gpus) {
            const auto own = records_of(store, gpu);
            list.push_back(device_json(gpu));
            list.back()["tuning"] = {{"rows", own.rows}, {"tuned_shapes", own.shapes.size()}};
        }
        Json document = {{"gpus", std::move(list)}};
        if (gpus.empty())
            document["no_gpu_reason"] = cuda::no_device_reason();
        document["nvrtc"] = device_json(nvrtc);
        document["simt"] = {{"compiler", device_json(compiler)}, {"threads", threads}};
        document["thrust"] = {{"cuda", device_json(thrust_cuda)}, {"cpu", device_json(thrust_cpu)}};
        document["tuning_records"] = {{"rows", store.rows().size()}, {"folder", record_folder()}};
        document["measured_rows"] = StageOrder::standard().rows();
        write_json("devices", std::move(document));
        return 0;
    }
    std::vector<std::pair<std::string, std::string>> facts;
    if (gpus.empty())
        facts.emplace_back("GPU", "none: " + cuda::no_device_reason());
    facts.emplace_back("NVRTC", nvrtc.text());
    facts.emplace_back("simt", compiler.found.empty()
                                   ? compiler.text()
                                   : fmt::format("{}, {}", compiler.found, count_text(threads, "thread")));
    facts.emplace_back("thrust, cuda", thrust_cuda.text());
    facts.emplace_back("thrust, cpu", thrust_cpu.text());
    facts.emplace_back("order", order_text());
    facts.emplace_back("tuning", records_text(store, gpus));
    write_output((gpus.empty() ? "" : device_table(gpus) + "\n") + print_facts(facts));
    return 0;
}

}  // namespace segfold::cli
