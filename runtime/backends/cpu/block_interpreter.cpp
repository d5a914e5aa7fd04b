#include "runtime/backends/cpu/block_interpreter.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/backends/cpu/lane_program.h"
#include "runtime/judge/reference.h"
#include "runtime/judge/table_check.h"
#include "runtime/support/processes/thread_pool.h"

namespace segfold::cpu {
namespace {

constexpr std::int64_t kShareSteps = std::int64_t{1} << 14;

/// The state of a part of a segment. `is_there` is false if the part has no elements, and the state is then
/// undefined.
struct OneState {
    std::vector<Slot<double>> fields;
    bool is_there = false;
};

/// A position on the merge path of items and segment ends. Each step of the path passes one item or the end
/// of one segment.
struct Cut {
    std::int64_t item = 0;
    std::int64_t segment = 0;
};

/// The items of all segments, numbered in segment order.
class Items {
public:
    explicit Items(const Segments& segments)
        : segments_(segments), is_ranges_(segments.form == SegmentForm::ranges)
    {
        if (!is_ranges_)
            return;
        begins_.push_back(0);
        for (std::int64_t s = 0; s < segments.num_segments; ++s)
            begins_.push_back(begins_.back() + segments.length(s));
    }

    [[nodiscard]] bool is_ranges() const { return is_ranges_; }
    [[nodiscard]] std::int64_t num_segments() const { return segments_.num_segments; }
    [[nodiscard]] std::int64_t begin(std::int64_t segment) const
    {
        return is_ranges_ ? begins_[static_cast<std::size_t>(segment)] : segments_.begin(segment);
    }
    [[nodiscard]] std::int64_t end(std::int64_t segment) const
    {
        return is_ranges_ ? begins_[static_cast<std::size_t>(segment) + 1] : segments_.end(segment);
    }
    [[nodiscard]] std::int64_t element(std::int64_t segment, std::int64_t item) const
    {
        return is_ranges_ ? segments_.begin(segment) + (item - begin(segment)) : item;
    }
    [[nodiscard]] std::int64_t num_steps() const
    {
        return num_segments() + (num_segments() == 0 ? 0 : end(num_segments() - 1));
    }

    /// Returns the position after `steps` steps of the merge path.
    [[nodiscard]] Cut cut(std::int64_t steps) const
    {
        steps = std::min(steps, num_steps());
        std::int64_t low = 0;
        for (std::int64_t high = num_segments(); low < high;) {
            const auto middle = low + (high - low) / 2;
            if (end(middle) + middle + 1 <= steps)
                low = middle + 1;
            else
                high = middle;
        }
        return {steps - low, low};
    }

private:
    const Segments& segments_;
    bool is_ranges_;
    std::vector<std::int64_t> begins_;
};

/// One thread's part of the merge path. `head` is the state of a segment that begins before the share and
/// ends in it. `tail` is the state of a segment that continues after the share.
struct Share {
    Cut begin;
    OneState head, tail;
};

/// Data that all threads share.
struct Fold {
    const Workload& workload;
    Bytecode bytecode;
    OperatorInputs inputs;
    Items items;
    Results& results;
};

/// Consecutive lanes of a block that belong to one segment.
struct Run {
    std::int64_t segment;
    std::int64_t item;
    int lane, count;
    bool is_closed;  ///< true if the segment ends with the run's last lane
};

/// Folds shares in one thread.
class Folder {
public:
    explicit Folder(const Fold& fold)
        : fold_(fold),
          types_(fold.bytecode.state),
          lift_(fold.bytecode.lift, fold.inputs.tables),
          combine_(fold.bytecode.combine),
          finish_(fold.bytecode.finish),
          empty_(fold.bytecode.empty),
          states_(types_.size()),
          next_(types_.size())
    {}

    /// Folds a share. Returns false if an element read past a table's end.
    [[nodiscard]] bool fold_share(const Cut& begin, const Cut& end, Share& share)
    {
        const auto& items = fold_.items;
        share.begin = begin;
        Cut at = begin;
        open_ = {};
        while (at.segment < end.segment || at.item < end.item) {
            runs_.clear();
            int lanes = 0;
            while (lanes < kBlockLanes && (at.segment < end.segment || at.item < end.item)) {
                const bool ends = at.segment < end.segment;
                const auto last = ends ? items.end(at.segment) : end.item;
                const auto count =
                    static_cast<int>(std::min<std::int64_t>(last - at.item, kBlockLanes - lanes));
                if (count > 0)
                    runs_.push_back({at.segment, at.item, lanes, count, ends && at.item + count == last});
                else if (items.begin(at.segment) == last)
                    add_empty(at.segment);
                lanes += count;
                at.item += count;
                at.segment += ends && at.item == last ? 1 : 0;
            }
            if (lanes > 0 && !(lift(lanes) && reduce(lanes)))
                return false;
            close_runs(begin, share);
        }
        store_empties();
        share.tail = open_;
        return true;
    }

