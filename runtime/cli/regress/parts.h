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

/// An operator and the name used for it: its words on the command line, or its own name.
using regress::NamedOperator;

/// An operator that the command line requests.
struct AskedOperator {
    NamedOperator by_words;  ///< the operator, named by its words on the command line
    std::string own_name;    ///< name in baselines; independent of the path of the operator's file
};

/// Returns the operators of the command line. If it names none, returns the operators in `standard`.
[[nodiscard]] std::vector<AskedOperator> asked_operators(const Arguments& arguments,
                                                         std::span<const std::string_view> standard);

/// Returns the operators, each named by its words on the command line.
[[nodiscard]] std::vector<NamedOperator> by_words(std::vector<AskedOperator> asked);

/// Returns the operators, each under its own name. Operators with the same own name keep their words instead.
///
/// Renames the baseline's cases likewise. Throws InputError if operators have the same own name and --save or
/// --baseline is given.
[[nodiscard]] std::vector<NamedOperator> by_own_names(const Arguments& arguments,
                                                      std::vector<AskedOperator> asked,
                                                      std::optional<regress::Baseline>& baseline);

/// Returns the reason why no times can be measured; empty if they can.
[[nodiscard]] std::string why_no_times(const Arguments& arguments);

/// Throws InputError if the baseline has static costs, but none for the operators `ops` and the stage of
/// --stage. The message lists the operators and stages in the baseline.
///
/// Also throws if the baseline has no static costs and --static is given, or if it has neither static costs
/// nor times.
void require_static_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                          const regress::Baseline& baseline);

/// Throws InputError if the baseline has times, but none for the operators `ops` and the stage of --stage.
///
/// Also throws if the baseline has no times and --time or --self is given, or if it has neither times nor
/// static costs. hold_times() checks whether the times are of this device.
void require_time_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                        const regress::Baseline& baseline);

/// Returns the stage of --stage, or else all stages, including stages that exist only for measurements
/// (`Stage::is_rung`).
[[nodiscard]] std::vector<const Stage*> regress_stages(const Arguments& arguments,
                                                       const Catalogue& catalogue);

/// Returns a function that generates a run's data: uniform values, and the scalars of --scalar.
[[nodiscard]] regress::MakeArrays arrays_argument(const Arguments& arguments,
                                                  std::span<const NamedOperator> ops);

/// Quotes a word for a shell.
[[nodiscard]] std::string quoted(const std::string& word);

/// True if a requested relation compares several devices.
[[nodiscard]] bool needs_devices(const Arguments& arguments);

/// Tries the requested relations on `backend`. Relations between devices also use `others`.
///
/// `ranks` is null in a single process. Otherwise only the relation "ranks" is tried, and all ranks must call
/// this function. `progress` may be null.
[[nodiscard]] RelationsReport hold_relations(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, Backend& backend,
                                             std::span<Backend* const> others, AgreedRanks* ranks,
                                             Progress* progress);

/// Compiles plans and compares their static costs with the baseline. Without a baseline, compares with the
/// costs embedded in the program.
[[nodiscard]] StaticReport hold_static_costs(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, const regress::Baseline* baseline,
                                             Progress& progress);

/// Measures times and compares them with the baseline. With --self, compares repeated measurements of this
/// build.
[[nodiscard]] TimeReport hold_times(const Arguments& arguments, std::span<const NamedOperator> ops,
                                    const Catalogue& catalogue, const regress::Baseline* baseline,
                                    Progress& progress);

}  // namespace segfold::cli
