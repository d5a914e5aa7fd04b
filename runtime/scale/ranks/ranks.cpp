#include "runtime/scale/ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "dsl/error.h"
#include "runtime/scale/partial.h"

namespace segfold {
namespace {

std::int64_t number_in(std::span<const std::byte> bytes)
{
    std::int64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

/// Sets the number of the share's first segment to the number of segments that begin in earlier shares. For
/// layouts other than flags and keys, changes nothing.
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

/// Returns the sum, without results, of the partials from which this rank's scan continues: the earlier
/// ranks, or the later ranks of a reverse scan. Collective.
Partial partial_before(Communicator& ranks, Stream& stream, const Stream::Share& share)
{
    Partial before(stream.joining_of_ends());
    const auto partials = ranks.all_gather(stream.fold_ends(share).to_bytes());
    const auto own = static_cast<std::size_t>(ranks.rank());
    const bool is_reverse = stream.op().scan->reverse;
    for (auto rank = is_reverse ? own + 1 : 0; rank < (is_reverse ? partials.size() : own); ++rank)
        before += Partial::from_bytes(stream.joining_of_ends(), partials[rank]);
    return before;
}

/// Drops arrays from the end of `parts`, but keeps the first `count` entries of the concatenation.
void keep_first(std::vector<Array>& parts, std::int64_t count)
{
    std::int64_t length = 0;
    for (const auto& part : parts)
        length += static_cast<std::int64_t>(part.length());
    while (!parts.empty() && length - static_cast<std::int64_t>(parts.back().length()) >= count) {
        length -= static_cast<std::int64_t>(parts.back().length());
        parts.pop_back();
    }
}

/// Collects, for each field, the arrays of all slices of a share.
class KeptArrays {
public:
    explicit KeptArrays(std::size_t num_fields) : parts_(num_fields) {}

    void add(Results&& results, bool in_front = false)
    {
        for (std::size_t f = 0; f < parts_.size(); ++f)
            parts_[f].insert(in_front ? parts_[f].begin() : parts_[f].end(), std::move(results[f].array));
    }
    void keep_first(std::int64_t count)
    {
        for (auto& parts : parts_)
            segfold::keep_first(parts, count);
    }
    /// Returns the first `count` values of each field.
    [[nodiscard]] Results first(const std::vector<ResultField>& fields, std::int64_t count) const;

private:
    std::vector<std::vector<Array>> parts_;
};

/// Returns the first `count` entries of the concatenation of `parts`.
Array first_of(Type type, const std::vector<Array>& parts, std::int64_t count)
{
    Array all(type, static_cast<std::size_t>(count));
    std::size_t at = 0;
    for (const auto& part : parts) {
        const auto bytes = std::min(part.bytes(), all.bytes() - at);
        if (bytes != 0)
            std::memcpy(all.data() + at, part.data(), bytes);
        at += bytes;
    }
    if (at != all.bytes())  // happens only if another rank's partial contradicts this share
        throw InternalError(
            fmt::format("a rank has {} results or keys of {} segments", at / size_bytes(type), count));
    return all;
}

Results KeptArrays::first(const std::vector<ResultField>& fields, std::int64_t count) const
{
    Results all;
    for (std::size_t f = 0; f < parts_.size(); ++f)
        all.push_back({fields[f].name, first_of(fields[f].type, parts_[f], count)});
    return all;
}

/// Partials of groups travel from rank to rank, so that no rank holds those of all.
class RankExchange : public GroupExchange {
public:
    explicit RankExchange(Communicator& ranks) : ranks_(ranks) {}

    GroupPartial before(const std::shared_ptr<const GroupJoining>& joining, const GroupPartial& mine,
                        bool is_from_end) override
    {
        const int step = is_from_end ? -1 : 1;
        const int from = ranks_.rank() - step, to = ranks_.rank() + step;
        const auto is_rank = [&](int rank) { return rank >= 0 && rank < ranks_.size(); };
        GroupPartial before(joining);
        std::vector<std::byte> bytes;
        if (is_rank(from)) {
            std::int64_t size = 0;
            ranks_.receive(from, std::as_writable_bytes(std::span(&size, 1)));
            bytes.resize(static_cast<std::size_t>(size));
            ranks_.receive(from, bytes);
            before = GroupPartial::from_bytes(joining, bytes);
        }
        if (is_rank(to)) {
            GroupPartial sum(joining);
            sum += before;
            sum.join(mine, is_from_end);
            bytes = sum.to_bytes();
            const auto size = std::ssize(bytes);
            ranks_.send(to, std::as_bytes(std::span(&size, 1)));
            ranks_.send(to, bytes);
        }
        return before;
    }

    GroupPartial all(const std::shared_ptr<const GroupJoining>& joining, const GroupPartial& up_to) override
    {
        const bool is_last = ranks_.rank() + 1 == ranks_.size();
        return GroupPartial::from_bytes(
            joining, ranks_.all_gather(is_last ? up_to.to_bytes() : std::vector<std::byte>()).back());
    }

private:
    Communicator& ranks_;
};

/// Folds this rank's share of groups. All groups end in the share that is read last. Collective.
RankResults fold_groups(Communicator& ranks, Stream& stream, const Stream::Share& share,
                        const RankOptions& options)
{
    const auto& op = stream.op();
    const bool is_reverse = op.scan && op.scan->reverse;
    RankResults mine;
    KeptArrays running(op.outputs.size());
    RankExchange others(ranks);
    stream.run_groups(share, &others, [&](const SegmentWindow& window, Results&& outputs) {
        if (is_reverse || mine.num_elements < options.most_running)
            running.add(std::move(outputs), is_reverse);
        if (is_reverse)
            running.keep_first(options.most_running);
        mine.num_elements += window.end - window.from.element;
    });
    if (!op.outputs.empty())
        mine.running = running.first(op.outputs, std::min(mine.num_elements, options.most_running));
    const int last_to_read = is_reverse ? 0 : ranks.size() - 1;
    if (ranks.rank() != last_to_read) {
        mine.results = stream.no_results();
        return mine;
    }
    auto all = stream.group_results();
    mine.num_segments = std::ssize(all.lengths);
    mine.num_kept = std::min(mine.num_segments, options.most_kept);
    const auto first = [&](const Array& array) { return part_of(array, 0, mine.num_kept).copy(); };
    for (const auto& [name, array] : all.results)
        mine.results.push_back({name, first(array)});
    if (all.results.keys)
        mine.results.keys = first(*all.results.keys);
    all.lengths.resize(static_cast<std::size_t>(std::min(mine.num_segments, options.most_lengths)));
    mine.lengths = std::move(all.lengths);
    return mine;
}

}  // namespace

RankResults fold_share(Communicator& ranks, Stream& stream, const RankOptions& options)
{
    return fold_share(ranks, stream, stream.share(ranks.rank(), ranks.size()), options);
}

RankResults fold_share(Communicator& ranks, Stream& stream, Stream::Share share, const RankOptions& options)
{
    if (stream.has_groups())
        return fold_groups(ranks, stream, share, options);
    number_segments(ranks, share);
    const auto& fields = stream.joining()->results;
    const auto& outputs = stream.op().outputs;
    RankResults mine;
    KeptArrays kept(fields.size()), running(outputs.size());
    std::vector<Array> keys;
    Partial own(stream.joining());
    std::optional<Partial> before;
    if (stream.op().scan)
        before.emplace(partial_before(ranks, stream, share));
    // A reverse scan begins with the last slice, and has no results of segments.
    const bool is_reverse = stream.op().scan && stream.op().scan->reverse;
    const auto take_in_front = [&](Partial&& partial, const SegmentWindow& window, Results&& of_elements) {
        const auto lengths = window.lengths(options.most_lengths);
        mine.lengths.insert(mine.lengths.begin(), lengths.begin(), lengths.end());
        if (std::ssize(mine.lengths) > options.most_lengths)
            mine.lengths.resize(static_cast<std::size_t>(options.most_lengths));
        if (window.keys) {
            keys.insert(keys.begin(), window.keys->copy());
            keep_first(keys, options.most_kept);
        }
        own = std::move(partial) + std::move(own);
        running.add(std::move(of_elements), true);
        running.keep_first(options.most_running);
        mine.num_elements += window.end - window.from.element;
    };
    const auto take = [&](Partial&& partial, const SegmentWindow& window, Results&& of_elements) {
        const auto lengths = window.lengths(options.most_lengths - std::ssize(mine.lengths));
        mine.lengths.insert(mine.lengths.end(), lengths.begin(), lengths.end());
        const bool keeps = own.num_ended() < options.most_kept;
        if (window.keys && (keeps || keys.empty()))
            keys.push_back(window.keys->copy());
        own += std::move(partial);
        auto results = own.take_results().results;
        if (keeps)
            kept.add(std::move(results));
        if (mine.num_elements < options.most_running)
            running.add(std::move(of_elements));
        mine.num_elements += window.end - window.from.element;
    };
    if (is_reverse)
        stream.run_share(share, take_in_front, &*before);
    else
        stream.run_share(share, take, before ? &*before : nullptr);

    // Every rank joins all partials, so that no rank waits for another rank's sum.
    Partial all(stream.joining());
    const auto partials = ranks.all_gather(own.to_bytes());
    for (std::size_t rank = 0; rank < partials.size(); ++rank) {
        all += Partial::from_bytes(stream.joining(), partials[rank]);
        auto cut = all.take_results().results;  // at most one segment, which began in an earlier share
        if (static_cast<int>(rank) == ranks.rank())
            kept.add(std::move(cut), true);
    }
    all.require_whole();
    mine.num_segments = own.num_ended();
    mine.num_kept = std::min(mine.num_segments, options.most_kept);
    mine.results = kept.first(fields, mine.num_kept);
    if (!keys.empty())
        mine.results.keys = first_of(keys.front().type(), keys, mine.num_kept);
    if (!outputs.empty())
        mine.running = running.first(outputs, std::min(mine.num_elements, options.most_running));
    return mine;
}

void gather_at_first(Communicator& ranks, const Operator& op, RankResults&& mine,
                     const std::function<void(RankResults&& results)>& take)
{
    const auto num_running =
        mine.running.empty() ? 0 : static_cast<std::int64_t>(mine.running.front().array.length());
    const std::int64_t counts[] = {
        mine.num_segments,
        mine.num_kept,
        std::ssize(mine.lengths),
        mine.num_elements,
        num_running,
        mine.results.keys ? static_cast<std::int64_t>(mine.results.keys->type()) : -1};
    const auto all = ranks.all_gather(std::as_bytes(std::span(counts)));
    if (ranks.rank() != 0) {
        ranks.send(0, std::as_bytes(std::span(mine.lengths)));
        for (const auto* results : {&mine.results, &mine.running})
            for (const auto& [name, array] : *results)
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
        next.num_elements = theirs[3];
        ranks.receive(rank, std::as_writable_bytes(std::span(next.lengths)));
        const auto receive = [&](Type type, std::int64_t count) {
            Array array(type, static_cast<std::size_t>(count));
            ranks.receive(rank, {array.data(), array.bytes()});
            return array;
        };
        if (op.keeps_results)
            for (const auto& field : op.results)
                next.results.push_back({field.name, receive(field.type, next.num_kept)});
        for (const auto& output : op.outputs)
            next.running.push_back({output.name, receive(output.type, theirs[4])});
        if (theirs[5] >= 0)
            next.results.keys = receive(static_cast<Type>(theirs[5]), next.num_kept);
        take(std::move(next));
    }
}

}  // namespace segfold
