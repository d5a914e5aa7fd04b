// Arrays that are made for operators whose tables are read at computed places.
#include "runtime/data/generated/computed_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dsl/text/parser.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/segments.h"
#include "runtime/judge/reference.h"
#include "tests/common/files.h"

namespace segfold::computed_places_test {
namespace {

constexpr std::int64_t kNumElements = 1000;

using Arrays = std::map<std::string, Array>;

Operator sum_of(const std::string& parameters, const std::string& lift)
{
    return parse_operator("test", "operator o(" + parameters + ") -> f64 {\n  state s: f64 = 0\n  lift " +
                                      lift + "\n  combine(a, b) a + b\n}");
}

/// The arrays that are made beside those that are given.
Arrays complete(const Operator& op, Arrays arrays = {})
{
    complete_arrays(op, uniform_segments(kNumElements, 10), {}, arrays);
    return arrays;
}

/// Folds by the reference, which refuses whatever is read outside of a table.
void expect_all_read_inside(const Operator& op, Arrays arrays)
{
    Workload workload;
    workload.op = op;
    workload.segments = uniform_segments(kNumElements, 10);
    for (const auto& parameter : op.parameters)
        workload.arrays.push_back(std::move(arrays.at(parameter.name)));
    EXPECT_NO_THROW(reduce_sequentially(workload));
}

TEST(ComputedPlaces, TablesAreAsLongAsNeeded)
{
    const struct {
        const char* index;
        std::size_t length;
    } cases[] = {{"o + 1", 17}, {"o * 4 + 3", 64},   {"o % 5", 5},
                 {"o & 3", 4},  {"index * 2", 1999}, {"i64(o) + position", 25}};
    for (const auto& [index, length] : cases) {
        const auto op = sum_of("o: i32, t: table f64", std::string("t[") + index + "]");
        auto arrays = complete(op);
        EXPECT_EQ(arrays.at("t").length(), length) << index;
        expect_all_read_inside(op, std::move(arrays));
    }
}

TEST(ComputedPlaces, ScalarsAndLetsAreFollowed)
{
    const auto op =
        parse_operator("test",
                       "operator o(o: i32, k: scalar i32, t: table f64) -> f64 {\n  state s: f64 = 0\n"
                       "  lift { let at = o + k; s = t[at] }\n  combine(a, b) a + b\n}");
    Arrays given;
    given.emplace("k", Array::of<std::int32_t>(Type::i32, std::vector<std::int32_t>{100}));
    auto arrays = complete(op, std::move(given));
    EXPECT_EQ(arrays.at("t").length(), 116U);
    expect_all_read_inside(op, std::move(arrays));
}

TEST(ComputedPlaces, ColumnsFitTablesThatAreGiven)
{
    const auto op = sum_of("o: i32, t: table f64", "t[o * 2 + 1]");
    Arrays given;
    given.emplace("t", Array::of<double>(
                           Type::f64, std::vector<double>(9)));  // o up to 3 is read inside, o up to 7 is not
    auto arrays = complete(op, std::move(given));
    const auto values = arrays.at("o").as<std::int32_t>();
    EXPECT_EQ(std::ranges::min(values), 0);
    EXPECT_EQ(std::ranges::max(values), 3);
    expect_all_read_inside(op, std::move(arrays));
}

TEST(ComputedPlaces, WhatNothingBoundsIsRefused)
{
    EXPECT_EQ(refusal([] { complete(sum_of("x: f32, t: table f64", "t[i64(x) + 1]")); }),
              "table 't' of operator o cannot be generated, because nothing bounds the index that is "
              "computed; run, "
              "bench and tune read it by --input t=FILE.npy, beside --values RANGE for the columns");
}

}  // namespace
}  // namespace segfold::computed_places_test
