// Chooses plans for folds on the host. Takes a kept plan, or makes a new plan and keeps it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/backends/cpu/module.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/shape.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/laws/overflow_laws.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/core.h"

namespace segfold {
namespace {

/// Largest number of elements for which a fold with tables uses a kept plan. A kept plan checks each read of
/// a table. A fold without a kept plan checks all indices beforehand, which is faster for more elements.
constexpr std::int64_t kMostCheckedReads = 1 << 16;

/// True if a fold may use a kept plan. False for requests, back ends and sizes that kept plans do not serve,
/// and for invalid arrays, whose error the fold without a kept plan reports.
bool may_keep_plan(const Fold& fold, const Backend& backend)
{
    const auto& op = fold.op();
    if (fold.options.request.is_reproducible || fold.options.request.measured_stages > 1 ||
        fold.num_elements == 0 || backend.name() != "cpu" || !cpu::reason_without_compiler().empty())
        return false;
    const auto is_there = [](const ArrayView& array) {
        return array.place == Place::host && array.length >= 0 && array.num_features >= 1 &&
               (array.data != nullptr || array.length == 0);
    };
    if (!is_there(fold.segments.first) || !is_there(fold.segments.second))
        return false;
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto& input = fold.inputs[i];
        const bool is_table = parameter.table && !parameter.scalar;
        if (!is_there(input) || input.type != parameter.type || (parameter.scalar && input.length != 1) ||
            (is_table && fold.num_elements > kMostCheckedReads) ||
            (!parameter.table && input.length / input.num_features != fold.num_elements))
            return false;
    }
    return true;
}

std::vector<Array> borrowed(std::span<const ArrayView> inputs)
{
    std::vector<Array> arrays;
    for (const auto& input : inputs)
        arrays.push_back(borrow(input));
    return arrays;
}

/// Properties of a fold's data that break laws on which kept plans rely: infinities, NaN and possible
/// overflow.
struct NotSpared {
    std::optional<std::string> not_finite, nan;
    /// Value ranges and sizes of data that may overflow; null if the data are known not to overflow.
    std::shared_ptr<const SparedByOverflow> in_doubt = nullptr;

    /// Returns the part of PlanKey::words for such data.
    [[nodiscard]] std::string kind() const
    {
        return std::string(not_finite ? " any" : "") + (nan ? " nan " + *nan : "");
    }
};

NotSpared look_at(const std::shared_ptr<const Fold>& fold, FoldAsks asks, std::int64_t longest,
                  const Runner& run)
{
    if (asks.overflow && asks.overflow->refuted_by_overflow.empty() &&
        longest <= asks.overflow->most_elements)
        asks.overflow = nullptr;
    if (!asks.finite && !asks.nan && !asks.overflow)
        return {};
    const auto found = std::make_shared<NotSpared>();
    run(fold->num_elements, [=] {
        const auto& op = fold->op();
        const auto arrays = borrowed(fold->inputs);
        if (asks.finite)
            found->not_finite = find_not_finite(op, arrays);
        if (asks.nan && (found->not_finite || !asks.finite))
            found->nan = find_nan(op, arrays);
        if (!asks.overflow)
            return;
        const SparedByOverflow exact{known_values(op, arrays), {longest, fold->num_elements}};
        if (!asks.spared || !asks.spared->holds(exact.known, exact.length))
            found->in_doubt = std::make_shared<const SparedByOverflow>(exact);
    });
    return *found;
}

/// Returns the bytes of the scalars as text, if their values may refute laws that hold for other values.
/// Returns an empty text if they cannot.
std::string doubtful_scalars(const Fold& fold, ScalarDoubt doubt)
{
    std::string text;
    if (!is_in_doubt(doubt, fold.op(), fold.inputs))
        return text;
    for (std::size_t i = 0; i < fold.inputs.size(); ++i) {
        const auto& input = fold.inputs[i];
        if (!fold.op().parameters[i].scalar)
            continue;
        text += ' ';
        text.append(static_cast<const char*>(input.data), size_bytes(input.type));
    }
    return text;
}

/// Returns the laws that hold while nothing overflows. If a parameter is a float, returns `laws` unchanged,
/// because a search among floats says nothing about other folds.
OperatorLaws relied_on(OperatorLaws laws, const Operator& op)
{
    const bool has_integers_alone = std::ranges::all_of(
        op.parameters, [](const Parameter& parameter) { return is_integer(parameter.type); });
    return has_integers_alone ? while_nothing_overflows(std::move(laws), op) : laws;
}

FoldAsks asks_of(const OperatorLaws& judged, const Operator& op, std::uint64_t findings)
{
    const auto laws = relied_on(judged, op);
    FoldAsks asks;
    asks.finite = depends_on_finite(laws);
    asks.data = depends_on_data(laws) && !asks.finite;
    asks.nan = depends_on_nan(laws);
    if (laws.most_elements < std::numeric_limits<std::int64_t>::max() ||
        laws.refuted_by_overflow.size() != judged.refuted_by_overflow.size())
        asks.overflow = std::make_shared<const OperatorLaws>(judged);
    asks.scalars = doubt_of_scalars(op, laws.report);
    asks.findings = findings;
    return asks;
}

/// Returns value ranges and sizes that cover `known.spared` and this fold, and cause no overflow; null if
/// this fold may overflow.
std::shared_ptr<const SparedByOverflow> spared_too(const Workload& workload, const FoldAsks& known)
{
    auto spared = spared_by_overflow(*known.overflow, workload, known.spared.get());
    return spared ? std::make_shared<const SparedByOverflow>(std::move(*spared)) : nullptr;
}

/// Makes a plan for a fold, and determines which checks of data later folds need.
struct Making {
    std::shared_ptr<const Fold> fold;
    SessionCore& session;
    std::uint64_t findings;
    PlanOptions options;
    FoldAsks known = {};           ///< checks that earlier folds determined
    bool is_of_any_data = false;   ///< true if the plan must serve data with infinities or NaN
    FoldAsks of_any_scalars = {};  ///< checks for scalars of unknown values
    FoldAsks asks = {};            ///< checks for this fold's scalars
    std::optional<Plan> plan = {};
    std::vector<std::string> told = {};

