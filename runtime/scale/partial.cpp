#include "runtime/scale/partial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/scale/serialized.h"

namespace segfold {
namespace {

constexpr std::array kMark = {'S', 'F', 'P', '1'};  // the last character is the version of the format
enum Flag : std::uint32_t { kOpens = 1, kCloses = 2 };

/// The first bytes of a serialized partial. Nodes and values of both states follow, then the results.
struct Heading {
    std::array<char, 4> mark = kMark;
    std::uint32_t flags = 0;
    std::uint64_t checksum = 0;  ///< checksum of all other bytes
    std::uint64_t identity = 0;
    std::int64_t first_segment = 0, num_ended = 0;
    std::int64_t head_elements = 0, tail_elements = 0;
    std::uint32_t head_nodes = 0, tail_nodes = 0;
    std::int64_t first_result = 0, num_results = 0;
};
static_assert(sizeof(Heading) == 80);

[[noreturn]] void refuse_bytes(const std::string& why)
{
    throw InputError("the bytes of a partial result " + why);
}

/// Concatenates chunks of results into new arrays, one for each field.
SegmentResults joined(const std::vector<ResultField>& fields, std::span<const SegmentResults> chunks,
                      std::int64_t first_segment)
{
    SegmentResults all{chunks.empty() ? first_segment : chunks.front().first_segment, 0};
    for (const auto& chunk : chunks)
        all.num_segments += chunk.num_segments;
    for (std::size_t f = 0; f < fields.size(); ++f) {
        Array array(fields[f].type, static_cast<std::size_t>(all.num_segments));
        auto* into = array.data();
        for (const auto& chunk : chunks) {
            const auto& part = chunk.results[f].array;
            std::memcpy(into, part.data(), part.bytes());
            into += part.bytes();
        }
        all.results.push_back({fields[f].name, std::move(array)});
    }
    return all;
}

}  // namespace

void store(const SegmentResults& from, Results& into, std::int64_t first_segment)
{
    for (std::size_t f = 0; f < from.results.size(); ++f) {
        const auto& array = from.results[f].array;
        const auto place = static_cast<std::size_t>(from.first_segment - first_segment);
        if (array.bytes() != 0)
            std::memcpy(into[f].array.data() + place * size_bytes(array.type()), array.data(), array.bytes());
    }
}

Joining::Joining(const Operator& op, JoinOrder of)
    : results(op.keeps_results ? op.results : std::vector<ResultField>()),
      bytecode(compile_bytecode(op)),
      order(of),
      identity(hash_of(fmt::format("{}\n{}", print(op), static_cast<int>(of))))
{}

Partial Partial::of_segments(std::shared_ptr<const Joining> joining, SegmentResults results)
{
    Partial partial(std::move(joining));
    partial.first_segment_ = results.first_segment;
    partial.num_ended_ = results.num_segments;
    for (const auto& field : results.results)
        if (std::cmp_not_equal(field.array.length(), results.num_segments))
            throw InternalError(fmt::format("a part gave results of {} segments for {}", field.array.length(),
                                            results.num_segments));
    if (results.num_segments != 0)
        partial.results_.push_back(std::move(results));
    return partial;
}

Partial Partial::of_part(std::shared_ptr<const Joining> joining, const SegmentPart& part, const Value* state)
{
    Partial partial(std::move(joining));
    partial.first_segment_ = part.segment;
    partial.opens_ = part.position > 0;
    partial.closes_ = true;
    partial.tail_.num_elements = part.num_elements;
    if (part.num_elements > 0)
        partial.append(partial.tail_, {0, part.position / kJoinBlock}, state);
    if (!part.closes)
        partial.end_segment();
    return partial;
}

Evaluator<double>& Partial::evaluator()
{
    if (!evaluator_)
        evaluator_ = std::make_unique<Evaluator<double>>(joining_->bytecode);
    return *evaluator_;
}

void Partial::append(State& state, State::Node node, const Value* values)
{
    const auto num_fields = joining_->bytecode.state.size();
    state.nodes.push_back(node);
    state.values.insert(state.values.end(), values, values + num_fields);
    const auto can_join = [&] {
        if (state.nodes.size() < 2)
            return false;
        if (joining_->order == JoinOrder::as_cut)
            return true;
        const auto& earlier = state.nodes[state.nodes.size() - 2];
        return earlier.level == state.nodes.back().level && earlier.place % 2 == 0 &&
               earlier.place + 1 == state.nodes.back().place;
    };
    while (can_join()) {
        auto* const earlier = &state.values[(state.nodes.size() - 2) * num_fields];
        evaluator().combine(earlier, earlier + num_fields, earlier);
        state.nodes.pop_back();
        state.values.resize(state.nodes.size() * num_fields);
        if (joining_->order == JoinOrder::blocks)
            state.nodes.back() = {state.nodes.back().level + 1, state.nodes.back().place / 2};
    }
}

void Partial::end_segment()
{
    auto state = std::exchange(tail_, {});
    if (opens_ && num_ended_ == 0) {
        head_ = std::move(state);
    } else {
        if (state.nodes.empty())
            throw InternalError("a segment ends, and no element of it has a state");
        const auto num_fields = joining_->bytecode.state.size();
        for (std::size_t i = 1; i < state.nodes.size(); ++i)
            evaluator().combine(state.values.data(), &state.values[i * num_fields], state.values.data());
        SegmentResults one{next_segment(), 1};
        std::vector<Value> result(joining_->results.size());
        if (!result.empty())
            evaluator().finish(state.values.data(), next_segment(), state.num_elements, result.data());
        for (std::size_t f = 0; f < result.size(); ++f) {
            Array array(joining_->results[f].type, 1);
            Machine<double>::store(result[f], array.type(), array.data(), 0);
            one.results.push_back({joining_->results[f].name, std::move(array)});
        }
        results_.push_back(std::move(one));
    }
    ++num_ended_;
    closes_ = false;
}

Partial& Partial::operator+=(Partial&& later)
{
    if (later.is_nothing())
        return *this;
    if (is_nothing())
        return *this = std::move(later);
    if (closes_ != later.opens_)
        throw InternalError(closes_ ? "a part begins a segment while another one is open"
                                    : "a part goes on with a segment that no part has begun");
    if (next_segment() != later.first_segment_)
        throw InternalError(
            fmt::format("a part that begins with segment {} is joined to one that ends with {}",
                        later.first_segment_, next_segment()));
    const bool ends_open = closes_ && later.num_ended_ != 0;
    if (closes_) {
        const auto& more = ends_open ? later.head_ : later.tail_;
        for (std::size_t i = 0; i < more.nodes.size(); ++i)
            append(tail_, more.nodes[i], &more.values[i * joining_->bytecode.state.size()]);
        tail_.num_elements += more.num_elements;
    }
    if (ends_open)
        end_segment();
    num_ended_ += later.num_ended_ - (ends_open ? 1 : 0);
    std::ranges::move(later.results_, std::back_inserter(results_));
    if (later.num_ended_ != 0 || !later.opens_)
        tail_ = std::move(later.tail_);
    closes_ = later.closes_;
    return *this;
}

void Partial::require_whole() const
{
    if (opens_)
        throw InternalError("a part goes on with a segment that no part has begun");
    if (closes_)
        throw InternalError("a segment is still open behind the last part");
}

const Partial::Value* Partial::state_at_begin() const
{
    const auto& state = num_ended_ != 0 ? head_ : tail_;
    return opens_ && !state.nodes.empty() ? state.values.data() : nullptr;
}

const Partial::Value* Partial::state_at_end() const { return closes_ ? tail_.values.data() : nullptr; }

Partial Partial::borders() const
{
    Partial copy(joining_);
    copy.first_segment_ = first_segment_;
    copy.num_ended_ = num_ended_;
    copy.opens_ = opens_;
    copy.closes_ = closes_;
    copy.head_ = head_;
    copy.tail_ = tail_;
    return copy;
}

SegmentResults Partial::take_results()
{
    auto chunks = std::exchange(results_, {});
    const bool is_owned = chunks.size() == 1 &&
                          std::ranges::all_of(chunks.front().results,
                                              [](const auto& field) { return field.array.owns_memory(); });
    return is_owned ? std::move(chunks.front()) : joined(joining_->results, chunks, next_segment());
}

std::vector<std::byte> Partial::to_bytes() const
{
    const auto all = joined(joining_->results, results_, next_segment());
    Heading heading;
    heading.flags = (opens_ ? kOpens : 0U) | (closes_ ? kCloses : 0U);
    heading.identity = joining_->identity;
    heading.first_segment = first_segment_;
    heading.num_ended = num_ended_;
    heading.head_elements = head_.num_elements;
    heading.tail_elements = tail_.num_elements;
    heading.head_nodes = static_cast<std::uint32_t>(head_.nodes.size());
    heading.tail_nodes = static_cast<std::uint32_t>(tail_.nodes.size());
    heading.first_result = all.first_segment;
    heading.num_results = all.num_segments;
    std::vector<std::byte> bytes(sizeof heading);
    std::memcpy(bytes.data(), &heading, sizeof heading);
    const auto add = [&](const auto* data, std::size_t count) {
        const auto more = std::as_bytes(std::span(data, count));
        bytes.insert(bytes.end(), more.begin(), more.end());
    };
    for (const auto* state : {&head_, &tail_}) {
        add(state->nodes.data(), state->nodes.size());
        add(state->values.data(), state->values.size());
    }
    for (const auto& field : all.results)
        add(field.array.data(), field.array.bytes());
    const auto checksum = checksum_of(bytes, offsetof(Heading, checksum));
    std::memcpy(bytes.data() + offsetof(Heading, checksum), &checksum, sizeof checksum);
    return bytes;
}

Partial Partial::from_bytes(std::shared_ptr<const Joining> joining, std::span<const std::byte> bytes)
{
    Heading heading;
    if (bytes.size() < sizeof heading)
        refuse_bytes(fmt::format("are cut short: they are {}, and the heading alone has {}", bytes.size(),
                                 sizeof heading));
    std::memcpy(&heading, bytes.data(), sizeof heading);
    if (!std::equal(kMark.begin(), kMark.end() - 1, heading.mark.begin()))
        refuse_bytes("do not begin with SFP; give bytes that Partial::to_bytes() made");
    if (heading.mark != kMark)
        refuse_bytes(
            fmt::format("are of version '{}', and this program reads version '{}'; make them by this one",
                        heading.mark.back(), kMark.back()));
    if (const auto sum = checksum_of(bytes, offsetof(Heading, checksum)); sum != heading.checksum)
        refuse_bytes(fmt::format("are damaged: their checksum is {:016x}, and they say {:016x}", sum,
                                 heading.checksum));
    if (heading.identity != joining->identity)
        refuse_bytes(
            "are of another operator or of another order of combination; make them by the same fold");
    Partial partial(std::move(joining));
    partial.first_segment_ = heading.first_segment;
    partial.num_ended_ = heading.num_ended;
    partial.opens_ = (heading.flags & kOpens) != 0;
    partial.closes_ = (heading.flags & kCloses) != 0;
    auto rest = bytes.subspan(sizeof heading);
    const auto require = [](bool holds) {
        if (!holds)
            refuse_bytes("are damaged: states or results are not as many as they say");
    };
    const auto take = [&](auto* into, std::size_t count) {
        require(count <= rest.size() / sizeof *into);
        if (count != 0)
            std::memcpy(into, rest.data(), count * sizeof *into);
        rest = rest.subspan(count * sizeof *into);
    };
    const auto take_state = [&](State& state, std::uint32_t num_nodes, std::int64_t num_elements) {
        require(num_elements >= 0 && num_nodes <= rest.size() / sizeof(State::Node));
        state.num_elements = num_elements;
        state.nodes.resize(num_nodes);
        state.values.resize(num_nodes * partial.joining_->bytecode.state.size());
        take(state.nodes.data(), state.nodes.size());
        take(state.values.data(), state.values.size());
    };
    take_state(partial.head_, heading.head_nodes, heading.head_elements);
    take_state(partial.tail_, heading.tail_nodes, heading.tail_elements);
    require(heading.flags <= (kOpens | kCloses) && heading.first_segment >= 0 && heading.num_ended >= 0 &&
            heading.num_ended <= std::numeric_limits<std::int64_t>::max() - heading.first_segment);
    require((heading.head_nodes == 0 || (partial.opens_ && heading.num_ended != 0)) &&
            (heading.tail_nodes != 0) == partial.closes_);
    // If the operator keeps no results, segments take no bytes.
    require(heading.num_results >= 0 &&
            (partial.joining_->results.empty() || std::cmp_less_equal(heading.num_results, rest.size())) &&
            heading.first_result >= heading.first_segment &&
            heading.first_result <= partial.next_segment() - heading.num_results);
    SegmentResults results{heading.first_result, heading.num_results};
    for (std::size_t f = 0; f < partial.joining_->results.size() && heading.num_results != 0; ++f) {
        const auto& field = partial.joining_->results[f];
        Array array(field.type, static_cast<std::size_t>(heading.num_results));
        take(array.data(), array.bytes());
        results.results.push_back({field.name, std::move(array)});
    }
    require(rest.empty());
    if (heading.num_results != 0)
        partial.results_.push_back(std::move(results));
    return partial;
}

}  // namespace segfold
