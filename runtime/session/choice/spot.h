#pragma once
// Plans that were measured on a caller's arrays ("on the spot"), and the rules by which such measurements
// choose.
//
// The bits of a result depend on the data, the operator and the caller's requests. They never depend on a
// cache, or on a measurement that the caller did not request. A plan is chosen by the first of these that
// applies:
//
// 1. The caller names a stage or settings, or requests a reproducible plan. Nothing is measured.
// 2. The caller requests `measure`: the fastest of several stages on these arrays. If spot records have all
//    the stages, the fastest is taken without a measurement.
// 3. A tuning record. A user who runs `tune` requests it for all later folds on the machine.
// 4. A spot record, if every stage gives the same bits; see gives_same_bits().
// 5. The order of stages that is grown from measured rows. If this process compiles nothing and every stage
//    gives the same bits, the first stage of the order whose text is already compiled.
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/choice/lookup.h"

namespace segfold {

/// True if every stage gives the same bits. It is so if no part of the operator rounds, and all laws on which
/// stages rely hold for these data.
[[nodiscard]] bool gives_same_bits(const Operator& op, const OperatorLaws& laws);

/// Returns at most `num_stages` stages for `measure` to time: `first`, then the best-ranked other stages.
[[nodiscard]] std::vector<Point> spot_candidates(const Point& first, const FormulaNames& facts,
                                                 const Problem& problem, const Catalogue& catalogue,
                                                 int num_stages);

/// Throws InputError if `num_stages` is less than 1.
void require_measured_stages(int num_stages);

/// A lower bound on measured times, because a clock may not tell a run's begin from its end.
inline constexpr double kLeastMilliseconds = 1e-6;

/// A stage and its measurement on a caller's arrays.
struct SpotTrial {
    Point point;
    PlanMeasurement measurement;
};

/// The spot records of a machine. All sessions and plans share them. Several threads may use this object.
class SpotRecords {
public:
    /// `facts` returns driver and compiler, and is called when a record is kept. If `folder` is empty,
    /// records are kept in this object only.
    SpotRecords(std::vector<TuningRecord> rows, std::string folder, std::function<TimingFacts()> facts);

    /// Returns the measurements of exactly this device, operator, class of problem and shape, by the present
    /// texts of the stages. If a plan was measured several times, the last measurement counts.
    [[nodiscard]] std::vector<SpotTrial> find(const Question& question) const;
    /// Returns the fastest plan of find(), with its reason; no point if there is none.
    [[nodiscard]] Lookup look_up(const Question& question) const;
    /// Returns the fastest of `candidates`. Returns nothing unless all have been measured, and one of them
    /// with success.
    [[nodiscard]] std::optional<Point> fastest(const Question& question,
                                               std::span<const Point> candidates) const;

    /// Keeps the trials, and writes them to the user's folder. If the folder cannot be written, they stay in
    /// memory only.
    void keep(const Question& question, std::int64_t bytes, std::span<const SpotTrial> trials);
    /// True if there is a record of the operator.
    [[nodiscard]] bool knows(const Operator& op) const;

private:
    [[nodiscard]] std::vector<const TuningRecord*> rows_of(const Question& question) const;

    mutable std::mutex mutex_;
    std::vector<TuningRecord> rows_;
    std::string folder_;
    std::function<TimingFacts()> facts_;
};

/// Returns the number of calls of SpotRecords::keep() in this process. After a call, kept plans are out of
/// date.
[[nodiscard]] std::uint64_t num_kept_on_the_spot();

/// Returns the index of the fastest trial that succeeded; nothing if none did.
[[nodiscard]] std::optional<std::size_t> fastest_of(std::span<const SpotTrial> trials);

/// Returns text such as "tile_scan ..., measured here: tile_scan 12 us, warp_stream 15 us".
[[nodiscard]] std::string measured_text(const Point& taken, std::span<const SpotTrial> trials);

}  // namespace segfold
