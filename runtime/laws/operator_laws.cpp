#include "runtime/laws/operator_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/evaluation/bytecode.h"
#include "dsl/laws/data/growth.h"
#include "dsl/laws/elements.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/data_ranges.h"
#include "runtime/laws/law_search.h"
#include "runtime/laws/overflow_laws.h"
#include "runtime/laws/prove/verdict_cache.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

template <class Values>
bool contains(const Values& values, Law law)
{
    return std::ranges::find(values, law) != std::end(values);
}

}  // namespace

Operator without_nan(Operator op)
{
    op.append.reset();
    for (std::size_t i = 0; i < op.state.size(); ++i) {
        auto& value = op.lift.assignments[i].value;
        if (is_float(op.state[i].type))
            value = select(call("isnan", {value}), Expression(0.0), value);
    }
    return check(std::move(op));
}

bool has_floats(const Operator& op)
{
    return std::ranges::any_of(op.state, [](const auto& field) { return is_float(field.type); });
}

bool claims(const Operator& op, Law law)
{
    return law == Law::associative || (law == Law::identity && op.has_identity()) ||
           (law == Law::commutative && op.laws.commutative) ||
           (law == Law::idempotent && op.laws.idempotent) || (law == Law::append && op.append.has_value());
}

namespace {

bool is_standard(const Operator& op)
{
    if (!is_standard_operator(op.name))
        return false;
    for (const auto type : kTypes)
        try {
            if (same(op, standard_operator(op.name, type)))
                return true;
        } catch (const InputError&) {  // the operator does not take this type
        }
    return false;
}

/// True if elements that no search has drawn may refute the identity. According to the tests, no standard
/// operator has such elements.
bool may_change_elements(const Operator& op)
{
    if (op.factors)
        return std::ranges::any_of(*op.factors, may_change_elements);
    return op.has_identity() && !is_neutral_to_any_lifted(op) && !is_standard(op);
}

/// Decides which laws stages may rely on. `report` comes from a search with `options`.
OperatorLaws conclude(const Operator& op, LawReport report, const LawOptions& options,
                      const std::vector<Law>& assumed)
{
    OperatorLaws laws;
    laws.report = std::move(report);
    const bool is_in_doubt = laws.report.refuted(Law::associative) || laws.report.refuted(Law::identity);
    if (is_in_doubt && has_floats(op)) {
        const auto but_for_nan = check_laws(without_nan(op), options);
        for (const auto law : {Law::associative, Law::identity})
            if (laws.report.refuted(law) && !but_for_nan.refuted(law))
                laws.refuted_by_nan.push_back(law);
    }
    if (laws.report.refuted(Law::identity) && has_floats(op) && !contains(laws.refuted_by_nan, Law::identity))
        laws.is_neutral_on_finite = !check_on_finite_elements(op, options.scalars).refuted(Law::identity);
    laws.refuted_by_overflow = refuted_by_overflow_alone(op, laws.report, options);
    const auto holds = [&](Law law) {
        return !laws.report.refuted(law) || contains(laws.refuted_by_nan, law) ||
               (law == Law::identity && laws.is_neutral_on_finite);
    };
    for (const auto law : assumed)
        if (!holds(law))
            laws.assumed.push_back(law);
    const auto usable = [&](Law law) {
        return claims(op, law) && (holds(law) || contains(laws.assumed, law));
    };
    laws.usable = {usable(Law::associative), usable(Law::commutative), usable(Law::idempotent),
                   contains(laws.assumed, Law::associative)};
    laws.takes_undeclared =
        laws.usable.associative && std::ranges::any_of(laws.report.undeclared, [](const LawFinding& finding) {
            return finding.law == Law::commutative && finding.verdict == Verdict::proved;
        });
    laws.usable.commutative = laws.usable.commutative || laws.takes_undeclared;
    laws.assumes_identity = contains(assumed, Law::identity);
    laws.assumes_associative = contains(assumed, Law::associative);
    laws.has_sound_identity = holds(Law::identity) || contains(laws.assumed, Law::identity);
    laws.has_sound_append = holds(Law::append);
    const auto* identity = laws.report.find(Law::identity);
    laws.doubts_identity = identity != nullptr && laws.has_sound_identity && !laws.assumes_identity &&
                           doubt_of(op, *identity) != ScalarDoubt::none && may_change_elements(op);
    laws.most_elements = most_elements_without_overflow(laws, op);
    return laws;
}

}  // namespace

