// Plans that calls on the host's arrays keep.
#include <fmt/format.h>

#include <bit>
#include <limits>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/native_program.h"
#include "runtime/data/data_ranges.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/laws/operator_laws.h"
#include "runtime/session/laws/overflow_laws.h"

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
    const auto known = call.typed()->asks.find(words.session.assume);
    return known == call.typed()->asks.end() || known->second.findings != num_findings() ||
           !known->second.data;
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

/// Whether the call's data break a law on which the operator's kept plans rely: by NaN or infinities, by an
/// element that shows that the identity is none, or as they may overflow. `longest` is 0 where it is not
/// known.
bool breaks_laws_of_plans(Call& call, CallsAsk asks, std::int64_t longest)
{
    if (asks.overflow && (longest > 0 ? longest : call.num_elements()) <= asks.overflow->most_elements)
        asks.overflow = nullptr;
    if (!asks.finite && !asks.nan && !asks.elements && !asks.overflow)
        return false;
    struct Trial {
        std::shared_ptr<TypedOperator> typed;
        std::vector<Array> arrays;
        CallsAsk asks;
        std::int64_t longest;
        bool is_refuted = false;
    };
    const auto trial = std::make_shared<Trial>(Trial{call.typed(),
                                                     {},
                                                     call.num_elements(),
                                                     call.num_features(),
                                                     asks,
                                                     longest > 0 ? longest : call.num_elements()});
    for (const auto& input : call.inputs())
        look->arrays.push_back(Array::borrow(input.type, input.data, static_cast<std::size_t>(input.length)));
    run_by_size(
        call.num_elements(), kElementsOfAShortFold,
        [trial] {
            const auto& op = trial->typed->op;
            trial->is_refuted = (trial->asks.finite && find_not_finite(op, trial->arrays)) ||
                                (trial->asks.nan && find_nan(op, trial->arrays)) ||
                                (trial->asks.overflow &&
                                 !broken_by_overflow(*trial->asks.overflow, op, trial->arrays,
                                                     trial->num_elements, [&] { return trial->longest; })
                                      .empty()) ||
                                (trial->asks.elements &&
                                 try_identity_on_some(op, trial->arrays, trial->num_elements,
                                                      trial->num_features, Elements::all_with_overflow)
                                     .counter_example);
        },
        call.arrays());
    return look->found;
}

/// The values of scalars that may mean other laws than those of all values, as a text; empty where none may.
std::string doubtful_scalars(const Call& call, const CallsAsk& asks)
{
    std::string text;
    if (!is_in_doubt(asks.scalars, call.op(), call.inputs()))
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
    bool is_of_any_data = false;  ///< infinities and NaN, too
    CallsAsk asks = {};
    std::shared_ptr<Plan> plan = nullptr;
    std::string told = {};  ///< what the user should know of it

    void make()
    {
        const auto& op = typed->op;
        const auto laws = session->laws(op);
        const bool is_finite_asked = depends_on_finite(laws);
        asks = {depends_on_data(laws) && !is_finite_asked, is_finite_asked, depends_on_nan(laws),
                doubt_of_scalars(op, laws.report), findings};
        if (asks.data)
            return;
        // What the elements refute is said by a fold, which looks at them.
        const auto of_data = session->laws(borrow_workload(op, inputs, segments));
        const bool is_in_order = !options.with_nan.empty();
        const bool is_as_known =
            of_data.report.refuted(Law::associative) == laws.report.refuted(Law::associative) &&
            of_data.usable.associative == laws.usable.associative;
        if (!(is_in_order ? of_data.with_nan.has_value() : is_as_known) || !of_data.has_sound_identity ||
            (of_data.without_identity && !is_of_any_data && !laws.doubts_identity))
            return;
        if (of_data.without_identity && !is_of_any_data)
            told =
                fmt::format("operator {} runs without its identity: {}", op.name, *of_data.without_identity);
        // What NaN or infinities alone refute is no matter for calls whose data have none. An identity that
        // other elements may refute is left out: to try it on those of each call takes longer.
        options.assumes_finite = !is_of_any_data && (options.assumes_finite || asks.nan || asks.finite);
        options.avoids_doubt = true;
        plan = std::make_shared<Plan>(session->plan(op, segments, num_elements, options));
        if (!plan->takes_scalars(inputs))
            plan.reset();
    }
};

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
    const auto known = call.typed()->asks.find(words.session.assume);
    const bool is_known = known != call.typed()->asks.end() && known->second.findings == num_findings();
    const auto asks = is_known ? known->second : CallsAsk();
    const auto spared = not_spared(call, asks);
    if (asks.nan && spared.not_finite && !spared.nan)
        return nullptr;
    PlanKey key{
        segments.kind,
        segments.first.type,
        num_elements,
        call.num_features(),
        segments.kind == LayoutKind::uniform ? segments.uniform_length : segments.first.length,
        PlanKey::kHost,
        0,
        words.key(),
        *longest,
        num_findings(),
        ranges ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ranges->num_elements))) : 0};
    auto& plans = call.typed()->plans;
    if (auto entry = plans.find(key))
        return breaks_laws_of_plans(call, call.typed()->asks[words.session.assume], *longest) ? nullptr
                                                                                              : entry;
    struct Making {
        std::shared_ptr<TypedOperator> typed;
        std::shared_ptr<Session> session;
        SegmentsView segments;
        std::shared_ptr<const Segments> found;
        std::int64_t num_elements;
        PlanOptions options;
        std::vector<ArrayView> inputs;
        std::uint64_t findings;
        CallsAsk asks = {};
        std::shared_ptr<Plan> plan = nullptr;
    };
    const auto making =
        std::make_shared<Making>(Making{call.typed(), session, segments, call.found(), num_elements,
                                        call.plan_options(), call.inputs(), num_findings()});
    making->options.longest = *longest;
    // A text may have to be compiled, which Ctrl-C ends.
    run_interruptible(
        [making] {
            const auto& op = making->typed->op;
            const auto laws = making->session->laws(op);
            const bool is_finite_asked = depends_on_finite(laws);
            making->asks = {depends_on_data(laws) && !is_finite_asked,
                            is_finite_asked,
                            depends_on_nan(laws),
                            laws.most_elements < std::numeric_limits<std::int64_t>::max()
                                ? std::make_shared<const OperatorLaws>(laws)
                                : nullptr,
                            laws.doubts_identity,
                            doubt_of_scalars(op, laws.report),
                            making->findings};
            if (!making->asks.keeps_plan(op, making->inputs))
                return;
            // What the elements refute is said by a fold, which looks at them.
            const auto of_data = making->session->laws(borrow_workload(op, making->inputs, making->segments));
            if (of_data.report.refuted(Law::associative) == laws.report.refuted(Law::associative) &&
                of_data.usable.associative == laws.usable.associative && of_data.has_sound_identity &&
                !of_data.without_identity && of_data.broken_by_overflow.empty()) {
                making->options.assumes_no_overflow = true;
                // What NaN or infinities alone refute is no matter for calls whose data have none.
                making->options.assumes_finite |= making->asks.nan || making->asks.finite;
                making->plan = std::make_shared<Plan>(
                    making->session->plan(op, making->segments, making->num_elements, making->options));
            }
        },
        call.arrays());
    call.typed()->asks[words.session.assume] = making->asks;
    if (!making->plan)
        return nullptr;
    warn_of_caches();
    const auto entry =
        std::make_shared<const PlanCache::Entry>(PlanCache::Entry{key, session, std::move(making->plan)});
    plans.add(entry);
    return entry;
}

}  // namespace segfold::python
