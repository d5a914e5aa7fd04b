#include "runtime/cli/regress/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace segfold::cli {
namespace {

constexpr int kDone = 0;
constexpr int kRegression = 1;
constexpr int kCannotTell = 5;

}  // namespace

std::string replay_command(const RelationsReport& report, const OperatorRelations& relations,
                           const regress::RelationOutcome& outcome)
{
    const auto starter = report.num_ranks > 0 ? fmt::format("mpirun -n {} ", report.num_ranks) : "";
    return fmt::format("{}segfold regress {} --relation {} --stage {} --tiles {} --seed {} --elements {} {}",
                       starter, relations.op, outcome.relation, outcome.stage, name(outcome.tiles),
                       outcome.seed, outcome.num_elements, report.replay_words);
}

bool RelationsReport::any_broken() const
{
    return std::ranges::any_of(operators, [](const OperatorRelations& of) {
        return std::ranges::any_of(of.outcomes,
                                   [](const auto& outcome) { return outcome.breach.has_value(); });
    });
}

std::int64_t TimeReport::count(regress::Verdict verdict) const
{
    return std::ranges::count(outcomes, verdict, &regress::TimeOutcome::verdict);
}

bool TimeReport::any_measured() const
{
    return std::ranges::any_of(outcomes, [](const auto& outcome) { return !outcome.now.rounds.empty(); });
}

int RegressReport::exit_code() const
{
    if ((relations && relations->any_broken()) || (static_costs && static_costs->verdict.any_worse()))
        return kRegression;
    if (!times)
        return kDone;
    const auto has_alarm = [](const SelfComparison& self) { return self.num_alarms != 0; };
    const auto is_noisy = [](const SelfComparison& self) { return self.num_ambiguous != 0; };
    if (times->count(regress::Verdict::worse) != 0 || std::ranges::any_of(times->selves, has_alarm))
        return kRegression;
    const bool is_unmeasured = times->left_out.empty() && !times->any_measured();
    return is_unmeasured || times->count(regress::Verdict::ambiguous) != 0 ||
                   std::ranges::any_of(times->selves, is_noisy)
               ? kCannotTell
               : kDone;
}

}  // namespace segfold::cli
