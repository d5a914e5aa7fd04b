// Arrays of one call that share memory are refused with a message if a write would overwrite another array.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "dsl/text/parser.h"
#include "tests/common/front_door.h"

namespace segfold::test::shared_memory_test {
namespace {

constexpr auto kEnds =
    "operator ends(x: i32) -> (low: i32, high: i32) {\n"
    "  state { low: i32 = highest(i32); high: i32 = lowest(i32) }\n"
    "  lift { low = x; high = x }\n"
    "  combine(a, b) { low = min(a.low, b.low); high = max(a.high, b.high) }\n"
    "}\n";

constexpr auto kLessTheGreatest =
    "operator less(x: i32) -> (top: i32, each rest: i32) {\n"
    "  state { top: i32 = lowest(i32) }\n"
    "  lift { top = x }\n"
    "  combine(a, b) { top = max(a.top, b.top) }\n"
    "  map { rest = top - x }\n"
    "}\n";

class SharedMemory : public testing::TestWithParam<const char*> {
protected:
    /// Returns the message of a fold and of a run of a plan. Both must leave the memory unchanged.
    std::string fold(const Operator& op, const SegmentsView& segments,
                     const std::vector<MutableArrayView>& results)
    {
        return unchanged([&] { (void)session_.fold(op, {values_}, segments, {.results = results}); });
    }
    std::string run(const Operator& op, const SegmentsView& segments,
                    const std::vector<MutableArrayView>& results)
    {
        auto plan = session_.plan(op, segments, 9);
        const std::vector<ArrayView> inputs = {values_};
        return unchanged([&] { plan.run(inputs, segments, results); });
    }
    template <class Call>
    std::string unchanged(const Call& call)
    {
        const auto memory = memory_;
        auto message = message_of<InputError>(call);
        EXPECT_EQ(memory_, memory) << message;
        memory_ = memory;
        return message;
    }
    [[nodiscard]] std::span<int> part(std::size_t first, std::size_t count)
    {
        return std::span(memory_).subspan(first, count);
    }
    static std::string advice(const std::string& who)
    {
        return who + "; lend each array that is written memory of its own";
    }
    static std::string unread(const std::string& who)
    {
        return who + "; a run writes while it reads, so lend other memory for what it writes";
    }

    Session session_ = session_on(GetParam());
    const Operator ends_ = parse_operator("ends", kEnds);
    std::vector<int> memory_ = std::vector<int>(64, 7);
    std::span<int> values_ = part(40, 9);
    const SegmentsView segments_ = offsets(kOffsets);
};

TEST_P(SharedMemory, OfTwoResultsIsRefused)
{
    const auto shared = [](int bytes) {
        return advice("the results of 'high' share " + std::to_string(bytes) +
                      " bytes of memory with the results of 'low'");
    };
    for (const auto& [first, bytes] : {std::pair<std::size_t, int>{0, 16}, {1, 12}, {3, 4}}) {
        EXPECT_EQ(fold(ends_, segments_, {part(0, 4), part(first, 4)}), shared(bytes));
        EXPECT_EQ(run(ends_, segments_, {part(0, 4), part(first, 4)}), shared(bytes));
        EXPECT_EQ(run(ends_, segments_, {part(first, 4), part(0, 4)}), shared(bytes));
    }
    // Memory behind the results is not written, so it may overlap.
    const std::vector<MutableArrayView> neighbours = {part(0, 30), part(4, 30)};
    EXPECT_NO_THROW((void)session_.fold(ends_, {values_}, segments_, {.results = neighbours}));
    EXPECT_NO_THROW(session_.plan(ends_, segments_, 9).run({values_}, segments_, {part(0, 30), part(4, 30)}));
    const auto none = std::numeric_limits<int>::max();
    EXPECT_EQ(std::vector(memory_.begin(), memory_.begin() + 9),
              (std::vector{7, 7, none, 7, 7, 7, -none - 1, 7, 7}));
}

TEST_P(SharedMemory, OfAResultAndWhatIsReadIsRefusedByARun)
{
    EXPECT_EQ(run(ends_, segments_, {part(0, 4), part(47, 4)}),
              unread("the results of 'high' share 8 bytes of memory with the elements of 'x'"));
    std::ranges::copy(kOffsets, memory_.begin());
    EXPECT_EQ(run(ends_, offsets(part(0, 5)), {part(4, 4), part(30, 4)}),
              unread("the results of 'low' share 4 bytes of memory with the array of 'offsets'"));
    // A fold writes after everything was read.
    values_[0] = 5;
    const auto folded = session_.fold(ends_, {values_}, offsets(part(0, 5)),
                                      {.check = true, .results = {part(1, 4), values_}});
    EXPECT_TRUE(folded.agrees());
    EXPECT_EQ(memory_[1], 5);
    EXPECT_EQ(memory_[40], 7);
}

TEST_P(SharedMemory, OfOutputsIsRefused)
{
    const auto op = parse_operator("less", kLessTheGreatest);
    EXPECT_EQ(fold(op, segments_, {part(0, 4), part(2, 9)}),
              advice("the results of 'rest' share 8 bytes of memory with the results of 'top'"));
    EXPECT_EQ(run(op, segments_, {part(0, 4), part(2, 9)}),
              advice("the results of 'rest' share 8 bytes of memory with the results of 'top'"));
    EXPECT_EQ(run(op, segments_, {part(0, 4), values_}),
              unread("the results of 'rest' share 36 bytes of memory with the elements of 'x'"));
}

TEST_P(SharedMemory, OfWhatIsToldOfFoundSegmentsIsRefused)
{
    const std::vector<int> keys_of = {1, 1, 1, 2, 2, 3, 3, 3, 3};
    const auto told = [&](std::span<int> found_keys, std::span<int> num_found) {
        return keys(keys_of, found_keys, num_found);
    };
    const auto sum = standard_operator("sum_i32");
    EXPECT_EQ(run(sum, told(part(0, 9), part(20, 1)), {part(5, 9)}),
              advice("the results of 'result' share 16 bytes of memory with found_keys"));
    EXPECT_EQ(fold(sum, told(part(0, 9), part(20, 1)), {part(2, 9)}),
              advice("the results of 'result' share 4 bytes of memory with found_keys"));
    EXPECT_EQ(run(sum, told(part(0, 9), part(10, 1)), {part(10, 9)}),
              advice("the results of 'result' share 4 bytes of memory with num_found"));
    EXPECT_EQ(fold(sum, told(part(0, 9), part(2, 1)), {}),
              advice("found_keys share 4 bytes of memory with num_found"));
    EXPECT_EQ(run(sum, told(part(0, 9), part(48, 1)), {part(10, 9)}),
              unread("num_found share 4 bytes of memory with the elements of 'x'"));
}

INSTANTIATE_TEST_SUITE_P(Backends, SharedMemory, testing::Values("cpu", "simt", "reference"));

}  // namespace
}  // namespace segfold::test::shared_memory_test
