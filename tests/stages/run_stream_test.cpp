// Delicate cases of the stages run_stream and run_tiles: more heads than a warp holds keys, and arrays of
// keys and flags that begin anywhere.
#include <gtest/gtest.h>

#include <utility>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::run_stream_test {
namespace {

constexpr int kTiles = 0;  // selects run_tiles, in which each warp has one slice

/// Runs blocks of 128 threads. Three warps of a block fold, each with `slices` slices of `items` items a
/// lane.
void expect_agreement(const std::string& what, const Workload& workload, int items, int slices,
                      Numbers numbers = Numbers::constant, int shifted_elements = 0)
{
    SCOPED_TRACE(what + ", " + std::to_string(slices) + " slices of " + std::to_string(items));
    const auto& stage = Catalogue::standard().stage(slices == kTiles ? "run_tiles" : "run_stream");
    Problem problem(workload.op, workload.segments.form);
    if (workload.segments.form == SegmentForm::keys)
        problem.key_bytes = static_cast<int>(size_bytes(workload.segments.item_keys.type()));
    Configuration configuration = {{"block_threads", 128}, {"items_per_thread", items}};
    configuration["slices_per_warp"] = slices == kTiles ? 1 : slices;
    configuration.emplace(slices == kTiles ? std::pair("copies", 0) : std::pair("resident_threads", 768));
    const auto emitted = emit(problem, stage, configuration, Catalogue::standard(), numbers);
    try {
        const auto comparison = Judge(workload).compare(
            simt::run(workload, emitted, simt::options_from_seed(3), {}, 1, 1, shifted_elements));
        EXPECT_TRUE(comparison.agrees()) << segfold::print(comparison);
    } catch (const simt::SimtError& error) {
        ADD_FAILURE() << error.what();
    }
}

/// Lengths of `length`, with a longer one now and then.
std::vector<std::int64_t> lengths_of(std::int64_t length, std::int64_t num_elements)
{
    std::vector<std::int64_t> lengths;
    for (std::int64_t left = num_elements; left > 0; left -= lengths.back())
        lengths.push_back(std::min(left, lengths.size() % 700 == 699 ? 3000 : length));
    return lengths;
}

void set_key(Array& keys, std::size_t item, std::size_t key)
{
    switch (keys.type()) {
        case Type::i8: keys.as<std::int8_t>()[item] = static_cast<std::int8_t>(key); return;
        case Type::i16: keys.as<std::int16_t>()[item] = static_cast<std::int16_t>(key); return;
        case Type::u32: keys.as<std::uint32_t>()[item] = static_cast<std::uint32_t>(key); return;
        case Type::i64: keys.as<std::int64_t>()[item] = static_cast<std::int64_t>(key); return;
        default: keys.as<double>()[item] = static_cast<double>(key);
    }
}

TEST(RunStream, KeysMayBeMoreThanAWarpHolds)
{
    for (const std::string op : {"trace_u64", "sum_i32"})
        for (const int slices : {kTiles, 8, 16})
            for (const std::int64_t length : {1, 2, 5}) {
                const auto workload = make_workload(op, from_keys(lengths_of(length, 60001)), 5);
                expect_agreement(op + " of " + std::to_string(length), workload, 16, slices,
                                 slices == 8 ? Numbers::constant : Numbers::at_launch);
            }
}

/// A warp holds 1024 keys. The first key too many is the first head of a slice.
TEST(RunStream, KeysMayBeOneMoreThanAWarpHolds)
{
    for (const std::size_t ones : {1023, 1024, 1025}) {
        std::vector<std::int64_t> lengths(ones, 1);
        lengths.insert(lengths.end(), {3000, 7, 1});
        for (const int slices : {kTiles, 8})
            expect_agreement(std::to_string(ones), make_workload("sum_i32", from_keys(lengths), 5), 16,
                             slices);
    }
}

/// The first segment begins with the first item, whatever its flag says.
TEST(RunStream, TheFirstFlagMayBeMissing)
{
    for (const int slices : {kTiles, 1, 8}) {
        auto segments = from_flags(lengths_of(7, 9001));
        segments.flags.as<std::uint8_t>()[0] = 0;
        expect_agreement("first flag 0", make_workload("sum_i32", std::move(segments), 5), 16, slices);
    }
}

/// Keys of every width. Keys of 8 bytes fill a warp's room twice as fast.
TEST(RunStream, KeysMayHaveAnyWidth)
{
    for (const auto type : {Type::i8, Type::i16, Type::u32, Type::i64, Type::f64}) {
        const auto lengths = lengths_of(2, 20011);
        Array keys(type, 20011);
        std::size_t item = 0;
        for (std::size_t s = 0; s < lengths.size(); ++s)
            for (std::int64_t i = 0; i < lengths[s]; ++i, ++item)
                set_key(keys, item, s % 101);
        const auto workload = make_workload("trace_u64", segments_from_keys(std::move(keys), 20011), 5);
        for (const int slices : {kTiles, 8})
            expect_agreement(std::string(name(type)), workload, 16, slices);
    }
}

/// Arrays of flags, keys and columns that do not begin at a vector.
TEST(RunStream, ArraysMayBeginAnywhere)
{
    for (const auto& segments : {from_keys(lengths_of(7, 9001)), from_flags(lengths_of(7, 9001))})
        for (const int slices : {kTiles, 4})
            for (const std::string op : {"affine_u32", "sum_i32"})
                for (const int shift : {1, 2, 3})
                    expect_agreement(
                        std::string(name(segments.form)) + ", " + op + ", " + std::to_string(shift),
                        make_workload(op, segments.copy(), 5), 16, slices, Numbers::constant, shift);
}

/// Lengths follow from the places of heads in slices, shares and tiles.
TEST(RunStream, LengthsAreKnown)
{
    const auto op = parse_operator("lengths", R"(
        operator lengths(x: i32) -> i64 {
            state sum: i64 = 0
            lift i64(x)
            combine(a, b) a + b
            finish sum * 1000 + i64(length)
        })");
    for (const auto& segments : {from_keys(lengths_of(3, 30007)), from_flags(lengths_of(90, 30007))})
        for (const int slices : {kTiles, 1, 16})
            expect_agreement(std::string(name(segments.form)), make_workload(op, segments.copy(), 5), 16,
                             slices);
}

}  // namespace
}  // namespace segfold::test::run_stream_test
