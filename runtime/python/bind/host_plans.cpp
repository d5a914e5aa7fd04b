// Plans that calls on the host's arrays keep.
#include <fmt/format.h>

#include <bit>
#include <limits>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/native_program.h"
#include "runtime/data/data_ranges.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/laws/overflow_laws.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/session/borrowed.h"

namespace segfold::python {
namespace {

/// A plan checks each read of a table. With more elements a fold is faster, which looks at the indices
/// before.
constexpr std::int64_t kMostCheckedReads = 1 << 16;

/// Whether a call on the host may have a plan that is kept. Not where no native text is compiled, nor where
/// the call is wrong: the fold says of what.
bool may_keep_plan(const Call& call, Session& session)
{
    const auto& words = call.words();
    const auto& op = call.op();
    if (words.check || words.request.is_reproducible || call.num_elements() == 0 ||
        call.model().kind() == Kind::jax || session.backend().name() != "cpu" ||
        !cpu::reason_without_compiler().empty())
        return false;
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto& input = call.inputs()[i];
        const bool is_table = parameter.table && !parameter.scalar;
        if (input.type != parameter.type || (is_table && call.num_elements() > kMostCheckedReads) ||
            (!parameter.table && input.length / input.num_features != call.num_elements()))
            return false;
    }
    const auto* known = call.typed()->known_asks(words.session.assume, "");
    return known == nullptr || !known->data;
}

/// Whether the caller's arrays have room for the results, of their types.
bool fits_out(const Call& call)
{
    const auto& out = call.out();
    const auto num_segments = num_segments_of(call);
    const std::size_t num_keys = call.gives_keys() ? 1 : 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const bool is_keys = i < num_keys;
        const auto type = is_keys ? call.found()->keys->type() : call.typed()->fields[i - num_keys].type;
        const auto length = is_keys ? num_segments : length_of(call, i - num_keys, num_segments);
        if (out[i].view().type != type || out[i].num_entries() < length)
            return false;
    }
    return true;
}

/// What of the call's data breaks a law on which kept plans rely: the columns that have infinities or NaN,
/// and whether something may overflow.
struct NotSpared {
    std::optional<std::string> not_finite, nan;
    /// What may overflow as far as is known; null where nothing may.
    std::shared_ptr<const SparedByOverflow> in_doubt = nullptr;
};

NotSpared not_spared(Call& call, CallsAsk asks, std::int64_t longest)
{
    if (asks.overflow && asks.overflow->refuted_by_overflow.empty() &&
        longest <= asks.overflow->most_elements)
        asks.overflow = nullptr;
    if (!asks.finite && !asks.nan && !asks.overflow)
        return {};
    struct Look {
        std::shared_ptr<TypedOperator> typed;
        std::vector<Array> arrays;
        std::int64_t num_elements, longest;
        CallsAsk asks;
        NotSpared found = {};
    };
    const auto look = std::make_shared<Look>(Look{call.typed(), {}, call.num_elements(), longest, asks});
    for (const auto& input : call.inputs())
        look->arrays.push_back(Array::borrow(input.type, input.data, static_cast<std::size_t>(input.length)));
    run_by_size(
        call.num_elements(), kElementsOfAShortFold,
        [look] {
            const auto& op = look->typed->op;
            if (look->asks.finite)
                look->found.not_finite = find_not_finite(op, look->arrays);
            if (look->asks.nan)
                look->found.nan = find_nan(op, look->arrays);
            if (!look->asks.overflow)
                return;
            const SparedByOverflow exact{known_values(op, look->arrays), {look->longest, look->num_elements}};
            if (!look->asks.spared || !look->asks.spared->holds(exact.known, exact.length))
                look->found.in_doubt = std::make_shared<const SparedByOverflow>(exact);
        },
        call.arrays());
    return look->found;
}

