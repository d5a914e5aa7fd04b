#pragma once
// Runs one stage on parts of a workload: slices, devices or ranks. The stage folds the segments inside parts,
// and also pieces of cut segments if it can.
#include <functional>
#include <memory>
#include <span>

#include "codegen/catalogue.h"
#include "runtime/backends/backend.h"
#include "runtime/scale/ranks/agreed_ranks.h"
#include "runtime/scale/slices/slice_engine.h"
#include "runtime/scale/slices/sliced.h"

namespace segfold::regress {

/// The stage and options with which parts are folded.
struct SpreadStage {
    const OperatorLaws& laws;
    const Catalogue& catalogue;
    const Stage& stage;
    /// Returns the configuration of `stage`, or of another stage that folds pieces if `stage` cannot.
    std::function<Configuration(const Stage&, const Problem&)> configure;
    /// If true, the order of combination depends only on the data, as with `--reproducible`, whatever the
    /// stage.
    bool is_reproducible = false;
};

/// Folds a workload in slices, which are dealt to the devices. Pieces of a cut segment are folded in the form
/// `whole`. If the stage does not take this form, the rule of thumb chooses another stage for the pieces.
[[nodiscard]] Results run_sliced(std::span<const SliceDevice> devices, const Workload& workload,
                                 const SpreadStage& how, std::int64_t num_slices);

/// The device that folds a rank's share.
struct RankDevice {
    SliceDevice device;
    /// For a GPU: makes an engine that copies a slice while an earlier slice is folded.
    std::function<std::unique_ptr<SliceEngine>()> make_engine = {};
};
/// Makes a device that runs parts on `backend`. Runs without an engine use `circumstances`.
[[nodiscard]] SliceDevice device_of(Backend& backend, const Circumstances& circumstances);
[[nodiscard]] RankDevice rank_device_of(Backend& backend, const Circumstances& circumstances);

/// Returns the reason why ranks cannot fold segments of this form; empty if they can.
[[nodiscard]] std::string reason_against_ranks(const Segments& segments);

/// Folds a workload on ranks, as a run of several processes does. All ranks must call it.
///
/// Each rank streams its share in slices of at most `slice_elements` elements (0: one slice). Every rank has
/// the workload and gets all results. If one rank fails, every rank throws its error.
[[nodiscard]] Results run_by_ranks(AgreedRanks& ranks, const RankDevice& device, const Workload& workload,
                                   const SpreadStage& how, std::int64_t slice_elements = 0);

}  // namespace segfold::regress
