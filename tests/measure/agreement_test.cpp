// The verdict of a bench on results of two plans with different orders of association.
#include <gtest/gtest.h>

#include "dsl/half.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/timing.h"
#include "runtime/data/resolve.h"
#include "runtime/measure/bench/agreement.h"

namespace segfold::bench::agreement_test {
namespace {

constexpr std::int64_t kLength = std::int64_t{1} << 19;
constexpr std::int64_t kSegments = 4;  // with more than kMostJudged elements in all
static_assert(kLength * kSegments > kMostJudged);

using Bits = std::vector<std::uint16_t>;

/// A placed workload whose f16 results the test writes.
class WrittenResults : public PlacedWorkload {
public:
    explicit WrittenResults(const Workload& workload) : workload_(workload) {}
    void write(const Bits& bits) { bits_ = bits; }

    [[nodiscard]] const Workload& workload() const override { return workload_; }
    void poison_results(std::uint8_t) override {}
    [[nodiscard]] Results results() const override { return as_results(bits_); }
    void keep_results() override { kept_ = bits_; }
    [[nodiscard]] Results kept_results() const override { return as_results(kept_); }

    [[nodiscard]] Difference difference(std::size_t, double tolerance, const Filled&) override
    {
        Difference difference;
        for (std::size_t i = 0; i < bits_.size(); ++i) {
            const double actual = f16_to_f32(bits_[i]), first = f16_to_f32(kept_[i]);
            difference.bits += bits_[i] != kept_[i] ? 1 : 0;
            if (std::abs(actual - first) <= tolerance * std::max({1.0, std::abs(actual), std::abs(first)}))
                continue;
            ++difference.beyond;
            difference.first = std::min(difference.first, static_cast<unsigned long long>(i));
        }
        return difference;
    }

private:
    static Results as_results(const Bits& bits)
    {
        Results results;
        results.push_back({kResultName, Array::of<std::uint16_t>(Type::f16, bits)});
        return results;
    }

    const Workload& workload_;
    Bits bits_, kept_;
};

/// Sums of f16 that round in each step. The second half of a segment cancels the first: right totals are 0,
/// and one order of addition gives other totals.
class NearlyCancelled : public testing::Test {
protected:
    NearlyCancelled()
    {
        workload_.op = standard_operator("sum", Type::f16);
        workload_.segments = uniform_segments(kLength * kSegments, kLength);
        auto values = generate_values(Type::f16, kLength * kSegments, 7, ValueRange::small_integers);
        const auto bits = values.as<std::uint16_t>();
        for (std::int64_t s = 0; s < kSegments; ++s) {
            float total = 0;
            for (std::int64_t i = 0; i < kLength; ++i) {
                auto& own = bits[static_cast<std::size_t>(s * kLength + i)];
                if (i >= kLength / 2)
                    own = bits[static_cast<std::size_t>(s * kLength + i - kLength / 2)] ^ 0x8000u;
                total = f16_to_f32(f32_to_f16(total + f16_to_f32(own)));
            }
            from_left_.push_back(f32_to_f16(total));
        }
        workload_.arrays.push_back(std::move(values));
    }

    /// Returns the verdict on `second` after `first`.
    Agreement verdict(const Bits& first, const Bits& second)
    {
        WrittenResults placed(workload_);
        Agreements agreements(workload_, placed);
        placed.write(first);
        EXPECT_FALSE(agreements.check("first", {}).is_checked);
        placed.write(second);
        return agreements.check("second", {});
    }

