#pragma once
// The parts of segfold regress: relations between results, static costs of compiled plans, and times.
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/check/trial.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/regress/report.h"
#include "runtime/cli/views/terminal.h"

namespace segfold::cli {

/// An operator and a name: its words on the command line, or its own name.
using regress::NamedOperator;

/// An operator named on the command line.
struct AskedOperator {
    NamedOperator by_words;  ///< the operator, named by the words that select it on the command line
    std::string own_name;    ///< name in baselines; does not depend on the place of the operator's file
};

/// Returns the operators that the command line names, or else those of the set `standard`.
[[nodiscard]] std::vector<AskedOperator> asked_operators(const Arguments& arguments,
                                                         std::span<const std::string_view> standard);

/// Returns the operators, each named by its words on the command line.
[[nodiscard]] std::vector<NamedOperator> by_words(std::vector<AskedOperator> asked);

/// Returns the operators, each with its own name. Operators that share a name are named by their words.
///
/// Renames cases in the baseline that have an operator's words as the name. Throws InputError if operators
/// share a name and --save or --baseline is given.
[[nodiscard]] std::vector<NamedOperator> by_own_names(const Arguments& arguments,
                                                      std::vector<AskedOperator> asked,
                                                      std::optional<regress::Baseline>& baseline);

/// Returns the reason why no times can be measured; empty if times can be measured.
[[nodiscard]] std::string why_no_times(const Arguments& arguments);

/// Throws InputError if the baseline has static costs, but no costs of the operators `ops` with the stage
/// that --stage names. The message lists the operators and stages in the baseline.
///
/// Also throws for a baseline without static costs if --static is given or the baseline has no times.
void require_static_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                          const regress::Baseline& baseline);

/// Throws InputError if the baseline has times, but no times of the operators `ops` with the stage that
/// --stage names.
///
/// Also throws for a baseline without times if --time or --self is given or the baseline has no static costs.
/// Does not check whether the times are those of this device; hold_times() does.
void require_time_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                        const regress::Baseline& baseline);

/// Returns the stage that --stage names, or else all stages, including those that are only for measurements
/// (`Stage::is_rung`).
[[nodiscard]] std::vector<const Stage*> regress_stages(const Arguments& arguments,
                                                       const Catalogue& catalogue);

/// Returns the function that generates a run's data: uniform values, and the scalars that --scalar gives.
[[nodiscard]] regress::MakeArrays arrays_argument(const Arguments& arguments,
                                                  std::span<const NamedOperator> ops);

/// Quotes a word for a shell.
[[nodiscard]] std::string quoted(const std::string& word);

/// True if a requested relation needs several devices.
[[nodiscard]] bool needs_devices(const Arguments& arguments);

/// Tries the requested relations on `backend`. Relations of several devices also use `others`.
///
/// `ranks` is null in a single process. If `ranks` is not null, only the relation with the name "ranks" is
/// tried, and all ranks must call this function. `progress` may be null.
[[nodiscard]] RelationsReport hold_relations(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, Backend& backend,
                                             std::span<Backend* const> others, AgreedRanks* ranks,
                                             Progress* progress);

/// Compiles plans, and compares their static costs with the baseline, or else with the costs embedded in the
/// program.
[[nodiscard]] StaticReport hold_static_costs(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, const regress::Baseline* baseline,
                                             Progress& progress);

/// Measures times, and compares them with the baseline. With --self, compares measurements of the same build
/// with each other.
[[nodiscard]] TimeReport hold_times(const Arguments& arguments, std::span<const NamedOperator> ops,
                                    const Catalogue& catalogue, const regress::Baseline* baseline,
                                    Progress& progress);

}  // namespace segfold::cli
