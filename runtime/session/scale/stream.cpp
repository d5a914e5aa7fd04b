#include "runtime/session/scale/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <limits>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/backends/backend.h"
#include "runtime/session/scale/border_join.h"
#include "runtime/session/scale/slice_buffers.h"
#include "runtime/support/refuse.h"

namespace segfold {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

/// A slice with the memory of its columns.
struct LoadedSlice {
    SegmentWindow window;
    std::vector<Array> columns;  ///< one for each parameter, in buffers or the source's; of tables empty
    SegmentPlace after;          ///< where the cursor stood behind it
};

/// Bytes that an element needs in the buffers of a slice.
double bytes_of_element(const Operator& op, const SegmentSource& segments)
{
    constexpr double kBuffers = 2;
    constexpr double kBorderBytes = 16;  // an end, and an offset for the back end
    double columns = 0, results = 0;
    for (const auto& parameter : op.parameters)
        columns += parameter.table ? 0 : static_cast<double>(size_bytes(parameter.type));
    if (segments.kind == LayoutKind::flags || segments.kind == LayoutKind::keys)
        columns += static_cast<double>(size_bytes(segments.array->type()));
    for (const auto& field : op.results)
        results += static_cast<double>(size_bytes(field.type));
    // There may be a segment for each element, or each uniform length of them.
    const double segments_each = segments.kind == LayoutKind::whole ? 0
                                 : segments.kind == LayoutKind::uniform
                                     ? 1.0 / static_cast<double>(segments.uniform_length)
                                     : 1;
    return kBuffers * columns + segments_each * (kBuffers * kBorderBytes + 2 * results);
}

OperatorLaws laws_without_data(OperatorLaws laws)
{
    if (depends_on_data(laws) && laws.has_sound_identity)
        laws.without_identity =
            "the identity is neutral on finite values alone, and a stream does not know its data";
    return laws;
}

}  // namespace

struct Stream::State {
    State(Session& session, const Operator& checked, StreamInput&& given, StreamOptions asked)
        : op(checked), input(std::move(given)), options(std::move(asked))
    {
        require_slices(op);
        check_parameters();
        read_tables();
        const auto bytes = bytes_of_element(op, input.segments);
        slice_elements = static_cast<std::int64_t>(static_cast<double>(options.memory_bytes) / bytes);
        marks_print = input.segments.array ? input.segments.array->fingerprint() : "";
        const auto segments_kind = input.segments.kind;
        uniform_length = input.segments.uniform_length;
        kind = segments_kind;
        cursor = segment_cursor(std::move(input.segments), num_elements);
        num_elements = cursor->num_elements();
        const SliceOptions slice_options{1, options.plan, options.without_records};
        auto laws = laws_without_data(session.laws(op));
        warnings = law_warnings(laws, op);
        problem = slice_problem(session, op, std::move(laws), slice_options);
        block = problem.order == JoinOrder::blocks ? kJoinBlock : 0;
        if (slice_elements < std::max<std::int64_t>(1, block))
            throw InputError(fmt::format(
                "a bound of {} bytes leaves no room for a slice: an element takes {} bytes, and a slice has "
                "{} "
                "elements at least; give {} bytes or more",
                options.memory_bytes, static_cast<std::int64_t>(bytes), std::max<std::int64_t>(1, block),
                static_cast<std::int64_t>(bytes * static_cast<double>(std::max<std::int64_t>(1, block))) +
                    1));
        if (num_elements)
            slice_elements = std::min(slice_elements, std::max({*num_elements, block, std::int64_t{1}}));
        const auto segments = cursor->num_segments();
        const auto slices = num_elements ? std::max<std::int64_t>(1, *num_elements / slice_elements) : 1;
        problem.typical = {slice_elements,
                           segments ? (*segments + slices - 1) / slices : slice_elements / 64 + 1,
                           kind == LayoutKind::uniform ? uniform_length : 0};
        for (const auto& parameter : op.parameters)
            if (parameter.table && !parameter.scalar)
                problem.checked_tables.push_back(parameter.name);
        folder.emplace(problem, slice_device(session));
        buffers.emplace(session.backend().context(), op.parameters.size(), slice_elements);
    }

