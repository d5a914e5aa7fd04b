#include "codegen/order/order_facts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dsl/lasting.h"

namespace segfold {
namespace {

constexpr int kSteps = 16;                                                    // steps per octave
constexpr std::size_t kElementBytes = 0, kStateBytes = 1, kResultBytes = 13;  // indices of facts

/// Returns the binary logarithm of `value` in sixteenths, rounded down.
int steps(double value)
{
    return value > 0 ? static_cast<int>(std::floor(kSteps * std::log2(value))) : kUnknownFact;
}

}  // namespace

OrderFacts order_facts(const FormulaNames& plan_facts)
{
    static const FormulaName num_elements("num_elements"), num_segments("num_segments"),
        longest_length("longest_length"), padded_elements("padded_elements"), num_features("num_features"),
        whole("whole"), uniform("uniform"), flags("flags"), keys("keys");
    static const auto& row_facts = lasting([] {  // folds may go on while the process ends
        std::vector<FormulaName> names;
        for (const auto& [name, is_logarithm] : kRowFacts)
            names.emplace_back(name);
        return names;
    });
    const auto value = [&](FormulaName name) {
        const auto* found = plan_facts.find(name);
        return found == nullptr ? std::int64_t{0} : *found;
    };
    const bool is_equal = value(uniform) != 0 || value(whole) != 0;
    constexpr std::int64_t kElements = std::int64_t{1} << 24, kMean = 64, kFeatures = 64;
    std::int64_t elements = value(num_elements), segments = value(num_segments);
    if (elements <= 0)
        elements = segments > 0 ? segments * kMean : kElements;
    if (value(whole) != 0)
        segments = 1;
    if (segments <= 0)
        segments = std::max<std::int64_t>(1, elements / kMean);
    const std::int64_t longest = is_equal ? elements / segments : value(longest_length);
    const std::int64_t padded = is_equal ? elements : value(padded_elements);
    const auto row_bytes = is_equal ? longest * value(row_facts[kElementBytes]) : 0;
    const auto n = static_cast<double>(elements), m = static_cast<double>(segments),
               most = static_cast<double>(longest), mean = n / m,
               bytes = static_cast<double>(value(row_facts[kElementBytes])),
               state = static_cast<double>(value(row_facts[kStateBytes])),
               results = static_cast<double>(value(row_facts[kResultBytes]));
    OrderFacts facts = {};
    auto next = facts.begin();
    for (std::size_t i = 0; i < kRowFacts.size(); ++i) {
        const auto own = value(row_facts[i]);
        *next++ = kRowFacts[i].second ? steps(static_cast<double>(own)) : static_cast<int>(own);
    }
    const bool has_rows = value(row_facts[kRowBytesFact]) != 0;
    const auto features = value(num_features) > 0 ? value(num_features) : kFeatures;
    for (const auto fact : {value(flags) != 0  ? 2
                            : value(keys) != 0 ? 3
                            : is_equal         ? 0
                                               : 1,
                            steps(n), steps(m), steps(mean), steps(most / mean), steps(most / n),
                            steps(static_cast<double>(padded) / n),
                            static_cast<int>(std::min<std::int64_t>(16, row_bytes & -row_bytes)),
                            steps(n * bytes), steps(mean * bytes), steps(mean * state), steps(most),
                            steps(m * results), steps(has_rows ? static_cast<double>(features) : 0)})
        *next++ = fact;
    return facts;
}

OrderFacts as_offsets(OrderFacts facts)
{
    facts[kFormFact] = 1;
    return facts;
}

}  // namespace segfold
