#pragma once
// One stage over parts of a workload: slices, several devices, ranks. Segments inside parts are folded by the
// stage, pieces of segments by it too where it can.
#include <functional>
#include <memory>
#include <span>

#include "codegen/catalogue.h"
#include "runtime/backends/backend.h"
#include "runtime/scale/ranks/agreed_ranks.h"
#include "runtime/scale/slices/slice_engine.h"
#include "runtime/scale/slices/sliced.h"

namespace segfold::regress {

/// Folds each part.
struct SpreadStage {
    const OperatorLaws& laws;
    const Catalogue& catalogue;
    const Stage& stage;
    /// The configuration of the stage, and of another one that folds pieces where the stage cannot.
    std::function<Configuration(const Stage&, const Problem&)> configure;
    /// As `--reproducible` has it: the order follows from the data alone, whatever stage is given.
    bool is_reproducible = false;
};

/// Folds a workload in slices, which are dealt to the devices. Pieces are one segment each, form whole; if
/// the stage cannot take that, the rule of thumb chooses another.
[[nodiscard]] Results run_sliced(std::span<const SliceDevice> devices, const Workload& workload,
                                 const SpreadStage& how, std::int64_t num_slices);

/// Folds a rank's share.
struct RankDevice {
    SliceDevice device;
    std::function<std::unique_ptr<SliceEngine>()> make_engine =
        {};  ///< of a GPU: slices are copied meanwhile
};
/// A back end as such; without an engine its runs have `circumstances`.
[[nodiscard]] SliceDevice device_of(Backend& backend, const Circumstances& circumstances);
[[nodiscard]] RankDevice rank_device_of(Backend& backend, const Circumstances& circumstances);

/// Why ranks cannot fold such segments; "" if they can.
[[nodiscard]] std::string reason_against_ranks(const Segments& segments);

/// Folds a workload by ranks, as a run of several processes does: each streams its share, in slices of
/// `slice_elements` elements at most, 0 for one slice. Every rank has the workload, and is given all results.
/// A failure of one rank is thrown by all. Collective.
[[nodiscard]] Results run_by_ranks(AgreedRanks& ranks, const RankDevice& device, const Workload& workload,
                                   const SpreadStage& how, std::int64_t slice_elements = 0);

}  // namespace segfold::regress
