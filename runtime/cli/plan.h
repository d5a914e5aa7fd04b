#pragma once
// Which stage runs, in which configuration, and whether the operator's laws allow it.
#include <optional>

#include "codegen/emit.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/law_arguments.h"
#include "runtime/data/workload.h"
#include "runtime/session/operator_laws.h"
#include "runtime/session/point.h"

namespace segfold::cli {

/// The flags that choose a plan.
inline constexpr Flag kPlanFlags[] = {
    {"stage", "STAGE"}, {"set", "NAME=VALUE", true}, {"kernels", "DIR"}, {"reproducible"}, {"at-launch"}};

/// The stages of the folder --kernels, or those that came with the program.
class Kernels {
public:
    explicit Kernels(const Arguments& arguments);
    [[nodiscard]] const Catalogue& catalogue() const;

private:
    std::optional<Catalogue> own_;
};

/// A problem that relies on no more than `laws` allow; its operator has no identity where they say so.
Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws);

/// The problem of a workload; reads of tables that its data do not prove to lie inside are checked.
Problem make_problem(const Workload& workload, const OperatorLaws& laws);

/// A stage with its configuration and its text.
struct Plan {
    const Stage* stage = nullptr;  ///< of the catalogue
    bool is_asked = false;         ///< by --stage; else a record or the rule of thumb chose
    Emitted emitted;
    bool is_tuned = false;  ///< a tuning record chose

    /// "asked for", "tuning record", "rule of thumb"
    [[nodiscard]] std::string chosen_by() const
    {
        return is_asked ? "asked for" : is_tuned ? "tuning record" : "rule of thumb";
    }
};

/// The plan of --stage and --set, or `tuned` where neither is given nor --reproducible, or that of the rule
/// of thumb.
///
/// Throws InputError for a stage that cannot serve, with the counter-example where that is because a law is
/// refuted, and for an operator whose identity is refuted, which all stages rely on.
Plan choose_plan(const Arguments& arguments, const Problem& problem, const Shape& shape,
                 const OperatorLaws& laws, const Catalogue& catalogue, const tune::Point* tuned = nullptr);

/// Whether --stage, --set or --reproducible leave a tuning record nothing to choose; empty, or the flag.
std::string chosen_by_flag(const Arguments& arguments);

/// The values of --set. Throws InputError.
std::map<std::string, int> settings(const Arguments& arguments);

/// A stage and some of its tunables, as one word: "warp_stream" or
/// "warp_stream:ring_offsets=256,held_totals=0".
struct PlanWord {
    std::string stage;
    std::string tunables;  ///< what follows the colon
    std::map<std::string, int> chosen;
};

/// The values of --plan. Throws InputError.
std::vector<PlanWord> plan_words(const Arguments& arguments);

}  // namespace segfold::cli
