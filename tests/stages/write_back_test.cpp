// Write-back: the language, the reference compared with plain loops, and emitted kernels on the fiber
// executor.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "runtime/judge/table_check.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "runtime/session/validation.h"
#include "tests/common/front_door.h"
#include "tests/common/message_of.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/write_back_cases.h"

namespace segfold::test::write_back_test {
namespace {

Comparison run_and_compare(const Workload& workload, const Stage& stage, const Configuration& configuration,
                           int multiprocessors, std::uint64_t seed,
                           std::vector<std::string> checked_tables = {})
{
    const auto& segments = workload.segments;
    Problem problem(workload.op, converted_form(segments.form), segments.index_bits());
    problem.checked_tables = std::move(checked_tables);
    const auto emitted = emit(problem, stage, configuration);
    const auto results = simt::run(workload, emitted, simt::options_from_seed(seed), {}, multiprocessors, 2);
    return Judge(workload).compare(results);
}

std::vector<std::vector<std::int64_t>> length_lists()
{
    std::vector<std::int64_t> crowd(5000, 0), ones(4100, 1), mixed;
    crowd.front() = 3;
    crowd[2500] = 1;
    crowd[2501] = 2050;
    crowd.back() = 2047;
    for (int i = 0; i < 700; ++i)
        mixed.push_back(i % 5 == 0 ? 0 : i % 89 == 0 ? 300 : i % 7);
    return {{},
            {0},
            {1},
            {2047},
            {2048},
            {2049},
            {0, 0, 2048, 0, 0, 2048, 0},
            {5, 2043, 2, 2047, 1, 6 * 2048 + 1, 3, 0},
            {0, 0, 0},
            ones,
            mixed,
            crowd};
}

TEST(WriteBack, ReadsWhatItPrints)
{
    for (const auto& op :
         {told_back(true), told_back(false), several_outputs(), told_by_tables(true), told_by_tables(false),
          standard_operator("softmax_f32"), standard_operator("standardise_f64")}) {
        const auto again = parse_operator("printed", print(op));
        EXPECT_TRUE(same(op, again)) << print(op);
        EXPECT_EQ(print(op), print(again));
    }
    EXPECT_FALSE(told_back(false).keeps_results);
    EXPECT_EQ(returned_fields(told_back(true)).size(), 3u);
    EXPECT_EQ(returned_fields(told_back(false)).size(), 1u);
    EXPECT_FALSE(same(told_back(true), without_outputs(told_back(true))));
}

std::string fault_of(const std::string& text)
{
    return message_of<SpecError>([&] { (void)parse_operator("f", text); });
}

TEST(WriteBack, IsRefusedInWords)
{
    const auto with = [](const std::string& head, const std::string& parts) {
        return "operator f(x: f32, t: table f32) -> " + head + " {\n state sum: f32 = 0\n lift x + t[0]\n" +
               " combine(a, b) a + b\n" + parts + "\n}";
    };
    EXPECT_NE(fault_of(with("f32", " map x - sum")).find("has a map but names no output"), std::string::npos);
    EXPECT_NE(fault_of(with("each f32", "")).find("has no map"), std::string::npos);
    EXPECT_EQ(fault_of(with("each f32", " map x - t[0]")), "nothing was thrown");
    EXPECT_NE(fault_of(with("each f32", " map x - t")).find("'t' is a table"), std::string::npos);
    EXPECT_NE(fault_of(with("each f32", " map t[x]")).find("an index of type f32"), std::string::npos);
    EXPECT_NE(fault_of(with("each f32", " map sum[0]")).find("'sum' is not a table"), std::string::npos);
    EXPECT_NE(fault_of(with("(t: f32, each y: f32)", " map x - t")).find("cannot tell the result 't'"),
              std::string::npos);
    EXPECT_NE(fault_of(with("each f32", " map x > 0")).find("bool"), std::string::npos);
    EXPECT_NE(fault_of(with("(x: f32, each y: f32)", " map x")).find("cannot tell the result 'x'"),
              std::string::npos);
    EXPECT_NE(fault_of(with("(y: f32, each y: f32)", " map x")).find("is both a result and an output"),
              std::string::npos);
    EXPECT_NE(fault_of(with("(total: f32, each y: f32)", " finish sum * 2\n map x - sum"))
                  .find("map sees the finished results"),
              std::string::npos);
    EXPECT_NE(fault_of(with("(each y: f32, each z: f32)", " map { y = x }")).find("does not set 'z'"),
              std::string::npos);
}

/// Compares the reference, and Thrust with the evaluator, with plain loops.
TEST(WriteBack, SoftmaxIsThatOfALoop)
{
    const std::vector<std::int64_t> lengths = {3, 0, 1, 70, 2, 0, 129};
    const auto op = standard_operator("softmax_f64");
    const auto offsets = offsets_of(lengths);
    const auto workload = make_workload(op, segments_from_offsets(index_array(offsets), total(lengths)), 5);
    const auto x = workload.arrays[0].as<double>();
    const auto results = reduce_sequentially(workload);
    ASSERT_EQ(results.size(), 1u);
    const auto y = results[0].array.as<double>();
    for (std::size_t s = 0; s < lengths.size(); ++s) {
        const auto begin = static_cast<std::size_t>(offsets[s]),
                   end = static_cast<std::size_t>(offsets[s + 1]);
        double sum = 0, total_of_outputs = 0;
        for (auto i = begin; i < end; ++i)
            sum += std::exp(x[i]);
        for (auto i = begin; i < end; ++i) {
            EXPECT_NEAR(y[i], std::exp(x[i]) / sum, 1e-14);
            total_of_outputs += y[i];
        }
        if (begin != end) {
            EXPECT_NEAR(total_of_outputs, 1, 1e-13);
        }
    }
    const auto validation = validate(workload, results, true);
    for (const auto& comparison : validation.comparisons)
        EXPECT_TRUE(comparison.agrees()) << print(comparison);
    auto wrong = reduce_sequentially(workload);
    wrong[0].array.as<double>()[50] *= 1 + 1e-9;
    const auto comparison = Judge(workload).compare(wrong);
    ASSERT_EQ(comparison.num_wrong, 1);
    EXPECT_EQ(comparison.first_wrong->segment, 3);
    EXPECT_EQ(comparison.first_wrong->fields.at(0).name, "result of element 50");
}

TEST(WriteBack, GradientsOfSoftmaxCompose)
{
    const std::vector<std::int64_t> lengths = {4, 9, 1};
    const auto segments = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
    const auto forward = make_workload("softmax_f64", segments.copy(), 3);
    auto backward = make_workload("softmax_backward_f64", segments.copy(), 4);
    const auto y = reduce_sequentially(forward);
    backward.arrays[0] = y[0].array.copy();
    const auto gradient = reduce_sequentially(backward);
    constexpr double kStep = 1e-6;
    for (std::size_t i = 0; i < forward.arrays[0].length(); ++i) {
        auto moved = make_workload("softmax_f64", segments.copy(), 3);
        moved.arrays[0].as<double>()[i] += kStep;
        const auto other = reduce_sequentially(moved);
        double slope = 0;
        for (std::size_t k = 0; k < y[0].array.length(); ++k)
            slope += (other[0].array.as<double>()[k] - y[0].array.as<double>()[k]) / kStep *
                     backward.arrays[1].as<double>()[k];
        EXPECT_NEAR(gradient[0].array.as<double>()[i], slope, 1e-5);
    }
}

/// Runs every stage once, on shapes at the borders of the mapping kernel's tiles.
TEST(WriteBackOnSimt, EveryStageLeavesResultsForMap)
{
    std::uint64_t seed = 0;
    for (const auto& stage : plans()) {
        const auto op = ++seed % 3 == 0 ? told_by_tables(seed % 2 == 0) : told_back(seed % 2 == 0);
        for (const auto form : {SegmentForm::offsets, SegmentForm::uniform, SegmentForm::whole}) {
            const Problem problem(op, form);
            if (Catalogue::standard().unmet(stage, problem))
                continue;
            const auto configuration = smallest_configuration(stage, problem);
            const auto workload = form == SegmentForm::whole
                                      ? make_workload_with_tables(op, whole_segments(4099), seed)
                                  : form == SegmentForm::uniform
                                      ? make_workload_with_tables(op, uniform_segments(4100, 41), seed)
                                      : make_workload_with_tables(
                                            op, segments_in_form(form, {0, 2047, 1, 0, 3, 2048, 900}), seed);
            const auto comparison = run_and_compare(workload, stage, configuration, 2, seed, tables_of(op));
            ASSERT_TRUE(comparison.agrees()) << stage.name << ": " << print(comparison);
            break;
        }
    }
}

TEST(WriteBackOnSimt, ElementsFindTheirSegments)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const auto op = told_back(true);
    for (const int bits : {32, 64}) {
        const Problem problem(op, SegmentForm::offsets, bits);
        const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
        for (const auto& lengths : length_lists())
            for (const int multiprocessors : {1, 40}) {
                const auto workload = make_workload(
                    op, with_index_bits(segments_in_form(SegmentForm::offsets, lengths), bits), 7);
                const auto comparison =
                    Judge(workload).compare(simt::run(workload, emitted, {}, {}, multiprocessors));
                ASSERT_TRUE(comparison.agrees())
                    << lengths.size() << " segments of " << total(lengths) << ": " << print(comparison);
            }
    }
}

TEST(WriteBackOnSimt, EveryLayoutAndWidthOfOutputs)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const auto op = several_outputs();
    const std::vector<std::int64_t> lengths = {1, 2047, 3, 5, 2048, 200};
    std::vector<Segments> all;
    for (const auto form : {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                            SegmentForm::flags, SegmentForm::keys})
        all.push_back(segments_in_form(form, lengths));
    all.push_back(uniform_segments(4095, 3));
    all.push_back(
        segments_from_ranges(index_array({900, 5, 2000, 130}), index_array({1000, 5, 2601, 431}), 2700));
    for (auto& segments : all) {
        const auto form = std::string(name(segments.form));
        const auto workload = make_workload(op, std::move(segments), 3);
        const Problem problem(op, converted_form(workload.segments.form));
        const auto comparison =
            run_and_compare(workload, stage, default_configuration(stage, plan_facts(problem)), 1, 4);
        ASSERT_TRUE(comparison.agrees()) << form << ": " << print(comparison);
    }
}

