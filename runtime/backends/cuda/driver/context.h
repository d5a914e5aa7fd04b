#pragma once
// Owners of the driver's contexts, memory, streams and events. Destructors free them and never throw.
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/library.h"

namespace segfold::cuda {

/// A GPU's primary context, the one that the CUDA runtime (and so Thrust) uses too; copies share it.
class Context {
public:
    /// Throws DeviceError when there is no such GPU.
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

/// Makes a context the calling thread's current one, and on destruction the one before it.
class CurrentContext {
public:
    explicit CurrentContext(const Context& context);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
};

/// An ordered queue of work on a GPU.
///
/// It is ordered with the legacy default stream, on which DeviceBuffer copies: a copy sees the kernels
/// launched before it and is seen by those launched after it. One thread at a time may use a stream.
class Stream {
public:
    explicit Stream(const Context& context);

    [[nodiscard]] const Context& context() const;
    [[nodiscard]] CUstream handle() const;

    /// Waits for all work queued so far; throws DeviceError naming the kernels launched since the last wait.
    void synchronize();

    /// Lets all work queued from now on wait for a moment of another stream, recorded before.
    void wait(const Event& event);

    /// Remembers `kernel` for the message of a later failure.
    void note_launch(std::string_view kernel);

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// A moment in a stream.
class Event {
public:
    explicit Event(const Context& context);

    void record(const Stream& stream);
    void synchronize() const;

    [[nodiscard]] CUevent handle() const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Time from `start` to `stop` on the GPU in milliseconds, to about half a microsecond; waits for `stop`.
[[nodiscard]] double elapsed_milliseconds(const Event& start, const Event& stop);

/// Runs `function`, which queues work on `stream`, `warmups` + `repeats` times and times the latter in
/// milliseconds.
///
/// Nothing waits between two runs, so the GPU does not idle while the host prepares a launch. `before_each`
/// queues work that is not timed, such as a flush of the L2.
[[nodiscard]] std::vector<double> time_launches(Stream& stream, int warmups, int repeats,
                                                const std::function<void()>& function,
                                                const std::function<void()>& before_each = {});

}  // namespace segfold::cuda
