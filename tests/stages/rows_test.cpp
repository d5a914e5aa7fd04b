// Rows of features: the language, the reference compared with a plain loop, files, and every stage over rows
// on the fiber executor.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/workload_request.h"
#include "runtime/judge/compare.h"
#include "runtime/judge/table_check.h"
#include "runtime/session/session.h"
#include "runtime/session/validation.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"
#include "tests/stages/row_cases.h"

namespace segfold::test::rows_test {
namespace {

std::string fault_of(const std::string& text)
{
    return message_of<SpecError>([&] { (void)parse_operator("f", text); });
}

TEST(Rows, ReadWhatTheyPrint)
{
    for (const auto& op : {spmm(), everything_at_once(), over_rows(standard_operator("mean_variance_f32")),
                           over_rows(standard_operator("softmax_f32"))}) {
        EXPECT_TRUE(same(op, parse_operator("printed", print(op)))) << print(op);
        EXPECT_TRUE(has_rows(op));
        EXPECT_FALSE(same(op, of_one_feature(op)));
    }
    EXPECT_NE(print(spmm()).find("x: table row i32"), std::string::npos);
    const auto named =
        parse_operator("named", "operator named(row: f32) { state s: f32 = 0 lift row combine(a, b) a + b }");
    EXPECT_FALSE(has_rows(named)) << "a column may be called row";
}

TEST(Rows, AreRefusedInWords)
{
    EXPECT_NE(fault_of("operator f(x: row f32) -> (mean: f32, count: i32) {\n"
                       " state { sum: f32 = 0; n: i32 = 0 }\n lift { sum = x; n = 1 }\n"
                       " combine(a, b) { sum = a.sum + b.sum; n = a.n + b.n }\n"
                       " finish { mean = sum / f32(n); count = n }\n}")
                  .find("the result 'count' does not depend on a row"),
              std::string::npos);
    const auto gather = [](const std::string& lift) {
        return fault_of(
            "operator f(x: row i32, c: i32, t: table row i32) -> i32 {\n state s: i32 = 0\n lift " + lift +
            "\n combine(a, b) a + b\n}");
    };
    EXPECT_EQ(gather("x + t[c]"), "nothing was thrown");
    EXPECT_NE(gather("x > 0 ? t[c] : 1"), "nothing was thrown");
    EXPECT_NE(gather("x > 0 ? t[c] : 1").find("is read under a condition"), std::string::npos);
    EXPECT_NE(gather("x + t[x]").find("the index of table 't' depends on a row"), std::string::npos);
    const Problem problem(spmm(), SegmentForm::offsets);
    const auto& catalogue = Catalogue::standard();
    EXPECT_NE(catalogue.unmet(catalogue.stage("warp_stream"), problem)->find("folds columns of numbers"),
              std::string::npos);
    const Problem numbers(standard_operator("sum_i32"), SegmentForm::offsets);
    EXPECT_NE(catalogue.unmet(catalogue.stage("row_groups"), numbers)->find("has no parameter of rows"),
              std::string::npos);
}

TEST(Rows, AreRefusedWhereTheirBytesExceedAnIndex)
{
    EXPECT_NO_THROW(check_num_features("'x'", kMaxFeatures));
    try {
        check_num_features("'x'", kMaxFeatures + 1);
        ADD_FAILURE() << "bytes of a row are counted in 32 bits";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "'x' has rows of 134217729 features; a row has at most 134217728");
    }
}

TEST(Rows, ReferenceIsThatOfALoop)
{
    const std::vector<std::int64_t> lengths = {3, 0, 1, 17, 2};
    const auto offsets = offsets_of(lengths);
    constexpr std::int64_t kFeatures = 5;
    const auto workload =
        rows_of_numbers(spmm(), segments_from_offsets(index_array(offsets), total(lengths)), kFeatures, 3);
    const auto value = workload.arrays[0].as<std::int32_t>(), column = workload.arrays[1].as<std::int32_t>();
    const auto x = workload.arrays[2].as<std::int32_t>();
    const auto results = reduce_sequentially(workload);
    ASSERT_EQ(results[0].array.length(), lengths.size() * kFeatures);
    EXPECT_EQ(results[0].array.row_length(), static_cast<std::size_t>(kFeatures));
    for (std::size_t s = 0; s < lengths.size(); ++s)
        for (std::size_t k = 0; k < kFeatures; ++k) {
            std::int64_t sum = 0;
            for (auto i = static_cast<std::size_t>(offsets[s]); i < static_cast<std::size_t>(offsets[s + 1]);
                 ++i)
                sum += std::int64_t{value[i]} * x[static_cast<std::size_t>(column[i] - 1) * kFeatures + k];
            EXPECT_EQ(results[0].array.as<std::int64_t>()[s * kFeatures + k], sum) << s << ", " << k;
        }
    for (const auto& comparison : validate(workload, results, true).comparisons)
        EXPECT_TRUE(comparison.agrees()) << print(comparison);
    auto wrong = reduce_sequentially(workload);
    wrong[0].array.as<std::int64_t>()[3 * kFeatures + 2] += 1;
    const auto comparison = Judge(workload).compare(wrong);
    ASSERT_FALSE(comparison.agrees());
    EXPECT_EQ(comparison.first_wrong->segment, 3);
    EXPECT_EQ(comparison.first_wrong->fields.at(0).name, "result of feature 2");
}

/// The number of entries of a table of rows is its number of rows, not of numbers.
TEST(Rows, DataProveThatTheyAreInsideOfTheirTable)
{
    auto workload = rows_of_numbers(spmm(), uniform_segments(60, 6), 5, 3);
    EXPECT_TRUE(unproved_tables(workload).empty());
    workload.arrays[1].as<std::int32_t>()[7] = 41;
    EXPECT_EQ(unproved_tables(workload), std::vector<std::string>{"x"});
    workload.arrays[1].as<std::int32_t>()[7] = 0;
    EXPECT_EQ(unproved_tables(workload), std::vector<std::string>{"x"});
}

TEST(Rows, ComeFromFilesInCOrder)
{
    const TemporaryFolder folder;
    const auto file = folder.file("x.npy");
    Array rows(Type::f32, 6);
    for (std::size_t i = 0; i < 6; ++i)
        rows.as<float>()[i] = static_cast<float>(i);
    rows.set_row_length(3);
    write_npy(file, rows);
    const auto op = over_rows(standard_operator("sum_f32"));
    WorkloadRequest request;
    request.inputs = {{"x", file}};
    request.layout = parse_layout("whole");
    const auto prepared = make_workload(op, request);
    EXPECT_EQ(prepared.workload.num_features, 3);
    EXPECT_EQ(prepared.workload.segments.num_elements, 2);
    const auto results = reduce_sequentially(prepared.workload);
    EXPECT_EQ(results[0].array.as<float>()[2], 7);
    write_npy(file, results[0].array);
    EXPECT_EQ(read_rows_as(file, Type::f32).row_length(), 3u);
    request.num_features = 4;
    EXPECT_THROW((void)make_workload(op, request), InputError);
    EXPECT_THROW((void)read_array_as(file, Type::f32), InputError) << "a row where a line is asked for";
    try {
        (void)read_rows_as("[[1,2],[3,4]]", Type::f32);
        ADD_FAILURE() << "rows that are written out have no shape";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("a file of two dimensions"), std::string::npos)
            << error.what();
    }
    // The same header in Fortran order.
    auto header = npy_header(Type::f32, 6, 3);
    header.replace(header.find("False"), 5, "True ");
    (void)folder.write("x.npy", header + std::string(24, '\0'));
    try {
        (void)read_rows_as(file, Type::f32);
        ADD_FAILURE() << "Fortran order was taken";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("numpy.ascontiguousarray"), std::string::npos);
    }
}

