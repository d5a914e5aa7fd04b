#include "runtime/session/scale/ranks/distributed.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "dsl/error.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// The part of a column that this rank holds.
class LocalPart : public ArraySource {
public:
    LocalPart(const ArrayView& part, std::int64_t begin, std::int64_t length)
        : part_(part), begin_(begin), length_(length)
    {}
    [[nodiscard]] Type type() const override { return part_.type; }
    [[nodiscard]] std::optional<std::int64_t> length() const override { return length_; }
    std::int64_t read(std::int64_t begin, Array& into) override
    {
        if (part_.place != Place::host)
            throw InternalError("elements on a GPU are read by the host");
        if (into.bytes() != 0)
            std::memcpy(into.data(), at(begin), into.bytes());
        return static_cast<std::int64_t>(into.length());
    }
    [[nodiscard]] const std::byte* lent(std::int64_t begin) const override
    {
        return part_.place == Place::host ? at(begin) : nullptr;
    }
    [[nodiscard]] const std::byte* on_device(std::int64_t begin) const override
    {
        return part_.place == Place::device ? at(begin) : nullptr;
    }
    [[nodiscard]] std::string where() const override { return "a part of a distributed array"; }
    [[nodiscard]] std::string fingerprint() const override { return where(); }

private:
    /// Places are counted in all ranks' elements; the address may be before the part's own begin, and is not
    /// read there.
    [[nodiscard]] const std::byte* at(std::int64_t begin) const
    {
        const auto address =
            reinterpret_cast<std::uintptr_t>(part_.data) +
            static_cast<std::uintptr_t>((begin - begin_) * static_cast<std::int64_t>(size_bytes(part_.type)));
        return reinterpret_cast<const std::byte*>(address);
    }

    ArrayView part_;
    std::int64_t begin_, length_;
};

std::unique_ptr<ArraySource> lent_array(const ArrayView& view, std::string_view what)
{
    if (view.place != Place::host)
        throw InputError(fmt::format("{} lie on a GPU; of distributed arrays the columns alone may", what));
    return memory_source(Array::borrow(view.type, view.data, static_cast<std::size_t>(view.length)));
}

/// This rank's elements, which all its columns must have.
std::int64_t num_local(const Operator& op, std::span<const ArrayView> inputs)
{
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        if (op.parameters[i].table)
            continue;
        if (first && inputs[i].length != inputs[*first].length)
            throw InputError(fmt::format("column '{}' has {}, but column '{}' has {}; they must agree",
                                         op.parameters[i].name, count_text(inputs[i].length, "element"),
                                         op.parameters[*first].name, inputs[*first].length));
        if (!first)
            first = i;
    }
    return first ? inputs[*first].length : 0;
}

}  // namespace

RankResults fold_distributed(Communicator& ranks, Session& session, const Operator& op,
                             std::span<const ArrayView> inputs, const SegmentsView& segments,
                             StreamOptions options)
{
    if (inputs.size() != op.parameters.size())
        throw InputError(fmt::format("operator {} takes {}, and is given {}", op.name,
                                     count_text(std::ssize(op.parameters), "array"), inputs.size()));
    const auto mine = num_local(op, inputs);
    std::int64_t begin = 0, all = 0;
    const auto counts = ranks.all_gather(std::as_bytes(std::span(&mine, 1)));
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        std::int64_t count = 0;
        std::memcpy(&count, counts[rank].data(), sizeof count);
        all += count;
        if (static_cast<int>(rank) < ranks.rank())
            begin += count;
    }
    StreamInput input;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        input.parameters.push_back(
            op.parameters[i].table
                ? lent_array(inputs[i], fmt::format("the entries of '{}'", op.parameters[i].name))
                : std::make_unique<LocalPart>(inputs[i], begin, all));
    input.segments.kind = segments.kind;
    input.segments.uniform_length = segments.uniform_length;
    if (segments.kind == LayoutKind::offsets || segments.kind == LayoutKind::lengths)
        input.segments.array = lent_array(segments.first, name(segments.kind));
    else if (segments.kind != LayoutKind::whole && segments.kind != LayoutKind::uniform)
        throw InputError(
            fmt::format("segments of distributed arrays are given by {}; whole, uniform, offsets "
                        "and lengths, of all ranks together, can be",
                        name(segments.kind)));
    Stream stream(session, op, std::move(input), std::move(options));
    auto share = stream.share_between(begin, begin + mine);
    if (all == 0 && ranks.rank() != 0)
        share.from = {0, stream.num_segments().value_or(0), 0};
    if (share.from.element != begin || share.until != begin + mine)
        throw InputError(
            fmt::format("this rank holds elements {} to {}, where a reproducible fold would cut at {} and "
                        "{}: whole blocks of "
                        "{} elements behind a segment's begin",
                        begin, begin + mine, share.from.element, share.until, kJoinBlock));
    constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
    return fold_share(ranks, stream, share, {kAll, 0});
}

}  // namespace segfold
