#pragma once
// Every stage over every layout, judged: the work of segfold check.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/cli/plan.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workload_argument.h"
#include "runtime/judge/compare.h"
#include "runtime/session/validation.h"

namespace segfold::cli {

/// A layout to check, under the name that its column has.
struct CheckLayout {
    std::string name;
    Layout layout;
    /// flags, keys: the segments given as these; ranges: from the last to the first, each one element too
    /// long
    std::optional<SegmentForm> recast = {};
};

/// Layouts that a stage may stumble over, without empty segments where the operator has no result for them.
std::vector<CheckLayout> standard_layouts(const Operator& op, std::int64_t num_elements);

/// What came of a stage (or of Thrust) over one layout, with one seed.
struct Outcome {
    std::string stage;  ///< "thrust" for Thrust itself
    std::string layout;
    std::uint64_t seed = 0;
    Configuration configuration;          ///< of the stage; empty for Thrust
    std::optional<std::string> unmet;     ///< why it cannot serve; then there is no more
    std::optional<std::string> fault;     ///< what simt found wrong; then there is no more
    std::vector<Comparison> comparisons;  ///< with the reference, then with Thrust if that ran

    [[nodiscard]] bool failed() const;
};

/// What is to be checked.
struct CheckRequest {
    WorkloadRequest workload;  ///< the layout is taken from `layouts`
    std::vector<CheckLayout> layouts;
    std::vector<const Stage*> stages;
    /// Values of tunables. Where there are none, two configurations take turns from layout to layout and from
    /// seed to seed: the one that a run takes, and the smallest.
    std::map<std::string, int> chosen;
    std::int64_t num_seeds = 1;
};

/// The outcomes, seed by seed, layout by layout, stage by stage; and why Thrust had no say, if it had none.
struct CheckMatrix {
    std::vector<Outcome> outcomes;
    std::int64_t num_elements = 0;
    std::string thrust;          ///< what it ran on
    std::string without_thrust;  ///< one sentence; empty where Thrust ran

    [[nodiscard]] bool any_failed() const;
};

/// What stages may rely on over the data of the checks.
OperatorLaws laws_on_data(const Operator& op, const CheckRequest& request, OperatorLaws laws);

/// Runs everything. A fault of a kernel is an outcome; other failures are exceptions.
CheckMatrix run_checks(const Operator& op, const CheckRequest& request, const OperatorLaws& laws,
                       Backend& backend, const Catalogue& catalogue, Progress& progress);

}  // namespace segfold::cli