/// With SEGFOLD_ROWS=all this takes a quarter of an hour.
TEST(RowsOnSimt, EveryStageAgreesWithTheReference)
{
    Draw draw;
    for (const auto& c : asked_row_cases()) {
        if (!draw.takes(c.stage + std::string(" ") + std::string(name(c.form)) + " " + c.op.name))
            continue;
        const auto& stage = Catalogue::standard().stage(c.stage);
        const auto emitted = emitted_for(c.op, stage, c.form, c.features[0], c.settings, c.bits);
        for (const auto num_features : c.features) {
            const auto workload = workload_of(c, num_features);
            const Judge judge(workload);
            for (const std::uint64_t seed : {1, 2}) {
                const auto results =
                    simt::run(workload, emitted, simt::options_from_seed(seed), {}, seed == 1 ? 1 : 40, 2);
                const auto comparison = judge.compare(results);
                ASSERT_TRUE(comparison.agrees())
                    << c.stage << ", " << name(c.form) << ", " << c.op.name << ", " << num_features
                    << " features: " << print(comparison);
            }
        }
    }
}

TEST(RowsOnSimt, WriteBack)
{
    using enum SegmentForm;
    struct Case {
        const char* stage;
        SegmentForm form;
        bool keeps_results;
        std::vector<std::int64_t> features;
    };
    for (const auto& c : std::vector<Case>{{"row_groups", offsets, true, {8, 3, 64}},
                                           {"row_stream", uniform, false, {16, 33}},
                                           {"row_groups", ranges, false, {4, 7}}}) {
        const auto op = rows_told_back(c.keeps_results);
        const auto emitted = emitted_for(op, Catalogue::standard().stage(c.stage), c.form, c.features[0]);
        for (const auto num_features : c.features) {
            auto segments = c.form == uniform  ? uniform_segments(35 * 9, 9)
                            : c.form == ranges ? segments_from_ranges(index_array({60, 0, 9, 9}),
                                                                      index_array({75, 9, 9, 41}), 80)
                                               : segments_in_form(c.form, border_lengths(num_features));
            const auto workload = rows_of_numbers(op, std::move(segments), num_features, 5);
            const auto comparison = Judge(workload).compare(simt::run(workload, emitted, {}, {}, 3, 2));
            ASSERT_TRUE(comparison.agrees()) << c.stage << ", " << name(c.form) << ", " << num_features
                                             << " features: " << print(comparison);
        }
    }
}

