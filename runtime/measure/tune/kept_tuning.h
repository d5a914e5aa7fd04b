#pragma once
// One tuning with its records: known trials, measurements, the winner. Keeps every row.
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/tune/contest.h"
#include "runtime/session/choice/lookup.h"
#include "runtime/session/choice/record_store.h"

namespace segfold::tune {

/// The folder of the user's records. Throws InputError if there is none.
[[nodiscard]] std::string require_record_folder();

/// How far a tuning goes.
struct Limits {
    std::size_t evaluations = 200;  ///< new plans at most
    std::size_t finalists = 8;
    Strategy strategy = Strategy::automatic;
    bool is_pinned = false;  ///< the winner stays, whatever later tunings find
};

/// The known trials of a problem, and a tuning that goes on from them.
class KeptTuning {
public:
    /// Reads the user's records. `blank` is a row of the problem without a measurement; problem and catalogue
    /// must outlive this object.
    KeptTuning(TuningRecord blank, const Problem& problem, const Catalogue& catalogue);

    [[nodiscard]] const TuningRecord& blank() const { return blank_; }
    [[nodiscard]] const Problem& problem() const { return question_.problem; }
    [[nodiscard]] const Lookup& lookup() const { return lookup_; }
    [[nodiscard]] const SearchSpace& space() const { return space_; }
    /// The place of the plan that runs today.
    [[nodiscard]] std::size_t incumbent() const { return *incumbent_; }
    /// Measured by earlier tunings; never asked for again.
    [[nodiscard]] const std::vector<Trial>& known() const { return known_; }

    /// Searches, ranks, validates. Every measurement is in the user's file before the next begins; the winner
    /// is chosen there. Throws InputError where records have no folder.
    [[nodiscard]] Contest run(Evaluator& evaluator, const Limits& limits, const ContestListener& listener);

    /// The rows of this tuning.
    [[nodiscard]] const std::vector<TuningRecord>& rows() const { return rows_; }
    /// The file that they are in; empty before run().
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
