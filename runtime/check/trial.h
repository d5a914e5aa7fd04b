#pragma once
// One stage with one operator on generated data: the means of relations to make their runs.
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "runtime/backends/backend.h"
#include "runtime/check/spread_stage.h"
#include "runtime/judge/compare.h"
#include "runtime/measure/times/uniform_arrays.h"

namespace segfold::regress {

/// Fills scratch memory whose first contents must not matter.
inline constexpr std::uint8_t kScratchPoison = 0xcd;

/// The configuration with which a stage runs.
enum class Tiles : std::uint8_t {
    chosen,   ///< that of a run
    smallest  ///< with small tiles and few blocks, so that little data crosses many borders and loops go
              ///< round
};

/// "chosen", "smallest"
[[nodiscard]] std::string_view name(Tiles tiles);

/// Shared by the trials of one operator.
struct Setting {
    const Operator& op;
    UsableLaws laws;
    const Catalogue& catalogue;
    Backend& backend;
    std::int64_t num_elements;
    std::uint64_t seed;
    MakeArrays make_arrays;
    std::span<Backend* const> others = {};  ///< of the same kind, for folds by several devices
    AgreedRanks* ranks = nullptr;           ///< that try relations together; without them threads stand in
    const Operator* given = nullptr;        ///< whose fold `op` is, if `op` is a part of it
};

/// Folds the parts of a workload.
enum class Spread : std::uint8_t {
    slices,   ///< one device, one after the other
    devices,  ///< the setting's devices, which share slices
    ranks,    ///< the setting's ranks, else a thread for each of its devices
};

/// Data with its right answer.
class Material {
public:
    Workload workload;
    std::unique_ptr<Judge> judge;
    /// Thrust's results, made at the first call; nothing if it cannot serve.
    [[nodiscard]] const std::optional<Results>& thrust(const UsableLaws& laws) const;

private:
    mutable std::optional<std::optional<Results>> thrust_;
};

/// Data by a text that describes it, so that stages share it.
using Materials = std::map<std::string, std::unique_ptr<Material>>;

/// A relation that did not hold.
struct Breach {
    SegmentForm form = SegmentForm::whole;
    std::string configuration;
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;
    std::string text;  ///< the two sides that disagree, and the first wrong segment with its elements
    bool is_fault =
        false;  ///< simt found a race or a bad access, or the kernel wrote an impossible number of segments
};

/// The runs of one stage.
class Trial {
public:
    Trial(const Setting& setting, const Stage& stage, Tiles tiles, Materials& materials);

    [[nodiscard]] const Setting& setting() const { return setting_; }
    /// The forms among `wanted` that the stage can serve.
    [[nodiscard]] std::vector<SegmentForm> forms(std::initializer_list<SegmentForm> wanted) const;
    /// A number from 0 to `bound` - 1 by lot; `stream` tells lots apart.
    [[nodiscard]] std::int64_t lot(std::uint64_t stream, std::int64_t bound) const;
    /// Lengths of segments of many kinds that add up to num_elements; empty ones among them if `empties`.
    [[nodiscard]] std::vector<std::int64_t> lengths(bool empties) const;
    /// A length that borders of warps, blocks and tiles are near to, at most num_elements.
    [[nodiscard]] std::int64_t border_length(std::uint64_t stream) const;
    /// Segments for a relation that is not about lengths: of lengths(), except in the forms whole and
    /// uniform.
    [[nodiscard]] Segments usual_segments(SegmentForm form) const;
    /// The same for an operator made of the setting's: none is empty if it takes no empty ones.
    [[nodiscard]] Segments usual_segments(SegmentForm form, const Operator& op) const;

    /// The operator's data over the segments, and the right answer; made once for all stages.
    ///
    /// `key` describes the segments beside form and seed.
    const Material& material(const Operator& op, Segments segments, const std::string& key) const;

    /// Runs the stage; the next Breach speaks of this run.
    Results run(const Workload& workload, const Circumstances& circumstances = {});

    /// The same in parts: so many slices, or by ranks in slices of so many elements.
    Results run_spread(const Workload& workload, Spread spread, std::int64_t count,
                       bool is_reproducible = false);
    /// "in 7 slices on 3 devices" of that.
    [[nodiscard]] std::string spread_text(Spread spread, std::int64_t count) const;
    [[nodiscard]] const Stage& stage() const { return stage_; }

    /// A breach of the last run's workload.
    [[nodiscard]] Breach breach(std::string text) const;
    /// Nothing if a comparison agrees; keeps the first that it cannot judge.
    [[nodiscard]] std::optional<Breach> breach(const Comparison& comparison);
    /// "against thrust: 3 of 40 segments cannot be judged, ..."; empty where all could be.
    [[nodiscard]] const std::string& unjudged() const { return unjudged_; }
    /// Nothing where two runs of one workload gave the same bits.
    [[nodiscard]] std::optional<Breach> unequal_bits(const Results& results, const Results& usual,
                                                     const std::string& what) const;

private:
    [[nodiscard]] Configuration configuration_of(const Stage& stage, const Problem& problem) const;
    const Emitted& emitted(const Workload& workload);
    [[nodiscard]] int num_ranks() const;
    Results run_by_threads(const Workload& workload, const SpreadStage& how, std::int64_t slice_elements);

    const Setting& setting_;
    const Stage& stage_;
    Tiles tiles_;
    Materials& materials_;
    std::map<std::string, Emitted> emitted_;
    Breach last_;
    std::string unjudged_;
};

/// Segments of the given lengths; form offsets, ranges, flags or keys, the latter two without empty ones.
[[nodiscard]] Segments segments_of(SegmentForm form, const std::vector<std::int64_t>& lengths);

}  // namespace segfold::regress