/// The values of scalars that may mean other laws than those of all values, as a text; empty where none may.
std::string doubtful_scalars(const Call& call, ScalarDoubt doubt)
{
    std::string text;
    if (!is_in_doubt(doubt, call.op(), call.inputs()))
        return text;
    for (std::size_t i = 0; i < call.inputs().size(); ++i) {
        const auto& input = call.inputs()[i];
        if (!call.op().parameters[i].scalar)
            continue;
        const auto value = value_at(input.type, input.data, 0);
        text += fmt::format(" {}:{:x}:{:x}", i, value.bits, std::bit_cast<std::uint64_t>(value.real));
    }
    return text;
}

/// A plan of a call on the host, and what other calls of the operator have to ask.
struct Making {
    std::shared_ptr<TypedOperator> typed;
    std::shared_ptr<Session> session;
    SegmentsView segments;
    std::shared_ptr<const Segments> found;
    std::int64_t num_elements;
    PlanOptions options;
    std::vector<ArrayView> inputs;
    std::uint64_t findings;
    CallsAsk known = {};           ///< of calls before
    bool is_of_any_data = false;   ///< infinities and NaN, too
    CallsAsk of_any_scalars = {};  ///< what to ask where nothing is known of the scalars
    CallsAsk asks = {};            ///< of these scalars
    std::shared_ptr<Plan> plan = nullptr;
    std::string told = {};  ///< what the user should know of it

    [[nodiscard]] CallsAsk asks_of(const OperatorLaws& judged) const
    {
        const auto laws = relied_on(judged);
        const bool is_finite_asked = depends_on_finite(laws);
        const bool may_overflow = laws.most_elements < std::numeric_limits<std::int64_t>::max() ||
                                  laws.refuted_by_overflow.size() != judged.refuted_by_overflow.size();
        CallsAsk asks;
        asks.data = depends_on_data(laws) && !is_finite_asked;
        asks.finite = is_finite_asked;
        asks.nan = depends_on_nan(laws);
        if (may_overflow)
            asks.overflow = std::make_shared<const OperatorLaws>(judged);
        asks.scalars = doubt_of_scalars(typed->op, laws.report);
        asks.findings = findings;
        return asks;
    }

    /// The laws of calls that overflow nowhere. What a search among floats finds is of no other call.
    [[nodiscard]] OperatorLaws relied_on(OperatorLaws laws) const
    {
        const bool has_integers_alone = std::ranges::all_of(
            typed->op.parameters, [](const Parameter& parameter) { return is_integer(parameter.type); });
        return has_integers_alone ? while_nothing_overflows(std::move(laws), typed->op) : laws;
    }

    /// What is spared of `known` and of this call; null where this one may overflow.
    [[nodiscard]] std::shared_ptr<const SparedByOverflow> spared(const CallsAsk& known) const
    {
        auto spared = spared_by_overflow(*known.overflow, borrow_workload(typed->op, inputs, segments),
                                         known.spared.get());
        return spared ? std::make_shared<const SparedByOverflow>(std::move(*spared)) : nullptr;
    }

