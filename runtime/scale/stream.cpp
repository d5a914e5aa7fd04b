#include "runtime/scale/stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/backends/backend.h"
#include "runtime/data/key_order.h"
#include "runtime/scale/stream_state.h"
#include "runtime/session/core.h"
#include "runtime/support/text_table.h"

namespace segfold {

Stream::Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options)
    : Stream(session, op, std::move(input), std::move(options), cuda_engine(core(session).backend()))
{}

Stream::Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options,
               std::unique_ptr<SliceEngine> engine)
    : state_(std::make_unique<State>(op, std::move(input), std::move(options), std::move(engine)))
{
    require_stages(state_->options.plan, core(session).backend());
    if (state_->input.segments.kind == LayoutKind::groups) {
        if (state_->options.plan.is_reproducible)
            throw InputError(
                "groups of a stream are joined slice after slice, and no plan of them is reproducible; leave "
                "out the "
                "wish for one, or fold them in one piece");
        FoldOptions fold_options;
        fold_options.plan = state_->options.plan;
        fold_options.plan.measured_stages = 1;  // the same number as for slices of other layouts
        state_->read_groups([&session, fold_options](const Operator& part, std::span<const ArrayView> inputs,
                                                     const SegmentsView& segments) {
            return session.fold(part, inputs, segments, fold_options);
        });
    }
    state_->set_up(slice_device(core(session)), [&] {
        const bool is_cut = !state_->num_elements || *state_->num_elements > state_->slice_elements;
        auto laws = on_stream(session.laws(op, state_->scalars()), op);
        state_->warnings = law_warnings(laws, op);
        // Slices of groups are no parts of segments; their totals make the outputs.
        auto folded = state_->groups ? without_outputs(op) : op;
        folded.keeps_results = op.keeps_results;
        return slice_problem(core(session), folded, std::move(laws),
                             {1, state_->options.plan, state_->options.without_records},
                             is_cut && state_->kind == LayoutKind::whole);
    });
}

Stream::Stream(SliceDevice device, SliceProblem problem, StreamInput input, StreamOptions options,
               std::unique_ptr<SliceEngine> engine)
    : state_(std::make_unique<State>(problem.op, std::move(input), std::move(options), std::move(engine)))
{
    state_->set_up(std::move(device), [&] { return std::move(problem); });
}

Stream::~Stream() = default;

std::int64_t Stream::slice_elements() const { return state_->slice_elements; }
int Stream::index_bits() const { return state_->index_bits; }
std::optional<std::int64_t> Stream::num_elements() const { return state_->num_elements; }
std::optional<std::int64_t> Stream::num_segments() const { return state_->cursor->num_segments(); }
const PlanChoice* Stream::plan() const { return state_->folder->plan(); }
std::string Stream::plan_text() const
{
    if (state_->groups)
        return state_->groups->plan();
    const auto* chosen = plan();
    return chosen == nullptr ? "" : fmt::format("{} ({})", chosen->text(), chosen->chosen_by());
}
const std::vector<std::string>& Stream::warnings() const { return state_->warnings; }
const RunTimes& Stream::times() const { return state_->times; }
const StreamTimeline& Stream::timeline() const { return state_->timeline; }
const Operator& Stream::op() const { return state_->groups ? state_->groups->op() : state_->op; }
const std::shared_ptr<const Joining>& Stream::joining() const { return state_->folder->joining(); }

std::string Stream::fingerprint() const
{
    auto text = fmt::format("{}\n{} {} {}\n{} {} {}\n", print(state_->op), name(state_->kind),
                            state_->uniform_length, state_->marks ? state_->marks->fingerprint() : "",
                            state_->slice_elements, state_->slice_segments, state_->block);
    if (state_->groups)
        text += state_->groups->joining()->fingerprint;
    for (const auto& source : state_->input.parameters)
        text += source->fingerprint() + "\n";
    return text;
}

void Stream::go_to(const StreamState& state)
{
    if (state_->op.scan && state_->op.scan->reverse)
        throw InputError(
            fmt::format("operator {} scans segments from their end, and a stream goes on with "
                        "later elements alone; begin it anew",
                        state_->op.name));
    if (state_->goes_back())
        throw InputError(
            fmt::format("operator {} maps elements with the results of their groups, and a "
                        "stream has these when it has read all; begin it anew",
                        state_->op.name));
    try {
        if (state_->groups)
            state_->groups_before = GroupPartial::from_bytes(state_->groups->joining(), state.before);
        else
            state_->all = Partial::from_bytes(state_->folder->joining(), state.before);
    } catch (const InputError& error) {
        throw InputError(
            fmt::format("a stream cannot go on from its state: {}; begin the stream anew", error.what()));
    }
    if (!state_->groups && state_->all->next_segment() != state.place.segment)
        throw InputError(
            fmt::format("a stream cannot go on with segment {} behind results of {}; begin it anew",
                        state.place.segment, count_text(state_->all->next_segment(), "segment")));
    state_->cursor->go_to(state.place);
}