/// Tables that are checked and those that are not, in every form, with empty segments where there may be
/// some.
TEST(WriteBackOnSimt, MapReadsTables)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const std::vector<std::int64_t> lengths = {0, 1, 2047, 0, 3, 5, 2048, 200, 0}, filled = {1, 2047, 3, 77};
    std::vector<Segments> all;
    for (const auto form : {SegmentForm::whole, SegmentForm::offsets})
        all.push_back(segments_in_form(form, lengths));
    for (const auto form : {SegmentForm::flags, SegmentForm::keys})
        all.push_back(segments_in_form(form, filled));
    all.push_back(uniform_segments(4095, 3));
    all.push_back(
        segments_from_ranges(index_array({900, 5, 2000, 130}), index_array({1000, 5, 2601, 431}), 2700));
    bool keeps_results = false;
    for (auto& segments : all) {
        const auto op = told_by_tables(keeps_results = !keeps_results);
        const auto form = std::string(name(segments.form));
        const auto workload = make_workload_with_tables(op, std::move(segments), 3);
        EXPECT_EQ(unproved_tables(workload), std::vector<std::string>()) << form;
        const Problem problem(op, converted_form(workload.segments.form));
        const auto configuration = default_configuration(stage, plan_facts(problem));
        for (const auto& checked : {tables_of(op), std::vector<std::string>()}) {
            const auto comparison = run_and_compare(workload, stage, configuration, 1, 4, checked);
            ASSERT_TRUE(comparison.agrees()) << form << ": " << print(comparison);
        }
    }
}