    void make()
    {
        const auto& op = typed->op;
        const auto judged = session->laws(op);
        of_any_scalars = asks_of(judged);
        const auto of_all = relied_on(judged);
        if (of_any_scalars.data)
            return;
        const auto workload = borrow_workload(op, inputs, segments);
        const auto scalars = scalar_values(workload);
        const auto judged_for_scalars = session->laws(op, scalars);
        asks = asks_of(judged_for_scalars);
        asks.spared = known.spared;
        asks.not_spared = known.not_spared;
        const auto laws = relied_on(judged_for_scalars);
        const auto differs = [&](Law law) { return laws.report.refuted(law) != of_all.report.refuted(law); };
        asks.data |= differs(Law::associative) || differs(Law::identity);
        if (asks.data)
            return;
        // What the elements refute is said by a fold, which looks at them.
        const auto of_data = session->laws(workload);
        const bool is_in_order = !options.with_nan.empty();
        const bool is_as_known =
            of_data.report.refuted(Law::associative) == laws.report.refuted(Law::associative) &&
            of_data.usable.associative == laws.usable.associative;
        if (!(is_in_order ? of_data.with_nan.has_value() : is_as_known) || !of_data.has_sound_identity ||
            !of_data.broken_by_overflow.empty() ||
            (of_data.without_identity && !is_of_any_data && !laws.doubts_identity))
            return;
        if (of_data.without_identity && !is_of_any_data)
            told =
                fmt::format("operator {} runs without its identity: {}", op.name, *of_data.without_identity);
        // What NaN or infinities alone refute is no matter for calls whose data have none. An identity that
        // other elements may refute is left out: to try it on those of each call takes longer.
        options.assumes_finite = !is_of_any_data && (options.assumes_finite || asks.nan || asks.finite);
        options.avoids_doubt = true;
        options.assumes_no_overflow = true;
        const SparedByOverflow exact{known_values(op, workload.arrays),
                                     {shape_of(workload.segments).longest, num_elements}};
        if (asks.overflow && (!asks.spared || !asks.spared->holds(exact.known, exact.length))) {
            const auto wider = spared(asks);
            (wider ? asks.spared : asks.not_spared) =
                wider ? wider : std::make_shared<const SparedByOverflow>(exact);
            if (!wider)
                return;
        }
        plan = std::make_shared<Plan>(session->plan(op, segments, num_elements, options));
        if (!plan->takes_scalars(inputs))
            plan.reset();
    }
};

/// What is spared of the call and of those before; null where it may overflow.
std::shared_ptr<const SparedByOverflow> spared_too(Call& call, const CallsAsk& asks)
{
    struct Widening {
        Making call;
        CallsAsk asks;
        std::shared_ptr<const SparedByOverflow> spared = nullptr;
    };
    const auto widening = std::make_shared<Widening>(Widening{
        {call.typed(), nullptr, call.segments(), call.found(), call.num_elements(), {}, call.inputs(), 0},
        asks});
    run_by_size(
        call.num_elements(), kElementsOfAShortFold,
        [widening] { widening->spared = widening->call.spared(widening->asks); }, call.arrays());
    return widening->spared;
}

/// What a plan of the call is kept for; `asked` is what its data and scalars ask for besides its words.
PlanKey host_key(const Call& call, const std::optional<Shape>& ranges, std::int64_t longest,
                 const std::string& asked)
{
    const auto& segments = call.segments();
    const auto items = ranges ? ranges->num_elements : 0;
    return {segments.kind,
            segments.first.type,
            call.num_elements(),
            call.num_features(),
            segments.kind == LayoutKind::uniform ? segments.uniform_length : segments.first.length,
            PlanKey::kHost,
            0,
            call.words().key() + asked,
            longest,
            num_findings(),
            static_cast<int>(std::bit_width(static_cast<std::uint64_t>(items))),
            ranges ? index_bits_for({items}) : 0};
}

/// The kept plan for `key`; where `is_known` says that the laws have been judged, also one that is made of
/// another. Null without.
std::shared_ptr<const PlanCache::Entry> known_entry(const Call& call, const PlanKey& key, bool is_known)
{
    auto& plans = call.typed()->plans;
    auto entry = plans.find(key);
    if (entry || !is_known)
        return entry;
    const auto similar = plans.find_similar(key);
    auto plan =
        similar ? similar->plan->for_sizes(call.segments(), key.num_elements, key.longest) : std::nullopt;
    if (!plan)
        return nullptr;
    entry = std::make_shared<const PlanCache::Entry>(
        PlanCache::Entry{key, similar->session, std::make_shared<Plan>(std::move(*plan))});
    plans.add(entry);
    return entry;
}

}  // namespace

void find_segments(Call& call, Session& session)
{
    if (!call.finds_segments() || !call.words().request.is_open() || !may_keep_plan(call, session))
        return;
    struct Finding {
        SegmentsView segments;
        std::int64_t num_elements;
        std::shared_ptr<const Segments> found;
    };
    const auto finding = std::make_shared<Finding>(Finding{call.segments(), call.num_elements(), nullptr});
    run_by_size(
        call.num_elements(), kElementsOfAShortNativeFold,
        [finding] {
            finding->found =
                std::make_shared<const Segments>(found_segments(finding->segments, finding->num_elements));
        },
        call.arrays());
    call.take_found(finding->found);
}

