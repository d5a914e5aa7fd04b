#pragma once
// Reads the flags that cut a run into slices and deal them out to devices.
#include <memory>
#include <optional>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/session/core.h"

namespace segfold::cli {

inline constexpr std::int64_t kMostSlices = std::int64_t{1} << 20;
inline constexpr Flag kScaleFlags[] = {{"slices", "N"}, {"devices", "all|N,N"}};

/// True if the flags cut a run into slices.
[[nodiscard]] bool is_sliced(const Arguments& arguments);

/// The devices that --devices names. On a back end without GPUs, each device is a share of the host's cores.
///
/// The caller owns the session of the first device.
class Devices {
public:
    /// Throws InputError if the list is malformed or names a device twice.
    explicit Devices(const Arguments& arguments);

    /// Returns the ordinal of the first device; nothing without --devices.
    [[nodiscard]] std::optional<int> first() const;
    /// Makes one back end, of the kind of `first`, for each device but the first.
    [[nodiscard]] std::vector<std::unique_ptr<Backend>> others(const Backend& first) const;
    /// Returns the value of --slices; without this flag, the number of devices.
    [[nodiscard]] std::int64_t num_slices() const { return num_slices_; }
    /// Folds in slices. Uses `session` for the first device, and new sessions on the same kind of back end
    /// for the other devices.
    [[nodiscard]] FoldRun fold(Session& session, const Workload& workload, FoldWishes wishes,
                               const SessionOptions& session_options) const;

private:
    std::vector<int> ordinals_;
    std::int64_t num_slices_ = 1;
};

/// Returns pointers to the back ends. `backends` keeps ownership.
[[nodiscard]] std::vector<Backend*> pointers_to(const std::vector<std::unique_ptr<Backend>>& backends);

}  // namespace segfold::cli
