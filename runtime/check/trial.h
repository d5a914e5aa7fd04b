#pragma once
// Runs one stage with one operator on generated data, for relations.
#include <functional>
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

/// Which configuration of a stage runs.
enum class Tiles : std::uint8_t {
    chosen,   ///< the one that a run would choose
    smallest  ///< small tiles, few blocks: much crosses borders, loops run repeatedly
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
    std::span<Backend* const> others = {};  ///< of the same kind, for folds on several devices
    /// Ranks that try relations together. If null, threads take their place.
    AgreedRanks* ranks = nullptr;
    /// The full operator, if `op` is only its fold.
    const Operator* given = nullptr;
};

/// Folds the parts of a workload.
enum class Spread : std::uint8_t {
    slices,   ///< one device, one after the other
    devices,  ///< the setting's devices; slices are dealt to them
    ranks,    ///< the setting's ranks; without any, one thread per device
};

/// Data with their right results.
class Material {
public:
    Workload workload;
    std::unique_ptr<Judge> judge;
    /// Returns the results of Thrust, computed by the first call; nothing if Thrust cannot serve.
    [[nodiscard]] const std::optional<Results>& thrust(const UsableLaws& laws) const;

private:
    mutable std::optional<std::optional<Results>> thrust_;
};

/// Data by a text that describes them, so stages can share them.
using Materials = std::map<std::string, std::unique_ptr<Material>>;

/// A relation that did not hold.
struct Breach {
    SegmentForm form = SegmentForm::whole;
    std::string configuration;
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;
    std::string text;  ///< what disagrees, with the first wrong segment and its elements
    /// Simt found a race or bad access, or the kernel found an impossible number of segments.
    bool is_fault = false;
};

/// Runs of one stage.
class Trial {
public:
    Trial(const Setting& setting, const Stage& stage, Tiles tiles, Materials& materials);

    [[nodiscard]] const Setting& setting() const { return setting_; }
    /// Returns those of the `wanted` forms that the stage can serve.
    [[nodiscard]] std::vector<SegmentForm> forms(std::initializer_list<SegmentForm> wanted) const;
    /// Returns a random number from 0 to `bound` - 1. Different `stream` values give independent numbers.
    [[nodiscard]] std::int64_t lot(std::uint64_t stream, std::int64_t bound) const;
    /// Returns segment lengths of many kinds whose sum is num_elements, including empty ones if `empties`.
    [[nodiscard]] std::vector<std::int64_t> lengths(bool empties) const;
    /// Returns a length near the borders of warps, blocks and tiles; at most num_elements.
    [[nodiscard]] std::int64_t border_length(std::uint64_t stream) const;
    /// Returns segments for a relation that does not depend on lengths: those of lengths(), except for whole
    /// and uniform.
    [[nodiscard]] Segments usual_segments(SegmentForm form) const;
    /// Returns usual_segments(form) for `op`, an operator derived from the setting's. If `op` allows no empty
    /// segments, none is empty.
    [[nodiscard]] Segments usual_segments(SegmentForm form, const Operator& op) const;

    /// Returns the operator's data for the segments with the right results. They are made once and shared by
    /// all stages.
    ///
    /// `key` describes the segments as far as form and seed do not.
    const Material& material(const Operator& op, Segments segments, const std::string& key) const;

    /// Runs the stage. The next Breach describes this run.
    Results run(const Workload& workload, const Circumstances& circumstances = {});

    /// Runs the stage in parts: `count` slices, or on ranks in slices of `count` elements.
    Results run_spread(const Workload& workload, Spread spread, std::int64_t count,
                       bool is_reproducible = false);
    /// Returns a text for such a run: "in 7 slices on 3 devices".
    [[nodiscard]] std::string spread_text(Spread spread, std::int64_t count) const;
    [[nodiscard]] const Stage& stage() const { return stage_; }

    /// Makes a breach that describes the last run's workload.
    [[nodiscard]] Breach breach(std::string text) const;
    /// Returns nothing if the comparison agrees. Remembers the first results that could not be judged.
    [[nodiscard]] std::optional<Breach> breach(const Comparison& comparison);
    /// Returns "against thrust: 3 of 40 segments cannot be judged, ..."; empty if all could be.
    [[nodiscard]] const std::string& unjudged() const { return unjudged_; }
    /// Returns nothing if two runs of one workload gave the same bits.
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

/// Makes segments of the given lengths, in form offsets, ranges, flags or keys; the last two must have no
/// empty ones.
[[nodiscard]] Segments segments_of(SegmentForm form, const std::vector<std::int64_t>& lengths);

}  // namespace segfold::regress
