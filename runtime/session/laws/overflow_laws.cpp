#include "runtime/session/laws/overflow_laws.h"

#include <algorithm>
#include <limits>

#include "dsl/laws/data/growth.h"
#include "runtime/data/data_ranges.h"
#include "runtime/session/laws/law_search.h"

namespace segfold {
namespace {

bool contains_law(const std::vector<Law>& laws, Law law)
{
    return std::ranges::find(laws, law) != laws.end();
}

/// Of which overflow a verdict speaks.
enum class Spoken : std::uint8_t { all, tried, none };

Spoken spoken_of(const OperatorLaws& laws, const Operator& op, const LawFinding& finding)
{
    const bool is_vouched_for = (finding.law == Law::associative && laws.assumes_associative) ||
                                (finding.law == Law::identity && laws.assumes_identity) ||
                                contains_law(laws.assumed, finding.law);
    if (is_vouched_for)
        return Spoken::all;
    if (contains_law(laws.refuted_by_overflow, finding.law) ||
        contains_law(laws.spared_overflow, finding.law))
        return Spoken::none;
    if (finding.verdict == Verdict::refuted)
        return contains_law(laws.refuted_by_nan, finding.law) ? Spoken::tried : Spoken::all;
    switch (doubt_of(op, finding)) {
        case ScalarDoubt::none:
            return Spoken::all;
        case ScalarDoubt::extreme:
            return Spoken::none;
        default:
            return Spoken::tried;
    }
}

bool may_break(const BrokenByOverflow& broken, Law law, Spoken spoken)
{
    const auto counts = [&](Overflow overflow) {
        return overflow == Overflow::untried || (overflow == Overflow::tried && spoken == Spoken::none);
    };
    return counts(broken.combine) ||
           (law == Law::identity && (broken.by_identity || counts(broken.identity))) ||
           (law == Law::append && (broken.by_append_to_identity || counts(broken.append)));
}

}  // namespace

std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op, const KnownValues& known,
                                    FoldLength length)
{
    std::vector<std::pair<Law, Spoken>> doubtful;
    for (const auto& finding : laws.report.findings)
        if (const auto spoken = spoken_of(laws, op, finding); spoken != Spoken::all)
            doubtful.emplace_back(finding.law, spoken);
    if (doubtful.empty())
        return {};
    const auto broken = broken_by_overflow(op, known, length);
    std::vector<Law> list;
    for (const auto& [law, spoken] : doubtful)
        if (may_break(broken, law, spoken))
            list.push_back(law);
    return list;
}

std::int64_t most_elements_without_overflow(const OperatorLaws& laws, const Operator& op)
{
    const auto holds = [&](int bits) {
        const auto n = std::int64_t{1} << bits;
        return broken_by_overflow(laws, op, KnownValues(), {n, n}).empty();
    };
    int most = 62;
    if (holds(most))
        return std::numeric_limits<std::int64_t>::max();
    int least = -1;
    while (most - least > 1) {
        const int middle = (least + most) / 2;
        (holds(middle) ? least : most) = middle;
    }
    return least < 0 ? 0 : std::int64_t{1} << least;
}

KnownValues known_values(const Operator& op, std::span<const Array> arrays)
{
    KnownValues known;
    for (std::size_t i = 0; i < arrays.size(); ++i)
        if (is_integer(op.parameters[i].type) && is_integer(arrays[i].type()) && arrays[i].length() != 0)
            known[op.parameters[i].name] = values_in(arrays[i]);
    return known;
}

std::vector<Law> broken_by_overflow(const OperatorLaws& laws, const Operator& op,
                                    std::span<const Array> arrays, std::int64_t num_elements,
                                    const std::function<std::int64_t()>& longest)
{
    if (num_elements <= laws.most_elements)
        return {};
    const auto most = longest();
    if (most <= laws.most_elements)
        return {};
    return broken_by_overflow(laws, op, known_values(op, arrays), {most, num_elements});
}

OperatorLaws without_broken(OperatorLaws laws, const std::vector<Law>& broken)
{
    for (const auto law : broken)
        switch (law) {
            case Law::associative:
                laws.usable.associative = laws.usable.assumes_associative = false;
                break;
            case Law::identity:
                if (laws.has_sound_identity)
                    laws.without_identity =
                        "the identity is neutral while nothing overflows, and these data may";
                break;
            case Law::commutative:
                laws.usable.commutative = laws.takes_undeclared;
                break;
            case Law::idempotent:
                laws.usable.idempotent = false;
                break;
            case Law::append:
                laws.has_sound_append = false;
        }
    laws.broken_by_overflow = broken;
    return laws;
}

}  // namespace segfold