/// A long segment over many shares among short segments, joined by a thread and by a block.
TEST(RowsOnSimt, GiantsAreJoinedInOrder)
{
    const auto op = over_rows(standard_operator("affine_u32"));
    const auto& stage = Catalogue::standard().stage("row_stream");
    const auto emitted = emitted_for(op, stage, SegmentForm::offsets, 8, {{"block_threads", 64}});
    for (const std::int64_t num_features : {1, 3, 8, 70})
        for (const int multiprocessors : {1, 2, 16}) {
            const auto workload =
                rows_of_numbers(op, segments_in_form(SegmentForm::offsets, {3, 1, 700, 0, 2, 0, 1200, 1, 0}),
                                num_features, 5);
            const auto comparison =
                Judge(workload).compare(simt::run(workload, emitted, {}, {}, multiprocessors));
            ASSERT_TRUE(comparison.agrees()) << num_features << " features: " << print(comparison);
        }
}

TEST(RowsOnSimt, SessionsFoldRowsAndNoteReadsOutside)
{
    SessionOptions options;
    options.backend = "simt";
    Session session(options);
    const auto op = spmm();
    const std::vector<std::int32_t> value = {1, 2, 3}, x = {1, 2, 3, 4, 5, 6};
    std::vector<std::int32_t> column = {1, 3, 2};
    const std::vector<std::int32_t> offsets = {0, 1, 3};
    FoldOptions fold;
    fold.check = true;
    const auto view = [&] { return segfold::offsets(std::span(offsets)); };
    const auto folded = session.fold(
        op, {std::span(value), std::span(std::as_const(column)), rows_of(std::span(x), 2)}, view(), fold);
    EXPECT_TRUE(folded.agrees());
    const auto sums = folded.values<std::int64_t>();
    EXPECT_EQ(std::vector<std::int64_t>(sums.begin(), sums.end()), (std::vector<std::int64_t>{1, 2, 19, 24}));
    column[2] = 4;
    EXPECT_THROW(
        (void)session.fold(op, {std::span(value), std::span(std::as_const(column)), rows_of(std::span(x), 2)},
                           view()),
        InputError);
    PlanOptions plan_options;
    plan_options.num_features = 2;
    column[2] = 2;
    auto plan = session.plan(op, view(), 3, plan_options);
    std::vector<std::int64_t> into(4);
    plan.run({std::span(value), std::span(std::as_const(column)), rows_of(std::span(x), 2)}, view(),
             {std::span(into)});
    EXPECT_EQ(into, (std::vector<std::int64_t>{1, 2, 19, 24}));
}