/// The reference, against a loop that knows nothing of the language.
TEST(WriteBack, TablesAndScalarsAreThoseOfALoop)
{
    const auto op = parse_operator("layer_norm", R"(
        operator layer_norm(x: f64, weight: table f64, bias: table f64, epsilon_: scalar f64) -> each f64 {
            state { n: i64 = 0; sum: f64 = 0; squares: f64 = 0 }
            lift { n = 1; sum = x; squares = x * x }
            combine(a, b) { n = a.n + b.n; sum = a.sum + b.sum; squares = a.squares + b.squares }
            map {
                let mean = sum / f64(n);
                let scale = rsqrt(squares / f64(n) - mean * mean + epsilon_);
                result = (x - mean) * scale * weight[position] + bias[segment]
            }
            laws commutative
        })");
    const std::vector<std::int64_t> lengths = {3, 0, 70, 2};
    const auto offsets = offsets_of(lengths);
    auto workload =
        make_workload_with_tables(op, segments_from_offsets(index_array(offsets), total(lengths)), 5);
    workload.arrays[3].as<double>()[0] = 1e-3;
    const auto x = workload.arrays[0].as<double>(), weight = workload.arrays[1].as<double>(),
               bias = workload.arrays[2].as<double>();
    const auto results = reduce_sequentially(workload);
    const auto y = results[0].array.as<double>();
    for (std::size_t s = 0; s < lengths.size(); ++s) {
        const auto begin = static_cast<std::size_t>(offsets[s]),
                   end = static_cast<std::size_t>(offsets[s + 1]);
        double sum = 0, squares = 0;
        for (auto i = begin; i < end; ++i) {
            sum += x[i];
            squares += x[i] * x[i];
        }
        const auto n = static_cast<double>(end - begin);
        for (auto i = begin; i < end; ++i)
            EXPECT_NEAR(
                y[i],
                (x[i] - sum / n) / std::sqrt(squares / n - sum / n * (sum / n) + 1e-3) * weight[i - begin] +
                    bias[s],
                1e-11);
    }
    for (const auto& comparison : validate(workload, results, true).comparisons)
        EXPECT_TRUE(comparison.agrees()) << print(comparison);
}

