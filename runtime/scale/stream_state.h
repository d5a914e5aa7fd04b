#pragma once
// The internal implementation of a stream. One thread reads slices while another folds them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/data/data_ranges.h"
#include "runtime/scale/column_lengths.h"
#include "runtime/scale/group_totals.h"
#include "runtime/scale/overflow_watch.h"
#include "runtime/scale/slices/slice_bytes.h"
#include "runtime/scale/slices/slice_pipeline.h"
#include "runtime/scale/slices/slice_queue.h"
#include "runtime/scale/stream.h"
#include "runtime/support/files/refuse.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold {
namespace detail {

using Clock = std::chrono::steady_clock;
inline constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();
inline constexpr double kUsableShare = 15.0 / 16;
/// Largest size in bytes of a slice's columns on a device. It is small, because the link to the device is
/// idle until the first slice is read and while the last slice is folded.
inline constexpr double kMostCopied = 0x1p26;
/// Largest size in bytes of the slices of a stream whose length is unknown.
inline constexpr double kMostUncounted = 0x1p30;
inline constexpr double kReadingShare =
    1.0 / 4;  // share of the usable memory for the buffers into which sources are read

/// A slice that was read but not yet folded.
struct LoadedSlice {
    SegmentWindow window;
    std::vector<Array> columns;  ///< one for each parameter: copied, or lent by the source; empty for tables
    SegmentPlace after;          ///< position of the cursor after the slice
    /// Number of the stream's elements; empty if not yet known.
    std::optional<std::int64_t> all_elements = {};
    std::size_t room = 0;
    Slice slice;
    PreparedSlice prepared;                    ///< `slice`, divided into the back end's runs
    std::vector<ElementResults> running = {};  ///< running results, once the slice is folded
};

inline double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace detail

struct Stream::State {
    using Clock = detail::Clock;
    using LoadedSlice = detail::LoadedSlice;
    using Queue = SliceQueue<LoadedSlice>;

    State(const Operator& checked, StreamInput&& given, StreamOptions asked,
          std::unique_ptr<SliceEngine> given_engine)
        : op(checked), input(std::move(given)), options(std::move(asked)), engine(std::move(given_engine))
    {
        require_streams(op, input.segments.kind);
        // A scan needs the state of the preceding slice, and groups are folded by the session. Both fold
        // slices in host memory.
        if (op.scan || input.segments.kind == LayoutKind::groups)
            this->engine.reset();
        for (std::size_t i = 0; i < input.parameters.size() && i < op.parameters.size(); ++i)
            input.parameters[i]->set_role(fmt::format("column '{}'", op.parameters[i].name));
        if (input.segments.array)
            input.segments.array->set_role(fmt::format("the {}", name(input.segments.kind)));
    }

    /// Turns this into a stream of groups. Group numbers or keys are read as one more column of a single
    /// segment, and `fold_part` folds each slice.
    void read_groups(GroupTotals::FoldPart fold_part);

    /// Prepares the stream for its first slice. Checks the parameters before it calls `make_problem`.
    void set_up(SliceDevice&& device, const std::function<SliceProblem()>& make_problem);

    /// True if slices are read from the end of the input to its begin.
    [[nodiscard]] bool is_reverse() const
    {
        return groups ? groups->is_from_end() : op.scan && op.scan->reverse;
    }
    /// True if all elements are read more than once, or not in their order.
    [[nodiscard]] bool goes_back() const
    {
        return (op.scan && op.scan->reverse) || (groups && groups->reads_results());
    }
    /// Throws InputError if an array that is read again, or from its end, cannot be.
    void require_any_order() const;
    /// Reads a share of a stream of groups, in as many passes as the operator takes. `others` folds the
    /// shares of other ranks; null if there are none. The last pass, which gives outputs if there are any,
    /// calls `take` after each slice.
    void run_groups(const Share& share, GroupExchange* others, const std::function<void(LoadedSlice&)>& take);

    void read_tables();

    /// The values of scalar parameters, which are known before the columns are read.
    [[nodiscard]] ScalarValues scalars() const { return scalar_values(op, tables); }

