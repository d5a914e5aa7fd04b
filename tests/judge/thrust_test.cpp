// thrust::reduce_by_key against the reference: on the CPU always, on a GPU where there is one.
#include "runtime/backends/thrust/reduce_by_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/thrust/flat_program.h"
#include "runtime/data/resolve.h"
#include "runtime/judge/compare.h"
#include "runtime/judge/reference.h"
#include "tests/common/message_of.h"
#include "tests/common/small_workloads.h"
#include "tests/scale/scan_cases.h"

namespace segfold::thrust_test {
namespace {

struct Shape {
    std::string name;
    Segments (*segments)();
    std::int64_t num_elements;
    bool has_empty;
};

Segments ranges(std::int64_t num_segments, std::int64_t longest, std::int64_t shortest,
                std::int64_t num_elements)
{
    Array begins(Type::i64, static_cast<std::size_t>(num_segments));
    Array ends(Type::i64, static_cast<std::size_t>(num_segments));
    const auto draw = generate_values(Type::u32, 2 * num_segments, 11, ValueRange::uniform);
    const auto lots = draw.as<std::uint32_t>();
    for (std::int64_t s = 0; s < num_segments; ++s) {
        const auto i = static_cast<std::size_t>(s);
        const std::int64_t length = shortest + lots[2 * i] % (longest - shortest + 1);
        begins.as<std::int64_t>()[i] = lots[2 * i + 1] % (num_elements - length + 1);
        ends.as<std::int64_t>()[i] = begins.as<std::int64_t>()[i] + length;
    }
    return segments_from_ranges(std::move(begins), std::move(ends), num_elements);
}

const Shape kShapes[] = {
    {"whole", [] { return whole_segments(30000); }, 30000, false},
    {"nothing", [] { return whole_segments(0); }, 0, true},
    {"no_segments", [] { return segments_from_offsets(indices({0}), 0); }, 0, false},
    {"all_empty",
     [] {
         return segments_from_offsets(indices({0, 0, 0, 0}), 0);
     },
     0, true},
    {"uniform_1", [] { return uniform_segments(5000, 1); }, 5000, false},
    {"uniform_33", [] { return uniform_segments(33 * 700, 33); }, 33 * 700, false},
    {"empty_ends_and_middle",
     [] {
         return segments_from_offsets(indices({0, 0, 0, 3, 3, 40, 41, 41, 77, 77}), 77);
     },
     77, true},
    {"geometric", [] { return resolve(parse_layout("geometric:mean=40,seed=2"), 50000).segments; }, 50000,
     true},
    {"giant", [] { return resolve(parse_layout("giant:half"), 60000).segments; }, 60000, false},
    {"overlapping_ranges", [] { return ranges(400, 300, 1, 5000); }, 5000, false},
    {"ranges_with_empty", [] { return ranges(400, 5, 0, 300); }, 300, true},
};

class Thrust : public testing::TestWithParam<std::tuple<ThrustSystem, const char*>> {};

Workload make_workload(const Operator& op, const Shape& shape)
{
    Workload workload{op, {}, shape.segments()};
    std::uint64_t seed = 17;
    for (const auto& parameter : workload.op.parameters)
        workload.arrays.push_back(
            generate_values(parameter.type, shape.num_elements, seed++,
                            is_float(parameter.type) ? ValueRange::uniform : ValueRange::edge));
    return workload;
}

TEST_P(Thrust, AgreesWithTheReference)
{
    const auto& [system, op_name] = GetParam();
    if (!thrust_available(system))
        GTEST_SKIP() << thrust_unavailable_reason(system);
    const auto op = standard_operator(op_name);
    for (const auto& shape : kShapes) {
        if (shape.has_empty && !op.allows_empty())
            continue;
        const auto workload = make_workload(op, shape);
        const auto comparison = compare(workload, reduce_by_key(workload, system));
        EXPECT_EQ(comparison.bit_for_bit, is_exact(op));
        EXPECT_TRUE(comparison.agrees()) << shape.name << ": " << print(comparison);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Standard, Thrust,
    testing::Combine(testing::Values(ThrustSystem::cpu, ThrustSystem::cuda),
                     testing::Values("sum_i32", "trace_u64", "affine_u32", "keep_first_i32",
                                     "max_subarray_i32", "argmax_i16", "argmin_f32", "max_f64", "sum_f32",
                                     "mean_variance_f32", "log_sum_exp_f32", "mean_f16")),
    [](const auto& info) {
        return std::string(name(std::get<0>(info.param))) + "_" + std::get<1>(info.param);
    });

class ThrustSystems : public testing::TestWithParam<ThrustSystem> {
protected:
    void SetUp() override
    {
        if (!thrust_available(GetParam()))
            GTEST_SKIP() << thrust_unavailable_reason(GetParam());
    }
};

INSTANTIATE_TEST_SUITE_P(All, ThrustSystems, testing::Values(ThrustSystem::cpu, ThrustSystem::cuda),
                         [](const auto& info) { return std::string(name(info.param)); });

Operator gathering_operator()
{
    return parse_operator("gather.seg", R"(
        operator weigh(scale: table i32, column: i32, bias: table i16, value: i32) -> (total: i32, length: i64) {
          state   sum: i32 = 0
          lift    column < 0 ? i32(position) : value * scale[column] + i32(bias[column])
          combine(a, b) a + b
          finish  { total = sum; length = length + 300000 * segment }
        })");
}

/// Columns are drawn from -2 .. largest.
Workload gathering_workload(std::int32_t largest)
{
    constexpr std::int64_t kElements = 30000;
    Workload workload{gathering_operator(), {}, resolve(parse_layout("poisson:mean=3"), kElements).segments};
    auto columns = generate_values(Type::i32, kElements, 3, ValueRange::uniform);
    for (auto& column : columns.as<std::int32_t>())
        column = static_cast<std::int32_t>(static_cast<std::uint32_t>(column) %
                                           static_cast<std::uint32_t>(largest + 3)) -
                 2;
    workload.arrays.push_back(generate_values(Type::i32, 500, 1, ValueRange::uniform));
    workload.arrays.push_back(std::move(columns));
    workload.arrays.push_back(generate_values(Type::i16, 500, 2, ValueRange::uniform));
    workload.arrays.push_back(generate_values(Type::i32, kElements, 4, ValueRange::uniform));
    return workload;
}

TEST_P(ThrustSystems, ReadsTables)
{
    const auto workload = gathering_workload(499);
    const auto comparison = compare(workload, reduce_by_key(workload, GetParam()));
    EXPECT_TRUE(comparison.agrees()) << print(comparison);
}

TEST_P(ThrustSystems, RefusesReadsOutsideOfATable)
{
    const auto workload = gathering_workload(500);
    const auto columns = workload.arrays[1].as<std::int32_t>();
    const auto first = std::ranges::find(columns, 500) - columns.begin();
    try {
        reduce_by_key(workload, GetParam());
        FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_EQ(error.what(), "table 'scale' has 500 entries; element " + std::to_string(first) +
                                    " reads scale[500], and indices run from 0 to 499");
    }
}

TEST_P(ThrustSystems, HoldsStatesOfEightFields)
{
    std::string state, lift, combine;
    for (int f = 0; f < 8; ++f) {
        const std::string field = "f" + std::to_string(f);
        state += field + ": i64 = 0; ";
        lift += field + " = i64(x) * " + std::to_string(f + 1) + "; ";
        combine += field + " = a." + field + " * 3 + b.f" + std::to_string((f + 3) % 8) + "; ";
    }
    // Not associative over longer segments; of two elements there is one fold.
    const auto op = parse_operator(
        "eight.seg", "operator eight(x: i32) -> (first: i64, last: i64) { state { " + state + "} lift { " +
                         lift + "} combine(a, b) { " + combine + "} finish { first = f0; last = f7 } }");
    const auto workload =
        workload_of(op, uniform_segments(2000, 2), generate_values(Type::i32, 2000, 9, ValueRange::uniform));
    const auto comparison = compare(workload, reduce_by_key(workload, GetParam()));
    EXPECT_TRUE(comparison.bit_for_bit);
    EXPECT_TRUE(comparison.agrees()) << print(comparison);
}

TEST_P(ThrustSystems, IsDescribed)
{
    EXPECT_TRUE(thrust_description(GetParam()).starts_with("Thrust ")) << thrust_description(GetParam());
}

TEST(ThrustLimits, RefusesStatesOfNineFields)
{
    std::string state, lift, combine;
    for (char field = 'a'; field <= 'i'; ++field) {
        const std::string name = std::string("f_") + field;
        state += name + ": i32 = 0; ";
        lift += name + " = x; ";
        combine += name + " = a." + name + " + b." + name + "; ";
    }
    const auto op =
        parse_operator("nine.seg", "operator nine(x: i32) -> i32 { state { " + state + "} lift { " + lift +
                                       "} combine(a, b) { " + combine + "} finish f_a }");
    EXPECT_EQ(thrust_objection(op),
              "operator nine has a state of 9 fields; thrust's functors hold at most 8");
    EXPECT_EQ(thrust_objection(standard_operator("mean_variance_f32")), "");
    if (!thrust_available(ThrustSystem::cpu))
        return;
    const auto workload = workload_of(op, whole_segments(1), array_of<std::int32_t>(Type::i32, {1}));
    EXPECT_THROW(reduce_by_key(workload, ThrustSystem::cpu), InputError);
}

/// Exact operators that are not commutative, in both directions, over every layout and over the threads'
/// borders.
TEST(Thrust, ScansByKey)
{
    if (!thrust_available(ThrustSystem::cpu))
        GTEST_SKIP() << thrust_unavailable_reason(ThrustSystem::cpu);
    const auto expect_reference = [](const Workload& workload, const std::string& what) {
        const auto found = reduce_by_key(workload, ThrustSystem::cpu);
        const auto wanted = reduce_sequentially(workload);
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t f = 0; f < wanted.size(); ++f) {
            ASSERT_EQ(found[f].array.bytes(), wanted[f].array.bytes());
            EXPECT_EQ(std::memcmp(found[f].array.data(), wanted[f].array.data(), wanted[f].array.bytes()), 0)
                << wanted[f].name << " of " << workload.op.name << " over " << what
                << (workload.op.scan->reverse ? " from the end" : "");
        }
    };
    for (const auto& op : test::scan_operators()) {
        for (const auto& [name, lengths] : test::border_cases())
            for (auto& [layout, segments] : test::scan_segments(op, name, lengths))
                expect_reference(test::slice_workload(op, std::move(segments)), layout);
        expect_reference(test::slice_workload(op, uniform_segments(200000, 40000)), "five long segments");
    }
}

/// The state before an element is not joined with the identity, which is neutral on finite values alone.
TEST(Thrust, ScansWithoutTheIdentity)
{
    if (!thrust_available(ThrustSystem::cpu))
        GTEST_SKIP() << thrust_unavailable_reason(ThrustSystem::cpu);
    const auto op = parse_operator("scans", R"(operator last_scaled(x: f32) -> each f32 {
        state { last: f32 = 0; scale: f32 = 1 }
        lift { last = x; scale = 0 }
        combine(a, b) { last = a.last * b.scale + b.last; scale = a.scale * b.scale }
        scan(before, through) before.last
    })");
    const auto workload = workload_of(op, whole_segments(3), array_of<float>(Type::f32, {INFINITY, 2, 3}));
    const auto found = reduce_by_key(workload, ThrustSystem::cpu);
    EXPECT_EQ(found[0].array.as<float>()[0], 0);
    EXPECT_EQ(found[0].array.as<float>()[1], INFINITY);
}

TEST(Thrust, FindsReadsOutsideOfTablesInScans)
{
    if (!thrust_available(ThrustSystem::cpu))
        GTEST_SKIP() << thrust_unavailable_reason(ThrustSystem::cpu);
    const auto op = parse_operator("scans", R"(operator looked(x: i32, t: table i32) -> each i32 {
        state s: i32 = 0
        lift x
        combine(a, b) a + b
        scan(before, through) t[x] + through
    })");
    Workload workload{op, {}, whole_segments(3)};
    workload.arrays.push_back(array_of<std::int32_t>(Type::i32, {1, 0, 2}));
    workload.arrays.push_back(array_of<std::int32_t>(Type::i32, {5, 6}));
    EXPECT_EQ(test::message_of<InputError>([&] { (void)reduce_by_key(workload, ThrustSystem::cpu); }),
              "table 't' has 2 entries; scan of element 2 reads t[2], and indices run from 0 to 1");
}