/// A read outside of a table is refused in the same words, whoever maps, and wherever it is made.
TEST(WriteBackOnSimt, ReadsOutsideAreRefused)
{
    const auto operator_of = [](const std::string& map) {
        return parse_operator("o",
                              "operator o(x: i32, t: table i32, k: table i32) -> (sum: i32, each y: i32) {\n"
                              " state sum: i32 = 0\n lift x + k[x & 1]\n combine(a, b) a + b\n map " +
                                  map + "\n}");
    };
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const auto message = [&](const std::string& map, std::vector<std::int32_t> x, std::size_t length,
                             const std::vector<std::string>& unproved) {
        Workload workload{operator_of(map), {}, segments_from_offsets(index_array({0, 2, 2, 5}), 5)};
        workload.arrays.push_back(Array::of<std::int32_t>(Type::i32, x));
        workload.arrays.push_back(Array::of<std::int32_t>(Type::i32, std::vector<std::int32_t>(length, 1)));
        workload.arrays.push_back(Array::of<std::int32_t>(Type::i32, std::vector<std::int32_t>{0, 0}));
        EXPECT_EQ(unproved_tables(workload), unproved) << map;
        const auto refused = [&](const auto& body) { return message_of<InputError>(body); };
        const auto said = refused([&] { check_tables(workload); });
        EXPECT_EQ(refused([&] { (void)reduce_sequentially(workload); }), said) << map;
        Problem problem(workload.op, SegmentForm::offsets);
        EXPECT_EQ(refused([&] {
                      (void)run_and_compare(workload, stage,
                                            default_configuration(stage, plan_facts(problem)), 1, 1,
                                            {"t", "k"});
                  }),
                  said)
            << map;
        return said;
    };
    const std::string nothing = "nothing was thrown";
    const std::vector<std::int32_t> x = {0, 1, 2, 3, 4};
    const std::vector<std::string> none, t = {"t"};
    EXPECT_EQ(message("t[segment]", x, 3, none), nothing);
    EXPECT_EQ(message("t[segment]", x, 2, t),
              "table 't' has 2 entries; map of element 2 reads t[2], and indices run from 0 to 1");
    EXPECT_EQ(message("t[position] + t[length - 1]", x, 3, none), nothing);
    EXPECT_EQ(message("t[length]", x, 3, t),
              "table 't' has 3 entries; map of element 2 reads t[3], and indices run from 0 to 2");
    EXPECT_EQ(message("t[x]", x, 5, none), nothing);
    EXPECT_EQ(message("x < 3 ? t[x] : 0", x, 3, none), nothing);
    EXPECT_EQ(message("t[x]", x, 4, t),
              "table 't' has 4 entries; map of element 4 reads t[4], and indices run from 0 to 3");
    EXPECT_EQ(message("t[sum]", x, 10, t), nothing) << "sums are 1 and 9, which only a fold tells";
    EXPECT_EQ(message("t[sum]", x, 9, t),
              "table 't' has 9 entries; map of element 2 reads t[9], and indices run from 0 to 8");
    EXPECT_EQ(message("sum < 9 ? t[sum] : 0", x, 9, t), nothing);
    EXPECT_EQ(message("{ let never = t[x]; y = x }", x, 4, t),
              "table 't' has 4 entries; map of element 4 reads t[4], and indices run from 0 to 3");
    EXPECT_EQ(message("{ let never = t[sum]; y = x }", x, 9, t),
              "table 't' has 9 entries; map of element 2 reads t[9], and indices run from 0 to 8");
}

