#pragma once
// How long the parts of one run took.
#include <optional>

namespace segfold {

/// Seconds of one run of a back end; what a back end does not do, or cannot tell, is absent.
struct RunTimes {
    std::optional<double> compile_seconds;  ///< absent too where the program was compiled before
    std::optional<double> kernel_seconds;   ///< from the first launch's begin to the last one's end
    double seconds = 0;                     ///< in all, copies to and from a GPU among them

    /// Adds those of another run.
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
