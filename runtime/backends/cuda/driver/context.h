#pragma once
// Owners of the driver's contexts, streams and events. Each frees its object without throwing.
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/library.h"

namespace segfold::cuda {

/// A GPU's primary context. The CUDA runtime, and so Thrust, uses it too. Copies share it.
class Context {
public:
    /// Opens the GPU `ordinal`, counted from 0. Throws DeviceError if there is no such GPU.
    explicit Context(int ordinal = 0);

    [[nodiscard]] const DeviceInfo& info() const;
    [[nodiscard]] CUcontext handle() const;

    /// Waits for all work on the GPU.
    void synchronize() const;

    struct Memory {
        std::size_t free_bytes;
        std::size_t total_bytes;
    };
    [[nodiscard]] Memory memory() const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

class Event;

/// Makes a context the calling thread's current context. The destructor restores the previous context.
class CurrentContext {
public:
    explicit CurrentContext(const Context& context);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
};

/// An ordered queue of work on a GPU. One thread at a time may use it.
///
/// It is ordered with the legacy default stream, in which DeviceBuffer copies. So copies and kernels run in
/// the order in which they are queued.
class Stream {
public:
    explicit Stream(const Context& context);
    /// Makes a stream that is not ordered with the default stream, so that neither waits for the other.
    [[nodiscard]] static Stream unordered(const Context& context);

    [[nodiscard]] const Context& context() const;
    [[nodiscard]] CUstream handle() const;

    /// Waits for all work queued so far. If the work failed, throws DeviceError that names the kernels
    /// launched since the last wait.
    void synchronize();

    /// Makes all work queued from now on wait for an event recorded earlier on another stream.
    void wait(const Event& event);

    /// Stores the name `kernel`, so that the message of a later failure can show it.
    void note_launch(std::string_view kernel);

private:
    struct State;
    explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

/// A point in a stream. If `sleeps` is true, a thread that waits for the event frees its core for other
/// threads; if false, the thread may spin.
class Event {
public:
    explicit Event(const Context& context, bool sleeps = false);

    void record(const Stream& stream);
    void synchronize() const;

    [[nodiscard]] CUevent handle() const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Waits for `stop`. Returns the milliseconds from `start` to `stop` on the GPU, to about half a microsecond.
[[nodiscard]] double elapsed_milliseconds(const Event& start, const Event& stop);

/// Runs `function`, which queues work on `stream`, `warmups` + `repeats` times. Returns the milliseconds of
/// each of the last `repeats` runs.
///
/// The host does not wait between two runs, so the GPU is not idle while the host prepares a launch.
/// `before_each` queues untimed work before every run, such as a flush of the L2 cache.
[[nodiscard]] std::vector<double> time_launches(Stream& stream, int warmups, int repeats,
                                                const std::function<void()>& function,
                                                const std::function<void()>& before_each = {});

}  // namespace segfold::cuda