/// The sizes of a plan count rows.
TEST(RowsOnCores, SessionsFoldRowsAndWriteBack)
{
    SessionOptions options;
    options.backend = "cpu";
    Session session(options);
    const auto op = rows_told_back(true);
    for (const std::int64_t num_features : {1, 3, 33}) {
        const auto workload =
            rows_of_numbers(op, segments_in_form(SegmentForm::offsets, {3, 0, 1, 40, 2}), num_features, 3);
        const auto wanted = reduce_sequentially(workload);
        std::vector<ArrayView> inputs;
        for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
            const auto& array = workload.arrays[i];
            const ArrayView view(array.type(), array.data(), static_cast<std::int64_t>(array.length()));
            inputs.push_back(op.parameters[i].row ? rows_of(view, num_features) : view);
        }
        const std::vector<std::int64_t> offsets = offsets_of({3, 0, 1, 40, 2});
        FoldOptions fold;
        fold.check = true;
        const auto folded = session.fold(op, inputs, segfold::offsets(std::span(offsets)), fold);
        EXPECT_TRUE(folded.agrees());
        EXPECT_TRUE(folded.plan().starts_with("lane_per_feature")) << folded.plan();
        ASSERT_EQ(folded.results().size(), wanted.size());
        PlanOptions plan_options;
        plan_options.num_features = num_features;
        auto plan = session.plan(op, segfold::offsets(std::span(offsets)), 46, plan_options);
        std::vector<Array> arrays;
        std::vector<MutableArrayView> into;
        for (const auto& result : wanted)
            arrays.emplace_back(result.array.type(), result.array.length());
        for (auto& array : arrays)
            into.emplace_back(array.type(), array.data(), static_cast<std::int64_t>(array.length()));
        plan.run(inputs, segfold::offsets(std::span(offsets)), into);
        for (std::size_t f = 0; f < wanted.size(); ++f)
            EXPECT_EQ(std::memcmp(arrays[f].data(), wanted[f].array.data(), arrays[f].bytes()), 0)
                << wanted[f].name << ", " << num_features << " features";
    }
}

/// Whether short and long segments over several shares show that the text is wrong.
bool is_found(const Emitted& planted, const Operator& op)
{
    std::vector<std::int64_t> lengths = {3, 1, 700, 0, 2, 8, 16, 0, 1200, 1, 0, 170, 170, 170, 2};
    for (int i = 0; i < 40; ++i)
        lengths.push_back(i % 3);
    for (const std::int64_t num_features : {8, 3, 70})
        for (const int multiprocessors : {1, 16, 2}) {
            const auto workload =
                rows_of_numbers(op, segments_in_form(SegmentForm::offsets, lengths), num_features, 5);
            try {
                if (!Judge(workload).compare(simt::run(workload, planted, {}, {}, multiprocessors)).agrees())
                    return true;
            } catch (const simt::SimtError&) {
                return true;
            } catch (const InputError&) {  // a read outside of a table
                return true;
            }
        }
    return false;
}

struct Planted {
    const char* stage;
    const char* from;
    const char* to;
};

