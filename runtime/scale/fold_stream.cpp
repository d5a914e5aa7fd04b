#include "runtime/scale/fold_stream.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/scale/stream.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/choice/point.h"
#include "runtime/session/session.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// True if one array gives the segments of this layout.
bool is_of_one_array(LayoutKind kind)
{
    return kind == LayoutKind::offsets || kind == LayoutKind::lengths || kind == LayoutKind::flags ||
           kind == LayoutKind::keys || kind == LayoutKind::groups;
}

}  // namespace

StreamArray::StreamArray(const ArrayView& array)
    : source_([array] {
          if (array.place == Place::device)
              throw InputError(
                  "an array of a stream lies on a device; a stream copies arrays of the host to it");
          if (array.num_features != 1)
              throw InputError(fmt::format(
                  "an array of a stream is lent as rows of {}, and a stream reads numbers; lend it "
                  "without rows_of(), or fold rows in one piece, by Session::fold()",
                  count_text(array.num_features, "feature")));
          require_type("the elements of a stream", array.type);
          require_address("the elements of a stream", array.data, array.length);
          return memory_source(borrow(array));
      })
{}

StreamArray StreamArray::file(std::string path)
{
    return StreamArray([path = std::move(path)] { return npy_source(path); });
}

StreamArray StreamArray::made_of(Type type, Make make, std::optional<std::int64_t> length)
{
    return StreamArray([type, make = std::move(make), length] {
        if (length && *length < 0)
            throw InputError(
                fmt::format("a stream's array has a length of {}; a length is not negative", *length));
        if (!make)
            throw InputError("a stream's array is made by no function: std::function<...> is empty");
        return generated_source(
            type,
            [make](Array& into) {
                const auto room = static_cast<std::int64_t>(into.length());
                const auto count = make(into.data(), room);
                if (count < 0 || count > room)
                    throw InputError(
                        fmt::format("a function that makes elements says that it made {}; it had room for {}",
                                    count, room));
                return count;
            },
            length);
    });
}

std::unique_ptr<ArraySource> StreamArray::open() const
{
    if (!source_)
        throw InputError("this array of a stream has been moved from; use the one that it was moved to");
    return source_();
}

StreamSegments::StreamSegments(const SegmentsView& segments)
    : kind(segments.kind),
      uniform_length(segments.uniform_length),
      num_groups(segments.num_groups),
      group_order(segments.group_order)
{
    if (is_of_one_array(kind))
        array.emplace(segments.first);
    else if (kind != LayoutKind::whole && kind != LayoutKind::uniform)
        throw InputError(
            fmt::format("a stream takes no segments by {}; it takes whole, uniform, offsets, "
                        "lengths, flags, keys and groups",
                        name(kind)));
}

StreamSegments::StreamSegments(LayoutKind by, StreamArray values) : kind(by), array(std::move(values))
{
    if (!is_of_one_array(kind))
        throw InputError(
            fmt::format("segments by {} are told by no single array; give offsets, lengths, flags, "
                        "keys or groups",
                        name(kind)));
}

Streamed fold_stream(Session& session, const Operator& op, const std::vector<StreamArray>& inputs,
                     const StreamSegments& segments, const FoldStreamOptions& options,
                     const std::function<void(const Folded& results, std::int64_t first_segment)>& take)
{
    require_inputs(op, inputs.size());
    if (!take)
        throw InputError("a stream hands its results to a function, and the one given is empty");
    if (const auto reason = reason_against_streams(op, segments.kind); !reason.empty())
        throw InputError(reason + "; fold it in one piece, by Session::fold()");
    StreamInput input;
    for (const auto& array : inputs)
        input.parameters.push_back(array.open());
    input.segments.kind = segments.kind;
    input.segments.uniform_length = segments.uniform_length;
    input.segments.groups = {segments.num_groups, segments.group_order};
    if (segments.array)
        input.segments.array = segments.array->open();
    StreamOptions stream_options;
    stream_options.plan = options.plan;
    stream_options.memory_bytes = options.memory_bytes;
    Streamed streamed;
    stream_options.progress = [&](const StreamProgress& progress) {
        streamed.elements = progress.elements;
        if (options.progress)
            options.progress({progress.elements, progress.segments, progress.seconds});
    };
    Stream stream(session, op, std::move(input), stream_options);
    stream.run([&](StreamResults&& results, const StreamState& state) {
        streamed.elements = std::max(streamed.elements, results.first_element + results.num_elements);
        if (results.num_segments == 0 && !state.is_end &&
            (results.running.empty() || results.num_elements == 0))
            return;
        streamed.segments = std::max(streamed.segments, results.first_segment + results.num_segments);
        for (auto& output : results.running)
            results.results.push_back(std::move(output));
        take(Folded(std::move(results.results), results.num_segments), results.first_segment);
    });
    streamed.plan = stream.plan_text();
    streamed.warnings = stream.warnings();
    return streamed;
}

}  // namespace segfold
