#pragma once
// The flags that cut a run into slices, and deal them to several devices.
#include <memory>
#include <optional>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/scale/slices/sliced.h"

namespace segfold::cli {

inline constexpr std::int64_t kMostSlices = std::int64_t{1} << 20;
inline constexpr Flag kScaleFlags[] = {{"slices", "N"}, {"devices", "all|N,N"}};

/// Whether a run is cut into slices.
[[nodiscard]] bool is_sliced(const Arguments& arguments);

/// The sessions of --devices beside the first; that of the first device is made by its owner.
///
/// Devices of a back end that uses no GPU are worth a share of the host's cores each.
class Devices {
public:
    /// Throws InputError for a list that is none, or that names a device twice.
    explicit Devices(const Arguments& arguments);

    /// The first one's ordinal; nothing where --devices is not given.
    [[nodiscard]] std::optional<int> first() const;
    /// Back ends like `first`, for the devices beside the first.
    [[nodiscard]] std::vector<std::unique_ptr<Backend>> others(const Backend& first) const;
    /// How many slices are folded: --slices, else one for each device.
    [[nodiscard]] std::int64_t num_slices() const { return num_slices_; }
    /// Folds on `session` and, beside it, on sessions of its back end for the other devices.
    [[nodiscard]] Sliced fold(Session& session, const Workload& workload, SliceOptions options,
                              const SessionOptions& session_options) const;

private:
    std::vector<int> ordinals_;
    std::int64_t num_slices_ = 1;
};

/// Where they lie, for those that borrow them.
[[nodiscard]] std::vector<Backend*> pointers_to(const std::vector<std::unique_ptr<Backend>>& backends);

}  // namespace segfold::cli