    Workload workload_;
    Bits from_left_;
    const Bits exact_ = Bits(kSegments, 0);
};

TEST_F(NearlyCancelled, OtherOrdersOfAdditionAgree)
{
    ASSERT_NE(from_left_, exact_) << "no order of addition is seen in the totals";

    for (const auto& agreement : {verdict(exact_, from_left_), verdict(from_left_, exact_)}) {
        EXPECT_TRUE(agreement.agrees) << agreement.text;
        EXPECT_NE(agreement.text.find("within their bounds of the reference"), std::string::npos)
            << agreement.text;
    }
}

TEST_F(NearlyCancelled, AWrongTotalIsSeenAndWhoseItIs)
{
    auto wrong = from_left_;
    wrong[3] = f32_to_f16(4096.0f);
    const auto of_second = verdict(exact_, wrong);
    EXPECT_FALSE(of_second.agrees);
    EXPECT_NE(of_second.text.find("1 of "), std::string::npos) << of_second.text;
    EXPECT_NE(of_second.text.find("bounds of the reference, the first is segment 3"), std::string::npos)
        << of_second.text;
    const auto of_first = verdict(wrong, exact_);
    EXPECT_FALSE(of_first.agrees);
    EXPECT_NE(of_first.text.find("by what first gave, the first is segment 3"), std::string::npos)
        << of_first.text;
}

/// More doubtful segments than are judged, for an operator with a scalar: a sample decides for all.
TEST(Agreements, ManySegmentsAreJudgedByASample)
{
    constexpr std::int64_t kMany = kMostDoubtful + 100;
    constexpr std::int64_t kEach = 64;
    Workload workload;
    workload.op = parse_operator("scaled",
                                 "operator scaled(x: f16, w: scalar f16) -> f16 {\n"
                                 "  state s: f16 = 0 lift x * w combine(a, b) a + b\n}");
    Bits elements(kMostJudged, 0), from_left{0};  // a long segment without a doubtful result
    std::vector<std::int64_t> offsets{0, kMostJudged};
    for (std::int64_t s = 0; s < kMany; ++s) {
        float total = 0;
        for (std::int64_t i = 0; i < kEach; ++i) {
            const auto place = static_cast<float>((i % (kEach / 2) * 37 + s) % 101);
            elements.push_back(f32_to_f16(i < kEach / 2 ? place + 0.125f : -place - 0.125f));
            total = f16_to_f32(f32_to_f16(total + f16_to_f32(elements.back())));
        }
        offsets.push_back(static_cast<std::int64_t>(elements.size()));
        from_left.push_back(f32_to_f16(total));
    }
    workload.segments = segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), offsets.back());
    workload.arrays.push_back(Array::of<std::uint16_t>(Type::f16, elements));
    workload.arrays.push_back(Array::of<std::uint16_t>(Type::f16, Bits{f32_to_f16(1)}));
    const auto verdict = [&](const Bits& second) {
        WrittenResults placed(workload);
        Agreements agreements(workload, placed);
        placed.write(Bits(kMany + 1, 0));
        (void)agreements.check("first", {});
        placed.write(second);
        return agreements.check("second", {});
    };
    const auto rounded = verdict(from_left);
    EXPECT_TRUE(rounded.agrees) << rounded.text;
    EXPECT_NE(rounded.text.find(std::to_string(kMostDoubtful) + " of "), std::string::npos) << rounded.text;
    EXPECT_FALSE(verdict(Bits(kMany + 1, f32_to_f16(20000))).agrees);
}

TEST(Agreements, WhatATreeGivesIsWrongWhereTheOperatorIsNotAssociative)
{
    Workload workload;
    workload.op =
        parse_operator("less", "operator less(x: f16) -> f16 { state s: f16 lift x combine(a, b) a - b }");
    workload.segments = uniform_segments(4, 4);
    const Bits elements = {f32_to_f16(100), f32_to_f16(2), f32_to_f16(3), f32_to_f16(4)};
    workload.arrays.push_back(Array::of<std::uint16_t>(Type::f16, elements));
    WrittenResults placed(workload);
    const auto agrees = [&](float result, bool is_associative) {
        placed.write({f32_to_f16(result)});
        return Agreements(workload, placed, {}, is_associative).check("a stage", {}).agrees;
    };
    EXPECT_TRUE(agrees(91, false));   // ((100 - 2) - 3) - 4
    EXPECT_FALSE(agrees(99, false));  // (100 - 2) - (3 - 4)
    EXPECT_TRUE(agrees(99, true)) << "the test has no teeth: no bound has been widened";
}

}  // namespace
}  // namespace segfold::bench::agreement_test
