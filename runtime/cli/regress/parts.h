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

/// An operator of the command line.
struct AskedOperator {
    NamedOperator by_words;  ///< under its words, for commands that show it again
    std::string own_name;    ///< name in baselines, wherever its file lies
};

/// The operators of the command line, or of a standard set.
[[nodiscard]] std::vector<AskedOperator> asked_operators(const Arguments& arguments,
                                                         std::span<const std::string_view> standard);

/// The same, each under its words.
[[nodiscard]] std::vector<NamedOperator> by_words(std::vector<AskedOperator> asked);

/// The same, each under its own name; under its words where several have one name. Cases that the baseline
/// has by the words get the name. Throws InputError for several of one name beside --save or --baseline.
[[nodiscard]] std::vector<NamedOperator> by_own_names(const Arguments& arguments,
                                                      std::vector<AskedOperator> asked,
                                                      std::optional<regress::Baseline>& baseline);

/// Why there is no device to time on; "" if one may be used.
[[nodiscard]] std::string why_no_times(const Arguments& arguments);

/// Throws InputError where the baseline has static costs, but none of the operators and of --stage; the
/// message says of which it has them. A baseline without any is refused beside --static, and where it has no
/// times either.
void require_static_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                          const regress::Baseline& baseline);

/// The same of times, beside --time and --self; the device is looked at by hold_times().
void require_time_cases(const Arguments& arguments, std::span<const NamedOperator> ops,
                        const regress::Baseline& baseline);

/// The stages of --stage, all without it; rungs are among them.
[[nodiscard]] std::vector<const Stage*> regress_stages(const Arguments& arguments,
                                                       const Catalogue& catalogue);

/// Makes the data of a run: uniform values, beside the scalars of --scalar.
[[nodiscard]] regress::MakeArrays arrays_argument(const Arguments& arguments,
                                                  std::span<const NamedOperator> ops);

/// Words as a shell takes them.
[[nodiscard]] std::string quoted(const std::string& word);

/// Whether relations are tried that need several devices.
[[nodiscard]] bool needs_devices(const Arguments& arguments);

/// Tries relations on the back end; those of several devices on `others` too. With ranks, which is null in
/// one process, that of ranks alone; collective then. `progress` may be null.
[[nodiscard]] RelationsReport hold_relations(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, Backend& backend,
                                             std::span<Backend* const> others, AgreedRanks* ranks,
                                             Progress* progress);

/// Compiles and compares with the baseline; if that has no static costs, with the program's own.
[[nodiscard]] StaticReport hold_static_costs(const Arguments& arguments, std::span<const NamedOperator> ops,
                                             const Catalogue& catalogue, const regress::Baseline* baseline,
                                             Progress& progress);

/// Measures and compares with the baseline, with --self with an earlier measurement of its own.
[[nodiscard]] TimeReport hold_times(const Arguments& arguments, std::span<const NamedOperator> ops,
                                    const Catalogue& catalogue, const regress::Baseline* baseline,
                                    Progress& progress);

}  // namespace segfold::cli