    void make()
    {
        const auto& op = fold->op();
        const auto judged = session.laws(op);
        of_any_scalars = asks_of(judged, op, findings);
        const auto of_all = relied_on(judged, op);
        if (of_any_scalars.data)
            return;
        const auto workload = borrow_workload(op, fold->inputs, fold->segments);
        const auto judged_for_scalars = session.laws(op, scalar_values(workload));
        asks = asks_of(judged_for_scalars, op, findings);
        asks.spared = known.spared;
        asks.not_spared = known.not_spared;
        const auto laws = relied_on(judged_for_scalars, op);
        const auto differs = [&](Law law) { return laws.report.refuted(law) != of_all.report.refuted(law); };
        asks.data |= differs(Law::associative) || differs(Law::identity);
        if (asks.data)
            return;
        // If elements refute a law, make no plan. fold_anew() then reads the data and reports the law.
        const auto of_data = session.laws(workload);
        const bool is_in_order = !options.with_nan.empty();
        const bool is_as_known =
            of_data.report.refuted(Law::associative) == laws.report.refuted(Law::associative) &&
            of_data.usable.associative == laws.usable.associative;
        // Once elements have refuted associativity, the data of all later folds must be checked.
        asks.data = !asks.overflow && of_data.report.refuted(Law::associative) &&
                    !laws.report.refuted(Law::associative);
        if (!(is_in_order ? of_data.with_nan.has_value() : is_as_known) || !of_data.has_sound_identity ||
            !of_data.broken_by_overflow.empty() ||
            (of_data.without_identity && !is_of_any_data && !laws.doubts_identity))
            return;
        // If only NaN or infinities refute a law, folds of finite data may rely on it. The plan does not rely
        // on an identity that other elements may refute, because checking it against each fold's elements
        // would take longer.
        options.assumes_finite = !is_of_any_data && (options.assumes_finite || asks.nan || asks.finite);
        options.avoids_doubt = true;
        options.assumes_no_overflow = true;
        const SparedByOverflow exact{known_values(op, workload.arrays),
                                     {shape_of(workload.segments).longest, fold->num_elements}};
        if (asks.overflow && (!asks.spared || !asks.spared->holds(exact.known, exact.length))) {
            const auto wider = spared_too(workload, asks);
            (wider ? asks.spared : asks.not_spared) =
                wider ? wider : std::make_shared<const SparedByOverflow>(exact);
            if (!wider)
                return;
        }
        auto made = session.plan(op, fold->segments, fold->num_elements, options);
        if (!made.takes_scalars(fold->inputs))
            return;
        plan = std::move(made);
        if (of_data.without_identity && !is_of_any_data)
            told.push_back(
                fmt::format("operator {} runs without its identity: {}", op.name, *of_data.without_identity));
    }
};

/// Returns the kept plan for `key`. If there is none and `is_known` is true, makes a plan for `key` from a
/// similar kept plan, and keeps it. `is_known` is true if the laws have been judged. Returns null if there is
/// no similar plan or `is_known` is false.
std::shared_ptr<const KeptPlan> known_plan(const Fold& fold, const PlanKey& key, bool is_known)
{
    auto kept = fold.of->find(key);
    if (kept || !is_known)
        return kept;
    const auto similar = fold.of->find_similar(key);
    auto plan =
        similar ? similar->plan->for_sizes(fold.segments, key.num_elements, key.longest) : std::nullopt;
    if (!plan)
        return nullptr;
    kept = std::make_shared<const KeptPlan>(key, std::move(*plan));
    fold.of->add(kept);
    return kept;
}

}  // namespace