void Stream::run(const std::function<void(StreamResults&& results, const StreamState& state)>& take)
{
    auto& all = *state_->all;
    state_->before.emplace(all.borders());
    // `state_bytes` is called when the results of the slice are taken, which the state has not.
    const auto take_slice = [&](detail::LoadedSlice& loaded, const auto& state_bytes) {
        StreamResults results{all.take_results(), &loaded.window};
        if (state_->is_reverse()) {
            results.first_segment = loaded.window.from.segment;
            results.num_segments = std::ssize(loaded.window.ends);
        }
        results.first_element = loaded.window.from.element;
        results.num_elements = loaded.window.end - results.first_element;
        results.running = state_->running_results(loaded);
        if (state_->groups)
            results.results = no_results();
        if (loaded.window.keys) {
            results.results.keys = loaded.window.keys->copy();
            warn_of_returning_keys(*loaded.window.keys, state_->has_warned_of_keys, state_->warnings);
        }
        take(std::move(results), {loaded.after, state_bytes()});
    };
    if (state_->groups) {
        const bool keeps_states = state_->options.keeps_states && !state_->goes_back();
        state_->run_groups(
            {state_->cursor->place(), detail::kToTheEnd}, nullptr, [&](detail::LoadedSlice& loaded) {
                take_slice(loaded, [&] {
                    return keeps_states ? state_->groups->sum().to_bytes() : std::vector<std::byte>();
                });
            });
        state_->take_groups(take);
        return;
    }
    state_->fold_all(detail::kToTheEnd, [&](detail::LoadedSlice& loaded, Partial&& partial) {
        state_->add(all, std::move(partial));
        take_slice(loaded, [&] { return all.to_bytes(); });
        state_->tell(loaded);
    });
    all.require_whole();
}

Stream::Share Stream::share(std::int64_t part, std::int64_t num_parts)
{
    if (!state_->num_elements)
        throw InputError("a stream whose number of elements is not known cannot be shared");
    const auto n = *state_->num_elements;
    const auto element_at = [&](std::int64_t which) {
        return n / num_parts * which + n % num_parts * which / num_parts;
    };
    auto share = share_between(element_at(part), element_at(part + 1));
    if (n == 0 && part != 0)
        share.from = {0, state_->cursor->num_segments().value_or(0), 0};
    return share;
}

Stream::Share Stream::share_between(std::int64_t begin, std::int64_t end)
{
    auto& cursor = *state_->cursor;
    Share share{cursor.place_of(begin, state_->block), end, 0};
    if (end < *state_->num_elements)
        share.until = cursor.place_of(end, state_->block).element;
    share.begun = cursor.num_begun(share.from.element, share.until);
    return share;
}

void Stream::run_share(const Share& share, const TakePart& take, const Partial* before)
{
    state_->before.emplace(before != nullptr ? before->borders() : Partial(joining()));
    state_->cursor->go_to(share.from);
    state_->fold_all(share.until, [&](detail::LoadedSlice& loaded, Partial&& partial) {
        take(std::move(partial), loaded.window, state_->running_results(loaded));
        state_->tell(loaded);
    });
}

Partial Stream::fold_ends(const Share& share)
{
    Partial all(state_->ends->joining());
    state_->folds_ends = true;
    state_->cursor->go_to(share.from);
    state_->fold_all(share.until,
                     [&](detail::LoadedSlice&, Partial&& partial) { state_->add(all, std::move(partial)); });
    state_->folds_ends = false;
    return all;
}

void Stream::run_groups(const Share& share, GroupExchange* others, const TakeOutputs& take)
{
    state_->cursor->go_to(share.from);
    state_->run_groups(share, others, [&](detail::LoadedSlice& loaded) {
        take(loaded.window, state_->running_results(loaded));
    });
    std::ranges::copy(state_->groups->warnings(), std::back_inserter(state_->warnings));
}

GroupResults Stream::group_results() { return state_->groups->results(); }

Results Stream::no_results() const
{
    Results none;
    for (const auto& field : joining()->results)
        none.push_back({field.name, Array(field.type, 0)});
    if (const auto& groups = *state_->groups->joining(); groups.groups.order)
        none.keys = Array(groups.marks, 0);
    return none;
}

bool Stream::has_groups() const { return state_->groups.has_value(); }

const std::shared_ptr<const Joining>& Stream::joining_of_ends() const { return state_->ends->joining(); }

}  // namespace segfold