    /// Reads `wanted` elements of column `i` into buffer set `room`. Sets `count` to the number of elements
    /// that the source had.
    Array read_column(std::size_t room, std::size_t i, std::int64_t begin, std::int64_t wanted,
                      std::int64_t& count)
    {
        auto& source = *input.parameters[i];
        if (pipeline)
            return pipeline->copy_column(room, i, source, begin, wanted, count);
        const auto type = op.parameters[i].type;
        if (const auto* lent = source.lent(begin))
            return Array::borrow(type, lent, static_cast<std::size_t>(wanted));
        auto& own = host_rooms[room][i];
        if (std::cmp_less(own.length(), wanted))
            own = Array(type, static_cast<std::size_t>(std::max(slice_elements, wanted)));
        auto column = Array::borrow(type, own.data(), static_cast<std::size_t>(wanted));
        count = wanted == 0 ? 0 : source.read(begin, column);
        return column;
    }

    [[nodiscard]] std::size_t num_rooms() const { return pipeline ? SlicePipeline::kRooms : kHostRooms; }

    /// Reads the next slice into buffer set `room`. On a device, threads may still be reading its columns
    /// after the return.
    std::unique_ptr<LoadedSlice> load(std::int64_t until, std::size_t room)
    {
        auto begin_of_part = Clock::now();
        auto loaded = std::make_unique<LoadedSlice>();
        loaded->window = cursor->next({slice_elements, slice_segments, block, until});
        loaded->room = room;
        auto& window = loaded->window;
        if (pipeline)
            pipeline->open(room);
        for (std::size_t i = 0; i < op.parameters.size(); ++i) {
            loaded->columns.emplace_back();
            if (op.parameters[i].table)
                continue;
            const auto begin = window.from.element;
            const auto wanted = window.end - begin;
            auto count = wanted;
            loaded->columns.back() = read_column(room, i, begin, wanted, count);
            if (count < wanted) {
                lengths->require_end(i, begin + count, window.end, cursor->num_elements());
                cursor->end_at(begin + count);
                window.end = begin + count;
                num_elements = window.end;
            }
        }
        if (window.end == cursor->num_elements())
            require_no_more();
        loaded->after = cursor->place();
        loaded->all_elements = num_elements;
        if (groups) {
            window.ends = {};  // groups have no results before the stream ends
            timeline.reading += detail::seconds_since(begin_of_part);
            return loaded;
        }
        refuse_empty(window);
        timeline.reading += detail::seconds_since(begin_of_part);
        begin_of_part = Clock::now();
        cut(*loaded);
        loaded->prepared = at_work().prepare(loaded->slice);
        timeline.preparing += detail::seconds_since(begin_of_part);
        return loaded;
    }

    /// Throws InputError if a column or the segments continue after the last element.
    void require_no_more()
    {
        if (std::exchange(has_ended, true))
            return;
        lengths->require_no_more(input, *cursor->num_elements());
        cursor->require_no_more();
    }

    /// Waits until a slice's columns are read, then starts the fold of the slice on the device.
    void start(LoadedSlice& loaded)
    {
        auto begin_of_part = Clock::now();
        pipeline->finish_reading(loaded.room);
        timeline.reading += detail::seconds_since(begin_of_part);
        begin_of_part = Clock::now();
        pipeline->start(loaded.room, loaded.prepared);
        timeline.preparing += detail::seconds_since(begin_of_part);
    }

    /// Returns the operator's arrays: the slice's part of each column, and whole tables.
    [[nodiscard]] std::vector<Array> arrays_of(const LoadedSlice& loaded) const
    {
        const auto count = loaded.window.end - loaded.window.from.element;
        std::vector<Array> arrays;
        for (std::size_t i = 0; i < op.parameters.size(); ++i)
            arrays.push_back(op.parameters[i].table ? tables[i].lend()
                                                    : part_of(loaded.columns[i], 0, count));
        return arrays;
    }

    void cut(LoadedSlice& loaded)
    {
        std::function<Array(Type, std::size_t)> index_room;
        if (pipeline && block == 0)  // folds in blocks allocate index arrays themselves
            index_room = [&](Type type, std::size_t length) {
                return pipeline->index_room(loaded.room, type, length);
            };
        loaded.slice = slice_of(loaded.window, arrays_of(loaded), index_bits == 64, index_room);
    }

    void refuse_empty(const SegmentWindow& window) const
    {
        if (op.takes_empty_segments() || window.uniform_length != 0)
            return;
        for (std::size_t s = 0; s < window.ends.size(); ++s)
            if (window.length(s) == 0)
                throw InputError(fmt::format("segment {} is empty, and operator {} has no identity; {}",
                                             window.from.segment + static_cast<std::int64_t>(s), op.name,
                                             advice_on_empty_segments(op)));
    }

