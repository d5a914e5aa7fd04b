#pragma once
// The findings of segfold regress, and its exit code.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/check/baseline.h"
#include "runtime/check/relations.h"

namespace segfold::cli {

/// The relations tried with one operator.
struct OperatorRelations {
    std::string op;          ///< the words that select the operator on a command line
    std::string tried_part;  ///< see regress::tried_part()
    std::vector<regress::RelationOutcome> outcomes;
};

/// The outcomes of all relations that were tried.
struct RelationsReport {
    std::string backend;
    std::int64_t num_elements = 0;
    std::string replay_words;  ///< flags that a command needs to repeat an attempt
    int num_ranks = 0;         ///< number of ranks that tried relations together; 0 for a single process
    /// Number of devices in relations between devices. A single process tries the relation "ranks" with this
    /// many threads.
    int num_devices = 1;
    std::vector<OperatorRelations> operators;

    [[nodiscard]] bool any_broken() const;
};

/// Returns the command that repeats one attempt.
[[nodiscard]] std::string replay_command(const RelationsReport& report, const OperatorRelations& relations,
                                         const regress::RelationOutcome& outcome);

/// Static costs compared with a baseline.
struct StaticReport {
    std::string left_out;  ///< reason why nothing was compiled; empty if at least one plan was compiled
    regress::StaticCosts costs;
    std::string baseline;           ///< a file, or "the program's own"; empty without a baseline
    std::string baseline_compiler;  ///< "NVRTC 13.0"
    regress::StaticVerdict verdict;
};

/// Outcome of comparing a build with itself.
struct SelfComparison {
    std::int64_t num_cases = 0;
    std::int64_t num_alarms = 0;     ///< changes reported although nothing changed
    std::int64_t num_ambiguous = 0;  ///< cases that are too noisy to decide
};

/// Ratios of times compared with a baseline.
struct TimeReport {
    std::string left_out;  ///< reason why nothing was measured; empty if something was
    regress::DeviceTimes times;
    std::string baseline;              ///< baseline's file; empty if there is none
    std::vector<std::string> remarks;  ///< differences between the circumstances of baseline and measurement
    std::vector<regress::TimeOutcome> outcomes;
    std::vector<SelfComparison> selves;  ///< for --self: comparisons of this build with itself

    [[nodiscard]] std::int64_t count(regress::Verdict verdict) const;
    /// True if at least one case has a time.
    [[nodiscard]] bool any_measured() const;
};

/// All findings of one run. Parts that were not requested are absent.
struct RegressReport {
    std::optional<RelationsReport> relations;
    std::optional<StaticReport> static_costs;
    std::optional<TimeReport> times;
    std::string saved;    ///< file of --save; empty if nothing was written
    std::string dropped;  ///< entries removed from the file of --save, with the reason; empty if none
    std::string unsaved;  ///< measurements that --save did not write, with the reason; empty if none

    /// Returns 0 if all is well, and 1 if something is broken or got worse. Returns 5 if noise prevents a
    /// verdict, or if times were requested and none was measured.
    [[nodiscard]] int exit_code() const;
};

/// Returns short descriptions of the tests that this run omitted and that a user might expect.
[[nodiscard]] std::vector<std::string> untried(const RegressReport& report);

}  // namespace segfold::cli
