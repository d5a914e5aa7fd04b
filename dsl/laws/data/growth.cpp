#include "dsl/laws/data/growth.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dsl/laws/elements.h"

namespace segfold {
namespace {

WideInteger integer_of(const FieldValue& value)
{
    return is_signed_integer(value.type) ? WideInteger(static_cast<std::int64_t>(value.bits))
                                         : WideInteger(value.bits);
}

/// Bound on index, position and segment, which may be large even if there are few elements.
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 62;

/// True if the elements of a counter-example are large enough for an overflow that matters.
bool may_overflow(const Operator& op, const CounterExample& example)
{
    DataRanges ranges;
    for (const auto& parameter : op.parameters)
        if (!parameter.table)
            ranges.emplace_back();
    std::int64_t num_elements = 0;
    for (const auto& state : example.states)
        for (const auto& element : state.elements) {
            ++num_elements;
            for (std::size_t k = 0; k < std::min(ranges.size(), element.size()); ++k) {
                if (is_float(element[k].type))
                    continue;
                auto& low = ranges[k].lowest;
                auto& high = ranges[k].highest;
                if (!low || integer_of(element[k]) < integer_of(*low))
                    low = element[k];
                if (!high || integer_of(element[k]) > integer_of(*high))
                    high = element[k];
            }
        }
    return !overflows_nowhere(op, known_values(op, ranges), {num_elements, kMostPlaces});
}

}  // namespace

KnownValues known_values(const Operator& op, const DataRanges& ranges)
{
    KnownValues known;
    std::size_t column = 0;
    for (const auto& parameter : op.parameters) {
        if (parameter.table)
            continue;
        const auto& range = ranges.at(column++);
        if (is_integer(parameter.type) && range.lowest)
            known[parameter.name] = {integer_of(*range.lowest), integer_of(*range.highest)};
    }
    return known;
}

bool overflows_nowhere(const Operator& op, const KnownValues& known, FoldLength length)
{
    const auto sites = overflow_sites(op, known, length);
    return sites.combine.empty() && sites.combine_identity.empty();
}

BrokenByOverflow broken_by_overflow(const Operator& op, const KnownValues& known, FoldLength length)
{
    using Nodes = OverflowSites::Nodes;
    BrokenByOverflow broken;
    auto sites = overflow_sites(op, known, length);
    broken.by_append_to_identity = !std::ranges::includes(sites.append, sites.append_to_identity);
    if (!sites.combine.empty() || !sites.combine_identity.empty()) {
        auto without = overflow_sites_without_identity(op, known, length);
        broken.by_identity = !std::ranges::includes(without.combine, sites.combine) ||
                             !std::ranges::includes(without.combine, sites.combine_identity);
        if (broken.by_identity)  // such an operator runs without its identity
            sites = std::move(without);
    }
    std::optional<OverflowSites> tried;
    const auto overflow = [&](Nodes OverflowSites::*nodes) {
        if ((sites.*nodes).empty())
            return Overflow::none;
        if (!tried)
            tried = overflow_sites(op, {}, {kTriedElements, kMostPlaces});
        return std::ranges::includes((*tried).*nodes, sites.*nodes) ? Overflow::tried : Overflow::untried;
    };
    broken.combine = overflow(&OverflowSites::combine);
    broken.identity = overflow(&OverflowSites::combine_identity);
    broken.append = overflow(&OverflowSites::append);
    return broken;
}

std::vector<Law> refuted_by_overflow_alone(const Operator& op, const LawReport& report,
                                           const LawOptions& options)
{
    const auto has_example = [](const LawFinding& finding) { return finding.counter_example.has_value(); };
    if (std::ranges::none_of(report.findings, has_example))
        return {};
    // Finds the largest range of elements for which no case of a search overflows.
    DataRanges ranges;
    const auto are_small = [&](int bits) {
        ranges.clear();
        for (const auto& parameter : op.parameters) {
            if (parameter.table)
                continue;
            const auto type = parameter.type;
            if (is_float(type)) {
                ranges.push_back({FieldValue{type, 0, -highest_float(type)},
                                  FieldValue{type, 0, highest_float(type)}, true});
                continue;
            }
            const auto size = std::min(highest_integer(type), (std::uint64_t{1} << bits) - 1);
            ranges.push_back(
                {FieldValue{type, is_signed_integer(type) ? 0 - size : 0}, FieldValue{type, size}});
        }
        return overflows_nowhere(op, known_values(op, ranges), {kFoldOfSearch, kMostPlaces});
    };
    int bits = 63;
    while (bits > 1 && !are_small(bits))  // a range of 0 and 1 alone would tell too little
        --bits;
    if (bits == 1)
        return {};
    auto restricted = options;
    restricted.data = &ranges;
    const auto found = check_laws(op, restricted);
    std::vector<Law> laws;
    for (const auto law : {Law::associative, Law::identity, Law::commutative})
        if (const auto* finding = report.find(law); report.refuted(law) && finding->counter_example &&
                                                    !found.refuted(law) &&
                                                    may_overflow(op, *finding->counter_example))
            laws.push_back(law);
    return laws;
}

}  // namespace segfold
