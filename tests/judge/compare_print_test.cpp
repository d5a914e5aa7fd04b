// What a comparison says in words; what it finds is in compare_test.cpp.
#include <gtest/gtest.h>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/judge/compare.h"
#include "tests/common/small_workloads.h"

namespace segfold::compare_print_test {
namespace {

TEST(ComparePrint, PrintsBothEndsOfALongSegmentAndEachColumn)
{
    Workload workload{standard_operator("affine_u32"), {}, whole_segments(20)};
    for (std::uint32_t c = 0; c < 2; ++c) {
        Array column(Type::u32, 20);
        for (std::uint32_t i = 0; i < 20; ++i)
            column.as<std::uint32_t>()[i] = c == 0 ? 1 : i;
        workload.arrays.push_back(std::move(column));
    }
    Results results;
    results.push_back({"scale", array_of<std::uint32_t>(Type::u32, {1})});
    results.push_back({"shift", array_of<std::uint32_t>(Type::u32, {189})});
    EXPECT_EQ(print(compare(workload, results)),
              "the segment is wrong:\n"
              "segment 0 (elements 0 to 19, length 20): shift is 189, reference says 190\n"
              "    scale: 1, 1, 1, 1, 1, 1, 1, 1, ..., 1, 1, 1, 1, 1, 1, 1, 1\n"
              "    shift: 0, 1, 2, 3, 4, 5, 6, 7, ..., 12, 13, 14, 15, 16, 17, 18, 19");
}

/// The low part of a compensated sum holds rounding errors alone: any number of their size lies within the
/// bound.
TEST(ComparePrint, SaysWhatCannotBeJudged)
{
    const auto op =
        parse_operator("test",
                       "operator o(x: f64) -> (high: f64, low: f64) {\n"
                       "  def error(a, b, s) = (a - (s - (s - a))) + (b - (s - a))\n"
                       "  state { h: f64 = 0; l: f64 = 0 }\n  lift { h = x; l = 0 }\n"
                       "  combine(a, b) { let s = a.h + b.h; h = s; l = a.l + b.l + error(a.h, b.h, s) }\n"
                       "  finish { high = h; low = l }\n}");
    const auto workload = workload_of(op, whole_segments(3), array_of<double>(Type::f64, {0.1, 1e10, 0.2}));
    const auto text = print(compare(workload, reduce_sequentially(workload)));
    EXPECT_TRUE(text.starts_with("segment 0 (elements 0 to 2, length 3) cannot be judged: low is ")) << text;
    EXPECT_TRUE(text.ends_with(": the data leave no digit")) << text;
    EXPECT_EQ(text.find("high is "), std::string::npos) << text;
}

}  // namespace
}  // namespace segfold::compare_print_test