    /// The columns agree with the operator and with each other.
    void check_parameters()
    {
        if (input.parameters.size() != op.parameters.size())
            throw InternalError("a stream with " + std::to_string(input.parameters.size()) + " sources for " +
                                std::to_string(op.parameters.size()) + " parameters");
        std::string first;
        for (std::size_t i = 0; i < op.parameters.size(); ++i) {
            const auto& parameter = op.parameters[i];
            const auto& source = *input.parameters[i];
            if (source.type() != parameter.type)
                refuse(source.where(),
                       fmt::format("holds {}, and parameter '{}' of operator {} is {}", name(source.type()),
                                   parameter.name, op.name, name(parameter.type)));
            if (parameter.table || !source.length())
                continue;
            if (num_elements && *num_elements != *source.length())
                refuse(source.where(),
                       fmt::format("column '{}' has {} elements, but column '{}' has {}; they "
                                   "must agree",
                                   parameter.name, *source.length(), first, *num_elements));
            num_elements = source.length();
            first = parameter.name;
        }
    }

    void read_tables()
    {
        for (std::size_t i = 0; i < op.parameters.size(); ++i) {
            tables.emplace_back();
            if (!op.parameters[i].table)
                continue;
            auto& source = *input.parameters[i];
            if (!source.length())
                refuse(source.where(),
                       fmt::format("table '{}' must have a known length", op.parameters[i].name));
            tables.back() = Array(source.type(), static_cast<std::size_t>(*source.length()));
            source.read(0, tables.back());
        }
    }

    /// Reads the next slice.
    LoadedSlice load(std::int64_t until)
    {
        LoadedSlice loaded{
            cursor->next({slice_elements, std::max<std::int64_t>(slice_elements, 1), block, until}), {}, {}};
        auto& window = loaded.window;
        buffers->turn();
        for (std::size_t i = 0; i < op.parameters.size(); ++i) {
            loaded.columns.emplace_back();
            if (op.parameters[i].table)
                continue;
            const auto begin = window.from.element;
            const auto wanted = window.end - begin;
            const auto type = op.parameters[i].type;
            if (const auto* lent = input.parameters[i]->lent(begin)) {
                loaded.columns.back() = Array::borrow(type, lent, static_cast<std::size_t>(wanted));
                continue;
            }
            auto column = buffers->room(i, type, wanted);
            const auto count = wanted == 0 ? 0 : input.parameters[i]->read(begin, column);
            if (count < wanted) {
                // The first column says how many elements there are where nothing else does.
                cursor->end_at(begin + count);
                window.end = begin + count;
                num_elements = window.end;
            }
            loaded.columns.back() = std::move(column);
        }
        loaded.after = cursor->place();
        refuse_empty(window);
        return loaded;
    }

    void refuse_empty(const SegmentWindow& window) const
    {
        if (op.allows_empty())
            return;
        auto begin = window.from.open_begin;
        for (std::size_t s = 0; s < window.ends.size(); begin = window.ends[s++])
            if (window.ends[s] == begin)
                throw InputError(
                    fmt::format("segment {} is empty, and operator {} has no identity; give its "
                                "state fields an identity (= VALUE), or an 'empty' part",
                                window.from.segment + static_cast<std::int64_t>(s), op.name));
    }

    SliceResults fold(const LoadedSlice& loaded)
    {
        const auto& window = loaded.window;
        const auto count = window.end - window.from.element;
        std::vector<Array> arrays;
        for (std::size_t i = 0; i < op.parameters.size(); ++i)
            arrays.push_back(op.parameters[i].table
                                 ? part_of(tables[i], 0, static_cast<std::int64_t>(tables[i].length()))
                                 : part_of(loaded.columns[i], 0, count));
        const auto slice = slice_of(window, std::move(arrays), slice_elements > kMaxNarrowIndex);
        try {
            return folder->fold(slice, &times);
        } catch (const InputError& error) {
            throw InputError(fmt::format("in elements {} to {}, counted from {}: {}", window.from.element,
                                         window.end, window.from.element, error.what()));
        }
    }

    /// Reads slices ahead by one and folds them.
    void fold_all(std::int64_t until, const std::function<void(const LoadedSlice&, SliceResults&&)>& take)
    {
        if (cursor->is_done(until))
            return;
        auto current = load(until);
        while (true) {
            std::future<LoadedSlice> reading;
            if (!cursor->is_done(until))
                reading = std::async(std::launch::async, [&] { return load(until); });
            take(current, fold(current));
            if (!reading.valid())
                return;
            current = reading.get();
        }
    }

