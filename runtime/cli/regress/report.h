#pragma once
// The findings of segfold regress: its parts, and the exit code that follows from them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/check/baseline.h"
#include "runtime/check/relations.h"

namespace segfold::cli {

/// The relations of one operator.
struct OperatorRelations {
    std::string op;          ///< the words by which a command line names it
    std::string tried_part;  ///< as regress::tried_part() says
    std::vector<regress::RelationOutcome> outcomes;
};

/// The relations of all operators.
struct RelationsReport {
    std::string backend;
    std::int64_t num_elements = 0;
    std::string replay_words;  ///< flags that every replaying command needs
    int num_ranks = 0;         ///< that tried them together; 0: one process
    int num_devices = 1;       ///< for the relations of several; threads of one process stand for ranks there
    std::vector<OperatorRelations> operators;

    [[nodiscard]] bool any_broken() const;
};

/// The command that tries one relation with one stage again.
[[nodiscard]] std::string replay_command(const RelationsReport& report, const OperatorRelations& relations,
                                         const regress::RelationOutcome& outcome);

/// Static costs beside a baseline.
struct StaticReport {
    std::string left_out;  ///< why nothing was compiled; "" if it was
    regress::StaticCosts costs;
    std::string baseline;           ///< the file, or the program's own; "" without one
    std::string baseline_compiler;  ///< "NVRTC 13.0"
    regress::StaticVerdict verdict;
};

/// One comparison of a build with itself.
struct SelfComparison {
    std::int64_t num_cases = 0;
    std::int64_t num_alarms = 0;     ///< cases said to be better or worse, although nothing has changed
    std::int64_t num_ambiguous = 0;  ///< cases too noisy to tell
};

/// Ratios of times beside a baseline.
struct TimeReport {
    std::string left_out;  ///< why nothing was measured; "" if it was
    regress::DeviceTimes times;
    std::string baseline;              ///< the file; "" without one
    std::vector<std::string> remarks;  ///< differences from the baseline's circumstances
    std::vector<regress::TimeOutcome> outcomes;
    std::vector<SelfComparison> selves;  ///< of --self

    [[nodiscard]] std::int64_t count(regress::Verdict verdict) const;
    /// True where some case has a time.
    [[nodiscard]] bool any_measured() const;
};

/// All that one run has found; parts that were not asked for are absent.
struct RegressReport {
    std::optional<RelationsReport> relations;
    std::optional<StaticReport> static_costs;
    std::optional<TimeReport> times;
    std::string saved;    ///< the file of --save; "" if nothing was written
    std::string dropped;  ///< parts that the file of --save has no longer, and why; mostly empty
    std::string unsaved;  ///< parts that --save has not written, and why; mostly empty

    /// 0; 1 where something is broken or worse; 5 where only noise keeps something from being told, or where
    /// times were asked for and none was measured.
    [[nodiscard]] int exit_code() const;
};

/// Relations and times that a user might take for tried and that were not; each a few words.
[[nodiscard]] std::vector<std::string> untried(const RegressReport& report);

}  // namespace segfold::cli
