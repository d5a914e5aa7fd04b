#pragma once
// Checks standard operators, each in one of its types with fitting data, against the reference and Thrust.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "dsl/text/standard_operators.h"
#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/judge/compare.h"
#include "tests/common/stage_cases.h"

namespace segfold::test {

/// A standard operator, in a type that changes from operator to operator.
struct LibraryOperator {
    std::size_t number;
    std::string name;
    Type type;

    [[nodiscard]] Operator op() const { return standard_operator(name, type); }
};

/// Returns the standard operators. `round` selects the types: round 0 takes the first type of the first
/// operator, the second type of the second, and so on.
inline std::vector<LibraryOperator> library(std::size_t round = 0)
{
    std::vector<LibraryOperator> all;
    for (const auto& standard : standard_operators()) {
        std::vector<Type> types = standard.types;
        std::erase(types, Type::boolean);
        all.push_back({all.size(), standard.name, types[(all.size() + round) % types.size()]});
    }
    return all;
}

/// "argmax_f32"
inline std::string print(const LibraryOperator& op) { return op.name + "_" + std::string(name(op.type)); }
[[maybe_unused]] inline void PrintTo(const LibraryOperator& op, std::ostream* out) { *out << print(op); }

/// Generates arrays for `op` over segments. Tables are long enough for the columns that index them; scalars
/// have one value.
inline Workload library_workload(const Operator& op, Segments segments, std::uint64_t seed)
{
    const bool rounds =
        std::ranges::any_of(op.parameters, [](const Parameter& p) { return is_float(p.type); });
    std::map<std::string, Array> arrays;
    if (op.name == "group_norm") {  // its channels are computed, so that nothing bounds them
        const auto columns = standard_operator("dot", op.parameters[0].type);
        std::map<std::string, Array> numbers;
        complete_arrays(columns, whole_segments(4096), {seed, ValueRange::near_one}, numbers);
        arrays["weight"] = std::move(numbers.at(columns.parameters[0].name));
        arrays["bias"] = std::move(numbers.at(columns.parameters[1].name));
        arrays["groups"] = Array::of<std::int64_t>(Type::i64, std::vector<std::int64_t>{2});
        arrays["area"] = Array::of<std::int64_t>(Type::i64, std::vector<std::int64_t>{5});
    }
    complete_arrays(op, segments, {seed, rounds ? ValueRange::near_one : ValueRange::small_integers}, arrays);
    Workload workload;
    workload.op = op;
    workload.segments = std::move(segments);
    for (const auto& parameter : op.parameters)
        workload.arrays.push_back(std::move(arrays.at(parameter.name)));
    return workload;
}

/// Compares results with the reference, and with Thrust if its functors can hold the operator.
inline void expect_agreement(const Workload& workload, const Results& results, const std::string& what)
{
    const Judge judge(workload);
    const auto comparison = judge.compare(results);
    EXPECT_TRUE(comparison.agrees()) << what << ": " << segfold::print(comparison);
    if (!thrust_objection(workload.op).empty() || !thrust_available(ThrustSystem::cpu))
        return;
    const auto thrust = reduce_by_key(workload, ThrustSystem::cpu);
    const auto other = judge.compare(results, thrust, "thrust");
    EXPECT_TRUE(other.agrees()) << what << ", Thrust: " << segfold::print(other);
}

}  // namespace segfold::test