    void tell(std::int64_t elements, std::int64_t segments) const
    {
        if (options.progress)
            options.progress({elements, num_elements, segments,
                              std::chrono::duration<double>(Clock::now() - begin).count()});
    }

    Operator op;
    StreamInput input;
    StreamOptions options;
    std::optional<std::int64_t> num_elements;
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;
    std::string marks_print;
    std::int64_t slice_elements = 0;
    std::int64_t block = 0;
    std::vector<Array> tables;
    std::vector<std::string> warnings;
    std::unique_ptr<SegmentCursor> cursor;
    SliceProblem problem;
    std::optional<SliceFolder> folder;
    std::optional<SliceBuffers> buffers;
    std::vector<std::byte> open;
    RunTimes times;
    Clock::time_point begin = Clock::now();
};

Stream::Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options)
    : state_(std::make_unique<State>(session, op, std::move(input), std::move(options)))
{}

Stream::~Stream() = default;

std::int64_t Stream::slice_elements() const { return state_->slice_elements; }
std::optional<std::int64_t> Stream::num_elements() const { return state_->num_elements; }
std::optional<std::int64_t> Stream::num_segments() const { return state_->cursor->num_segments(); }
const PlanChoice* Stream::plan() const { return state_->folder->plan(); }
const std::vector<std::string>& Stream::warnings() const { return state_->warnings; }
const RunTimes& Stream::times() const { return state_->times; }
const Operator& Stream::op() const { return state_->op; }
JoinOrder Stream::order() const { return state_->problem.order; }

std::string Stream::fingerprint() const
{
    auto text =
        fmt::format("{}\n{} {} {}\n{} {}\n", print(state_->op), name(state_->kind), state_->uniform_length,
                    state_->marks_print, state_->slice_elements, state_->block);
    for (const auto& source : state_->input.parameters)
        text += source->fingerprint() + "\n";
    return text;
}

void Stream::go_to(const StreamState& state)
{
    state_->cursor->go_to(state.place);
    state_->open = state.open;
}

void Stream::run(const std::function<void(StreamResults&& results, const StreamState& state)>& take)
{
    BorderJoin join(state_->op, state_->problem.order);
    if (!state_->open.empty())
        join.unpack(state_->open);
    state_->fold_all(kToTheEnd, [&](const LoadedSlice& loaded, SliceResults&& folded) {
        const auto finished = join.add(folded.border);
        StreamResults results;
        results.first_segment = loaded.window.from.segment;
        results.window = &loaded.window;
        results.num_segments = folded.num_inner + (finished ? 1 : 0);
        results.results = with_first(state_->op, finished, std::move(folded.inner), folded.num_inner);
        if (loaded.window.keys)
            results.results.keys = loaded.window.keys->copy();
        const auto segments = results.first_segment + results.num_segments;
        take(std::move(results), {loaded.after, join.pack()});
        state_->tell(loaded.window.end, segments);
    });
    if (join.is_open())
        throw InternalError("a segment is still open behind the last slice");
}

Stream::Share Stream::share(std::int64_t part, std::int64_t num_parts)
{
    if (!state_->num_elements)
        throw InputError("a stream whose number of elements is not known cannot be shared");
    const auto n = *state_->num_elements;
    const auto place_at = [&](std::int64_t which) {
        const auto element = n / num_parts * which + n % num_parts * which / num_parts;
        return state_->cursor->place_of(element, state_->block);
    };
    Share share{place_at(part), part + 1 == num_parts ? n : place_at(part + 1).element, 0};
    if (n == 0 && part != 0)
        share.from = {0, state_->cursor->num_segments().value_or(0), 0};
    share.begun = state_->cursor->num_begun(share.from.element, share.until);
    return share;
}

void Stream::run_share(const Share& share,
                       const std::function<void(SliceResults&& results, const SegmentWindow& window)>& take)
{
    state_->cursor->go_to(share.from);
    state_->fold_all(share.until, [&](const LoadedSlice& loaded, SliceResults&& folded) {
        const auto segments = folded.first_inner + folded.num_inner;
        take(std::move(folded), loaded.window);
        state_->tell(loaded.window.end, segments);
    });
}

}  // namespace segfold
