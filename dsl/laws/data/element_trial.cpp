#include "dsl/laws/data/element_trial.h"

#include <algorithm>
#include <cmath>

#include "dsl/error.h"
#include "dsl/laws/counter_example.h"
#include "dsl/stopped.h"

namespace segfold {
namespace {

/// Largest number of cases that are decided in wide precision. Wide precision takes many times as long as
/// working precision.
constexpr std::int64_t kMostDoubtful = 64;
constexpr std::int64_t kMostDoubtfulNeighbours = 8;

constexpr std::int64_t kElementsPerLook = 4096;

/// True if the arrays fit the operator, and every column has a value for each element.
bool are_arrays_of(const Operator& op, const std::vector<Array>& arrays, std::int64_t num_elements,
                   std::int64_t num_features)
{
    if (arrays.size() != op.parameters.size())
        return false;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto length = static_cast<std::int64_t>(arrays[i].length());
        if (arrays[i].type() != parameter.type || (parameter.table && parameter.row) ||
            (parameter.scalar && length != 1) ||
            (!parameter.table && length < num_elements * (parameter.row ? num_features : 1)))
            return false;
    }
    return true;
}

/// Borrows the tables. Copies the scalars, because the machine sets them.
std::vector<Array> tables_of(const Operator& op, const std::vector<Array>& arrays)
{
    std::vector<Array> tables;
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        if (op.parameters[i].scalar)
            tables.push_back(arrays[i].copy());
        else if (op.parameters[i].table)
            tables.push_back(arrays[i].lend());
    return tables;
}

/// Returns a number below `bound`, computed from `number` by a hash. It is irregular, so that a period in the
/// data cannot hide counter-examples.
std::int64_t scattered(std::int64_t number, std::int64_t bound)
{
    auto bits = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
    return static_cast<std::int64_t>((bits ^ bits >> 31) % static_cast<std::uint64_t>(bound));
}

}  // namespace

ElementTrial::ElementTrial(const Operator& op, const std::vector<Array>& arrays, std::int64_t num_elements,
                           std::int64_t num_features)
    : op_(op),
      arrays_(arrays),
      num_elements_(num_elements),
      num_features_(num_features),
      is_possible_(are_arrays_of(op, arrays, num_elements, num_features)),
      machine_(op, is_possible_ ? tables_of(op, arrays) : std::vector<Array>()),
      judge_(op, machine_)
{
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        if (!op.parameters[i].table)
            columns_.push_back(i);
    for (auto& state : states_)
        state.resize(machine_.num_fields());
}

void ElementTrial::load(std::int64_t index, std::int64_t feature, Element& values) const
{
    values.resize(columns_.size());
    for (std::size_t k = 0; k < columns_.size(); ++k) {
        const auto& array = arrays_[columns_[k]];
        Machine<double>::load(values[k], array.type(), array.data(),
                              op_.parameters[columns_[k]].row ? index * num_features_ + feature : index);
    }
}

bool ElementTrial::lift(std::int64_t index, std::int64_t feature, Slot<double>* state)
{
    load(index, feature, values_);
    try {
        machine_.evaluator<double>().lift(values_.data(), index, index, 0, state);
    } catch (const InputError&) {
        return false;
    }
    return true;
}

bool ElementTrial::is_finite(std::int64_t number) const
{
    Element values;
    load(number / num_features_, number % num_features_, values);
    for (std::size_t k = 0; k < columns_.size(); ++k)
        if (const auto type = arrays_[columns_[k]].type();
            is_float(type) && !std::isfinite(Machine<double>::get_real(values[k], type)))
            return false;
    return true;
}

bool ElementTrial::is_finite(const std::vector<Slot<double>>& state) const
{
    const auto& types = machine_.bytecode().state;
    for (std::size_t i = 0; i < types.size(); ++i)
        if (is_float(types[i]) && !std::isfinite(Machine<double>::get_real(state[i], types[i])))
            return false;
    return true;
}

std::optional<CounterExample> ElementTrial::confirm(Equation equation, std::int64_t index,
                                                    std::int64_t feature, bool breaks_it)
{
    LawCase recipes;
    for (std::size_t i = 0; i < num_states(equation); ++i)
        load(index + static_cast<std::int64_t>(i), feature, recipes[i].emplace_back());
    machine_.begin_at(index);
    if (!breaks_it && (++num_doubtful_ > kMostDoubtful || !judge_.refutes(equation, recipes)))
        return std::nullopt;
    return make_counter_example(op_, equation, recipes, machine_, judge_);
}

std::optional<CounterExample> ElementTrial::try_neighbours(std::int64_t most)
{
    const auto starts = is_possible_ ? num_elements_ - 2 : 0;
    const auto count = std::min(most, starts);
    const CaseStates<double> states = {states_[0].data(), states_[1].data(), states_[2].data()};
    double spread = 0;
    for (std::int64_t k = 0; k < count && num_doubtful_ < kMostDoubtfulNeighbours; ++k) {
        const auto begin = static_cast<std::int64_t>(static_cast<double>(starts) * static_cast<double>(k) /
                                                     static_cast<double>(count));
        const auto end = static_cast<std::int64_t>(static_cast<double>(starts) * static_cast<double>(k + 1) /
                                                   static_cast<double>(count));
        const auto index = std::min(begin + scattered(k, std::max<std::int64_t>(end - begin, 1)), starts - 1);
        const auto feature = scattered(k, num_features_);
        bool is_lifted = true;
        for (std::int64_t i = 0; i < 3 && is_lifted; ++i)
            is_lifted = lift(index + i, feature, states_[static_cast<std::size_t>(i)].data());
        if (is_lifted && judge_.compare(Equation::associative, states, spread) == Agreement::doubtful)
            if (auto example = confirm(Equation::associative, index, feature))
                return example;
    }
    return std::nullopt;
}

TriedElements ElementTrial::try_identity(std::int64_t begin, std::int64_t end, std::int64_t step,
                                         Elements elements)
{
    TriedElements outcome;
    const CaseStates<double> states = {states_[0].data(), nullptr, nullptr};
    double spread = 0;
    for (auto number = begin; number < end && num_doubtful_ <= kMostDoubtful; number += step) {
        if (outcome.tried % kElementsPerLook == 0)
            throw_if_stopped();
        const auto index = number / num_features_;
        const auto feature = number % num_features_;
        ++outcome.tried;
        if ((elements == Elements::finite && !is_finite(number)) ||
            !lift(index, feature, states_[0].data()) ||
            (elements == Elements::finite && !is_finite(states_[0])))
            continue;
        for (const auto equation : {Equation::identity_left, Equation::identity_right})
            if (judge_.compare(equation, states, spread) == Agreement::doubtful) {
                const bool overflows = elements == Elements::all_with_overflow && is_finite(states_[0]) &&
                                       !is_finite(judge_.sides().left);
                if ((outcome.counter_example = confirm(equation, index, feature, overflows)))
                    return outcome;
            }
    }
    return outcome;
}

}  // namespace segfold
