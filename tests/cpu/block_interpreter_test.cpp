// The fold of a machine without a compiler: every operator x layout x shape against the reference.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cpu/block_interpreter.h"
#include "runtime/judge/compare.h"
#include "tests/common/library_cases.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::block_interpreter_test {
namespace {

constexpr std::int64_t kBlock = 256;    // lanes of a block
constexpr std::int64_t kShare = 16384;  // steps of a share

Results run_interpreted(const Workload& workload)
{
    auto results = allocate_results(workload);
    cpu::interpret(workload, results);
    return results;
}

void expect_agrees(const Workload& workload, const std::string& what)
{
    const auto comparison = Judge(workload).compare(run_interpreted(workload));
    EXPECT_TRUE(comparison.agrees()) << workload.op.name << " " << what << ": " << segfold::print(comparison);
}

class BlockInterpreter : public testing::TestWithParam<std::string> {};

TEST_P(BlockInterpreter, AgreesWithTheReferenceOnEveryShape)
{
    const auto op = matrix_operator(GetParam());
    for (const auto kind : kLayoutKinds)
        for (const int bits : {32, 64})
            for (const auto& shape : segment_cases(kind, kBlock / 8, kBlock, op.allows_empty()))
                expect_agrees(make_workload(op, with_index_bits(shape.segments.copy(), bits), 11),
                              shape.name);
}

TEST_P(BlockInterpreter, JoinsWhatSharesLeave)
{
    const auto op = matrix_operator(GetParam());
    std::mt19937_64 random(3);
    std::vector<std::vector<std::int64_t>> all = {
        {kShare, kShare, 1, kShare - 1}, {kShare - 1, kShare - 1, 5 * kShare, 2}, {3, 3 * kShare + 7}, {}};
    for (int i = 0; i < 20000; ++i)
        all.back().push_back(1 + static_cast<std::int64_t>(random() % 8));
    if (op.allows_empty())
        for (int i = 0; i < 40000; ++i)
            all[2].push_back(i % 1000 == 999 ? 40 : 0);
    for (const auto& lengths : all)
        for (const auto form : {SegmentForm::offsets, SegmentForm::ranges})
            expect_agrees(make_workload(op, segments_in_form(form, lengths), 5),
                          std::to_string(lengths.size()) + " segments");
}

INSTANTIATE_TEST_SUITE_P(Matrix, BlockInterpreter, testing::ValuesIn(kMatrixOperators),
                         [](const auto& info) { return info.param; });

TEST(BlockInterpreter, FoldsEveryStandardOperator)
{
    for (const auto& known : standard_operators())
        for (const auto type : known.types.empty() ? std::vector<Type>{Type::i32} : known.types) {
            const auto op =
                known.types.empty() ? standard_operator(known.name) : standard_operator(known.name, type);
            if (!op.outputs.empty())
                continue;  // which no stage of the host takes
            const std::int64_t first = op.allows_empty() ? 0 : 2;
            const std::vector<std::int64_t> lengths = {first, 3, 700, 1, first, 900, 17, 5, 255, 1, 16, 15};
            expect_agrees(library_workload(op, segments_in_form(SegmentForm::offsets, lengths), 5),
                          std::string(name(type)));
        }
}

TEST(BlockInterpreter, GivesTheSameBitsEachTime)
{
    const auto op = standard_operator("sum_f32");
    const auto workload =
        make_workload(op, segments_in_form(SegmentForm::offsets, {100000, 3, 70000, 12}), 5);
    const auto first = run_interpreted(workload);
    for (int i = 0; i < 5; ++i) {
        const auto again = run_interpreted(workload);
        ASSERT_EQ(std::memcmp(first[0].array.data(), again[0].array.data(), first[0].array.bytes()), 0);
    }
}

/// A choice whose sides read tables is a jump: each lane reads on its own side only.
TEST(BlockInterpreter, LanesReadTheTableOfTheirOwnSide)
{
    const auto op =
        parse_operator("sides.seg",
                       "operator sides(at: i32, t: table i32, u: table i32) -> i32 { state s: i32 = 0  "
                       "lift at >= 0 ? (at < 50 ? t[at] : u[at - 50]) : -1  combine(a, b) a + b }");
    Workload workload{op, {}, uniform_segments(3000, 3)};
    std::vector<std::int32_t> at(3000), t(50), u(20);
    for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = static_cast<std::int32_t>(i * 7 % 71) - 1;
    for (std::size_t i = 0; i < t.size(); ++i)
        t[i] = static_cast<std::int32_t>(i * i);
    for (std::size_t i = 0; i < u.size(); ++i)
        u[i] = -1000 * static_cast<std::int32_t>(i);
    for (auto* values : {&at, &t, &u})
        workload.arrays.push_back(Array::borrow(Type::i32, values->data(), values->size()));
    expect_agrees(workload, "both sides");
    at[1717] = 70;
    try {
        (void)run_interpreted(workload);
        ADD_FAILURE() << "a read outside of a table was not noticed";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("1717"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace segfold::test::block_interpreter_test
