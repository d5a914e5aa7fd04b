#include "runtime/scale/slices/state_run.h"

#include <cstring>

#include "dsl/error.h"

namespace segfold {

void StateRun::append(Evaluator<double>& evaluator, std::int64_t block, const Value* state)
{
    add(evaluator, {0, block}, state);
}

void StateRun::append(Evaluator<double>& evaluator, const StateRun& later)
{
    for (std::size_t i = 0; i < later.nodes_.size(); ++i)
        add(evaluator, later.nodes_[i], &later.states_[i * num_fields_]);
}

void StateRun::add(Evaluator<double>& evaluator, Node node, const Value* state)
{
    nodes_.push_back(node);
    states_.insert(states_.end(), state, state + num_fields_);
    const auto can_join = [&] {
        if (nodes_.size() < 2)
            return false;
        if (order_ == JoinOrder::as_cut)
            return true;
        const auto& earlier = nodes_[nodes_.size() - 2];
        return earlier.level == nodes_.back().level && earlier.place % 2 == 0 &&
               earlier.place + 1 == nodes_.back().place;
    };
    while (can_join()) {
        auto* const earlier = &states_[(nodes_.size() - 2) * num_fields_];
        evaluator.combine(earlier, earlier + num_fields_, earlier);
        nodes_.pop_back();
        states_.resize(nodes_.size() * num_fields_);
        if (order_ == JoinOrder::blocks)
            nodes_.back() = {nodes_.back().level + 1, nodes_.back().place / 2};
    }
}

void StateRun::total(Evaluator<double>& evaluator, Value* state) const
{
    if (nodes_.empty())
        throw InternalError("the total of no states");
    std::memcpy(state, states_.data(), num_fields_ * sizeof(Value));
    for (std::size_t i = 1; i < nodes_.size(); ++i)
        evaluator.combine(state, &states_[i * num_fields_], state);
}

std::vector<std::byte> StateRun::pack() const
{
    std::vector<std::byte> bytes(nodes_.size() * sizeof(Node) + states_.size() * sizeof(Value));
    if (bytes.empty())
        return bytes;
    std::memcpy(bytes.data(), nodes_.data(), nodes_.size() * sizeof(Node));
    std::memcpy(bytes.data() + nodes_.size() * sizeof(Node), states_.data(), states_.size() * sizeof(Value));
    return bytes;
}

StateRun StateRun::unpack(std::span<const std::byte> bytes, std::size_t state_fields, JoinOrder order)
{
    StateRun run(state_fields, order);
    const auto node_bytes = sizeof(Node) + state_fields * sizeof(Value);
    if (bytes.size() % node_bytes != 0)
        throw InternalError("packed states of " + std::to_string(bytes.size()) + " bytes, which " +
                            std::to_string(node_bytes) + " do not divide");
    const auto count = bytes.size() / node_bytes;
    run.nodes_.resize(count);
    run.states_.resize(count * state_fields);
    if (count != 0) {
        std::memcpy(run.nodes_.data(), bytes.data(), count * sizeof(Node));
        std::memcpy(run.states_.data(), bytes.data() + count * sizeof(Node),
                    run.states_.size() * sizeof(Value));
    }
    return run;
}

}  // namespace segfold