TEST(FlatProgram, UsesFewSlotsAndKeepsInputsInPlace)
{
    // ((((x + 1) + 2) + 3) ... + 40): forty intermediate values and forty constants, one value at a time.
    std::string lift = "x";
    for (int i = 1; i <= 40; ++i)
        lift = "(" + lift + " + " + std::to_string(i) + ")";
    const auto op =
        parse_operator("long.seg", "operator long_lift(x: i32) -> i32 { state s: i32 = 0\n lift " + lift +
                                       "\n combine(a, b) a + b }");
    const auto program = compile_bytecode(op).lift;
    const auto flat = flatten(program);
    EXPECT_EQ(program.num_slots, 4 + 40 + 40);
    EXPECT_EQ(flat.num_slots, 4 + 40);
    EXPECT_EQ(flat.code.size(), program.code.size());
    std::vector<Slot<double>> slots(static_cast<std::size_t>(flat.num_slots));
    slots[0].bits = 5;
    for (const auto& preset : flat.presets)
        slots[preset.slot] = preset.value;
    Machine<double>::run(flat.code.data(), static_cast<int>(flat.code.size()), slots.data(), nullptr);
    EXPECT_EQ(slots[flat.outputs[0]].bits, 5U + 40 * 41 / 2);
}

}  // namespace
}  // namespace segfold::thrust_test