    /// Stores the results of segments that span several shares. Combines the tails of the earlier shares with
    /// the head of the share in which the segment ends.
    void join(const std::vector<Share>& shares)
    {
        const auto& items = fold_.items;
        OneState carry;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const auto segment = shares[i].begin.segment;
            const auto end = i + 1 == shares.size() ? items.num_segments() : shares[i + 1].begin.segment;
            const bool is_open =
                segment < items.num_segments() && items.begin(segment) < shares[i].begin.item;
            if (segment == end) {
                carry = is_open ? joined(carry, shares[i].tail) : shares[i].tail;
                continue;
            }
            if (is_open) {
                add_finished(segment, joined(carry, shares[i].head));
                if (finished_.size() == kBlockLanes)
                    store_finished();
            }
            carry = shares[i].tail;
        }
        store_finished();
    }

private:
    [[nodiscard]] bool lift(int lanes)
    {
        const auto& columns = fold_.bytecode.columns;
        const auto& items = fold_.items;
        for (const auto& run : runs_) {
            // Items of successive runs are adjacent in the columns, so one load serves all runs. For ranges
            // they are not adjacent.
            const bool is_first = &run == &runs_.front();
            if (!is_first && !items.is_ranges())
                break;
            for (std::size_t c = 0; c < columns.size(); ++c)
                load_lanes(columns[c], fold_.inputs.columns[c], items.element(run.segment, run.item),
                           items.is_ranges() ? run.count : lanes, lift_.input(c), run.lane);
        }
        const auto place = [&](std::size_t number, const auto& value) {
            if (!lift_.uses_input(columns.size() + number))
                return;
            auto& input = lift_.input(columns.size() + number);
            for (const auto& run : runs_)
                for (int i = 0; i < run.count; ++i)
                    input.bits[run.lane + i] = static_cast<std::uint64_t>(value(run, i));
        };
        place(0, [&](const Run& run, int i) { return items.element(run.segment, run.item) + i; });
        place(1, [&](const Run& run, int i) { return run.item - items.begin(run.segment) + i; });
        place(2, [&](const Run& run, int) { return run.segment; });
        if (!lift_.run(lanes))
            return false;
        for (std::size_t f = 0; f < types_.size(); ++f)
            states_[f] = lift_.output(f);
        return true;
    }

    /// Combines neighbours in pairs until each run is a single state. Lane i then has the state of run i.
    [[nodiscard]] bool reduce(int lanes)
    {
        int counts[kBlockLanes], pairs[kBlockLanes], places[kBlockLanes];
        const auto num_runs = static_cast<int>(runs_.size());
        for (int r = 0; r < num_runs; ++r)
            counts[r] = runs_[static_cast<std::size_t>(r)].count;
        while (lanes > num_runs) {
            int num_pairs = 0, from = 0, to = 0;
            for (int r = 0; r < num_runs; ++r) {
                for (int i = 0; i + 1 < counts[r]; i += 2, ++to) {
                    pairs[num_pairs] = from + i;
                    places[num_pairs++] = to;
                }
                if (counts[r] % 2 == 1) {
                    for (std::size_t f = 0; f < types_.size(); ++f)
                        copy_lane(types_[f], states_[f], from + counts[r] - 1, next_[f], to);
                    ++to;
                }
                from += counts[r];
                counts[r] = (counts[r] + 1) / 2;
            }
            for (std::size_t f = 0; f < types_.size(); ++f)
                for (int i = 0; i < num_pairs; ++i) {
                    copy_lane(types_[f], states_[f], pairs[i], combine_.input(f), i);
                    copy_lane(types_[f], states_[f], pairs[i] + 1, combine_.input(types_.size() + f), i);
                }
            if (!combine_.run(num_pairs))
                return false;
            for (std::size_t f = 0; f < types_.size(); ++f)
                for (int i = 0; i < num_pairs; ++i)
                    copy_lane(types_[f], combine_.output(f), i, next_[f], places[i]);
            std::swap(states_, next_);
            lanes = to;
        }
        return true;
    }

    /// Stores each run's state. If the segment continues, the state goes to `open_`. If the segment ends and
    /// began before the share, the state goes to the share's head. Else it becomes the segment's result.
    void close_runs(const Cut& begin, Share& share)
    {
        for (std::size_t r = 0; r < runs_.size(); ++r) {
            const auto& run = runs_[r];
            auto state = state_of(states_, static_cast<int>(r));
            if (r == 0)
                state = joined(open_, state);
            open_ = {};
            if (!run.is_closed)
                open_ = std::move(state);
            else if (fold_.items.begin(run.segment) < begin.item)
                share.head = std::move(state);
            else
                add_finished(run.segment, state);
        }
        store_finished();
    }