PlannedFold SessionCore::plan_for(const std::shared_ptr<Fold>& fold, const Runner& run)
{
    auto& plans = *fold->of;
    const auto findings = num_findings();
    if (!may_keep_plan(*fold, backend()))
        return {};
    const auto of_any_scalars = plans.asks("", findings);
    if (of_any_scalars && of_any_scalars->data)
        return {};
    const auto num_elements = fold->num_elements;
    // A requested stage may read flags and keys itself, so they are not converted.
    if (fold->segments.kind == LayoutKind::flags || fold->segments.kind == LayoutKind::keys) {
        if (!fold->options.request.is_open())
            return {};
        run(num_elements, [fold] { fold->find_segments(); });
    }
    const auto& segments = fold->segments;
    const bool is_ranges = segments.kind == LayoutKind::ranges;
    if (is_ranges && !is_looked_at(segments.first.length))
        return {};
    const auto ranges = is_ranges ? shape_of_ranges(segments, num_elements) : std::nullopt;
    const auto longest = ranges ? std::optional(ranges->longest) : longest_segment(segments, num_elements);
    if (!longest)
        return {};
    auto scalars = of_any_scalars ? doubtful_scalars(*fold, of_any_scalars->scalars) : "";
    const auto known = scalars.empty() ? of_any_scalars : plans.asks(scalars, findings);
    auto asks = known.value_or(FoldAsks());
    if (asks.data)
        return {};
    const auto found = look_at(fold, asks, *longest > 0 ? *longest : num_elements, run);
    if (found.in_doubt) {
        if (asks.not_spared && found.in_doubt->holds(asks.not_spared->known, asks.not_spared->length))
            return {};
        const auto wider = std::make_shared<std::shared_ptr<const SparedByOverflow>>();
        run(num_elements,
            [=] { *wider = spared_too(borrow_workload(fold->op(), fold->inputs, fold->segments), asks); });
        (*wider ? asks.spared : asks.not_spared) = *wider ? *wider : found.in_doubt;
        plans.keep_asks(scalars, asks);
        if (!*wider)
            return {};
    }
    if (asks.nan && found.not_finite && !found.nan)
        return {};
    PlanKey key(segments, num_elements, fold->options, findings);
    const auto words = key.words;
    key.words += scalars + found.kind();
    key.longest = *longest;
    if (ranges) {
        key.order_of_items =
            static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ranges->num_elements)));
        key.index_bits = index_bits_for({ranges->num_elements});
    }
    PlannedFold planned;
    if (found.not_finite)
        planned.told.push_back(
            fmt::format("operator {} runs without its identity: the identity is neutral on "
                        "finite values alone, and '{}' has infinities or NaN",
                        fold->op().name, *found.not_finite));
    planned.kept = known_plan(*fold, key, known.has_value());
    if (planned.kept)
        return planned;
    const auto making = std::make_shared<Making>(
        Making{fold, *this, findings, fold->options, asks, found.not_finite || found.nan});
    making->options.longest = *longest;
    if (found.nan)
        making->options.with_nan = fmt::format("'{}' has NaN", *found.nan);
    run(kLongWork, [making] { making->make(); });
    scalars = doubtful_scalars(*fold, making->of_any_scalars.scalars);
    if (scalars.empty()) {
        making->of_any_scalars.data = making->of_any_scalars.data || making->asks.data;
        making->of_any_scalars.spared = making->asks.spared;
        making->of_any_scalars.not_spared = making->asks.not_spared;
    } else {
        plans.keep_asks(scalars, making->asks);
    }
    plans.keep_asks("", making->of_any_scalars);
    if (!making->plan)
        return {};
    key.words = words + scalars + found.kind();
    planned.kept = std::make_shared<const KeptPlan>(std::move(key), *std::move(making->plan));
    plans.add(planned.kept);
    std::ranges::move(making->told, std::back_inserter(planned.told));
    return planned;
}

}  // namespace segfold
