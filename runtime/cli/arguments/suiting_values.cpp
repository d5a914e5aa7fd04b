// Chooses a range of generated values for which an operator's results neither overflow nor underflow.
#include <algorithm>
#include <cmath>

#include "dsl/error.h"
#include "dsl/evaluation/evaluator.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/judge/reference.h"
#include "runtime/support/visit_type.h"

namespace segfold::cli {
namespace {

/// Number of elements generated for a trial fold, and the segment lengths that are tried.
constexpr std::int64_t kElements = 4096;
constexpr std::int64_t kLengths[] = {16, 256, kElements};
constexpr std::uint64_t kSeed = 7;

/// Smallest and largest positive normal number of a floating-point type.
struct Span {
    long double least, greatest;
};

Span normal_span(Type type)
{
    switch (type) {
        case Type::f16: return {0x1p-14L, 65504.0L};
        case Type::bf16: return {0x1p-126L, 0x1.fep127L};
        case Type::f32: return {0x1p-126L, 0x1.fffffep127L};
        default: return {0x1p-1022L, 0x1.fffffffffffffp1023L};
    }
}

/// Replaces zeros by ones, because zeros would hide the growth of products.
void replace_zeros(Array& array)
{
    const Type type = array.type();
    if (!is_float(type))
        return;
    Slot<double> one{};
    Machine<double>::set_real(one, type, 1.0);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(array.length()); ++i) {
        Slot<double> slot{};
        Machine<double>::load(slot, type, array.data(), i);
        if (Machine<double>::get_real(slot, type) == 0)
            Machine<double>::store(one, type, array.data(), i);
    }
}

/// True if all results for generated values in `range` are 0 or normal numbers of their types. Results are
/// computed in wide precision.
bool suits(const Operator& op, ValueRange range)
{
    Workload workload{op, {}, whole_segments(kElements)};
    std::map<std::string, Array> arrays;
    complete_arrays(op, workload.segments, {kSeed, range}, arrays);
    for (const auto& parameter : op.parameters) {
        workload.arrays.push_back(std::move(arrays.at(parameter.name)));
        replace_zeros(workload.arrays.back());
    }
    const auto bytecode = compile_bytecode(op);
    const auto inputs = inputs_of(workload);
    Evaluator<long double> evaluator(bytecode, inputs.tables);
    std::vector<WideValue> state(evaluator.state_fields());
    for (const auto length : kLengths)
        for (std::int64_t begin = 0; begin < kElements; begin += length) {
            evaluator.fold(inputs.columns, begin, begin + length, 0, 0, state.data());
            for (std::size_t i = 0; i < state.size(); ++i) {
                if (!is_float(bytecode.state[i]))
                    continue;
                const auto size = std::fabs(state[i].real);
                const auto [least, greatest] = normal_span(bytecode.state[i]);
                if (size != 0 && !(size >= least && size <= greatest))
                    return false;
            }
        }
    return true;
}

}  // namespace

ValueRange suiting_values(const Operator& op)
{
    if (std::ranges::none_of(op.state, [](const auto& field) { return is_float(field.type); }))
        return ValueRange::small_integers;
    try {
        for (const auto range : {ValueRange::small_integers, ValueRange::near_one, ValueRange::uniform})
            if (suits(op, range))
                return range;
    } catch (const InputError&) {
        // A table cannot be generated, or an element reads outside of it. The run itself will report this.
    }
    return ValueRange::small_integers;
}

}  // namespace segfold::cli