    void add_finished(std::int64_t segment, const OneState& state)
    {
        const auto lane = static_cast<int>(finished_.size());
        for (std::size_t f = 0; f < types_.size(); ++f)
            put(types_[f], finish_.input(f), lane, state.fields[f]);
        finish_.input(types_.size()).bits[lane] = static_cast<std::uint64_t>(segment);
        finish_.input(types_.size() + 1).bits[lane] =
            static_cast<std::uint64_t>(fold_.items.end(segment) - fold_.items.begin(segment));
        finished_.push_back(segment);
    }

    void store_finished() { store(finish_, finished_); }

    void add_empty(std::int64_t segment)
    {
        const auto lane = static_cast<int>(empties_.size());
        empty_.input(0).bits[lane] = static_cast<std::uint64_t>(segment);
        empty_.input(1).bits[lane] = 0;
        empties_.push_back(segment);
        if (empties_.size() == kBlockLanes)
            store_empties();
    }

    void store_empties() { store(empty_, empties_); }

    void store(LaneProgram& program, std::vector<std::int64_t>& segments)
    {
        if (segments.empty())
            return;
        if (!program.run(static_cast<int>(segments.size())))
            throw InternalError("finish or empty reads a table");
        for (std::size_t f = 0; f < fold_.results.size(); ++f) {
            auto& array = fold_.results[f].array;
            store_lanes(array.type(), program.output(f), segments, array.data());
        }
        segments.clear();
    }

    [[nodiscard]] OneState joined(const OneState& earlier, const OneState& later)
    {
        if (!earlier.is_there || !later.is_there)
            return earlier.is_there ? earlier : later;
        for (std::size_t f = 0; f < types_.size(); ++f) {
            put(types_[f], combine_.input(f), 0, earlier.fields[f]);
            put(types_[f], combine_.input(types_.size() + f), 0, later.fields[f]);
        }
        if (!combine_.run(1))
            throw InternalError("combine reads a table");
        OneState state{{}, true};
        for (std::size_t f = 0; f < types_.size(); ++f)
            state.fields.push_back(get(types_[f], combine_.output(f), 0));
        return state;
    }

    [[nodiscard]] OneState state_of(const std::vector<Lanes>& states, int lane) const
    {
        OneState state{{}, true};
        for (std::size_t f = 0; f < types_.size(); ++f)
            state.fields.push_back(get(types_[f], states[f], lane));
        return state;
    }

    static Slot<double> get(Type type, const Lanes& lanes, int lane)
    {
        Slot<double> slot{};
        if (is_single(type))
            slot.single = lanes.single[lane];
        else
            slot.bits = lanes.bits[lane];
        return slot;
    }

    static void put(Type type, Lanes& lanes, int lane, const Slot<double>& slot)
    {
        if (is_single(type))
            lanes.single[lane] = slot.single;
        else
            lanes.bits[lane] = slot.bits;
    }

    const Fold& fold_;
    const std::vector<Type>& types_;
    LaneProgram lift_, combine_, finish_, empty_;
    std::vector<Lanes> states_, next_;
    std::vector<Run> runs_;
    OneState open_;  ///< state of the segment that continues in the next block
    std::vector<std::int64_t> finished_, empties_;
};

}  // namespace

void interpret(const Workload& workload, Results& results)
{
    const Fold fold{workload, compile_bytecode(workload.op), inputs_of(workload), Items(workload.segments),
                    results};
    const auto num_shares = (fold.items.num_steps() + kShareSteps - 1) / kShareSteps;
    std::vector<Share> shares(static_cast<std::size_t>(num_shares));
    std::atomic<std::int64_t> next = 0;
    std::atomic<bool> reads_outside = false;
    auto& pool = ThreadPool::shared();
    const auto* const stop = stop_flag();  // threads only read the flag; pool.run() throws at its end
    const auto goes_on = [&] { return !reads_outside && (stop == nullptr || !*stop); };
    pool.run(std::min<std::int64_t>(num_shares, pool.threads()), [&](std::int64_t) {
        Folder folder(fold);
        for (auto share = next++; share < num_shares && goes_on(); share = next++)
            if (!folder.fold_share(fold.items.cut(share * kShareSteps),
                                   fold.items.cut((share + 1) * kShareSteps),
                                   shares[static_cast<std::size_t>(share)]))
                reads_outside = true;
    });
    if (reads_outside) {
        check_tables(workload);  // throws InputError that names the first such element
        throw InternalError("a table was read outside of its length, and no element reads it there");
    }
    Folder(fold).join(shares);
}

}  // namespace segfold::cpu
