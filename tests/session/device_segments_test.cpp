// The kernels that prepare segments for a plan on a GPU, on the fiber executor: lengths converted to offsets,
// checks, ranges given by begins and ends.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>

#include "codegen/catalogue.h"
#include "codegen/embedded_kernels.h"
#include "codegen/emit.h"
#include "dsl/text/parser.h"
#include "runtime/backends/bound_plan.h"
#include "tests/simt_kernels/run.h"

namespace segfold {

namespace simt::device_segments_test {
namespace {

constexpr std::size_t kTile = 4096;

std::string text_for(bool is_wide)
{
    return (is_wide ? "using Index = long long;\n" : "using Index = int;\n") +
           std::string(segfold::kernel_text("measuring/item_offsets.cu"));
}

Program program_for(bool is_wide)
{
    return compile(text_for(is_wide), {"make_offsets", "check_offsets", "check_ranges"});
}

template <class T>
Buffer filled(const std::string& name, const std::vector<T>& values)
{
    Buffer buffer(name, values.size() * sizeof(T));
    if (!values.empty())
        std::memcpy(buffer.data(), values.data(), values.size() * sizeof(T));
    return buffer;
}

/// The memory of make_offsets besides the lengths, kept from run to run as in a plan.
template <class Index>
struct Maker {
    Program program;
    std::size_t num_segments;
    unsigned num_tiles = static_cast<unsigned>((num_segments + kTile - 1) / kTile);
    Buffer offsets{"offsets", (num_segments + 1) * sizeof(Index)};
    Buffer words{"words", std::size_t{num_tiles} * 2 * sizeof(std::uint64_t)};
    Buffer state{"state", 2 * sizeof(unsigned)};

    Maker(Program made, std::size_t segments) : program(std::move(made)), num_segments(segments)
    {
        std::memset(words.data(), 0, words.bytes());
        std::memset(state.data(), 0, state.bytes());
    }

    std::string run(const std::vector<Index>& lengths, const Options& options, Fault* fault = nullptr)
    {
        std::memset(offsets.data(), 0xcd, offsets.bytes());
        auto given = filled("lengths", lengths);
        return fault_of(program, "make_offsets", {.grid_x = num_tiles, .block_x = 256},
                        Arguments(given.data(), offsets.data(), words.data(), state.data(),
                                  static_cast<long long>(num_segments)),
                        options, fault);
    }

