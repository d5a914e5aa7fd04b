// Judges an operator's laws on the data of a fold.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/laws/data/growth.h"
#include "dsl/laws/elements.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/shape.h"
#include "runtime/laws/element_laws.h"
#include "runtime/laws/law_search.h"
#include "runtime/laws/overflow_laws.h"

namespace segfold {
namespace {

bool is_among(const std::vector<Law>& laws, Law law) { return std::ranges::find(laws, law) != laws.end(); }

/// Searches briefly for counter-examples among values that occur in the data. Returns an empty report if
/// there are no elements.
LawReport report_on(const DataRanges& ranges, const Workload& workload)
{
    auto options = kPatientLawOptions;
    options.data = &ranges;
    const auto scalars = scalar_values(workload);
    options.scalars = &scalars;
    return workload.segments.num_elements == 0 ? LawReport() : check_laws(workload.op, options);
}

/// Restricts each range to its finite values. Returns false if all values were finite already, or if a column
/// has no finite value.
bool keep_finite(DataRanges& ranges)
{
    bool were_others = false;
    for (auto& range : ranges) {
        if (!range.lowest)
            return false;
        were_others = were_others || !range.is_finite();
        range = {range.lowest, range.highest, range.has_negative_zero};
    }
    return were_others;
}

/// True if the identity is neutral on finite values and infinities or NaN are known to break it.
bool is_neutral_on_finite_alone(const LawReport& report, const OperatorLaws& laws)
{
    const auto* finding = report.find(Law::identity);
    return finding != nullptr && (finding->nan_differs || laws.is_neutral_on_finite ||
                                  is_among(laws.refuted_by_nan, Law::identity));
}

}  // namespace

bool depends_on_data(const OperatorLaws& laws)
{
    return !laws.has_sound_identity || !laws.refuted_by_overflow.empty() ||
           (!is_among(laws.assumed, Law::identity) && is_neutral_on_finite_alone(laws.report, laws));
}

bool depends_on_finite(const OperatorLaws& laws)
{
    return depends_on_data(laws) && laws.has_sound_identity && laws.refuted_by_overflow.empty();
}

bool depends_on_nan(const OperatorLaws& laws)
{
    return is_among(laws.refuted_by_nan, Law::associative) && !laws.assumes_associative;
}

void keep_order_of_nan(OperatorLaws& laws, std::string with_nan)
{
    std::erase(laws.refuted_by_nan, Law::associative);
    laws.with_nan = std::move(with_nan);
    laws.usable.associative = laws.usable.assumes_associative = false;
}

namespace {

/// True if no order of combining the data overflows, and no values of the data break a law that so far only
/// overflow refutes.
bool overflow_is_impossible(const OperatorLaws& laws, const Workload& workload)
{
    // The search below folds values of the data. Its folds must not overflow either.
    const auto longest = std::max(shape_of(workload.segments).longest, kFoldOfSearch);
    const FoldLength length{longest, std::max(workload.segments.num_elements, kFoldOfSearch)};
    if (!overflows_nowhere(workload.op, known_values(workload.op, workload.arrays), length))
        return false;
    const auto found = report_on(data_ranges(workload), workload);
    return std::ranges::none_of(laws.refuted_by_overflow, [&](Law law) { return found.refuted(law); });
}

/// Marks `law` as refuted in the report, with `example`, a counter-example from the data.
void refute(LawReport& report, Law law, CounterExample example)
{
    const auto finding = std::ranges::find(report.findings, law, &LawFinding::law);
    if (finding == report.findings.end())
        return;
    LawFinding refuted;
    refuted.law = law;
    refuted.verdict = Verdict::refuted;
    refuted.cases = finding->cases;
    refuted.counter_example = std::move(example);
    *finding = std::move(refuted);
}

/// Tries the identity on all elements. Returns true if none of them refutes it. Otherwise adds the
/// counter-example to the report and returns false.
bool spares_elements(OperatorLaws& laws, LawReport& report, const Workload& workload)
{
    auto elements = try_identity(workload, Elements::all);
    laws.num_tried = elements.tried;
    laws.num_elements = workload.segments.num_elements * workload.num_features;
    if (elements.counter_example)
        refute(report, Law::identity, std::move(*elements.counter_example));
    return !report.refuted(Law::identity);
}

/// Tries associativity on the data, unless it is known to hold in all states.
void judge_associativity(OperatorLaws& laws, const Workload& workload)
{
    const auto& op = workload.op;
    const auto* finding = laws.report.find(Law::associative);
    if (finding == nullptr || finding->verdict == Verdict::refuted ||
        doubt_of(op, *finding) == ScalarDoubt::none)
        return;
    auto example = differing_neighbours(op, workload);
    if (!example)
        return;
    refute(laws.report, Law::associative, std::move(*example));
    if (has_floats(op) && !laws.assumes_associative && !differing_neighbours(without_nan(op), workload)) {
        keep_order_of_nan(laws, "elements of the data make NaN");
        return;
    }
    laws.usable.assumes_associative = laws.assumes_associative;
    laws.usable.associative = laws.assumes_associative;
    if (laws.assumes_associative)
        laws.assumed.push_back(Law::associative);
}

/// Judges the identity on the data if the report refutes it, or if it is neutral only on finite values.
void judge_identity(OperatorLaws& laws, const Workload& workload)
{
    auto report = laws.report;
    bool holds_on_finite = is_neutral_on_finite_alone(report, laws);
    if (!laws.has_sound_identity) {
        auto ranges = data_ranges(workload);
        report = report_on(ranges, workload);
        laws.spares_data = !report.refuted(Law::identity) && spares_elements(laws, report, workload);
        holds_on_finite = laws.spares_data
                              ? is_neutral_on_finite_alone(report, laws)
                              : keep_finite(ranges) && !report_on(ranges, workload).refuted(Law::identity) &&
                                    !try_identity(workload, Elements::finite).counter_example;
        laws.has_sound_identity = laws.spares_data || holds_on_finite;
        if (!laws.has_sound_identity)  // the report then gets a counter-example from the data
            std::ranges::replace_if(
                laws.report.findings, [](const LawFinding& finding) { return finding.law == Law::identity; },
                *report.find(Law::identity));
    }
    if (laws.has_sound_identity && holds_on_finite)
        if (const auto name = find_not_finite(workload))
            laws.without_identity = fmt::format(
                "the identity is neutral on finite values alone, and '{}' has infinities or NaN", *name);
}

/// Returns the text of a counter-example as one line.
std::string in_one_line(std::string text)
{
    for (auto at = text.find("\n    "); at != text.npos; at = text.find("\n    ", at))
        text.replace(at, 5, at > 0 && text[at - 1] == ':' ? " " : ", ");
    return text;
}

/// If only NaN or nothing is known to refute the identity, tries it on some elements of the data.
void try_doubtful_identity(OperatorLaws& laws, const Workload& workload)
{
    if (!laws.doubts_identity || !laws.has_sound_identity || laws.without_identity || laws.spares_data)
        return;
    const auto try_some = [&](Elements elements) {
        return try_identity_on_some(workload.op, workload.arrays, workload.segments.num_elements,
                                    workload.num_features, elements);
    };
    auto found = try_some(Elements::all_with_overflow);
    if (!found.counter_example)
        return;
    auto of_finite = has_floats(workload.op) ? try_some(Elements::finite) : TriedElements(found);
    if (!of_finite.counter_example) {
        laws.without_identity = in_one_line(found.counter_example->text);
        return;
    }
    refute(laws.report, Law::identity, std::move(*of_finite.counter_example));
    std::erase(laws.refuted_by_nan, Law::identity);
    laws.has_sound_identity = false;
}

}  // namespace

OperatorLaws on_data(OperatorLaws laws, const Workload& workload)
{
    if (!laws.refuted_by_overflow.empty()) {
        if (overflow_is_impossible(laws, workload)) {
            laws = while_nothing_overflows(std::move(laws), workload.op);
        } else if (!laws.has_sound_identity && is_among(laws.refuted_by_overflow, Law::identity)) {
            laws.has_sound_identity = true;
            laws.without_identity = "the identity is neutral while nothing overflows, and these data may";
        }
    }
    const auto broken = broken_by_overflow(laws, workload.op, workload.arrays, workload.segments.num_elements,
                                           [&] { return shape_of(workload.segments).longest; });
    if (depends_on_data(laws))
        judge_identity(laws, workload);
    if (laws.has_sound_identity && !laws.refuted_by_nan.empty()) {
        if (const auto name = find_nan(workload.op, workload.arrays)) {
            if (depends_on_nan(laws))
                keep_order_of_nan(laws, fmt::format("'{}' has NaN", *name));
        } else {
            // Keeps a law's warning about NaN only if finite elements produce NaN, as log(-1) does.
            const auto found = report_on(data_ranges(workload), workload);
            std::erase_if(laws.refuted_by_nan, [&](Law law) { return !found.refuted(law); });
        }
    }
    try_doubtful_identity(laws, workload);
    judge_associativity(laws, workload);
    return broken.empty() ? laws : without_broken(std::move(laws), broken);
}

OperatorLaws on_finite_data(OperatorLaws laws, const Operator& op)
{
    if (!depends_on_data(laws) && !depends_on_nan(laws))
        return laws;
    const auto found = check_on_finite_elements(op);
    if (!laws.has_sound_identity)
        laws.has_sound_identity = laws.spares_data = !found.refuted(Law::identity);
    laws.without_identity.reset();
    std::erase_if(laws.refuted_by_nan, [&](Law law) { return !found.refuted(law); });
    return laws;
}

OperatorLaws on_stream(OperatorLaws laws, const Operator& op)
{
    laws = while_nothing_overflows(std::move(laws), op);
    if (depends_on_data(laws) && laws.has_sound_identity && !laws.assumes_identity)
        laws.without_identity =
            "the identity is neutral on finite values alone, and a stream does not know its data";
    laws.knows_data = false;
    laws.unseen_data =
        "a fold in one piece asks its data whether they show it, and a stream does not know them";
    return laws;
}

}  // namespace segfold