    /// Returns the partial of a slice. The partial may borrow results from the slice's buffers.
    Partial fold(LoadedSlice& loaded)
    {
        const auto& window = loaded.window;
        if (!folds_ends && !groups)
            overflow->see(window, loaded.columns, warnings);
        try {
            if (groups) {
                const auto begin_of_fold = Clock::now();
                const auto arrays = arrays_of(loaded);  // the marks come last
                auto outputs = groups->add(arrays, arrays.back(), window.from.element);
                if (!op.outputs.empty())
                    loaded.running.push_back({window.from.element, std::move(outputs)});
                const SegmentWindow longest{{window.from.element, 0, window.end - groups->sum().longest()},
                                            window.end};
                overflow->see(longest, loaded.columns, warnings);
                times.seconds += detail::seconds_since(begin_of_fold);
                return Partial(folder->joining());
            }
            if (op.scan && !folds_ends)
                return scan(loaded);
            if (!pipeline)
                return at_work().fold(loaded.prepared, &times);
            auto given = pipeline->results(loaded.room, loaded.prepared);
            const auto parts = pipeline->times(loaded.room);
            timeline.copying += parts.copying;
            timeline.folding += parts.folding;
            times.add({parts.compiling, parts.folding, 0});
            return folder->complete(loaded.prepared, std::move(given));
        } catch (const InputError& error) {
            throw InputError(fmt::format("in elements {} to {}, counted from {}: {}", window.from.element,
                                         window.end, window.from.element, error.what()));
        }
    }

    /// Scans a slice, continuing from the state of the slices scanned before it.
    Partial scan(LoadedSlice& loaded)
    {
        folder->carry(loaded.prepared, is_reverse() ? before->state_at_begin() : before->state_at_end());
        auto partial = folder->fold(loaded.prepared, &times, &loaded.running);
        add(*before, partial.borders());
        (void)before->take_results();  // drops the result of a cut segment, which `partial` also has
        return partial;
    }

    /// Adds the partial of the next scanned slice: after `sum`, or before it in a reverse scan.
    void add(Partial& sum, Partial&& next) const
    {
        if (is_reverse())
            sum = std::move(next) + std::move(sum);
        else
            sum += std::move(next);
    }

    /// Returns the running results of a folded slice.
    [[nodiscard]] Results running_results(LoadedSlice& loaded) const
    {
        const auto begin = loaded.window.from.element;
        return !op.outputs.empty()
                   ? joined(op.outputs, std::move(loaded.running), begin, loaded.window.end - begin)
                   : Results();
    }

    /// Passes the results of all groups to `take`.
    void take_groups(const std::function<void(StreamResults&& results, const StreamState& state)>& take)
    {
        std::ranges::copy(groups->warnings(), std::back_inserter(warnings));
        auto all_groups = groups->results();
        SegmentWindow window;
        for (std::int64_t end = 0; const auto length : all_groups.lengths)
            window.ends.push_back(end += length);
        StreamResults results{{0, std::ssize(all_groups.lengths), std::move(all_groups.results)}, &window};
        results.first_element = num_elements.value_or(cursor->place().element);
        for (const auto& output : op.outputs)
            results.running.push_back({output.name, Array(output.type, 0)});
        take(std::move(results), {cursor->place(), {}, true});
    }

    [[nodiscard]] SliceFolder& at_work() { return folds_ends ? *ends : *folder; }

    /// Folds slices up to element `until` and passes their partials to `take`. Another thread reads slices
    /// ahead while buffers are free.
    void fold_all(std::int64_t until, const std::function<void(LoadedSlice&, Partial&&)>& take)
    {
        const auto begin_of_all = Clock::now();
        Queue queue(num_rooms());
        std::jthread reader([&, stopper = WorkStopper::here()] {
            const WorkStopper::Here here(stopper);
            read_all(until, queue);
        });
        const Queue::Closing closing{queue};  // ends the reading thread if `take` throws
        while (true) {
            auto begin_of_part = Clock::now();
            const auto loaded = queue.pop();
            if (!loaded)
                break;
            throw_if_stopped();
            auto partial = fold(*loaded);
            timeline.waiting += detail::seconds_since(begin_of_part);
            begin_of_part = Clock::now();
            take(*loaded, std::move(partial));
            timeline.taking += detail::seconds_since(begin_of_part);
            ++timeline.slices;
            queue.free_room();
        }
        timeline.all += detail::seconds_since(begin_of_all);
        if (pipeline)
            times.seconds += detail::seconds_since(begin_of_all);
    }