LawReport check_on_finite_elements(const Operator& op, const ScalarValues* scalars)
{
    DataRanges ranges;
    for (const auto& parameter : op.parameters) {
        if (parameter.table)
            continue;
        const auto type = parameter.type;
        const auto highest = is_float(type) ? highest_float(type) : 0;
        ranges.push_back(is_float(type)
                             ? ColumnRange{FieldValue{type, 0, -highest}, FieldValue{type, 0, highest}, true}
                             : ColumnRange{FieldValue{type, lowest_integer(type)},
                                           FieldValue{type, highest_integer(type)}});
    }
    auto options = kPatientLawOptions;
    options.data = &ranges;
    options.scalars = scalars;
    return check_laws(op, options);
}

OperatorLaws while_nothing_overflows(OperatorLaws laws, const Operator& op)
{
    for (const auto law : std::exchange(laws.refuted_by_overflow, {})) {
        laws.spared_overflow.push_back(law);
        for (auto& finding : laws.report.findings)
            if (finding.law == law) {
                finding.verdict = Verdict::not_refuted;
                finding.counter_example.reset();
            }
        std::erase(laws.assumed, law);
        if (law == Law::associative)
            laws.usable.associative = true, laws.usable.assumes_associative = false;
        if (law == Law::commutative)
            laws.usable.commutative = true;
        if (law == Law::identity) {
            laws.has_sound_identity = true;
            laws.doubts_identity = !laws.assumes_identity && may_change_elements(op);
        }
    }
    return laws;
}

OperatorLaws judge_laws(const Operator& op, const LawOptions& options, const std::vector<Law>& assumed,
                        const prove::ProofOptions* proof)
{
    auto report = check_laws(op, options);
    if (proof != nullptr && proof->seconds > 0) {
        prove::Solver solver;
        auto asked = *proof;
        asked.scalars = options.scalars;
        prove::prove_laws(op, report, solver, asked);
    }
    // Proofs for particular scalars do not hold for other scalars.
    if (proof != nullptr && options.scalars == nullptr)
        prove::remember(op, report);
    return conclude(op, std::move(report), options, assumed);
}

OperatorLaws laws_assuming(const Operator& op, LawReport report, const std::vector<Law>& assumed)
{
    return conclude(op, std::move(report), kPatientLawOptions, assumed);
}

OperatorLaws quick_laws(const Operator& op, const std::vector<Law>& assumed)
{
    if (auto remembered = prove::remembered(op)) {
        auto laws = conclude(op, std::move(*remembered), kPatientLawOptions, assumed);
        laws.is_remembered = true;
        return laws;
    }
    return judge_laws(op, kPatientLawOptions, assumed);
}

namespace {

/// True if all constants of combine are from -100 to 100. A verdict on the operator's 8-bit version then
/// applies to the operator too.
bool has_small_constants(const Operator& op)
{
    const auto is_small = [](const Constant& constant) {
        return is_float(constant.type) || constant.bits + 100 <= 200;  // -100 to 100
    };
    return std::ranges::all_of(compile_bytecode(op).combine.constants, is_small);
}

}  // namespace

ScalarDoubt doubt_of(const Operator& op, const LawFinding& finding)
{
    switch (finding.verdict) {
        case Verdict::proved: return ScalarDoubt::none;
        case Verdict::proved_while_nothing_overflows:
        case Verdict::proved_over_reals: return ScalarDoubt::extreme;
        case Verdict::holds_exhaustively:
            return finding.law != Law::append && (!finding.eight_bit || has_small_constants(op))
                       ? ScalarDoubt::none
                       : ScalarDoubt::any;
        default: return ScalarDoubt::any;
    }
}

namespace {

/// True if a proof over real numbers, or one that excludes overflow, does not apply to this scalar. The
/// scalar is then not finite, or its square overflows.
bool is_extreme(const FieldValue& value)
{
    if (is_float(value.type))
        return !std::isfinite(value.real);
    const auto size = is_signed_integer(value.type) && value.bits >> 63 != 0 ? 0 - value.bits : value.bits;
    return size != 0 && size > highest_integer(value.type) / size;
}

bool is_in_doubt(ScalarDoubt doubt, const ScalarValues& scalars)
{
    return doubt == ScalarDoubt::any ||
           (doubt == ScalarDoubt::extreme &&
            std::ranges::any_of(scalars, [](const auto& value) { return value && is_extreme(*value); }));
}

}  // namespace

