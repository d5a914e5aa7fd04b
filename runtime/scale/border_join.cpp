#include "runtime/scale/border_join.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dsl/error.h"

namespace segfold {

BorderJoin::BorderJoin(const Operator& op, JoinOrder order, JoinBegin begin)
    : bytecode_(compile_bytecode(op)),
      evaluator_(bytecode_),
      order_(order),
      open_(bytecode_.state.size(), order),
      takes_head_(begin == JoinBegin::anywhere)
{
    head_.head = open_;
}

std::optional<BorderJoin::Finished> BorderJoin::add(const Border& border)
{
    if (!border.has_head && !border.has_tail && !border.has_inner)
        return std::nullopt;  // a slice of nothing
    const bool begins_open = border.has_head || (border.has_tail && border.tail_goes_on);
    if (takes_head_ && begins_open)
        goes_on_ = true;
    else if (begins_open != is_open())
        throw InternalError(is_open() ? "a slice begins a segment while another one is open"
                                      : "a slice goes on with a segment that no slice has begun");
    takes_head_ = false;
    has_ended_ = has_ended_ || border.has_inner || border.has_head;
    std::optional<Finished> finished;
    if (border.has_head) {
        open_.append(evaluator_, border.head);
        open_items_ += border.head_items;
    }
    if (border.has_head && goes_on_) {
        head_.has_head = true;
        head_.head_segment = border.head_segment;
        head_.head_items = open_items_;
        head_.head = open_;
    } else if (border.has_head) {
        std::vector<Slot<double>> state(evaluator_.state_fields());
        open_.total(evaluator_, state.data());
        finished = {border.head_segment, std::vector<Slot<double>>(evaluator_.result_fields())};
        evaluator_.finish(state.data(), border.head_segment, open_items_, finished->result.data());
    }
    if (border.has_head) {
        goes_on_ = false;
        open_ = StateRun(bytecode_.state.size(), order_);
        open_items_ = 0;
    }
    if (border.has_tail) {
        open_.append(evaluator_, border.tail);
        open_items_ += border.tail_items;
    }
    return finished;
}

Border BorderJoin::border() const
{
    auto border = head_;
    border.has_inner = has_ended_;
    border.tail = open_;
    border.tail_items = open_items_;
    border.has_tail = is_open();
    border.tail_goes_on = goes_on_;
    return border;
}

void BorderJoin::Finished::store(Results& results, std::int64_t at) const
{
    for (std::size_t f = 0; f < results.size(); ++f)
        Machine<double>::store(result[f], results[f].array.type(), results[f].array.data(), at);
}

std::vector<std::byte> BorderJoin::pack() const
{
    std::vector<std::byte> bytes(sizeof open_items_);
    std::memcpy(bytes.data(), &open_items_, sizeof open_items_);
    const auto run = open_.pack();
    bytes.insert(bytes.end(), run.begin(), run.end());
    return bytes;
}

void BorderJoin::unpack(std::span<const std::byte> bytes)
{
    if (bytes.size() < sizeof open_items_)
        throw InternalError("a packed join of too few bytes");
    std::memcpy(&open_items_, bytes.data(), sizeof open_items_);
    open_ = StateRun::unpack(bytes.subspan(sizeof open_items_), bytecode_.state.size(), order_);
}

namespace {

/// What precedes the states of a packed border.
struct PackedBorder {
    std::int64_t flags = 0;  ///< one bit for each of Border's
    std::int64_t head_segment = 0, head_items = 0, tail_items = 0;
    std::int64_t head_bytes = 0;  ///< of the head's states; the rest is the tail's
};

}  // namespace

std::vector<std::byte> pack(const Border& border)
{
    const auto head = border.head.pack(), tail = border.tail.pack();
    const PackedBorder fixed{(border.has_head ? 1 : 0) | (border.has_tail ? 2 : 0) |
                                 (border.tail_goes_on ? 4 : 0) | (border.has_inner ? 8 : 0),
                             border.head_segment, border.head_items, border.tail_items, std::ssize(head)};
    const auto bytes = std::as_bytes(std::span(&fixed, 1));
    std::vector<std::byte> packed(bytes.begin(), bytes.end());
    packed.insert(packed.end(), head.begin(), head.end());
    packed.insert(packed.end(), tail.begin(), tail.end());
    return packed;
}

Border unpack_border(std::span<const std::byte> bytes, std::size_t state_fields, JoinOrder order)
{
    PackedBorder fixed;
    if (bytes.size() < sizeof fixed)
        throw InternalError("a packed border of too few bytes");
    std::memcpy(&fixed, bytes.data(), sizeof fixed);
    const auto states = bytes.subspan(sizeof fixed);
    if (fixed.head_bytes < 0 || std::cmp_greater(fixed.head_bytes, states.size()))
        throw InternalError("a packed border whose head is longer than it");
    const auto head_bytes = static_cast<std::size_t>(fixed.head_bytes);
    Border border;
    border.has_head = (fixed.flags & 1) != 0;
    border.has_tail = (fixed.flags & 2) != 0;
    border.tail_goes_on = (fixed.flags & 4) != 0;
    border.has_inner = (fixed.flags & 8) != 0;
    border.head_segment = fixed.head_segment;
    border.head_items = fixed.head_items;
    border.tail_items = fixed.tail_items;
    border.head = StateRun::unpack(states.first(head_bytes), state_fields, order);
    border.tail = StateRun::unpack(states.subspan(head_bytes), state_fields, order);
    return border;
}

Results with_first(const Operator& op, const std::optional<BorderJoin::Finished>& first, Results inner,
                   std::int64_t num_inner)
{
    const bool is_owned =
        std::ranges::all_of(inner, [](const NamedArray& field) { return field.array.owns_memory(); });
    if (!first && !inner.empty() && is_owned)
        return inner;
    Results all;
    const auto shift = first ? std::size_t{1} : std::size_t{0};
    for (std::size_t f = 0; f < op.results.size(); ++f) {
        Array array(op.results[f].type, static_cast<std::size_t>(num_inner) + shift);
        if (num_inner != 0)
            std::memcpy(array.data() + shift * size_bytes(array.type()), inner[f].array.data(),
                        inner[f].array.bytes());
        all.push_back({op.results[f].name, std::move(array)});
    }
    if (first)
        first->store(all, 0);
    return all;
}

}  // namespace segfold