TEST(WriteBackOnSimt, ElementsInNoSegmentAreZero)
{
    const auto op = told_back(false);
    const auto workload =
        make_workload(op, segments_from_ranges(index_array({4, 10}), index_array({7, 12}), 20), 3);
    SessionOptions options;
    options.backend = "simt";
    Session session(options);
    const auto results = core(session).fold(workload, {}).results;
    const auto expected = reduce_sequentially(workload);
    for (std::size_t i = 0; i < 20; ++i) {
        const bool is_inside = (i >= 4 && i < 7) || (i >= 10 && i < 12);
        EXPECT_EQ(results[0].array.as<std::uint64_t>()[i] != 0, is_inside) << i;
        EXPECT_EQ(results[0].array.as<std::uint64_t>()[i], expected[0].array.as<std::uint64_t>()[i]);
    }
    auto overlapping =
        make_workload(op, segments_from_ranges(index_array({4, 6}), index_array({7, 12}), 20), 3);
    try {
        check_workload(overlapping);
        ADD_FAILURE() << "ranges that share an element were taken";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "segments 0 and 1 share element 6, and operator told_back gives each element one "
                     "output; give ranges that do not overlap");
    }
}

/// Nobody has cleared the arrays that a plan is given.
TEST(WriteBack, PlansStoreZeroForElementsInNoSegment)
{
    const auto op = parse_operator("behind", R"(operator behind(x: row u32) -> each u64 {
        state last: u32  lift x  combine(earlier, later) later  empty 0  map u64(last) * 100 + u64(x) })");
    const std::vector<std::int32_t> begins = {8, 2, 6}, ends = {10, 5, 6};
    const std::int64_t num_elements = 12, width = 3;
    std::vector<std::uint32_t> x(num_elements * width);
    std::iota(x.begin(), x.end(), 1u);
    std::vector<std::uint64_t> expected(x.size(), 0);
    for (std::size_t s = 0; s < begins.size(); ++s)
        for (std::int64_t i = begins[s]; i < ends[s]; ++i)
            for (std::int64_t k = 0; k < width; ++k) {
                const auto at = static_cast<std::size_t>(i * width + k);
                const auto last = static_cast<std::size_t>((ends[s] - 1) * width + k);
                expected[at] = x[last] * 100 + x[at];
            }
    expected.push_back(77);  // lies behind the outputs
    const auto segments = segfold::ranges(std::span(begins), std::span(ends));
    for (const std::string backend : {"cpu", "simt", "reference"}) {
        if (backend == "cpu" && !cpu::reason_without_compiler().empty())
            continue;
        auto session = session_on(backend);
        auto plan = session.plan(op, segments, num_elements, {.num_features = width});
        for (int run = 0; run < 2; ++run) {
            std::vector<std::uint64_t> told(expected.size(), 77);
            plan.run({rows_of(std::span(x), width)}, segments, {std::span(told)});
            EXPECT_EQ(told, expected) << backend;
        }
    }
}

