#include "dsl/evaluation/small_fold.h"

#include "dsl/error.h"
#include "dsl/evaluation/evaluator.h"

namespace segfold {
namespace {

using WideSlot = Slot<long double>;

long double wide_number(const WideSlot& value, Type type)
{
    if (is_float(type))
        return value.real;
    return is_unsigned_integer(type) || type == Type::boolean
               ? static_cast<long double>(value.bits)
               : static_cast<long double>(static_cast<std::int64_t>(value.bits));
}

/// One run of an operator over few elements.
class FewElements {
public:
    FewElements(const Operator& op, const ArraysByName& arrays, std::span<const std::int64_t> offsets)
        : op_(op), offsets_(offsets), bytecode_(compile_bytecode(op)), evaluator_(bytecode_, tables(arrays))
    {
        for (const auto& name : bytecode_.column_names)
            columns_.push_back(array(arrays, name).data());
        for (const auto& field : returned_fields(op))
            found_[field.name];
    }

    WideByName run()
    {
        const auto num_elements = static_cast<std::size_t>(offsets_.back());
        outputs_.resize(num_elements * op_.outputs.size());
        for (std::size_t segment = 0; segment + 1 < offsets_.size(); ++segment)
            fold(static_cast<std::int64_t>(segment), offsets_[segment], offsets_[segment + 1]);
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const auto& field = op_.outputs[i % op_.outputs.size()];
            found_[field.name].push_back(wide_number(outputs_[i], field.type));
        }
        return std::move(found_);
    }

private:
    static const Array& array(const ArraysByName& arrays, const std::string& name)
    {
        const auto found = arrays.find(name);
        if (found == arrays.end())
            throw InputError("no array is given for '" + name + "'");
        return found->second;
    }

    [[nodiscard]] std::vector<TableView> tables(const ArraysByName& arrays) const
    {
        std::vector<TableView> views;
        for (const auto& name : bytecode_.table_names) {
            const auto& table = array(arrays, name);
            views.push_back({table.data(), static_cast<std::int64_t>(table.length())});
        }
        return views;
    }

    std::vector<WideSlot> lifted(std::int64_t element, std::int64_t position, std::int64_t segment)
    {
        std::vector<WideSlot> state(op_.state.size());
        evaluator_.lift(columns_, element, position, segment, state.data());
        return state;
    }

    void fold(std::int64_t segment, std::int64_t begin, std::int64_t end)
    {
        std::vector<WideSlot> results(op_.results.size());
        if (begin == end) {
            if (op_.keeps_results)
                empty(segment, results);
        } else {
            auto state = lifted(begin, 0, segment);
            for (auto i = begin + 1; i < end; ++i)
                evaluator_.combine(state.data(), lifted(i, i - begin, segment).data(), state.data());
            evaluator_.finish(state.data(), segment, end - begin, results.data());
        }
        if (op_.keeps_results)
            for (std::size_t i = 0; i < results.size(); ++i)
                found_[op_.results[i].name].push_back(wide_number(results[i], op_.results[i].type));
        if (op_.map)
            for (auto i = begin; i < end; ++i)
                evaluator_.map(columns_, i, i - begin, segment, end - begin, results.data(), outputs_of(i));
        if (op_.scan)
            scan(segment, begin, end);
    }

    void empty(std::int64_t segment, std::vector<WideSlot>& results)
    {
        if (!op_.allows_empty())
            throw InputError("operator " + op_.name + " gives an empty segment no result; " +
                             advice_on_empty_segments(op_));
        std::vector<WideSlot> state(op_.state.size());
        if (op_.empty)
            return evaluator_.empty(segment, results.data());
        evaluator_.identity(state.data());
        evaluator_.finish(state.data(), segment, 0, results.data());
    }

    void scan(std::int64_t segment, std::int64_t begin, std::int64_t end)
    {
        const bool reverse = op_.scan->reverse;
        std::vector<WideSlot> before(op_.state.size()), through(op_.state.size());
        if (op_.has_identity())
            evaluator_.identity(before.data());
        for (auto step = begin; step < end; ++step) {
            const auto i = reverse ? begin + end - 1 - step : step;
            const auto state = lifted(i, i - begin, segment);
            if (step == begin)
                through = state;
            else if (reverse)
                evaluator_.combine(state.data(), before.data(), through.data());
            else
                evaluator_.combine(before.data(), state.data(), through.data());
            evaluator_.scan(columns_, i, i - begin, segment, before.data(), through.data(), outputs_of(i));
            before = through;
        }
    }

    WideSlot* outputs_of(std::int64_t element)
    {
        return outputs_.data() + static_cast<std::size_t>(element) * op_.outputs.size();
    }

    const Operator& op_;
    std::span<const std::int64_t> offsets_;
    Bytecode bytecode_;
    Evaluator<long double> evaluator_;
    std::vector<const void*> columns_;
    std::vector<WideSlot> outputs_;
    WideByName found_;
};

}  // namespace

WideByName fold_few(const Operator& op, const ArraysByName& arrays, std::span<const std::int64_t> offsets)
{
    return FewElements(op, arrays, offsets).run();
}

void fold_few_in_turn(std::span<const Operator> operators, ArraysByName& arrays,
                      std::span<const std::int64_t> offsets)
{
    for (const auto& op : operators) {
        const auto found = fold_few(op, arrays, offsets);
        for (const auto& field : returned_fields(op)) {
            const auto& values = found.at(field.name);
            Array array(field.type, values.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                WideSlot slot{};
                if (is_float(field.type))
                    slot.real = values[i];
                else if (is_unsigned_integer(field.type) || field.type == Type::boolean)
                    slot.bits = static_cast<std::uint64_t>(values[i]);
                else
                    slot.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i]));
                Machine<long double>::store(slot, field.type, array.data(), static_cast<std::int64_t>(i));
            }
            arrays.insert_or_assign(field.name, std::move(array));
        }
    }
}

}  // namespace segfold