ScalarDoubt doubt_of_scalars(const Operator& op, const LawReport& report)
{
    auto doubt = ScalarDoubt::none;
    if (std::ranges::none_of(op.parameters, &Parameter::scalar))
        return doubt;
    for (const auto& finding : report.findings) {
        const bool names_scalars = finding.counter_example && !finding.counter_example->scalars.empty();
        doubt = std::max(doubt, finding.verdict != Verdict::refuted ? doubt_of(op, finding)
                                : names_scalars                     ? ScalarDoubt::any
                                                                    : ScalarDoubt::none);
    }
    return doubt;
}

bool depends_on_scalars(const Operator& op, const LawReport& report, const ScalarValues& scalars)
{
    return is_in_doubt(doubt_of_scalars(op, report), scalars);
}

bool is_in_doubt(ScalarDoubt doubt, const Operator& op, std::span<const ArrayView> inputs)
{
    if (doubt != ScalarDoubt::extreme)
        return doubt == ScalarDoubt::any;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (op.parameters[i].scalar && inputs[i].place == Place::host && inputs[i].length == 1 &&
            is_extreme(value_at(inputs[i].type, inputs[i].data, 0)))
            return true;
    return false;
}

OperatorLaws laws_for_scalars(const Operator& op, LawReport report, const ScalarValues& scalars,
                              const std::vector<Law>& assumed)
{
    auto options = kPatientLawOptions;
    options.scalars = &scalars;
    std::optional<LawReport> found;
    const auto search = [&](Law law) {
        return *(found ? *found : found.emplace(check_laws(op, options))).find(law);
    };
    for (auto& finding : report.findings) {
        if (finding.verdict != Verdict::refuted) {
            if (is_in_doubt(doubt_of(op, finding), scalars))
                finding = search(finding.law);
            continue;
        }
        std::vector<std::vector<std::vector<FieldValue>>> states;
        if (finding.counter_example)
            for (const auto& state : finding.counter_example->states)
                states.push_back(state.elements);
        if (auto example = confirmed(op, finding.law, states, &scalars))
            finding.counter_example = std::move(example);
        else
            finding = search(finding.law);
    }
    return conclude(op, std::move(report), options, assumed);
}

std::string OperatorLaws::how_to_assume(Law law) const
{
    constexpr std::string_view kLaw = "LAW";
    auto text = assume_option;
    if (const auto at = text.rfind(kLaw); at != text.npos)
        text.replace(at, kLaw.size(), name(law));
    return text;
}

bool OperatorLaws::is_associative() const { return usable.is_associative(); }

std::vector<Law> OperatorLaws::relied_on_in_doubt() const
{
    std::vector<Law> doubtful;
    const auto see = [&](Law law, bool is_relied_on) {
        if (is_relied_on && report.refuted(law))
            doubtful.push_back(law);
    };
    see(Law::associative, usable.associative);
    see(Law::identity, has_sound_identity && !without_identity);
    see(Law::commutative, usable.commutative);
    see(Law::idempotent, usable.idempotent);
    return doubtful;
}

namespace {

/// Returns advice on how to use a law that holds for sorted data. Empty if the law is not known to hold for
/// data sorted in some way.
std::string way_of_sorted_data(const OperatorLaws& laws, Law law)
{
    const auto* finding = laws.report.find(law);
    if (finding == nullptr || finding->sorted_by.empty())
        return "";
    return fmt::format(
        "data sorted by '{0}' do not refute it: if '{0}' never decreases in a segment of yours, {1}",
        finding->sorted_by,
        laws.assume_option.empty() ? "it may hold" : "rely on it with " + laws.how_to_assume(law));
}

}  // namespace

void require_sound_identity(const OperatorLaws& laws, const Operator& op)
{
    if (laws.has_sound_identity)
        return;
    const auto error = spec_error(
        op.source, op.state[0].position,
        fmt::format("operator {} states an identity that is none, and every stage relies on it", op.name));
    throw SpecError(fmt::format(
        "{}\n{}\nleave the identity out (then 'empty' says what the result of an empty segment is), state "
        "another one (what an element adds goes into lift, what a result starts with into finish){}{}{}",
        error.what(), print(*laws.report.find(Law::identity), op),
        laws.assume_option.empty() ? ""
                                   : ", or rely on it all the same with " + laws.how_to_assume(Law::identity),
        laws.unseen_data.empty() ? "" : "; " + laws.unseen_data,
        way_of_sorted_data(laws, Law::identity).empty() ? ""
                                                        : "; " + way_of_sorted_data(laws, Law::identity)));
}

