#include "runtime/scale/ranks/ranks.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "dsl/error.h"
#include "runtime/scale/border_join.h"

namespace segfold {
namespace {

std::int64_t number_in(std::span<const std::byte> bytes)
{
    std::int64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

/// Of flags and keys only counting tells which segment a share begins with.
void number_segments(Communicator& ranks, Stream::Share& share)
{
    std::int64_t before = 0, all = 0;
    const auto counts = ranks.all_gather(std::as_bytes(std::span(&share.begun, 1)));
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        const auto begun = number_in(counts[rank]);
        all += begun;
        if (static_cast<int>(rank) < ranks.rank())
            before += begun;
    }
    const bool is_open = share.from.open_begin < share.from.element;
    if (all != 0)
        share.from.segment = before - (is_open ? 1 : 0);
}

/// Arrays that grow.
class GrowingResults {
public:
    explicit GrowingResults(const Operator& op) : op_(op), fields_(op.results.size()) {}

    void append(const Results& results, std::int64_t count)
    {
        for (std::size_t f = 0; f < fields_.size(); ++f)
            append(fields_[f], results[f].array, count);
    }
    void append_keys(const Array& keys, std::int64_t count)
    {
        key_type_ = keys.type();
        append(keys_, keys, count);
    }
    void put_first(const BorderJoin::Finished& finished)
    {
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            Array one(op_.results[f].type, 1);
            Machine<double>::store(finished.result[f], one.type(), one.data(), 0);
            fields_[f].insert(fields_[f].begin(), one.data(), one.data() + one.bytes());
        }
    }
    [[nodiscard]] Results take(std::int64_t count) const
    {
        Results results;
        for (std::size_t f = 0; f < fields_.size(); ++f)
            results.push_back({op_.results[f].name, array_of(op_.results[f].type, fields_[f], count)});
        if (key_type_)
            results.keys = array_of(*key_type_, keys_, count);
        return results;
    }

private:
    using Bytes = std::vector<std::byte>;

    static void append(Bytes& bytes, const Array& array, std::int64_t count)
    {
        bytes.insert(bytes.end(), array.data(),
                     array.data() + static_cast<std::size_t>(count) * size_bytes(array.type()));
    }
    static Array array_of(Type type, const Bytes& bytes, std::int64_t count)
    {
        Array array(type, static_cast<std::size_t>(count));
        if (bytes.size() < array.bytes())  // a border of another rank says that a segment ends here
            throw InternalError("a rank has " + std::to_string(bytes.size() / size_bytes(type)) +
                                " results or keys of " + std::to_string(count) + " segments");
        if (array.bytes() != 0)
            std::memcpy(array.data(), bytes.data(), array.bytes());
        return array;
    }

    const Operator& op_;
    std::vector<Bytes> fields_;
    Bytes keys_;
    std::optional<Type> key_type_;
};

}  // namespace

RankResults fold_share(Communicator& ranks, Stream& stream, const RankOptions& options)
{
    return fold_share(ranks, stream, stream.share(ranks.rank(), ranks.size()), options);
}

RankResults fold_share(Communicator& ranks, Stream& stream, Stream::Share share, const RankOptions& options)
{
    number_segments(ranks, share);
    const auto& op = stream.op();
    RankResults mine;
    GrowingResults results(op);
    BorderJoin join(op, stream.order(), JoinBegin::anywhere);
    stream.run_share(share, [&](SliceResults&& folded, const SegmentWindow& window) {
        const auto finished = join.add(folded.border);
        const auto& ends = window.ends;
        for (std::size_t s = 0; s < ends.size() && std::ssize(mine.lengths) < options.most_lengths; ++s)
            mine.lengths.push_back(ends[s] - (s == 0 ? window.from.open_begin : ends[s - 1]));
        const auto count = folded.num_inner + (finished ? 1 : 0);
        const auto kept = std::clamp<std::int64_t>(options.most_kept - mine.num_segments, 0, count);
        if (window.keys)
            results.append_keys(
                *window.keys,
                std::min(std::ssize(ends), std::max<std::int64_t>(0, options.most_kept - mine.num_segments)));
        results.append(with_first(op, finished, std::move(folded.inner), folded.num_inner), kept);
        mine.num_segments += count;
    });

    // Every rank joins what lies before its end: the states are few, and nobody waits for another.
    BorderJoin whole(op, stream.order());
    const auto borders = ranks.all_gather(pack(join.border()));
    for (std::size_t rank = 0; rank < borders.size(); ++rank) {
        const auto finished = whole.add(unpack_border(borders[rank], op.state.size(), stream.order()));
        if (!finished || static_cast<int>(rank) != ranks.rank())
            continue;
        results.put_first(*finished);
        ++mine.num_segments;
    }
    if (whole.is_open())
        throw InternalError("a segment is still open behind the last rank");
    mine.num_kept = std::min(mine.num_segments, options.most_kept);
    mine.results = results.take(mine.num_kept);
    return mine;
}

void gather_at_first(Communicator& ranks, const Operator& op, RankResults&& mine,
                     const std::function<void(RankResults&& results)>& take)
{
    const std::int64_t counts[] = {
        mine.num_segments, mine.num_kept, std::ssize(mine.lengths),
        mine.results.keys ? static_cast<std::int64_t>(mine.results.keys->type()) : -1};
    const auto all = ranks.all_gather(std::as_bytes(std::span(counts)));
    if (ranks.rank() != 0) {
        ranks.send(0, std::as_bytes(std::span(mine.lengths)));
        for (const auto& [name, array] : mine.results)
            ranks.send(0, {array.data(), array.bytes()});
        if (mine.results.keys)
            ranks.send(0, {mine.results.keys->data(), mine.results.keys->bytes()});
        return;
    }
    take(std::move(mine));
    for (int rank = 1; rank < ranks.size(); ++rank) {
        std::int64_t theirs[std::size(counts)];
        std::memcpy(theirs, all[static_cast<std::size_t>(rank)].data(), sizeof theirs);
        RankResults next;
        next.num_segments = theirs[0];
        next.num_kept = theirs[1];
        next.lengths.resize(static_cast<std::size_t>(theirs[2]));
        ranks.receive(rank, std::as_writable_bytes(std::span(next.lengths)));
        const auto receive = [&](Type type) {
            Array array(type, static_cast<std::size_t>(next.num_kept));
            ranks.receive(rank, {array.data(), array.bytes()});
            return array;
        };
        for (const auto& field : op.results)
            next.results.push_back({field.name, receive(field.type)});
        if (theirs[3] >= 0)
            next.results.keys = receive(static_cast<Type>(theirs[3]));
        take(std::move(next));
    }
}

}  // namespace segfold