std::shared_ptr<const PlanCache::Entry> host_entry(Call& call, const std::shared_ptr<Session>& session)
{
    const auto& words = call.words();
    const auto& segments = call.segments();
    const auto num_elements = call.num_elements();
    if (call.finds_segments() || !may_keep_plan(call, *session) || !fits_out(call))
        return nullptr;
    const bool is_ranges = segments.kind == LayoutKind::ranges;
    if (is_ranges && !is_looked_at(segments.first.length))
        return nullptr;
    const auto ranges = is_ranges ? shape_of_ranges(segments, num_elements) : std::nullopt;
    const auto longest = ranges ? std::optional(ranges->longest) : longest_segment(segments, num_elements);
    if (!longest)
        return nullptr;
    auto& typed = *call.typed();
    const auto& assumed = words.session.assume;
    const auto* of_any_scalars = typed.known_asks(assumed, "");
    auto scalars = of_any_scalars != nullptr ? doubtful_scalars(call, of_any_scalars->scalars) : "";
    const auto* known = of_any_scalars != nullptr ? typed.known_asks(assumed, scalars) : nullptr;
    const bool is_known = known != nullptr;
    auto asks = is_known ? *known : CallsAsk();
    if (asks.data)
        return nullptr;
    const auto most = *longest > 0 ? *longest : num_elements;
    const auto spared = not_spared(call, asks, most);
    if (spared.in_doubt) {
        if (asks.not_spared && spared.in_doubt->holds(asks.not_spared->known, asks.not_spared->length))
            return nullptr;
        const auto wider = spared_too(call, asks);
        (wider ? asks.spared : asks.not_spared) = wider ? wider : spared.in_doubt;
        typed.keep_asks(assumed, scalars, asks);
        if (!wider)
            return nullptr;
    }
    if ((asks.nan && spared.not_finite && !spared.nan))
        return nullptr;
    const auto kind_of_data =
        std::string(spared.not_finite ? " any" : "") + (spared.nan ? " nan " + *spared.nan : "");
    auto key = host_key(call, ranges, *longest, scalars + kind_of_data);
    auto entry = known_entry(call, key, is_known);
    if (!entry) {
        const auto making = std::make_shared<Making>(
            Making{call.typed(), session, segments, call.found(), num_elements, call.plan_options(),
                   call.inputs(), num_findings(), asks, spared.not_finite || spared.nan});
        making->options.longest = *longest;
        if (spared.nan)
            making->options.with_nan = fmt::format("'{}' has NaN", *spared.nan);
        // A text may have to be compiled, which Ctrl-C ends.
        run_interruptible([making] { making->make(); }, call.arrays());
        scalars = doubtful_scalars(call, making->of_any_scalars.scalars);
        if (scalars.empty()) {
            making->of_any_scalars.spared = making->asks.spared;
            making->of_any_scalars.not_spared = making->asks.not_spared;
        } else {
            typed.keep_asks(assumed, scalars, making->asks);
        }
        typed.keep_asks(assumed, "", making->of_any_scalars);
        if (!making->plan)
            return nullptr;
        warn_of_caches();
        if (!making->told.empty())
            warn({making->told}, &typed.told);
        key.words = words.key() + scalars + kind_of_data;
        entry = std::make_shared<const PlanCache::Entry>(
            PlanCache::Entry{std::move(key), session, std::move(making->plan)});
        call.typed()->plans.add(entry);
    }
    if (spared.not_finite)
        warn({fmt::format("operator {} runs without its identity: the identity is neutral on finite values "
                          "alone, and '{}' has infinities or NaN",
                          call.op().name, *spared.not_finite)},
             &typed.told);
    return entry;
}

}  // namespace segfold::python