    /// Reads the segments up to element `until`, and returns the positions at which slices begin.
    std::vector<SegmentPlace> places_of_slices(std::int64_t until)
    {
        std::vector<SegmentPlace> places;
        while (!cursor->is_done(until)) {
            throw_if_stopped();
            places.push_back(cursor->place());
            (void)cursor->next({slice_elements, slice_segments, block, until});
        }
        return places;
    }

    /// Reads slice after slice. If threads are still reading a slice's columns, the slice is folded only
    /// after the next slice is opened. So the threads always have columns to read.
    void read_all(std::int64_t until, Queue& queue)
    {
        try {
            auto places = is_reverse() ? places_of_slices(until) : std::vector<SegmentPlace>();
            const auto is_done = [&] { return is_reverse() ? places.empty() : cursor->is_done(until); };
            std::unique_ptr<LoadedSlice> unread;
            const auto hand_on = [&](std::unique_ptr<LoadedSlice> loaded) {
                if (pipeline)
                    start(*loaded);
                queue.push(std::move(loaded));
            };
            for (std::size_t slice = 0; !is_done(); ++slice) {
                throw_if_stopped();
                if (unread && !queue.has_room())
                    hand_on(std::move(unread));
                const auto begin_of_wait = Clock::now();
                if (!queue.wait_for_room())
                    return;
                timeline.reader_waited += detail::seconds_since(begin_of_wait);
                if (is_reverse()) {
                    cursor->go_to(places.back());
                    places.pop_back();
                }
                auto loaded = load(until, slice % num_rooms());
                if (unread)
                    hand_on(std::move(unread));
                if (pipeline && pipeline->is_reading(loaded->room))
                    unread = std::move(loaded);
                else
                    hand_on(std::move(loaded));
            }
            if (unread)
                hand_on(std::move(unread));
            // Without elements, load() may not have run, and so not have called require_no_more().
            if (cursor->num_elements() == 0)
                require_no_more();
            queue.end({});
        } catch (...) {
            queue.end(std::current_exception());
        }
    }

    void tell(const LoadedSlice& loaded) const
    {
        const auto& window = loaded.window;
        if (!options.progress)
            return;
        const auto seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (groups)
            options.progress({window.end, loaded.all_elements, 0, seconds});
        else if (is_reverse())
            options.progress({*num_elements - window.from.element, num_elements,
                              before->next_segment() - window.from.segment, seconds});
        else
            options.progress(
                {window.end, loaded.all_elements, window.from.segment + std::ssize(window.ends), seconds});
    }

    Operator op;
    StreamInput input;
    StreamOptions options;
    std::optional<std::int64_t> num_elements;
    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;
    std::optional<ColumnLengths> lengths;
    bool has_ended = false;
    /// Array that the cursor reads; null for the layouts `whole` and `uniform`.
    const ArraySource* marks = nullptr;
    std::int64_t slice_elements = 0, slice_segments = 0;
    int index_bits = 32;  ///< bits of an index in a slice
    std::int64_t block = 0;
    std::vector<Array> tables;
    std::vector<std::string> warnings;
    bool has_warned_of_keys = false;
    std::optional<OverflowWatch> overflow;
    std::unique_ptr<SegmentCursor> cursor;
    SliceProblem problem;
    std::optional<SliceFolder> folder;
    std::optional<SliceFolder> ends;  ///< for a scan: computes the states from which other ranks continue
    bool folds_ends = false;          ///< true while `ends` is used in place of `folder`
    /// For a scan: the partials of the slices so far, joined by `+`, without results.
    std::optional<Partial> before;
    std::array<std::vector<Array>, kHostRooms> host_rooms;  ///< columns of the slices, if there is no engine
    std::unique_ptr<SliceEngine> engine;                    ///< null if slices are folded from host memory
    std::optional<SlicePipeline> pipeline;                  ///< empty if there is no engine
    std::optional<Partial> all;         ///< partials of the folded slices, joined by `+`, without results
    std::optional<GroupTotals> groups;  ///< used for groups, in place of `all`
    std::optional<GroupPartial> groups_before;  ///< for groups: the state from which the stream goes on
    RunTimes times;
    StreamTimeline timeline;
    Clock::time_point begin = Clock::now();
};

}  // namespace segfold
