#include "runtime/backends/cuda/driver/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "dsl/error.h"
#include "dsl/stopped.h"

namespace segfold::cuda {
namespace {

// Most kernels that a failure message names. They are the last ones launched.
constexpr std::size_t kRememberedKernels = 8;

// Flags of the driver's streams and events.
constexpr unsigned kOrderedStream = 0, kUnorderedStream = 1;
constexpr unsigned kSleepingEvent = 1;

// True if the failure ends the context. Every later call then returns the same error.
bool ends_context(CUresult result)
{
    const int code = static_cast<int>(result);
    return code >= 700 && code < 800 && result != CUresult::launch_out_of_resources;
}

std::string suspects(const std::vector<std::string>& kernels)
{
    if (kernels.empty())
        return "the GPU's work failed";
    if (kernels.size() == 1)
        return fmt::format("kernel {} failed", kernels.front());
    return fmt::format("one of the kernels {} failed", fmt::join(kernels, ", "));
}

}  // namespace

struct Context::State {
    explicit State(int ordinal) : info(device(ordinal))
    {
        check(driver().cuDeviceGet(&gpu, ordinal), "cuDeviceGet");
        check(driver().cuDevicePrimaryCtxRetain(&handle, gpu), "cuDevicePrimaryCtxRetain");
    }
    ~State() { driver().cuDevicePrimaryCtxRelease(gpu); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    DeviceInfo info;
    CUdevice gpu = 0;
    CUcontext handle = nullptr;
};

Context::Context(int ordinal) : state_(std::make_shared<const State>(ordinal)) {}

const DeviceInfo& Context::info() const { return state_->info; }

CUcontext Context::handle() const { return state_->handle; }

void Context::synchronize() const
{
    const CurrentContext current(*this);
    check(driver().cuCtxSynchronize(), "cuCtxSynchronize");
}

Context::Memory Context::memory() const
{
    const CurrentContext current(*this);
    Memory memory = {};
    check(driver().cuMemGetInfo(&memory.free_bytes, &memory.total_bytes), "cuMemGetInfo");
    return memory;
}

CurrentContext::CurrentContext(const Context& context)
{
    check(driver().cuCtxPushCurrent(context.handle()), "cuCtxPushCurrent");
}

CurrentContext::~CurrentContext()
{
    CUcontext ignored = nullptr;
    driver().cuCtxPopCurrent(&ignored);
}

struct Stream::State {
    State(const Context& owner, unsigned flags) : context(owner)
    {
        const CurrentContext current(context);
        check(driver().cuStreamCreate(&handle, flags), "cuStreamCreate");
    }
    ~State() { driver().cuStreamDestroy(handle); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Context context;
    CUstream handle = nullptr;
    std::vector<std::string> launched;
};

Stream::Stream(const Context& context) : state_(std::make_shared<State>(context, kOrderedStream)) {}

Stream Stream::unordered(const Context& context)
{
    return Stream(std::make_shared<State>(context, kUnorderedStream));
}

const Context& Stream::context() const { return state_->context; }

CUstream Stream::handle() const { return state_->handle; }

void Stream::synchronize()
{
    const CurrentContext current(state_->context);
    const CUresult result = driver().cuStreamSynchronize(state_->handle);
    const std::vector<std::string> kernels = std::exchange(state_->launched, {});
    if (result == CUresult::success)
        return;
    std::string message = fmt::format("{}: {}", suspects(kernels), describe(result));
    if (ends_context(result))
        message += "; the GPU takes no more work from this process; compute-sanitizer shows where it failed";
    throw DeviceError(message);
}

void Stream::note_launch(std::string_view kernel)
{
    std::vector<std::string>& names = state_->launched;
    if (std::ranges::find(names, kernel) != names.end())
        return;
    if (names.size() == kRememberedKernels)
        names.erase(names.begin());
    names.emplace_back(kernel);
}

struct Event::State {
    State(const Context& owner, bool sleeps) : context(owner)
    {
        const CurrentContext current(context);
        check(driver().cuEventCreate(&handle, sleeps ? kSleepingEvent : 0), "cuEventCreate");
    }
    ~State() { driver().cuEventDestroy(handle); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Context context;
    CUevent handle = nullptr;
};

Event::Event(const Context& context, bool sleeps) : state_(std::make_shared<const State>(context, sleeps)) {}

void Event::record(const Stream& stream)
{
    const CurrentContext current(state_->context);
    check(driver().cuEventRecord(state_->handle, stream.handle()), "cuEventRecord");
}

void Stream::wait(const Event& event)
{
    const CurrentContext current(state_->context);
    check(driver().cuStreamWaitEvent(state_->handle, event.handle(), 0), "cuStreamWaitEvent");
}

void Event::synchronize() const
{
    const CurrentContext current(state_->context);
    check(driver().cuEventSynchronize(state_->handle), "cuEventSynchronize");
}

CUevent Event::handle() const { return state_->handle; }

double elapsed_milliseconds(const Event& start, const Event& stop)
{
    stop.synchronize();
    float milliseconds = 0;
    check(driver().cuEventElapsedTime(&milliseconds, start.handle(), stop.handle()), "cuEventElapsedTime");
    return milliseconds;
}

std::vector<double> time_launches(Stream& stream, int warmups, int repeats,
                                  const std::function<void()>& function,
                                  const std::function<void()>& before_each)
{
    const auto prepare = [&] {
        throw_if_stopped();
        if (before_each)
            before_each();
    };
    for (int i = 0; i < warmups; ++i) {
        prepare();
        function();
    }
    std::vector<Event> starts;
    std::vector<Event> stops;
    for (int i = 0; i < repeats; ++i) {
        starts.emplace_back(stream.context());
        stops.emplace_back(stream.context());
    }
    // Module loads and first launches may delay the GPU, so timing starts when the GPU is idle.
    stream.synchronize();
    for (std::size_t i = 0; i < starts.size(); ++i) {
        prepare();
        starts[i].record(stream);
        function();
        stops[i].record(stream);
    }
    stream.synchronize();
    std::vector<double> milliseconds;
    for (std::size_t i = 0; i < starts.size(); ++i)
        milliseconds.push_back(elapsed_milliseconds(starts[i], stops[i]));
    return milliseconds;
}

}  // namespace segfold::cuda