    [[nodiscard]] std::vector<Index> found()
    {
        const auto values = offsets.template as<Index>();
        return {values.begin(), values.end()};
    }
};

template <class Index>
std::vector<Index> some_lengths(std::size_t count, unsigned seed)
{
    std::vector<Index> lengths(count);
    for (auto& length : lengths) {
        seed = seed * 1664525u + 1013904223u;
        length = static_cast<Index>(seed >> 24) % 7;
        if (sizeof(Index) == 8 && seed >> 28 == 3)
            length = static_cast<Index>(std::int64_t{seed} << 13);
    }
    return lengths;
}

template <class Index>
std::vector<Index> offsets_of(const std::vector<Index>& lengths)
{
    std::vector<Index> offsets(lengths.size() + 1);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    return offsets;
}

template <class Index>
void expect_offsets(std::size_t num_segments, std::span<const Options> all)
{
    for (const auto& options : all) {
        Maker<Index> maker(program_for(sizeof(Index) == 8), num_segments);
        // Each run has other lengths: values that earlier runs left must not count.
        for (unsigned launch = 1; launch <= 3; ++launch) {
            const auto lengths = some_lengths<Index>(num_segments, launch);
            ASSERT_EQ(maker.run(lengths, options), "no fault")
                << num_segments << " of " << sizeof(Index) << " bytes, seed " << options.seed
                << ", OS threads " << options.os_threads << ", launch " << launch;
            ASSERT_TRUE(maker.found() == offsets_of(lengths)) << num_segments << ", launch " << launch;
            EXPECT_EQ(maker.state.template as<unsigned>()[0], 0u);
            EXPECT_EQ(maker.state.template as<unsigned>()[1], launch);
        }
    }
}

TEST(DeviceSegments, LengthsBecomeOffsetsInEverySchedule)
{
    const auto all = many_options();
    for (const std::size_t num_segments : {std::size_t{1}, kTile - 1, kTile, kTile + 1, 5 * kTile + 37}) {
        expect_offsets<std::int32_t>(num_segments, all);
        expect_offsets<std::int64_t>(num_segments, all);
    }
}

TEST(DeviceSegments, LookBackPassesManyTiles)
{
    auto options = options_from_seed(3);
    options.resident_blocks = 48;  // more than a warp looks at at once
    const std::vector<Options> one = {options};
    expect_offsets<std::int32_t>((std::size_t{1} << 18) + 1, one);
    expect_offsets<std::int64_t>((std::size_t{1} << 18) + 1, one);
}

TEST(DeviceSegments, NumbersOfLaunchesMayPassTheirBits)
{
    for (const unsigned before : {0x3ffffffeu, 0xfffffffeu}) {
        Maker<std::int64_t> maker(program_for(true), 2 * kTile);
        maker.state.as<unsigned>()[1] = before;
        for (unsigned launch = 1; launch <= 4; ++launch) {
            const auto lengths = some_lengths<std::int64_t>(2 * kTile, launch);
            ASSERT_EQ(maker.run(lengths, options_from_seed(launch)), "no fault");
            EXPECT_TRUE(maker.found() == offsets_of(lengths)) << before << " and " << launch;
        }
    }
}

/// Planted bugs: each change of the order of the kernel's steps must give a race or wrong sums.
TEST(DeviceSegments, PlantedBugsAreSeen)
{
    const std::vector<std::pair<std::string, std::string>> bugs = {
        {"    __syncthreads();  // thread 0 has written the ticket\n", "\n"},
        {"    __syncthreads();  // the lengths are written\n", "\n"},
        {"    __syncthreads();  // the sum of earlier tiles and the offsets in the tile are written\n", "\n"},
        {"    __syncthreads();\n    Index before = 0;", "    \n    Index before = 0;"},
        {"if ((counting & ~known) == 0)", "if (true)"},
        {"return kNothing;", "return kPrefix;"},
        {"state[1] = launch;", ";"}};
    for (const auto& [part, replacement] : bugs) {
        const auto program = compile(planted(text_for(false), part, replacement), {"make_offsets"});
        bool is_seen = false;
        for (const auto& options : many_options()) {
            Maker<std::int32_t> maker(program, 6 * kTile);
            for (unsigned launch = 1; launch <= 2 && !is_seen; ++launch) {
                const auto lengths = some_lengths<std::int32_t>(6 * kTile, launch);
                is_seen = maker.run(lengths, options) != "no fault" || maker.found() != offsets_of(lengths);
            }
        }
        EXPECT_TRUE(is_seen) << part;
    }
}

template <class Index>
long long first_wrong(const std::string& kernel, const std::vector<Index>& begins,
                      const std::optional<std::vector<Index>>& ends, long long num_segments,
                      long long num_elements)
{
    const auto program = program_for(sizeof(Index) == 8);
    auto first = filled("begins", begins);
    auto second = filled("ends", ends.value_or(std::vector<Index>{}));
    auto place = filled<long long>("first_wrong", {num_segments + 1});
    const Dimensions grid{.grid_x = 2, .block_x = 256};
    const auto message = kernel == "check_offsets"
                             ? fault_of(program, kernel, grid,
                                        Arguments(first.data(), num_segments, num_elements, place.data()))
                             : fault_of(program, kernel, grid,
                                        Arguments(first.data(), ends ? second.data() : nullptr, num_segments,
                                                  num_elements, place.data()));
    EXPECT_EQ(message, "no fault");
    return place.as<long long>()[0];
}

TEST(DeviceSegments, ChecksNameTheFirstWrongSegment)
{
    const auto check = []<class Index>(Index) {
        using List = std::vector<Index>;
        const auto no_ends = std::optional<List>();
        EXPECT_EQ(first_wrong<Index>("check_offsets", {0, 5, 4, 9}, no_ends, 3, 9), 1);
        EXPECT_EQ(first_wrong<Index>("check_offsets", {1, 5, 9}, no_ends, 2, 9), 0);
        EXPECT_EQ(first_wrong<Index>("check_offsets", {0, 5, 8}, no_ends, 2, 9), 2);
        EXPECT_EQ(first_wrong<Index>("check_offsets", {0, 5, 9}, no_ends, 2, 9), 3);
        EXPECT_EQ(first_wrong<Index>("check_offsets", {0}, no_ends, 0, 0), 1);
        EXPECT_EQ(first_wrong<Index>("check_ranges", {5, -1, -2}, no_ends, 3, 9), 1);
        EXPECT_EQ(first_wrong<Index>("check_ranges", {0, 6}, List{5, 10}, 2, 9), 1);
        EXPECT_EQ(first_wrong<Index>("check_ranges", {0, 6}, List{5, 9}, 2, 9), 3);
    };
    check(std::int32_t{});
    check(std::int64_t{});
}

/// Ranges in any order, with gaps, overlaps and empty ranges: stages need only begins and ends.
TEST(DeviceSegments, RangesNeedNoOffsets)
{
    const auto op = parse_operator(
        "test",
        "operator order(x: u32) -> u32 { state { h: u32 = 0; p: u32 = 1 } lift { h = x; p = 31 } "
        "combine(a, b) { h = a.h * b.p + b.h; p = a.p * b.p } finish h }");
    constexpr int kElements = 3000;
    std::vector<std::uint32_t> x(kElements);
    std::iota(x.begin(), x.end(), 17u);
    std::vector<std::int32_t> begins, ends;
    for (int s = 0; s < 150; ++s) {
        begins.push_back(s * 7919 % (kElements - 700));
        ends.push_back(begins.back() + (s % 10 == 0 ? 0 : s % 10 == 1 ? 700 : s % 40));
    }
    std::vector<std::uint32_t> expected(begins.size(), 0);
    for (std::size_t s = 0; s < begins.size(); ++s)
        for (int i = begins[s]; i < ends[s]; ++i)
            expected[s] = expected[s] * 31 + x[static_cast<std::size_t>(i)];

    Problem problem(op, SegmentForm::ranges);
    problem.has_ends = true;
    SegmentSizes sizes;
    sizes.num_elements = sizes.num_items = kElements;
    sizes.num_segments = static_cast<std::int64_t>(begins.size());
    sizes.index_bits = 32;
    int folded = 0;
    const auto& catalogue = Catalogue::standard();
    for (const auto& stage : catalogue.stages()) {
        if (stage.is_rung || catalogue.unmet(stage, problem) ||
            served_form(stage, SegmentForm::ranges) != SegmentForm::ranges)
            continue;
        const auto emitted =
            emit(problem, stage, default_configuration(stage, plan_facts(problem, {})), catalogue);
        if (emitted.source.find("segments.offsets") != std::string::npos)
            continue;  // a text that counts items, which plans do not take
        BoundPlan plan(op, emitted, sizes, 4);
        ASSERT_EQ(plan.launches().size(), 1u) << stage.name;
        ASSERT_TRUE(plan.scratch().empty()) << stage.name;
        auto elements = filled("x", x);
        auto first = filled("begins", begins), last = filled("ends", ends);
        Buffer results("results", begins.size() * sizeof(std::uint32_t));
        const auto place = [](Buffer& buffer) { return reinterpret_cast<std::uint64_t>(buffer.data()); };
        plan.bind_input(0, place(elements), kElements);
        plan.bind_segments(std::array{place(first), place(last)});
        plan.bind_results(std::array{place(results)});
        const auto& launch = plan.launches().front();
        const Dimensions grid{.grid_x = static_cast<unsigned>(launch.grid),
                              .block_x = static_cast<unsigned>(launch.block),
                              .dynamic_shared_bytes = static_cast<unsigned>(launch.shared_bytes)};
        const std::span<void* const> arguments(plan.arguments(0), plan.argument_sizes(0).size());
        EXPECT_EQ(fault_of(compile(emitted.source, {launch.kernel}), launch.kernel, grid, arguments),
                  "no fault");
        const auto found = results.as<std::uint32_t>();
        EXPECT_TRUE(std::ranges::equal(found, expected)) << stage.name;
        ++folded;
    }
    EXPECT_GE(folded, 4);
}

}  // namespace
}  // namespace simt::device_segments_test
}  // namespace segfold
