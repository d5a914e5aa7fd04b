#include "runtime/backends/cuda/cuda_timing.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/embedded_kernels.h"
#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/program.h"
#include "runtime/support/files/user_folders.h"
#include "runtime/support/statistics.h"

namespace segfold::cuda {
namespace {

constexpr int kCeilingRepeats = 21;
constexpr std::size_t kCeilingBytes = std::size_t{1} << 30;
constexpr std::size_t kGranule = std::size_t{1} << 20;

Module load_measuring_kernels(const Context& context, const std::string& file,
                              std::vector<std::string> options)
{
    const auto& info = context.info();
    const auto architecture = architecture_for(info.compute_major, info.compute_minor);
    return {context,
            load_or_compile(
                {std::string(kernel_text("measuring/" + file)), file, architecture, std::move(options)}),
            file};
}

std::string comparing_kernel(Type type)
{
    return is_float(type) ? fmt::format("compare_{}", name(type))
                          : fmt::format("compare_raw{}", size_bytes(type));
}

const ResidentArrays& resident_arrays(const LoadedArrays& arrays)
{
    return dynamic_cast<const ResidentArrays&>(arrays);
}

}  // namespace

/// A workload on the GPU, with a copy of its kept results for comparison with later results.
class TimedResident : public PlacedWorkload {
public:
    TimedResident(CudaTiming& timing, const Workload& workload, std::shared_ptr<const ResidentArrays> inputs)
        : timing_(timing), resident_(timing.context(), workload, std::move(inputs))
    {}

    [[nodiscard]] ResidentWorkload& resident() { return resident_; }
    [[nodiscard]] const Workload& workload() const override { return resident_.workload(); }
    void poison_results(std::uint8_t poison) override { resident_.poison_results(poison); }
    [[nodiscard]] Results results() const override { return resident_.results(); }

    void keep_results() override
    {
        kept_.clear();
        for (const auto& buffer : resident_.result_arrays().buffers) {
            kept_.emplace_back(timing_.context(), buffer.bytes());
            kept_.back().copy_from(buffer, timing_.stream());
        }
        timing_.wait();
    }

    [[nodiscard]] Results kept_results() const override
    {
        auto results = resident_.results();
        for (std::size_t i = 0; i < kept_.size(); ++i)
            kept_[i].copy_out({results[i].array.data(), results[i].array.bytes()});
        return results;
    }

