#pragma once
// The parts of segfold regress: relations, static costs, times.
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

/// An operator under the words by which a command line names it.
using regress::NamedOperator;

/// An operator named on the command line.
struct AskedOperator {
    NamedOperator by_words;  ///< the operator, named by the words that select it on the command line
    std::string own_name;    ///< name in baselines; does not depend on the place of the operator's file
};

/// Returns the operators named on the command line, else those of a standard set.
[[nodiscard]] std::vector<AskedOperator> asked_operators(const Arguments& arguments,
                                                         std::span<const std::string_view> standard);

/// Returns the operators, each with its words as its name.
[[nodiscard]] std::vector<NamedOperator> by_words(std::vector<AskedOperator> asked);

/// Returns the operators with their own names; with their words if several share a name.
///
/// Cases that the baseline has under the words are renamed. Throws InputError if several share a name and
/// --save or --baseline is given.
[[nodiscard]] std::vector<NamedOperator> by_own_names(const Arguments& arguments,
                                                      std::vector<AskedOperator> asked,
                                                      std::optional<regress::Baseline>& baseline);

/// Returns why nothing can be timed; empty if a device can be used.
[[nodiscard]] std::string why_no_times(const Arguments& arguments);

/// Throws InputError if the baseline has static costs, but none for the operators and --stage; the message
/// says which it has.
///
/// Also throws for a baseline without static costs if --static is given or the baseline has no times.
void require_static_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                          const regress::Baseline& baseline);

/// Throws InputError if the baseline has times, but none for the operators and --stage.
///
/// Also throws for a baseline without times if --time or --self is given or the baseline has no static costs.
/// hold_times() checks the device.
void require_time_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                        const regress::Baseline& baseline);

/// Returns the stages of --stage; without it all, including those that exist only for the ladder.
[[nodiscard]] std::vector<const Stage*> regress_stages(const Arguments& arguments,
                                                       const Catalogue& catalogue);

/// Returns the function that makes a run's data: uniform values, and the scalars of --scalar.
[[nodiscard]] regress::MakeArrays arrays_argument(const Arguments& arguments,
                                                  std::span<const NamedOperator> ops);

/// Quotes a word for a shell.
[[nodiscard]] std::string quoted(const std::string& word);

/// Whether any relation needs several devices.
[[nodiscard]] bool needs_devices(const Arguments& arguments);

/// Tries relations on the back end; those for several devices also on `others`.
///
/// `ranks` is null in a single process. With ranks, only the relation of ranks is tried, and all ranks must
/// call this. `progress` may be null.
[[nodiscard]] RelationsReport hold_relations(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, Backend& backend,
                                             std::span<Backend* const> others, AgreedRanks* ranks,
                                             Progress* progress);

/// Compiles, and compares costs with the baseline; if it has none, with those that come with the program.
[[nodiscard]] StaticReport hold_static_costs(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, const regress::Baseline* baseline,
                                             Progress& progress);

/// Measures, and compares times with the baseline; with --self, with an earlier measurement of the same run.
[[nodiscard]] TimeReport hold_times(const Arguments& arguments, std::span<const NamedOperator> ops,
                                    const Catalogue& catalogue, const regress::Baseline* baseline,
                                    Progress& progress);

}  // namespace segfold::cli
