#pragma once
// Reports a run that read its data in parts, in one process or several.
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

/// Default of --elements for a generated stream.
inline constexpr std::int64_t kElementsOfStreams = std::int64_t{1} << 16;

/// Returns the largest number of segments to show: the value of --show, or a fixed limit for "all".
[[nodiscard]] std::int64_t most_shown_of(const Arguments& arguments);

/// Collects the results of a stream's first segments, and of a scan's first elements, to show them.
class FirstSegments {
public:
    /// `op` must outlive this object.
    FirstSegments(const Operator& op, std::int64_t most)
        : op_(op), num_fields_(returned_fields(op).size()), most_(most)
    {}

    /// Takes the results and lengths of the next segments, and the running results of the next elements.
    /// Keeps at most `most` of each.
    void take(const Results& results, std::span<const std::int64_t> lengths, const Results& running = {});
    /// Returns the collected segments and elements as a workload without arrays, and their results.
    [[nodiscard]] std::pair<Workload, Results> shown() const;

private:
    void append(std::size_t column, const Array& array, std::int64_t begin, std::int64_t count);
    [[nodiscard]] Array array_of(std::size_t column, Type type, std::size_t count) const;

    const Operator& op_;
    std::size_t num_fields_;
    std::int64_t most_;
    std::int64_t num_elements_ = 0;
    std::vector<std::int64_t> lengths_;
    std::vector<std::vector<std::byte>> bytes_;
    std::optional<Type> key_type_;
};

/// Returns a text such as "3.2e+08 of 1e+09 elements, 1.2e+09 a second, about 12 s left".
[[nodiscard]] std::string progress_text(const StreamProgress& progress);

/// Facts about a finished stream.
struct EndedStream {
    const Arguments& arguments;
    const WorkloadRequest& request;
    const std::vector<std::string>& origins;
    Backend& backend;
    const Stream& stream;
    const StreamOutput* output;
    std::int64_t num_segments;
    std::int64_t memory;
    int num_ranks = 0;               ///< 0 for a single process without MPI
    std::string resumed = {};        ///< the place from which --resume continued; empty without --resume
    std::int64_t first_segment = 0;  ///< number of the first segment of this run
    std::int64_t first_element = 0;  ///< number of the first element of this run's scan
};

/// Writes the report to standard output, as tables or as a --json document.
void write_report(const EndedStream& ended, const FirstSegments& first);

}  // namespace segfold::cli
