#pragma once
// Folds files and generated elements slice by slice, even if they do not fit in memory.
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

/// An array that a stream reads slice by slice: in memory, in a file, or generated.
class StreamArray {
public:
    /// Describes an array on the host. The array must stay valid until the stream has ended.
    StreamArray(const ArrayView& array);  // NOLINT(google-explicit-constructor): lending is what it is for
    template <class Values>
    requires std::convertible_to<const Values&, ArrayView> StreamArray(
        const Values& values)  // NOLINT(google-explicit-constructor)
        : StreamArray(ArrayView(values))
    {}

    /// Describes a one-dimensional array in a file of NumPy's .npy format. fold_stream() throws InputError
    /// for a file of another format.
    [[nodiscard]] static StreamArray file(std::string path);

    /// Describes an array whose elements `make` generates.
    ///
    /// Each call of `make` writes the next elements to the begin of the span and returns their number. The
    /// array ends with the first call that returns less than the span's size. `length` is the length of the
    /// whole array; it is required for uniform segments, offsets and lengths. A thread of the stream calls
    /// `make`. Only one stream may use the array.
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

    /// Opens the array for fold_stream().
    [[nodiscard]] std::unique_ptr<ArraySource> open() const;

private:
    using Make = std::function<std::int64_t(void* into, std::int64_t count)>;
    explicit StreamArray(std::function<std::unique_ptr<ArraySource>()> source) : source_(std::move(source)) {}
    static StreamArray made_of(Type type, Make make, std::optional<std::int64_t> length);

    std::function<std::unique_ptr<ArraySource>()> source_;
};

/// The segments of a stream.
struct StreamSegments {
    /// Takes segments made by whole(), uniform(32), offsets(values), ... Their arrays must stay valid until
    /// the stream has ended. fold_stream() throws InputError for ranges.
    StreamSegments(const SegmentsView& segments);  // NOLINT(google-explicit-constructor)
    /// Takes offsets, lengths, flags, keys or group numbers from a file or a generator. Throws InputError for
    /// other layouts.
    StreamSegments(LayoutKind by, StreamArray values);

    LayoutKind kind = LayoutKind::whole;
    std::int64_t uniform_length = 0;
    std::optional<StreamArray> array = {};
    /// Number of groups; if empty, the largest group number plus one.
    std::optional<std::int64_t> num_groups = {};
    /// If set, `array` has keys instead of group numbers, and results come in this order of keys.
    std::optional<KeyOrder> group_order = {};
};

/// The progress of a stream.
struct StreamedSoFar {
    std::int64_t elements = 0;  ///< elements folded so far
    std::int64_t segments = 0;  ///< number of segments whose results are known
    double seconds = 0;
};

/// Options of a stream.
struct FoldStreamOptions {
    PlanRequest plan = {};
    /// Bound on the stream's buffers, which hold the columns, segments and results of two slices (on a GPU:
    /// of four). Tables and the scratch memory of plans do not count.
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::function<void(const StreamedSoFar&)> progress = {};  ///< called after each slice
};

/// The outcome of a stream.
struct Streamed {
    std::int64_t elements = 0;
    std::int64_t segments = 0;
    /// The plan for segments that lie inside slices; empty for a back end without plans.
    std::string plan = {};
    std::vector<std::string> warnings = {};  ///< reasons why results may be wrong; to be read first
};

/// Folds elements slice after slice. Passes the results of segments to `take` as soon as they are known.
///
///   inputs  one array for each parameter; a scalar is an array of one element
///   take    receives the results of the next segments, in order, and the number of the first segment.
///           An exception of `take` ends the stream and leaves this function.
///
/// A scan also gives running results. In `results` their arrays follow the arrays of segments, and have one
/// entry for each element of the slice. Successive calls of `take` have the running results of successive
/// slices; a reverse scan begins with the last slice.
///
/// Groups have their results in one call of `take` at the end of the stream, with the keys if by() gives
/// keys. A state for each group stays in memory, in addition to `memory_bytes`. For an operator with a `map`
/// the arrays are read twice, and its outputs come like running results.
///
/// Operands are always combined in the order of the elements. Throws InputError for arrays of wrong types or
/// lengths, for files that cannot be read, and for a bound on memory that leaves no room for a slice. Also
/// throws InputError for operators over rows, operators that are not associative, and operators with a `map`
/// if segments are not groups. A reverse scan throws InputError if it also has results of segments. A reverse
/// scan and a `map` throw InputError if an array can be read only from its begin.
Streamed fold_stream(Session& session, const Operator& op, const std::vector<StreamArray>& inputs,
                     const StreamSegments& segments, const FoldStreamOptions& options,
                     const std::function<void(const Folded& results, std::int64_t first_segment)>& take);

}  // namespace segfold
