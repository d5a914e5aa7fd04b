#pragma once
// A tuning that continues from trials in the user's records, and records every measurement and the winner.
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/tune/contest.h"
#include "runtime/session/choice/lookup.h"
#include "runtime/session/choice/record_store.h"

namespace segfold::tune {

/// Returns the folder of the user's records. Throws InputError if there is none.
[[nodiscard]] std::string require_record_folder();

/// Limits of a tuning.
struct Limits {
    std::size_t evaluations = 200;  ///< largest number of new plans to measure
    std::size_t finalists = 8;
    Strategy strategy = Strategy::automatic;
    bool is_pinned = false;  ///< true: later tunings must not replace the winner
};

/// A tuning for one problem that continues from the trials already recorded.
class KeptTuning {
public:
    /// Reads the user's records. `blank` is a record for the problem without a measurement. `problem` and
    /// `catalogue` must outlive this object.
    KeptTuning(TuningRecord blank, const Problem& problem, const Catalogue& catalogue);

    [[nodiscard]] const TuningRecord& blank() const { return blank_; }
    [[nodiscard]] const Problem& problem() const { return question_.problem; }
    [[nodiscard]] const Lookup& lookup() const { return lookup_; }
    [[nodiscard]] const SearchSpace& space() const { return space_; }
    /// Index in space() of the incumbent, the plan that a run takes today.
    [[nodiscard]] std::size_t incumbent() const { return *incumbent_; }
    /// Trials of earlier tunings. They are not measured again.
    [[nodiscard]] const std::vector<Trial>& known() const { return known_; }

    /// Searches, ranks and validates. Writes each measurement to the user's file before the next one begins,
    /// and the winner last. Throws InputError if there is no folder for records.
    [[nodiscard]] Contest run(Evaluator& evaluator, const Limits& limits, const ContestListener& listener);

    /// The records that this tuning has written.
    [[nodiscard]] const std::vector<TuningRecord>& rows() const { return rows_; }
    /// The file that holds rows(); empty before run().
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    void keep(RecordFile& file, std::size_t place, TuningPhase phase, const PlanMeasurement& measurement);

    TuningRecord blank_;
    Question question_;
    RecordStore store_;
    Lookup lookup_;
    SearchSpace space_;
    std::optional<std::size_t> incumbent_;
    std::vector<Trial> known_;
    std::vector<TuningRecord> rows_;
    std::string path_;
};

}  // namespace segfold::tune
