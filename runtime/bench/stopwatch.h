#pragma once
// Times on the GPU and on the host, and the read ceiling that they are held against.
#include <functional>
#include <string>
#include <vector>

#include "runtime/backends/cuda/context.h"
#include "runtime/backends/cuda/device_buffer.h"
#include "runtime/backends/cuda/module.h"
#include "runtime/support/statistics.h"

namespace segfold::bench {

/// Launches before those that are timed.
inline constexpr int kWarmups = 3;
inline constexpr double kMillisecondsPerSecond = 1e3;

/// The fastest that a kernel which only reads has run.
struct ReadCeiling {
    double bytes_per_second = 0;
    std::string text;  ///< "4224 blocks of 256, 4 loads in flight, 1 GiB"
};

/// Measures launches in one stream.
class Stopwatch {
public:
    /// Compiles the kernel that reads. Throws DeviceError.
    explicit Stopwatch(const cuda::Context& context);

    [[nodiscard]] cuda::Stream& stream() { return stream_; }

    /// The best median of several grids and numbers of loads in flight, over 1 GiB or a quarter of what is
    /// free.
    [[nodiscard]] ReadCeiling read_ceiling();

    /// True where data of so many bytes would stay in the L2 from one run to the next, wholly or for a good
    /// part.
    [[nodiscard]] bool fits_cache(std::int64_t bytes) const;

    /// Milliseconds of one launch, the first one included.
    [[nodiscard]] double once(const std::function<void()>& launch);

    /// Milliseconds of `repeats` launches after `warmups` that are not counted.
    ///
    /// With `flush` the L2 is filled with other, clean lines before each one, outside of the time.
    [[nodiscard]] std::vector<double> time(const std::function<void()>& launch, int warmups, int repeats,
                                           bool flush);

    /// Milliseconds of `repeats` launches by the host's clock, each from before the launch until the host has
    /// waited for its end, with nothing queued before it; `flush` as above.
    [[nodiscard]] std::vector<double> wall_milliseconds(const std::function<void()>& launch, int warmups,
                                                        int repeats, bool flush);

    /// Microseconds that the host is busy with one of `launches` launches in a row, the median of five
    /// rounds.
    [[nodiscard]] double host_microseconds(const std::function<void()>& launch, int launches);

private:
    /// Queues what fills the L2 with other, clean lines.
    void fill_cache();
    void read(const cuda::DeviceBuffer& buffer, const std::string& kernel, std::uint64_t grid,
              std::uint64_t block);

    cuda::Context context_;
    cuda::Stream stream_;
    cuda::Module module_;
    cuda::DeviceBuffer sink_;
    cuda::DeviceBuffer other_;  ///< what the L2 is filled with
};

}  // namespace segfold::bench
