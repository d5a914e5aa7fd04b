#pragma once
// Runs one stage on a workload in parts: slices, devices or ranks. The stage folds the segments inside each
// part and, if it can, the pieces of segments that are cut.
#include <functional>
#include <memory>
#include <span>

#include "codegen/catalogue.h"
#include "runtime/backends/backend.h"
#include "runtime/scale/ranks/agreed_ranks.h"
#include "runtime/scale/slices/slice_engine.h"
#include "runtime/scale/slices/sliced.h"

namespace segfold::regress {

/// The stage and the options for folding parts.
struct SpreadStage {
    const OperatorLaws& laws;
    const Catalogue& catalogue;
    const Stage& stage;
    /// Returns the configuration of `stage`. If another stage folds the pieces of cut segments, it is also
    /// called for that stage.
    std::function<Configuration(const Stage&, const Problem&)> configure;
    /// If true, the order of combination depends only on the data, as with `--reproducible`, for any stage.
    bool is_reproducible = false;
};

/// Folds a workload in slices, which are dealt out to the devices. Pieces of a cut segment are folded in the
/// form `whole`. If the stage does not serve this form, the rule of thumb, which chooses plans without
/// measurements, chooses a stage for the pieces.
[[nodiscard]] Results run_sliced(std::span<const SliceDevice> devices, const Workload& workload,
                                 const SpreadStage& how, std::int64_t num_slices);

/// The device that folds a rank's share of the data.
struct RankDevice {
    SliceDevice device;
    /// Makes an engine that copies one slice while the previous slice is folded. Set only for a GPU.
    std::function<std::unique_ptr<SliceEngine>()> make_engine = {};
};
/// Makes a device that folds parts on `backend`. Runs without an engine use `circumstances`.
[[nodiscard]] SliceDevice device_of(Backend& backend, const Circumstances& circumstances);
[[nodiscard]] RankDevice rank_device_of(Backend& backend, const Circumstances& circumstances);

/// Returns the reason why ranks cannot fold segments of this form; empty if they can.
[[nodiscard]] std::string reason_against_ranks(const Segments& segments);

/// Folds a workload on ranks, as a run of several processes does. All ranks must call this.
///
/// Every rank has the whole workload, folds its share, and returns all results. A share is streamed in slices
/// of at most `slice_elements` elements, or in one slice if this is 0. If one rank fails, every rank throws
/// its error.
[[nodiscard]] Results run_by_ranks(AgreedRanks& ranks, const RankDevice& device, const Workload& workload,
                                   const SpreadStage& how, std::int64_t slice_elements = 0);

}  // namespace segfold::regress
