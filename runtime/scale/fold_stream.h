#pragma once
// Folds of more elements than memory holds: of files, and of what a caller makes, one part after the other.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dsl/layout.h"
#include "runtime/data/array_view.h"
#include "runtime/session/folded.h"
#include "runtime/session/plan_request.h"
#include "runtime/session/segments_view.h"

namespace segfold {

class ArraySource;
class Session;

/// An array of which a stream reads parts: in memory, in a file, or made as it is read.
class StreamArray {
public:
    /// An array of the host, lent until the stream has ended.
    StreamArray(const ArrayView& array);  // NOLINT(google-explicit-constructor): lending is what it is for
    template <class Values>
    requires std::convertible_to<const Values&, ArrayView> StreamArray(
        const Values& values)  // NOLINT(google-explicit-constructor)
        : StreamArray(ArrayView(values))
    {}

    /// A file in NumPy's .npy format, with one dimension. A wrong one is an InputError of fold_stream().
    [[nodiscard]] static StreamArray file(std::string path);

    /// What `make` gives: it fills the span from its begin and returns how many elements it has filled, fewer
    /// than there is room for at the end alone. `length` is that of the whole; segments by offsets or
    /// lengths need it. `make` is called on a thread of the stream, and for one stream.
    template <class T>
    [[nodiscard]] static StreamArray made(std::function<std::int64_t(std::span<T> into)> make,
                                          std::optional<std::int64_t> length = {})
    {
        if (!make)
            return made_of(type_of_element<T>(), nullptr, length);
        return made_of(
            type_of_element<T>(),
            [make = std::move(make)](void* into, std::int64_t count) {
                return make({static_cast<T*>(into), static_cast<std::size_t>(count)});
            },
            length);
    }

    /// What the stream reads; for fold_stream().
    [[nodiscard]] std::unique_ptr<ArraySource> open() const;

private:
    using Make = std::function<std::int64_t(void* into, std::int64_t count)>;
    explicit StreamArray(std::function<std::unique_ptr<ArraySource>()> source) : source_(std::move(source)) {}
    static StreamArray made_of(Type type, Make make, std::optional<std::int64_t> length);

    std::function<std::unique_ptr<ArraySource>()> source_;
};

/// Where the segments of a stream begin and end.
struct StreamSegments {
    /// whole(), uniform(32), offsets(values), ...; arrays of the host are lent until the stream has ended.
    /// InputError for ranges.
    StreamSegments(const SegmentsView& segments);  // NOLINT(google-explicit-constructor)
    /// Offsets, lengths, flags or keys from a file, or made. InputError for other layouts.
    StreamSegments(LayoutKind by, StreamArray values);

    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;
    std::optional<StreamArray> array = {};
};

/// How far a stream has come.
struct StreamedSoFar {
    std::int64_t elements = 0;  ///< folded
    std::int64_t segments = 0;  ///< with results
    double seconds = 0;
};

/// How a stream is folded.
struct FoldStreamOptions {
    PlanRequest plan = {};
    /// Bytes of the buffers: columns, segments and results of two slices, on a GPU of four. Tables and the
    /// scratch memory of plans come on top.
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::function<void(const StreamedSoFar&)> progress = {};  ///< called after each slice
};

/// What a stream was.
struct Streamed {
    std::int64_t elements = 0;
    std::int64_t segments = 0;
    std::string plan = {};                   ///< of the segments inside slices; empty for none
    std::vector<std::string> warnings = {};  ///< what should be known before relying on results
};

/// Folds slice after slice: an array for each parameter, the segments, and `take`, which is given the results
/// of the next segments, in their order, and the number of the first of them.
///
/// The order of the elements is kept, whatever the operator is. Serves operators over columns, tables and
/// scalars, which are arrays of one. What `take` throws ends the stream and comes out here. Throws InputError
/// for arrays of other types or lengths than operator and segments need, for files that cannot be read, for a
/// bound that leaves no room for a slice, and for operators over rows, with a `map`, or not associative.
Streamed fold_stream(Session& session, const Operator& op, const std::vector<StreamArray>& inputs,
                     const StreamSegments& segments, const FoldStreamOptions& options,
                     const std::function<void(const Folded& results, std::int64_t first_segment)>& take);

}  // namespace segfold
