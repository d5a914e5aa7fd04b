#include "runtime/session/scale/border_join.h"

#include <cstring>

#include "dsl/error.h"

namespace segfold {

BorderJoin::BorderJoin(const Operator& op, JoinOrder order)
    : bytecode_(compile_bytecode(op)),
      evaluator_(bytecode_),
      order_(order),
      open_(bytecode_.state.size(), order)
{}

std::optional<BorderJoin::Finished> BorderJoin::add(const Border& border)
{
    if (!border.has_head && !border.has_tail && !border.has_inner)
        return std::nullopt;  // a slice of nothing
    if ((border.has_head || (border.has_tail && border.tail_goes_on)) != is_open())
        throw InternalError(is_open() ? "a slice begins a segment while another one is open"
                                      : "a slice goes on with a segment that no slice has begun");
    std::optional<Finished> finished;
    if (border.has_head) {
        open_.append(evaluator_, border.head);
        open_items_ += border.head_items;
        std::vector<Slot<double>> state(evaluator_.state_fields());
        open_.total(evaluator_, state.data());
        finished = {border.head_segment, std::vector<Slot<double>>(evaluator_.result_fields())};
        evaluator_.finish(state.data(), border.head_segment, open_items_, finished->result.data());
        open_ = StateRun(bytecode_.state.size(), order_);
        open_items_ = 0;
    }
    if (border.has_tail) {
        open_.append(evaluator_, border.tail);
        open_items_ += border.tail_items;
    }
    return finished;
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

}  // namespace segfold
