// Running results through sessions: operators that data keep from relying on their identity, on every back
// end that has stages, beside loops and the reference; plans of scans.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/data_ranges.h"
#include "tests/common/front_door.h"

namespace segfold::test::running_results_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLeast = -std::numeric_limits<float>::infinity();

struct Form {
    const char* backend;
    bool reverse = false;
    bool keeps_results = false;
    bool map = false;
};

std::string print(const Form& form)
{
    return std::string(form.backend) + (form.reverse ? "_reverse" : "") +
           (form.keeps_results ? "_kept" : "") + (form.map ? "_mapped" : "");
}

[[maybe_unused]] void PrintTo(const Form& form, std::ostream* out) { *out << print(form); }

std::vector<Form> all_forms()
{
    std::vector<Form> forms;
    for (const auto* backend : {"cpu", "simt", "reference"})
        for (const bool reverse : {false, true})
            for (const bool keeps_results : {false, true})
                for (const bool map : {false, true})
                    forms.push_back({backend, reverse, keeps_results, map});
    return forms;
}

/// max() leaves out NaN, so that -inf is no identity where there are any.
Operator running_max(const Form& form)
{
    return parse_operator(
        "rmax.seg", std::string("operator rmax(x: f32) -> (") + (form.keeps_results ? "m: f32, " : "") +
                        "each y: f32, each t: f32" + (form.map ? ", each z: f32" : "") +
                        ") { state m: f32 = -inf lift x combine(a, b) max(a, b) scan " +
                        (form.reverse ? "reverse" : "") + "(before, through) { y = before; t = through } " +
                        (form.map ? "map { z = m }" : "") + " }");
}

/// Names the first value that differs; NaNs are equal.
std::string difference(std::span<const float> found, const std::vector<float>& expected)
{
    if (found.size() != expected.size())
        return std::to_string(found.size()) + " values";
    for (std::size_t i = 0; i < found.size(); ++i)
        if (!(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))))
            return std::to_string(i) + ": " + std::to_string(found[i]) + ", not " +
                   std::to_string(expected[i]);
    return "";
}

class ScansWithoutIdentity : public testing::TestWithParam<Form> {};

/// The first element has the identity before it that the author wrote.
TEST_P(ScansWithoutIdentity, AreThoseOfLoops)
{
    const auto& form = GetParam();
    std::mt19937 random(7);
    std::vector<float> x;
    std::vector<int> offsets = {0, 0, 1};
    while (offsets.back() < 3000)
        offsets.push_back(offsets.back() + static_cast<int>(random() % 5 == 0 ? 0 : random() % 700));
    for (int i = 0; i < offsets.back(); ++i)
        x.push_back(random() % 3 == 0    ? kNan
                    : random() % 50 == 0 ? kLeast
                                         : static_cast<float>(random() % 97));
    x[0] = kNan;
    const auto n = x.size();
    std::vector<float> before(n), through(n), mapped(n), totals;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        float state = kLeast;
        const int begin = offsets[s], end = offsets[s + 1];
        for (int k = 0; k < end - begin; ++k) {
            const auto i = static_cast<std::size_t>(form.reverse ? end - 1 - k : begin + k);
            before[i] = state;
            through[i] = state = k == 0 ? x[i] : std::fmax(state, x[i]);
        }
        totals.push_back(state);
        for (int i = begin; i < end; ++i)
            mapped[static_cast<std::size_t>(i)] = state;
    }
    auto session = session_on(form.backend);
    const auto folded = session.fold(running_max(form), {x}, segfold::offsets(offsets));
    EXPECT_EQ(difference(folded.values<float>("y"), before), "");
    EXPECT_EQ(difference(folded.values<float>("t"), through), "");
    if (form.keeps_results) {
        EXPECT_EQ(difference(folded.values<float>("m"), totals), "");
    }
    if (form.map) {
        EXPECT_EQ(difference(folded.values<float>("z"), mapped), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, ScansWithoutIdentity, testing::ValuesIn(all_forms()),
                         [](const auto& info) { return print(info.param); });

/// An operator that runs without its identity has a result more that nobody sees.
TEST(ScansInSessions, WithoutIdentityAgreeWithTheReference)
{
    std::vector<float> x;
    for (int i = 0; i < 300; ++i)
        x.push_back(i % 7 == 3    ? std::numeric_limits<float>::infinity()
                    : i % 11 == 5 ? kNan
                                  : 0.25F * static_cast<float>(i % 13));
    for (const auto* backend : {"cpu", "simt"}) {
        auto session = session_on(backend);
        for (const bool exclusive : {false, true})
            for (const bool reverse : {false, true}) {
                const auto folded = session.scan(standard_operator("norm_f32"), {x}, uniform(10),
                                                 {exclusive, reverse, {.check = true}});
                EXPECT_TRUE(folded.agrees()) << backend << ": " << folded.check()[0];
            }
    }
}

TEST(ScansInSessions, OfWhatScanAloneReadsMayHoldNan)
{
    const auto op =
        parse_operator("shifted.seg",
                       "operator shifted(x: f32, y: f32) -> (each z: f32) { state m: f32 = -inf lift x "
                       "combine(a, b) max(a, b) scan(before, through) { z = through + y } }");
    std::vector<Array> arrays;
    arrays.push_back(Array::of<float>(Type::f32, std::vector<float>{1, 2}));
    arrays.push_back(Array::of<float>(Type::f32, std::vector<float>{1, kNan}));
    EXPECT_EQ(find_not_finite(op, arrays), std::nullopt);
    std::swap(arrays[0], arrays[1]);
    EXPECT_EQ(find_not_finite(op, arrays), "x");
}

TEST(ScansInSessions, HavePlans)
{
    const std::vector<int> values = {1, 2, 3, 4};
    auto session = session_on("cpu");
    const auto op = scanned(standard_operator("sum_i32"), {.exclusive = true});
    auto plan = session.plan(op, whole(), 4);
    std::vector<int> found(4);
    const std::vector<ArrayView> inputs = {values};
    const std::vector<MutableArrayView> results = {found};
    plan.run(inputs, whole(), results);
    EXPECT_EQ(found, (std::vector<int>{0, 1, 3, 6}));
}

}  // namespace
}  // namespace segfold::test::running_results_test
