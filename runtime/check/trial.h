#pragma once
// Runs one stage with one operator on generated data. Relations are tried with it.
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

/// Byte with which scratch memory is filled before a run. Results must not depend on the memory's first
/// contents.
inline constexpr std::uint8_t kScratchPoison = 0xcd;

/// The configuration with which a stage runs.
enum class Tiles : std::uint8_t {
    chosen,   ///< the configuration of a run
    smallest  ///< small tiles and few blocks, so that few elements cross many tile borders and repeat loops
};

/// Returns "chosen" or "smallest".
[[nodiscard]] std::string_view name(Tiles tiles);

/// Facts and options shared by all trials of one operator.
struct Setting {
    const Operator& op;
    UsableLaws laws;
    const Catalogue& catalogue;
    Backend& backend;
    std::int64_t num_elements;
    std::uint64_t seed;
    MakeArrays make_arrays;
    /// Further back ends of the same kind, for folds on several devices.
    std::span<Backend* const> others = {};
    AgreedRanks* ranks = nullptr;     ///< ranks that try relations together; if null, threads act as ranks
    const Operator* given = nullptr;  ///< the operator of which `op` is a part; null if `op` is whole
};

/// How a workload is folded in parts.
enum class Spread : std::uint8_t {
    slices,   ///< one device folds all slices one after the other
    devices,  ///< slices are dealt out to the setting's devices
    ranks,    ///< the setting's ranks fold a share each; without ranks, one thread per device acts as a rank
};

/// A workload, and a judge that holds its reference results.
class Material {
public:
    Workload workload;
    std::optional<Workload> sorted;  ///< for groups: the workload that the reference and Thrust fold
    std::unique_ptr<Judge> judge;
    [[nodiscard]] const Workload& judged() const { return sorted ? *sorted : workload; }
    /// Thrust's results, computed at the first call; nothing if Thrust cannot run.
    [[nodiscard]] const std::optional<Results>& thrust(const UsableLaws& laws) const;

private:
    mutable std::optional<std::optional<Results>> thrust_;
};

/// Workloads shared by all stages. The key is a text that describes the workload.
using Materials = std::map<std::string, std::unique_ptr<Material>>;

/// A relation that did not hold.
struct Breach {
    SegmentForm form = SegmentForm::whole;
    std::string configuration;
    std::int64_t num_elements = 0;
    std::int64_t num_segments = 0;
    std::string text;  ///< text with both sides, and the first wrong segment with its elements
    /// simt found a race or a bad access, or the kernel returned an impossible number of segments.
    bool is_fault = false;
};

/// Runs one stage on the workloads of relations.
class Trial {
public:
    Trial(const Setting& setting, const Stage& stage, Tiles tiles, Materials& materials);

    [[nodiscard]] const Setting& setting() const { return setting_; }
    /// Returns the forms among `wanted` that the stage can serve.
    [[nodiscard]] std::vector<SegmentForm> forms(std::initializer_list<SegmentForm> wanted) const;
    /// Returns a random number from 0 to `bound` - 1, which depends on the seed and on `stream`.
    [[nodiscard]] std::int64_t lot(std::uint64_t stream, std::int64_t bound) const;
    /// Returns segment lengths of many kinds, whose sum is the number of elements. Lengths of 0 occur only if
    /// `empties` is true.
    [[nodiscard]] std::vector<std::int64_t> lengths(bool empties) const;
    /// Returns a random length close to the size of a warp, block or tile, at most num_elements.
    [[nodiscard]] std::int64_t border_length(std::uint64_t stream) const;
    /// Returns segments for relations that do not depend on particular lengths. Lengths come from lengths(),
    /// except for the forms `whole` and `uniform`.
    [[nodiscard]] Segments usual_segments(SegmentForm form) const;
    /// Returns usual segments for `op`, which is derived from the setting's operator. Includes empty segments
    /// only if `op` accepts them.
    [[nodiscard]] Segments usual_segments(SegmentForm form, const Operator& op) const;

    /// Returns data for `op` over these segments, with a judge. The data are built once and shared by all
    /// stages. `key` distinguishes segments that have the same form and number of elements.
    const Material& material(const Operator& op, Segments segments, const std::string& key) const;

    /// Runs the stage. A later breach() reports this run's workload and configuration.
    Results run(const Workload& workload, const Circumstances& circumstances = {});

    /// Runs the stage in parts. `count` is the number of slices; for ranks, it is the number of elements per
    /// slice.
    Results run_spread(const Workload& workload, Spread spread, std::int64_t count,
                       bool is_reproducible = false);
    /// Describes run_spread() with these arguments, such as "in 7 slices on 3 devices".
    [[nodiscard]] std::string spread_text(Spread spread, std::int64_t count) const;
    [[nodiscard]] const Stage& stage() const { return stage_; }
    /// True if the stage has run.
    [[nodiscard]] bool has_run() const { return has_run_; }

    /// Returns a breach with this text for the last run.
    [[nodiscard]] Breach breach(std::string text) const;
    /// Returns a breach if the comparison disagrees, otherwise nothing. Remembers the first results that
    /// cannot be judged for unjudged().
    [[nodiscard]] std::optional<Breach> breach(const Comparison& comparison);
    /// Describes the results that could not be judged, such as "against thrust: 3 of 40 segments cannot be
    /// judged, ..."; empty if there are none.
    [[nodiscard]] const std::string& unjudged() const { return unjudged_; }
    /// Returns a breach if two runs of one workload returned different bits, otherwise nothing.
    [[nodiscard]] std::optional<Breach> unequal_bits(const Results& results, const Results& usual,
                                                     const std::string& what) const;

private:
    [[nodiscard]] Configuration configuration_of(const Stage& stage, const Problem& problem,
                                                 const Shape& shape = {}) const;
    const Emitted& emitted(const Workload& workload);
    [[nodiscard]] int num_ranks() const;
    Results run_by_threads(const Workload& workload, const SpreadStage& how, std::int64_t slice_elements);

    const Setting& setting_;
    const Stage& stage_;
    Tiles tiles_;
    Materials& materials_;
    std::map<std::string, Emitted> emitted_;
    Breach last_;
    bool has_run_ = false;
    std::string unjudged_;
};

/// Returns segments of these lengths. `form` must be offsets, ranges, flags, keys or groups; for flags and
/// Returns segments of these lengths. `form` must be offsets, ranges, flags or keys. For flags and keys, no
/// length may be 0.
[[nodiscard]] Segments segments_of(SegmentForm form, const std::vector<std::int64_t>& lengths);

}  // namespace segfold::regress