namespace {

/// Returns a clause such as ", and none of its elements shows it"; empty if no element was tried. The clause
/// has no numbers, so that warnings for arrays of different lengths are equal.
std::string tried_elements(const OperatorLaws& laws)
{
    if (laws.num_tried == 0)
        return "";
    return laws.num_tried < laws.num_elements
               ? ", and none of the elements that were tried, spread evenly, shows it"
               : ", and none of its elements shows it";
}

}  // namespace

std::vector<std::string> overflow_warnings(const OperatorLaws& laws, const Operator& op,
                                           std::string_view knows_no_data)
{
    const auto* finding = laws.report.find(Law::associative);
    return {fmt::format(
        "operator {} obeys its laws while nothing overflows, and {} does not know its data; where "
        "segments of more than {} overflow, results may depend on the stage{}",
        op.name, knows_no_data, count_text(laws.most_elements, "element"),
        finding == nullptr ? "" : "\n" + print(*finding, op))};
}

std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op,
                                      const std::string& ordered_stage)
{
    std::vector<std::string> warnings;
    const auto warn = [&](Law law, const std::string& what, const std::string& more = "") {
        warnings.push_back(fmt::format("operator {} {}\n{}{}{}", op.name, what, more,
                                       more.empty() ? "" : "\n", print(*laws.report.find(law), op)));
    };
    if (laws.spares_data && !laws.without_identity)
        warn(Law::identity,
             fmt::format("states an identity that is none; it is relied on, as no values of the data's range "
                         "were found to show it{}",
                         tried_elements(laws)),
             laws.knows_data ? "a stream or a plan, which sees no data, refuses it" : "");
    for (const auto law : laws.assumed)
        warn(law, fmt::format("is refuted to {}, and relied on because of {}",
                              law == Law::identity ? "have an identity" : "be " + std::string(name(law)),
                              laws.how_to_assume(law)));
    if (laws.takes_undeclared)
        warnings.push_back(fmt::format(
            "operator {} does not declare that it is commutative, and is proved to be; stages may rely on it",
            op.name));
    const auto is_broken = [&](Law law) { return contains(laws.broken_by_overflow, law); };
    const bool is_ordered_by_overflow = is_broken(Law::associative);
    if (is_ordered_by_overflow)
        warn(
            Law::associative,
            fmt::format(
                "obeys its laws while nothing overflows, and these data may; it is folded strictly from left "
                "to right{}",
                is_broken(Law::identity) && laws.without_identity ? ", without its identity" : ""));
    if (laws.without_identity && laws.knows_data && !(is_ordered_by_overflow && is_broken(Law::identity)))
        warnings.push_back(
            fmt::format("operator {} runs without its identity: {}", op.name, *laws.without_identity));
    for (const auto law : laws.refuted_by_nan)
        if (law != Law::identity || !laws.without_identity)
            warn(law, fmt::format(
                          "{} for all states but NaN; results of segments with NaN may depend on the stage{}",
                          law == Law::identity ? "has an identity" : "is associative",
                          law == Law::associative && !ordered_stage.empty()
                              ? fmt::format("; the stage {} folds from left to right, as the reference does",
                                            ordered_stage)
                              : ""));
    const auto sorted = way_of_sorted_data(laws, Law::associative);
    if (!laws.usable.associative && !is_ordered_by_overflow)
        warn(Law::associative,
             fmt::format("is {}; only stages that fold strictly from left to right can serve{}{}",
                         laws.with_nan ? "associative for all states but NaN, and " + *laws.with_nan
                                       : "not associative",
                         sorted.empty() ? "" : "; ", sorted));
    if (laws.report.refuted(Law::commutative) && !is_broken(Law::commutative) && !laws.usable.commutative)
        warn(Law::commutative, "is not commutative; the order of the elements is kept");
    if (laws.report.refuted(Law::idempotent) && !laws.usable.idempotent)
        warn(Law::idempotent, "is not idempotent; no element is folded twice");
    if (!laws.has_sound_append && !is_ordered_by_overflow)
        warn(Law::append, fmt::format("has an append that is {}; combine and lift serve instead",
                                      is_broken(Law::append)
                                          ? "combine(a, lift) while nothing overflows, and these data may"
                                          : "not combine(a, lift)"));
    return warnings;
}

}  // namespace segfold
