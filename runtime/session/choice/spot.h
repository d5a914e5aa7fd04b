#pragma once
// Plans that were measured on the spot, that is on a caller's arrays, and when such measurements may decide.
//
// The bits of a result depend on the data, the operator and the caller's words: never on a cache, and never
// on a measurement that the caller did not ask for. Who chooses a plan, first to last:
//
// 1. The caller, by a stage, by settings, or by a reproducible plan. Nothing is measured then.
// 2. The caller, by `measure`: the fastest of so many stages on these arrays. If spot records hold all stages
//    that would be measured, the fastest of them is taken, and nothing is measured again.
// 3. A tuning record. Whoever runs `tune` asks for it, for all later folds on the machine.
// 4. A spot record, but only where every stage gives the same bits; see gives_same_bits().
// 5. The order that is grown from measured rows. Where nothing here compiles and every stage gives the same
//    bits, the first stage of the order whose text is compiled already.
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

/// True if every stage that serves gives the same bits: no part of the operator rounds, and all laws on which
/// stages rely hold for these data.
[[nodiscard]] bool gives_same_bits(const Operator& op, const OperatorLaws& laws);

/// Returns the stages that `measure` times, best first: `first`, then the first others of the order. There
/// are at most `num_stages`.
[[nodiscard]] std::vector<Point> spot_candidates(const Point& first, const FormulaNames& facts,
                                                 const Problem& problem, const Catalogue& catalogue,
                                                 int num_stages);

/// Throws InputError if `num_stages` is less than 1.
void require_measured_stages(int num_stages);

/// A measured time is at least this long, because a clock may not tell a run's begin from its end.
inline constexpr double kLeastMilliseconds = 1e-6;

/// A stage that was measured on the spot.
struct SpotTrial {
    Point point;
    PlanMeasurement measurement;
};

/// The spot records of a machine. The sessions' plans share them; several threads may use them.
class SpotRecords {
public:
    /// `facts` returns driver and compiler; it is called when something is kept. If `folder` is empty,
    /// records are kept in this object only.
    SpotRecords(std::vector<TuningRecord> rows, std::string folder, std::function<TimingFacts()> facts);

    /// Returns the measurements of exactly this device, operator, class of problem and shape, by the present
    /// texts of the stages. Of several measurements of a plan the last counts.
    [[nodiscard]] std::vector<SpotTrial> find(const Question& question) const;
    /// Returns the fastest plan of find(), with its reason; no point if there is none.
    [[nodiscard]] Lookup look_up(const Question& question) const;
    /// Returns the fastest of `candidates` if all of them have been measured, and one of them with success.
    [[nodiscard]] std::optional<Point> fastest(const Question& question,
                                               std::span<const Point> candidates) const;

    /// Keeps the trials, also in the user's folder. If that cannot be written, they are kept in memory only.
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

/// Returns the place of the fastest trial that succeeded; nothing if none did.
[[nodiscard]] std::optional<std::size_t> fastest_of(std::span<const SpotTrial> trials);

/// Returns text such as "tile_scan ..., measured here: tile_scan 12 us, warp_stream 15 us".
[[nodiscard]] std::string measured_text(const Point& taken, std::span<const SpotTrial> trials);

}  // namespace segfold