TEST(WriteBackOnSimt, SessionsFoldAndPlan)
{
    SessionOptions options;
    options.backend = "simt";
    Session session(options);
    const std::vector<float> x = {1, 2, 3, 4, 5, 6};
    const std::vector<std::int32_t> offsets = {0, 2, 2, 6};
    const auto op = standard_operator("centre_f32");
    FoldOptions fold;
    fold.check = true;
    const auto folded = session.fold(op, {std::span(x)}, segfold::offsets(std::span(offsets)), fold);
    EXPECT_TRUE(folded.agrees());
    const auto centred = folded.values<float>();
    EXPECT_EQ(std::vector<float>(centred.begin(), centred.end()),
              (std::vector<float>{-0.5f, 0.5f, -1.5f, -0.5f, 0.5f, 1.5f}));
    auto plan = session.plan(op, segfold::offsets(std::span(offsets)), 6);
    std::vector<float> into(6);
    plan.run({std::span(x)}, segfold::offsets(std::span(offsets)), {std::span(into)});
    EXPECT_EQ(into, (std::vector<float>{-0.5f, 0.5f, -1.5f, -0.5f, 0.5f, 1.5f}));
    std::vector<float> small(3);
    EXPECT_THROW(plan.run({std::span(x)}, segfold::offsets(std::span(offsets)), {std::span(small)}),
                 InputError);
}

struct Planted {
    const char* from;
    const char* to;
};

/// Bugs in the mapping kernel that only some shapes show.
TEST(WriteBackOnSimt, PlantedBugsAreFound)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const auto op = told_back(true);
    const Problem problem(op, SegmentForm::offsets);
    const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
    for (const auto& [from, to] : std::initializer_list<Planted>{
             {"__syncthreads();  // all threads have read the ends", ";  //"},
             {"if (ends[middle] > item)", "if (ends[middle] > item + 1)"},
             {"while (ends[place] <= item + k)", "if (ends[place] <= item + k)"},
             {"!__syncthreads_or(its_end > end)", "!__syncthreads_or(its_end > begin)"},
             {"first + find_end(ends, num_ends, end)", "first + num_ends - 1"},
             {"while (is_open && num_ends < kMapEnds)", "while (is_open)"},
             {"find_segment(segments, item + k, segment + 1, last_segment)", "segment + 1"},
             {"item + k - segment_start, segment,", "item - segment_start, segment,"},
             {"total = finished(results, segment);\n                }", "}"}}) {
        auto planted = emitted;
        const auto at = planted.source.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        planted.source.replace(at, std::strlen(from), to);
        bool is_found = false;
        for (const auto& lengths : length_lists()) {
            if (is_found)
                break;
            const auto workload = make_workload(op, segments_in_form(SegmentForm::offsets, lengths), 7);
            try {
                is_found = !Judge(workload).compare(simt::run(workload, planted, {}, {}, 1)).agrees();
            } catch (const simt::SimtError&) {
                is_found = true;
            }
        }
        EXPECT_TRUE(is_found) << from;
    }
}

}  // namespace
}  // namespace segfold::test::write_back_test
