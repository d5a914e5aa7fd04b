#pragma once
// Slices on their way through a device: copied, folded and copied back at the same time.
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/scale/slices/slice_engine.h"
#include "runtime/scale/slices/slice_fold.h"
#include "runtime/scale/slices/source_copier.h"

namespace segfold {

/// What a pipeline has room for.
struct PipelineSizes {
    std::vector<bool> is_copied = {};  ///< of each parameter: a column that does not lie on the device
    std::int64_t slice_elements = 0;
    std::int64_t slice_segments = 0;    ///< more need more memory, which is taken when they come
    std::int64_t bytes_of_segment = 0;  ///< of the arrays that say them, in each slice
    std::int64_t reading_bytes = 0;     ///< for buffers that sources are read into
};

/// Rooms for slices on a device; a slice has one from the copy of its first column until its results have
/// been looked at.
///
/// One thread fills and starts slices, one behind the other, and another one takes what they gave, in the
/// same order; the two agree on which rooms are free.
class SlicePipeline {
public:
    static constexpr std::size_t kRooms = 4;  ///< one is read, one copied, one folded, one looked at

    /// `engine` and `op` must outlive it.
    SlicePipeline(SliceEngine& engine, const Operator& op, const PipelineSizes& sizes);
    ~SlicePipeline();
    SlicePipeline(const SlicePipeline&) = delete;
    SlicePipeline& operator=(const SlicePipeline&) = delete;

    /// A table on the device; the array borrows it from the pipeline.
    [[nodiscard]] Array put_table(const Array& table);

    /// Takes what reading the columns' sources needs, before the first slice.
    void ready_for(const std::vector<ArraySource*>& sources) { copier_.ready_for(sources); }
    /// Begins to fill a room.
    void open(std::size_t room);
    /// Room of the host for `count` entries of an array that start() brings to the device, in the first run.
    [[nodiscard]] Array index_room(std::size_t room, Type type, std::size_t count);
    /// Begins to copy `wanted` elements of a column. Gives an array that lies on the device; fewer were there
    /// where `count` says so.
    [[nodiscard]] Array copy_column(std::size_t room, std::size_t column, ArraySource& source,
                                    std::int64_t begin, std::int64_t wanted, std::int64_t& count);
    /// Whether threads still read columns of the room; the next room may be opened meanwhile.
    [[nodiscard]] bool is_reading(std::size_t room) const { return !rooms_[room].reading.empty(); }
    /// Waits until the copies of the room's columns are queued. Throws what reading them throws.
    void finish_reading(std::size_t room);
    /// Queues the runs of a slice whose columns are read, and the copies of their results.
    void start(std::size_t room, const PreparedSlice& prepared);

    /// Waits for the results of what was started in a room; they lie there until it is opened again.
    /// `columns` are the arrays that copy_column() gave. Throws InputError for a read outside of a checked
    /// table.
    [[nodiscard]] std::vector<Results> results(std::size_t room, const PreparedSlice& prepared);

    /// Of the slice whose results were waited for last, and of compiling since then.
    struct Times {
        double copying = 0, folding = 0;
        std::optional<double> compiling;
    };
    [[nodiscard]] Times times(std::size_t room);

private:
    /// Memory of the host and of the device for arrays one behind the other.
    struct Twin {
        std::unique_ptr<SliceEngine::Memory> host, device;
    };
    /// Where the results of a run lie in a room's memory.
    struct RunPlace {
        std::size_t outside = 0;
        std::vector<std::size_t> fields = {};
    };
    struct Room {
        std::vector<std::unique_ptr<SliceEngine::Memory>> columns;
        Twin given, made;  ///< arrays that runs read beside columns; results
        std::unique_ptr<SliceEngine::Mark> opened, copied, begun, done;
        std::vector<RunPlace> places;
        std::vector<std::shared_ptr<SourceCopier::UnderWay>> reading;
        std::optional<double> compiling;
    };

    void reserve(Twin& twin, std::size_t bytes);
    void refuse_reads(const PartRun& run, std::span<const std::uint32_t> outside);

    SliceEngine& engine_;
    const Operator& op_;
    std::int64_t slice_elements_;
    std::vector<std::unique_ptr<SliceEngine::Memory>> tables_;
    std::vector<Room> rooms_;
    SourceCopier copier_;
};

}  // namespace segfold
