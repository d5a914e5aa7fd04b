#pragma once
// The findings of segfold regress, part by part, and the exit code that follows from them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/check/baseline.h"
#include "runtime/check/relations.h"

namespace segfold::cli {

/// The relations tried with one operator.
struct OperatorRelations {
    std::string op;          ///< the words that select it on a command line
    std::string tried_part;  ///< see regress::tried_part()
    std::vector<regress::RelationOutcome> outcomes;
};

/// Outcomes of the relations that were tried with all operators.
struct RelationsReport {
    std::string backend;
    std::int64_t num_elements = 0;
    std::string replay_words;  ///< flags that a command needs to repeat a case
    int num_ranks = 0;         ///< number of ranks that tried the relations together; 0 for a single process
    /// Number of devices for relations between devices. In a single process, the same number of threads
    /// stands in for ranks.
    int num_devices = 1;
    std::vector<OperatorRelations> operators;

    [[nodiscard]] bool any_broken() const;
};

/// Returns the command that repeats the attempt of one relation with one stage.
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
    std::int64_t num_alarms = 0;     ///< cases reported as better or worse although nothing changed
    std::int64_t num_ambiguous = 0;  ///< cases too noisy to decide
};

/// Ratios of times compared with a baseline.
struct TimeReport {
    std::string left_out;  ///< reason why nothing was measured; empty if at least one case was measured
    regress::DeviceTimes times;
    std::string baseline;              ///< baseline's file; empty if there is none
    std::vector<std::string> remarks;  ///< differences from the baseline's circumstances
    std::vector<regress::TimeOutcome> outcomes;
    std::vector<SelfComparison> selves;  ///< comparisons of this build with itself, for --self

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
    std::string dropped;  ///< the entries removed from the file of --save, and why; empty if there are none
    std::string unsaved;  ///< measurements that --save did not write, and why; empty if none

    /// Returns 0 if all is well, 1 if something is broken or worse. Returns 5 if noise alone prevents a
    /// verdict, or if times were requested and none was measured.
    [[nodiscard]] int exit_code() const;
};

/// Returns short descriptions of tests that this run did not make, although a user might expect them.
[[nodiscard]] std::vector<std::string> untried(const RegressReport& report);

}  // namespace segfold::cli
