#include "runtime/cli/regress/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/support/text_table.h"

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

std::vector<std::string> untried(const RegressReport& report)
{
    std::vector<std::string> left;
    const auto add = [&](bool is_left, std::string_view what) {
        if (is_left)
            left.emplace_back(what);
    };
    add(!report.relations, "relations");
    if (const auto& relations = report.relations) {
        std::size_t num_left = 0;
        std::set<std::uint64_t> seeds;
        std::set<regress::Tiles> tiles;
        for (const auto& of : relations->operators)
            for (const auto& outcome : of.outcomes) {
                num_left += !outcome.objection.empty();
                seeds.insert(outcome.seed);
                tiles.insert(outcome.tiles);
            }
        add(num_left != 0, fmt::format("{} that say nothing of an operator or a stage",
                                       count_text(static_cast<std::int64_t>(num_left), "relation")));
        add(!tiles.contains(regress::Tiles::chosen), "the tiles of a run (--tiles chosen)");
        add(!tiles.contains(regress::Tiles::smallest), "the smallest tiles (--tiles smallest)");
        add(seeds.size() == 1, "other lengths and values (--repeat K)");
        add(true, "operators but for those above");
        add(relations->backend.starts_with("simt"), "a GPU");
    }
    add(!report.static_costs || !report.static_costs->left_out.empty(), "static costs");
    add(!report.times || !report.times->left_out.empty(), "times");
    return left;
}

}  // namespace segfold::cli
