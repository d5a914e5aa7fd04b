#include "runtime/laws/overflow_laws.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "dsl/laws/data/growth.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/shape.h"
#include "runtime/laws/law_search.h"

namespace segfold {
namespace {

bool contains_law(const std::vector<Law>& laws, Law law)
{
    return std::ranges::find(laws, law) != laws.end();
}

/// The overflows that a verdict covers: all, only those in the cases of a search, or none.
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
        case ScalarDoubt::none: return Spoken::all;
        case ScalarDoubt::extreme: return Spoken::none;
        default: return Spoken::tried;
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

namespace {

/// Returns the smallest range within the type that contains `of` and has powers of two as ends.
Interval widened(const Interval& of, Type type)
{
    Interval wide{of.low < 0 ? -1 : 0, 1};
    while (wide.low > of.low)
        wide.low *= 2;
    while (wide.high < of.high)
        wide.high *= 2;
    return meet(wide, values_of(type));
}

/// True if overflow breaks no law in folds of these values and sizes, and a search among the values finds no
/// counter-example to laws that so far only overflow refutes.
bool spares(const OperatorLaws& laws, const Workload& workload, const SparedByOverflow& spared)
{
    const auto& op = workload.op;
    if (laws.refuted_by_overflow.empty())
        return broken_by_overflow(laws, op, spared.known, spared.length).empty();
    // The search below folds values of the data. Its folds must not overflow either.
    if (!overflows_nowhere(op, spared.known,
                           {std::max(spared.length.longest, kFoldOfSearch),
                            std::max(spared.length.num_elements, kFoldOfSearch)}))
        return false;
    auto ranges = data_ranges(workload);
    std::size_t column = 0;
    for (const auto& parameter : op.parameters) {
        if (parameter.table)
            continue;
        auto& range = ranges[column++];
        const auto known = spared.known.find(parameter.name);
        if (known == spared.known.end() || !range.lowest)
            continue;
        range.lowest->bits = static_cast<std::uint64_t>(known->second.low);
        range.highest->bits = static_cast<std::uint64_t>(known->second.high);
    }
    auto options = kPatientLawOptions;
    options.data = &ranges;
    const auto scalars = scalar_values(workload);
    options.scalars = &scalars;
    const auto found = check_laws(op, options);
    return std::ranges::none_of(laws.refuted_by_overflow, [&](Law law) { return found.refuted(law); });
}

}  // namespace

bool SparedByOverflow::holds(const KnownValues& of, FoldLength sizes) const
{
    return sizes.longest <= length.longest && sizes.num_elements <= length.num_elements &&
           std::ranges::all_of(of, [&](const auto& value) {
               const auto spared = known.find(value.first);
               return spared != known.end() && value.second.is_within(spared->second);
           });
}

std::optional<SparedByOverflow> spared_by_overflow(const OperatorLaws& laws, const Workload& workload,
                                                   const SparedByOverflow* known)
{
    const auto& op = workload.op;
    const auto power = [](std::int64_t count) {
        return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
    };
    const SparedByOverflow exact{known_values(op, workload.arrays),
                                 {shape_of(workload.segments).longest, workload.segments.num_elements}};
    SparedByOverflow wide{exact.known, {power(exact.length.longest), power(exact.length.num_elements)}};
    for (auto& [name, values] : wide.known) {
        const auto parameter = std::ranges::find(op.parameters, name, &Parameter::name);
        values = parameter->scalar ? values : widened(values, parameter->type);
    }
    auto with_known = wide;
    if (known != nullptr) {
        with_known.length = {std::max(wide.length.longest, known->length.longest),
                             std::max(wide.length.num_elements, known->length.num_elements)};
        for (const auto& [name, values] : known->known)
            with_known.known[name] = hull(values, with_known.known[name]);
    }
    for (auto* spared : {&with_known, &wide})
        if (spares(laws, workload, *spared))
            return std::move(*spared);
    return spares(laws, workload, exact) ? std::optional(exact) : std::nullopt;
}

OperatorLaws without_broken(OperatorLaws laws, const std::vector<Law>& broken)
{
    for (const auto law : broken)
        switch (law) {
            case Law::associative: laws.usable.associative = laws.usable.assumes_associative = false; break;
            case Law::identity:
                if (laws.has_sound_identity)
                    laws.without_identity =
                        "the identity is neutral while nothing overflows, and these data may";
                break;
            case Law::commutative: laws.usable.commutative = laws.takes_undeclared; break;
            case Law::idempotent: laws.usable.idempotent = false; break;
            case Law::append: laws.has_sound_append = false;
        }
    laws.broken_by_overflow = broken;
    return laws;
}

}  // namespace segfold