TEST(RowsOnSimt, PlantedBugsAreFound)
{
    const auto op = over_rows(standard_operator("affine_u32"));
    for (const auto& [stage_name, from, to] : std::initializer_list<Planted>{
             {"row_groups", "combine(part, shuffle_down(part, delta))",
              "combine(shuffle_down(part, delta), part)"},
             {"row_groups", "__any_sync(kFullMask, first < longest)",
              "__all_sync(kFullMask, first < longest)"},
             {"row_groups", "first + row_lane * kRowsPerStep", "first + row_lane"},
             {"row_groups", "begin + u * stride < lengths[k])\n                        part",
              "begin + u * stride <= lengths[k])\n                        part"},
             {"row_stream", "combine(totals[v], lift_row(", "combine(lift_row("},
             {"row_stream", "__syncthreads();  // all threads have read the parts", ";  //"},
             {"row_stream", "__syncthreads();  // the parts of this round", ";  //"},
             {"row_stream", "__syncthreads_or(is_many)", "is_many"},
             {"row_stream", "segment - ends.first == kFeatureLanes", "segment - ends.first > kFeatureLanes"},
             {"row_stream", "while (next <= row + u", "while (next < row + u"},
             {"row_stream", "if (s + k < count)", "if (s + k <= count)"},
             {"row_stream", "min(left, Index(kRowsPerStep))", "int(kRowsPerStep)"},
             {"row_stream", "* step - 1;", "* step;"},
             {"row_stream", "combine(parts[threadIdx.x], head)", "combine(identity(), head)"},
             {"row_stream", "many[atomicAdd(&num_many, 1)]", "many[0]"},
             {"row_stream", "ends.mine = ends.following;", ";"},
             {"row_stream", "segment + kFeatureLanes, last", "segment, last"}}) {
        const auto& stage = Catalogue::standard().stage(stage_name);
        const Configuration settings = stage.name == "row_groups"
                                           ? Configuration{{"row_lanes", 8}, {"feature_lanes", 2}}
                                           : Configuration{{"block_threads", 64}, {"features_per_lane", 2}};
        auto planted = emitted_for(op, stage, SegmentForm::offsets, 8, settings);
        std::string text = from, replacement = to;
        if (text == "combine(totals[v], lift_row(") {  // swaps the operands of a call that spans two lines
            const auto at = planted.source.find("totals[v] = combine(totals[v], lift_row(");
            ASSERT_NE(at, std::string::npos);
            const auto end = planted.source.find("));", at);
            const auto call = planted.source.substr(at + 31, end + 1 - (at + 31));
            planted.source.replace(at, end + 2 - at, "totals[v] = combine(" + call + ", totals[v])");
        } else {
            const auto at = planted.source.find(text);
            ASSERT_NE(at, std::string::npos) << text;
            planted.source.replace(at, text.size(), replacement);
        }
        EXPECT_TRUE(is_found(planted, op)) << stage_name << ": " << from;
    }
}

/// Numbers that lanes share in a group; a warp has four groups.
TEST(RowsOnSimt, PlantedBugsInGathersAreFound)
{
    const auto op = spmm();
    for (const auto& [stage_name, from, to] : std::initializer_list<Planted>{
             {"row_stream", "numbers = next_numbers;", ";"},
             {"row_stream", "row + kFeatureLanes, left", "row, left"},
             {"row_stream", "lane < left", "lane <= left"},
             {"row_stream", "first_group_lane() + lane_of_row + min(u, count - 1)",
              "lane_of_row + min(u, count - 1)"},
             {"row_stream", "first_group_lane() + lane_of_row + u)", "first_group_lane() + u)"}}) {
        auto planted = emitted_for(op, Catalogue::standard().stage(stage_name), SegmentForm::offsets, 8,
                                   {{"block_threads", 64}, {"feature_lanes", 8}, {"rows_per_step", 4}});
        const std::string text = from;
        const auto at = planted.source.find(text);
        ASSERT_NE(at, std::string::npos) << text;
        planted.source.replace(at, text.size(), to);
        EXPECT_TRUE(is_found(planted, op)) << from;
    }
}

/// If the host has counted the segments and kernels did not find them, results are cut to the host's number.
TEST(Rows, ResultsAreCutToWholeRowsAndOutputsStay)
{
    const auto segments = segments_in_form(SegmentForm::flags, {2, 3, 1});
    auto found = found_arrays(segments, SegmentForm::flags);
    found.back().array.as<std::int32_t>()[0] = -1;
    Results results;
    for (const auto* name : {"total", "rest"}) {
        Array array(Type::i32, 6 * 2);
        std::iota(array.as<std::int32_t>().begin(), array.as<std::int32_t>().end(), 0);
        array.set_row_length(2);
        results.push_back({name, std::move(array)});
    }
    take_found(results, found, segments, 1, true);
    EXPECT_EQ(to_vector<std::int32_t>(results[0].array), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(results[0].array.row_length(), 2U);
    EXPECT_EQ(results[1].array.length(), 12U);
}

}  // namespace
}  // namespace segfold::test::rows_test
