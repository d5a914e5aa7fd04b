#pragma once
// The report on a run that read its data in parts, by one process or by several.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload_request.h"
#include "runtime/scale/stream_output.h"

namespace segfold {
class Backend;
}

namespace segfold::cli {

/// Elements of a stream by default.
inline constexpr std::int64_t kElementsOfStreams = std::int64_t{1} << 16;

/// How many segments are shown: --show, of which "all" has a bound here.
[[nodiscard]] std::int64_t most_shown_of(const Arguments& arguments);

/// The lengths of the segments that end in a window.
[[nodiscard]] std::vector<std::int64_t> lengths_of(const SegmentWindow& window);

/// The first segments of a stream, which are shown.
class FirstSegments {
public:
    /// `op` must outlive it.
    FirstSegments(const Operator& op, std::int64_t most) : op_(op), most_(most) {}

    /// The next segments, in their order: those with lengths.
    void take(const Results& results, std::span<const std::int64_t> lengths);
    /// As a workload with nothing but segments, and its results.
    [[nodiscard]] std::pair<Workload, Results> shown() const;

private:
    void append(std::size_t column, const Array& array, std::int64_t s);
    [[nodiscard]] Array array_of(std::size_t column, Type type, std::size_t count) const;

    const Operator& op_;
    std::int64_t most_;
    std::vector<std::int64_t> lengths_;
    std::vector<std::vector<std::byte>> bytes_;
    std::optional<Type> key_type_;
};

/// "3.2e+08 of 1e+09 elements, 1.2e+09 a second, about 12 s left"
[[nodiscard]] std::string progress_text(const StreamProgress& progress);

/// The report on a stream that has ended.
struct EndedStream {
    const Arguments& arguments;
    const WorkloadRequest& request;
    const std::vector<std::string>& origins;
    Backend& backend;
    const Stream& stream;
    const StreamOutput* output;
    std::int64_t num_segments;
    std::int64_t memory;
    int num_ranks = 0;               ///< 0: one process, without MPI
    std::string resumed = {};        ///< where --resume went on; empty without it
    std::int64_t first_segment = 0;  ///< of shown segments that this run has folded
};

/// Writes tables, or the document of --json.
void write_report(const EndedStream& ended, const FirstSegments& first);

}  // namespace segfold::cli