    [[nodiscard]] Difference difference(std::size_t field, double tolerance, const Filled& filled) override
    {
        if (!timing_.compare_)
            timing_.compare_ = load_measuring_kernels(timing_.context(), "compare.cu", {"--std=c++20"});
        const bool has_places = filled.is_by_key && filled.places != 0;
        const auto fields = returned_fields(workload().op);
        const bool is_output = field + workload().op.outputs.size() >= fields.size();
        const auto& segments = workload().segments;
        const auto count = filled.is_by_key ? filled.num_runs
                                            : workload().num_features *
                                                  (is_output ? segments.num_elements : segments.num_segments);
        const auto grid = static_cast<std::uint64_t>(timing_.context().info().multiprocessors) * 8;
        Difference difference;
        DeviceBuffer counted(timing_.context(), std::as_bytes(std::span(&difference, 1)));
        Arguments arguments;
        arguments.add(resident_.result_arrays().buffers[field])
            .add(kept_.at(field))
            .add(has_places ? filled.places : CUdeviceptr{0})
            .add(static_cast<long long>(count))
            .add(static_cast<int>(filled.is_compacted && has_places))
            .add(tolerance)
            .add(counted);
        timing_.compare_->kernel(comparing_kernel(fields[field].type))
            .launch(timing_.stream(), {.grid = {grid}, .block = {256}}, arguments);
        timing_.wait();
        return counted.to_host<Difference>()[0];
    }

private:
    CudaTiming& timing_;
    ResidentWorkload resident_;
    std::vector<DeviceBuffer> kept_;
};

ResidentWorkload& resident_of(PlacedWorkload& placed)
{
    return dynamic_cast<TimedResident&>(placed).resident();
}

CudaTiming& cuda_timing(Timing& timing, std::string_view what)
{
    if (auto* own = dynamic_cast<CudaTiming*>(&timing))
        return *own;
    throw DeviceError(fmt::format("{} need a GPU, and the back end that is measured uses none", what));
}

CudaTiming::CudaTiming(const Context& context)
    : context_(context),
      stream_(context),
      module_(load_measuring_kernels(context, "read.cu", {})),
      sink_(context, sizeof(float))
{}

TimingFacts CudaTiming::facts() const
{
    return {version_text(context_.info().driver_version), "NVRTC " + nvrtc().version()};
}

std::int64_t CudaTiming::memory_bytes() const
{
    return static_cast<std::int64_t>(context_.info().memory_bytes);
}

std::int64_t CudaTiming::free_bytes() const
{
    return static_cast<std::int64_t>(context_.memory().free_bytes);
}

std::shared_ptr<const LoadedArrays> CudaTiming::load(std::vector<Array> arrays)
{
    auto loaded = std::make_shared<ResidentArrays>();
    for (const auto& array : arrays)
        loaded->add(context_, array);
    return loaded;
}

std::shared_ptr<const LoadedArrays> CudaTiming::copy(const LoadedArrays& arrays)
{
    const auto& own = resident_arrays(arrays);
    auto copied = std::make_shared<ResidentArrays>();
    for (const auto& buffer : own.buffers) {
        DeviceBuffer copy(context_, buffer.bytes());
        copy.copy_from(buffer, stream_);
        copied->add(std::move(copy));
    }
    copied->lengths = own.lengths;
    stream_.synchronize();
    return copied;
}

std::unique_ptr<PlacedWorkload> CudaTiming::place(const Workload& workload,
                                                  std::shared_ptr<const LoadedArrays> arrays)
{
    return std::make_unique<TimedResident>(*this, workload,
                                           std::dynamic_pointer_cast<const ResidentArrays>(arrays));
}

double CudaTiming::compile(const Emitted& text)
{
    return programs_.get(variant_of(context_.info(), text).request)->seconds;
}

void CudaTiming::compile_each(std::span<const Emitted> texts)
{
    programs_.prepare_each(requests_of(context_.info(), texts));
}

void CudaTiming::expect(std::span<const Emitted> texts)
{
    if (!ahead_ && texts.empty())
        return;
    if (!ahead_)
        ahead_ = std::make_unique<Ahead>(programs_);
    std::vector<Variant> variants;
    for (const auto& text : texts)
        variants.push_back(variant_of(context_.info(), text));
    ahead_->add(std::move(variants));
}

TimedPlan CudaTiming::prepare(PlacedWorkload& placed, const Emitted& text)
{
    const auto program = std::make_shared<Program>(context_, resident_of(placed), text, &programs_);
    return {[this, program] { program->launch(stream_.handle()); }, program->text()->compiled()->seconds,
            program->kernels()};
}

void CudaTiming::read(const DeviceBuffer& buffer, std::size_t bytes, const std::string& kernel,
                      std::uint64_t grid, std::uint64_t block)
{
    Arguments arguments;
    arguments.add(buffer).add(static_cast<long long>(bytes / 16)).add(sink_);
    module_.kernel(kernel).launch(stream_, {.grid = {grid}, .block = {block}}, arguments);
}

void CudaTiming::read(std::size_t bytes)
{
    bytes += 16;
    if (unread_.bytes() < bytes / 16 * 16) {
        unread_ = DeviceBuffer(context_, bytes / 16 * 16);
        unread_.fill_with(1.0f);
    }
    read(unread_, bytes, "read4", static_cast<std::uint64_t>(context_.info().multiprocessors) * 16, 256);
}

ReadCeiling CudaTiming::read_ceiling()
{
    const auto bytes =
        std::max(kGranule, std::min(kCeilingBytes, context_.memory().free_bytes / 4) / kGranule * kGranule);
    DeviceBuffer buffer(context_, bytes);
    buffer.fill_with(1.0f);
    const auto multiprocessors = static_cast<std::uint64_t>(context_.info().multiprocessors);
    ReadCeiling best;
    const auto own_turn = turn();
    for (const int loads : {1, 4, 8})
        for (const std::uint64_t waves : {4, 8, 16, 32})
            for (const std::uint64_t block : {256, 512}) {
                const auto grid = multiprocessors * waves;
                const auto kernel = fmt::format("read{}", loads);
                const auto times = time_launches(stream_, kWarmups, kCeilingRepeats,
                                                 [&] { read(buffer, bytes, kernel, grid, block); });
                const double rate = static_cast<double>(bytes) / (quartiles(times).median * 1e-3);
                if (rate > best.bytes_per_second)
                    best = {rate, fmt::format("{} blocks of {}, {} load{} in flight, {} MiB", grid, block,
                                              loads, loads == 1 ? "" : "s", bytes / kGranule)};
            }
    return best;
}

bool CudaTiming::fits_cache(std::int64_t bytes) const
{
    return bytes < static_cast<std::int64_t>(4 * context_.info().l2_bytes);
}

std::vector<double> CudaTiming::time(const TimedLaunch& launch, int warmups, int repeats, bool flush)
{
    const auto own_turn = turn();
    if (!flush)
        return time_launches(stream_, warmups, repeats, launch);
    return time_launches(stream_, warmups, repeats, launch, [&] { fill_cache(); });
}

std::vector<std::vector<double>> CudaTiming::time_by_turns(std::span<const TimedLaunch> launches, int dropped,
                                                           int samples)
{
    std::vector<std::vector<std::pair<Event, Event>>> events(launches.size());
    for (auto& of : events)
        for (int i = 0; i < dropped + samples; ++i)
            of.emplace_back(Event(stream_.context()), Event(stream_.context()));
    stream_.synchronize();
    const auto own_turn = turn();
    for (std::size_t i = 0; i < events.front().size(); ++i)
        for (std::size_t k = 0; k < launches.size(); ++k) {
            throw_if_stopped();
            events[k][i].first.record(stream_);
            launches[k]();
            events[k][i].second.record(stream_);
        }
    stream_.synchronize();
    std::vector<std::vector<double>> milliseconds(launches.size());
    for (std::size_t k = 0; k < launches.size(); ++k)
        for (auto i = static_cast<std::size_t>(dropped); i < events[k].size(); ++i)
            milliseconds[k].push_back(elapsed_milliseconds(events[k][i].first, events[k][i].second));
    return milliseconds;
}

Turn CudaTiming::turn() const
{
    const auto folder = user_cache_folder("turns");
    return Turn(folder.empty() ? folder : folder / context_.info().uuid);
}

void CudaTiming::fill_cache()
{
    if (other_.bytes() == 0) {
        other_ = DeviceBuffer(context_, std::max(kGranule, 2 * context_.info().l2_bytes));
        other_.fill_with(1.0f);
    }
    read(other_, other_.bytes(), "read4", static_cast<std::uint64_t>(context_.info().multiprocessors) * 8,
         256);
}

}  // namespace segfold::cuda
