#pragma once
// A pipeline of slices on a device: slices are copied, folded and copied back at the same time.
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/scale/slices/slice_engine.h"
#include "runtime/scale/slices/slice_fold.h"
#include "runtime/scale/slices/source_copier.h"

namespace segfold {

/// The sizes of a pipeline's memory.
struct PipelineSizes {
    std::vector<bool> is_copied = {};  ///< for each parameter, true if it is a column in host memory
    std::int64_t slice_elements = 0;
    /// Expected number of segments of a slice. A slice with more segments allocates more memory.
    std::int64_t slice_segments = 0;
    std::int64_t bytes_of_segment = 0;  ///< bytes that a segment takes in the device's arrays of segments
    std::int64_t reading_bytes = 0;     ///< bytes of the buffers into which sources are read
};

/// Memory for several slices on a device. Each slice occupies one of kRooms rooms, from the copy of its first
/// column until the caller has taken its results.
///
/// One thread fills and starts slices in order. Another thread takes their results in the same order. The two
/// threads agree on the free rooms.
class SlicePipeline {
public:
    /// Four slices at a time: one is read, one is copied, one is folded, and results of one are taken.
    static constexpr std::size_t kRooms = 4;

    /// `engine` and `op` must outlive this object.
    SlicePipeline(SliceEngine& engine, const Operator& op, const PipelineSizes& sizes);
    ~SlicePipeline();
    SlicePipeline(const SlicePipeline&) = delete;
    SlicePipeline& operator=(const SlicePipeline&) = delete;

    /// Copies a table to the device. The returned array borrows the pipeline's memory.
    [[nodiscard]] Array put_table(const Array& table);

    /// Allocates buffers and starts threads for the columns' sources. Must be called before the first slice.
    void ready_for(const std::vector<ArraySource*>& sources) { copier_.ready_for(sources); }
    /// Begins a new slice in `room`.
    void open(std::size_t room);
    /// Returns host memory for an array of the segments of the slice's first run. start() copies the array to
    /// the device.
    [[nodiscard]] Array index_room(std::size_t room, Type type, std::size_t count);
    /// Begins to copy `wanted` elements of a column, and returns the array on the device. Sets `count` to the
    /// number of elements that the source had.
    [[nodiscard]] Array copy_column(std::size_t room, std::size_t column, ArraySource& source,
                                    std::int64_t begin, std::int64_t wanted, std::int64_t& count);
    /// True while threads read columns of the room; the next room may be opened meanwhile.
    [[nodiscard]] bool is_reading(std::size_t room) const { return !rooms_[room].reading.empty(); }
    /// Waits until all copies of the room's columns are queued. Rethrows the errors of the sources.
    void finish_reading(std::size_t room);
    /// Queues the runs of a slice, and the copies of their results. The columns must have been read.
    void start(std::size_t room, const PreparedSlice& prepared);

    /// Waits for the results of the room's slice, and returns them. They are valid until the room is opened
    /// again. Throws InputError for a read outside of a checked table.
    [[nodiscard]] std::vector<Results> results(std::size_t room, const PreparedSlice& prepared);

    /// Seconds that the room's last slice took.
    struct Times {
        double copying = 0, folding = 0;
        std::optional<double> compiling;
    };
    [[nodiscard]] Times times(std::size_t room);

private:
    /// Host memory and device memory with the same layout of small arrays.
    struct Twin {
        std::unique_ptr<SliceEngine::Memory> host, device;
    };
    /// Offsets, in a room's memory for results, of the results of a run.
    struct RunPlace {
        std::size_t outside = 0;
        std::vector<std::size_t> fields = {};
    };
    struct Room {
        std::vector<std::unique_ptr<SliceEngine::Memory>> columns;
        Twin given, made;  ///< `given` has arrays that runs read in addition to columns; `made` has results
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
