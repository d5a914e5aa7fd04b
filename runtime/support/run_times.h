#pragma once
// Times of the parts of one run.
#include <optional>

namespace segfold {

/// Seconds of one run of a back end. A time is absent if the back end does not measure it.
struct RunTimes {
    std::optional<double> compile_seconds;  ///< compilation; absent if the program was compiled before
    std::optional<double> kernel_seconds;   ///< from the start of the first kernel to the end of the last
    double seconds = 0;                     ///< total time, with copies to and from a GPU

    /// Adds the times of another run.
    void add(const RunTimes& more)
    {
        const auto add_to = [](std::optional<double>& total, const std::optional<double>& other) {
            if (other)
                total = total.value_or(0) + *other;
        };
        add_to(compile_seconds, more.compile_seconds);
        add_to(kernel_seconds, more.kernel_seconds);
        seconds += more.seconds;
    }
};

}  // namespace segfold
