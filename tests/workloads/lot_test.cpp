// Workloads by lot: the lengths that are drawn, the cases of a sweep, and what is made of its measurements.
#include "runtime/data/generated/lot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "dsl/error.h"
#include "runtime/measure/bench/workloads/lot_cases.h"
#include "runtime/session/choice/lookup.h"

namespace segfold::lot_test {
namespace {

using bench::Entry;
using bench::WorkloadRecord;

/// A seed that draws such lengths.
std::uint64_t seed_of(LotKind kind, std::uint64_t from = 1)
{
    while (lot_kind(from) != kind)
        ++from;
    return from;
}

TEST(Lot, LengthsAddUpAndAreDrawnAgain)
{
    std::set<LotKind> kinds;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        for (const std::int64_t num_elements : {1, 1000, 70001}) {
            const auto lengths = lot_lengths(seed, num_elements);
            EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), num_elements);
            EXPECT_TRUE(std::ranges::all_of(lengths, [](auto length) { return length >= 0; })) << seed;
            EXPECT_EQ(lengths, lot_lengths(seed, num_elements));
            kinds.insert(lot_kind(seed));
        }
    EXPECT_EQ(kinds.size(), 10u);
}

TEST(Lot, KindsHaveTheShapesThatTheyAreNamedAfter)
{
    constexpr std::int64_t n = 200000;
    const auto of = [&](LotKind kind) { return lot_lengths(seed_of(kind), n); };
    EXPECT_TRUE(std::ranges::is_sorted(of(LotKind::ascending)));
    EXPECT_TRUE(std::ranges::is_sorted(of(LotKind::descending), std::greater<>()));
    const auto equal = of(LotKind::equal);
    EXPECT_EQ(std::ranges::count(equal, equal.front()) + 1,
              std::ssize(equal) + (n % equal.front() == 0 ? 1 : 0));
    for (const auto kind : {LotKind::mostly_empty, LotKind::empty_runs}) {
        const auto lengths = of(kind);
        EXPECT_GT(std::ranges::count(lengths, 0), std::ssize(lengths) / 4) << name(kind);
    }
    const auto mixed = of(LotKind::mixture);
    EXPECT_EQ(std::set<std::int64_t>(mixed.begin(), mixed.end() - 1).size(), 2u);
    const auto teeth = of(LotKind::saw_teeth);
    EXPECT_EQ(std::vector(teeth.begin(), teeth.begin() + 3), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(LotCases, AreDrawnFromASeedAndCoverSizes)
{
    const auto lot = bench::parse_lot("lot:200,seed=3");
    ASSERT_TRUE(lot);
    const auto cases = bench::lot_cases(*lot);
    ASSERT_EQ(cases.size(), 200u);
    int uniform = 0, little = 0;
    for (const auto& [layout, num_elements] : cases) {
        ASSERT_TRUE(num_elements);
        EXPECT_GE(*num_elements, (std::int64_t{1} << 15));
        EXPECT_LE(*num_elements, std::int64_t{1} << 28);
        if (layout.kind == LayoutKind::uniform) {
            ++uniform;
            EXPECT_EQ(*num_elements % layout.uniform_length, 0);
        }
        little += *num_elements < (1 << 22) ? 1 : 0;
    }
    EXPECT_NEAR(uniform, 80, 25);
    EXPECT_NEAR(little, 100, 30);
    EXPECT_EQ(print(bench::lot_cases({200, 3})[7].layout), print(cases[7].layout));
    EXPECT_NE(print(bench::lot_cases({200, 4})[7].layout), print(cases[7].layout));
    for (const auto& [layout, num_elements] : bench::lot_cases({50, 3, 1 << 10, 1 << 12})) {
        EXPECT_GE(*num_elements, 1 << 9);
        EXPECT_LE(*num_elements, 1 << 12);
    }
    for (const auto& [layout, num_elements] : bench::lot_cases({50, 3, 1, 1}))
        EXPECT_EQ(*num_elements, 1);
    EXPECT_FALSE(bench::parse_lot("sizes"));
    for (const auto* text : {"lot", "lot:0", "lot:x", "lot:5,seed=-1", "lot:5,7x"})
        EXPECT_THROW(bench::parse_lot(text), InputError) << text;
}

TEST(Lookup, SortedAndShuffledLengthsAreApart)
{
    const Shape unknown{1 << 20, 1 << 15, 4096};
    Shape sorted = unknown, shuffled = unknown, larger{1 << 21, 1 << 16, 4096};
    sorted.padded = 1 << 20;
    shuffled.padded = 1 << 24;
    larger.padded = 1 << 21;
    EXPECT_FALSE(is_same(sorted, shuffled));
    EXPECT_DOUBLE_EQ(distance(sorted, shuffled), 2);
    EXPECT_TRUE(is_same(sorted, unknown)) << "nobody knows";
    EXPECT_DOUBLE_EQ(distance(sorted, unknown), 0);
    EXPECT_DOUBLE_EQ(distance(sorted, larger), 1) << "padding grows with the elements";
}

WorkloadRecord record_of(double chosen, double other)
{
    WorkloadRecord record;
    record.op = "sum";
    record.facts = {4, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    record.form = SegmentForm::offsets;
    record.num_elements = 1000;
    record.num_segments = 10;
    record.longest_length = 400;
    record.padded_elements = 4000;
    Entry entry;
    entry.stage_hash = "1f3a90c5d2e4b687";
    entry.name = "tile_scan";
    entry.is_chosen = true;
    entry.bytes_per_second = chosen * 4e12;
    entry.fraction = chosen;
    record.entries.push_back(entry);
    entry.name = "warp_stream:held_totals=64,block_threads=128";
    entry.is_chosen = false;
    entry.bytes_per_second = other * 4e12;
    entry.fraction = other;
    record.entries.push_back(entry);
    entry.name = "cub_segmented";
    entry.stage_hash = "";
    entry.is_peer = true;
    entry.bytes_per_second = 4e12;
    record.entries.push_back(entry);
    return record;
}

TEST(LotCases, HoldTheChosenPlanAgainstTheBestStage)
{
    const std::vector<WorkloadRecord> records = {record_of(0.5, 0.25), record_of(0.25, 0.5)};
    EXPECT_EQ(bench::chosen_shares(records), (std::vector<double>{1.0, 0.5}));
    EXPECT_NE(bench::print_deciles({1.0, 0.25}).find("geometric mean 0.500, worst 0.250"), std::string::npos);
    EXPECT_EQ(bench::print_deciles({}), "");
    bench::MachineRecord machine;
    machine.date = "2026-11-20";
    machine.device = "GPU";
    machine.driver = "13.0";
    machine.compiler = "NVRTC 13.0";
    EXPECT_EQ(
        bench::titles_of_rates(),
        "date,device,driver,compiler,operator,element_bytes,state_bytes,combine_cost,commutative,gathers,map,"
        "row_bytes,gathers_rows,calls_library,mixed_fields,many_fields,wide_vectors,element_cost,result_"
        "bytes,form,"
        "elements,segments,longest,padded,features,rates\n");
    EXPECT_EQ(bench::print_rates({records[0]}, machine),
              "2026-11-20,GPU,13.0,NVRTC 13.0,sum_f32,4,4,1,1,0,0,0,0,0,0,0,0,offsets,1000,10,400,4000,1,"
              "tile_scan@1f3a90=0.5 warp_stream@1f3a90:held_totals=64;block_threads=128=0.25\n");
}

}  // namespace
}  // namespace segfold::lot_test
