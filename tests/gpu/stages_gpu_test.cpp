// Every stage x operator x layout x shape on a GPU, against the reference; sizes beyond 32-bit indices.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/judge/compare.h"
#include "tests/common/files.h"
#include "tests/common/stage_cases.h"
#include "tests/gpu/plans_on_gpu.h"

namespace segfold::test::stages_gpu_test {
namespace {

/// One context and one compile cache for all tests of the process.
class StagesOnGpu : public testing::Test {
protected:
    void SetUp() override
    {
        if (cuda::devices().empty())
            GTEST_SKIP() << cuda::no_device_reason();
        if (!context_)
            context_ = std::make_unique<cuda::Context>();
    }
    static void TearDownTestSuite() { context_.reset(); }

    static Results run(const Workload& workload, const Emitted& emitted)
    {
        return run_twice(*context_, cache_, workload, emitted);
    }

    static void run_matrix(const Stage& stage, const std::string& op, LayoutKind kind, int bits,
                           bool smallest, Numbers numbers = Numbers::constant)
    {
        const Problem problem(standard_operator(op), form_of(kind), bits);
        if (Catalogue::standard().unmet(stage, problem))
            return;
        const auto configuration = smallest ? smallest_configuration(stage, problem)
                                            : default_configuration(stage, plan_facts(problem));
        const auto emitted = emit(problem, stage, configuration, Catalogue::standard(), numbers);
        const auto [block, tile] = block_and_tile(stage, problem, configuration);
        for (const auto& shape : segment_cases(kind, block, tile, problem.op.allows_empty())) {
            const auto workload = make_workload(op, with_index_bits(shape.segments.copy(), bits), 11);
            const auto comparison = Judge(workload).compare(run(workload, emitted));
            ASSERT_TRUE(comparison.agrees()) << stage.name << " " << op << " " << name(kind) << " " << bits
                                             << ", " << shape.name << ": " << segfold::print(comparison);
        }
    }

    /// Right results, and the same bits every time.
    static void expect_the_same_bits(const Workload& workload, const Judge& judge, const Stage& stage)
    {
        const Problem problem(workload.op, workload.segments.form);
        const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
        const auto first = run(workload, emitted);
        const auto comparison = judge.compare(first);
        ASSERT_TRUE(comparison.agrees()) << segfold::print(comparison);
        EXPECT_EQ(first.keys.has_value(), problem.form == SegmentForm::keys);
        for (int repeat = 0; repeat < 3; ++repeat) {
            const auto again = run(workload, emitted);
            for (std::size_t f = 0; f < first.size(); ++f)
                ASSERT_EQ(std::memcmp(first[f].array.data(), again[f].array.data(), first[f].array.bytes()),
                          0)
                    << "differs from run to run";
        }
    }

    static inline std::unique_ptr<cuda::Context> context_;
    static inline cuda::CompileCache cache_;
};

TEST_F(StagesOnGpu, SmallTilesAgreeWithTheReference)
{
    for (const auto& stage : plans())
        for (const auto& op : kMatrixOperators)
            for (const auto kind : kLayoutKinds)
                run_matrix(stage, op, kind, 32, true);
}

/// More ends in a tile than there is room for: warp_stream's lanes take turns, lean_stream walks tiles again.
TEST_F(StagesOnGpu, SmallTilesOfCrowdedEndsAgreeWithTheReference)
{
    for (const auto& stage : plans()) {
        if (stage.name != "warp_stream" && stage.name != "lean_stream")
            continue;
        for (const std::string op : {"trace_u64", "max_subarray_i32", "costly_trace", "appended_pair"}) {
            const Problem problem(matrix_operator(op), SegmentForm::offsets);
            auto configuration = smallest_configuration(stage, problem);
            if (stage.name == "warp_stream")
                configuration["sparse_ends"] = 1;
            const auto emitted = emit(problem, stage, configuration);
            for (const auto& [name, lengths] : crowded_cases(32 * configuration.at("items_per_thread"))) {
                const auto workload = make_workload(
                    op, segments_from_offsets(index_array(offsets_of(lengths)), total(lengths)), 11);
                const auto comparison = Judge(workload).compare(run(workload, emitted));
                ASSERT_TRUE(comparison.agrees())
                    << stage.name << " " << op << ", " << name << ": " << segfold::print(comparison);
            }
        }
    }
}

/// Bytes that one instruction takes out of their word and adds.
TEST_F(StagesOnGpu, SmallTilesOfBytesAgreeWithTheReference)
{
    for (const std::string element : {"i8", "u8"}) {
        const auto op = parse_operator("wide.seg", "operator wide(x: " + element +
                                                       ") -> i32 { state sum: i32 = 0 lift i32(x) "
                                                       "combine(a, b) a + b }");
        const Problem problem(op, SegmentForm::offsets);
        for (const auto& stage : plans()) {
            if (Catalogue::standard().unmet(stage, problem))
                continue;
            auto configuration = smallest_configuration(stage, problem);
            if (configuration.contains("vector_items"))
                configuration["vector_items"] = 16;
            if (configuration.contains("byte_marks"))
                configuration["items_per_thread"] = 32;
            const auto emitted = emit(problem, stage, configuration);
            const auto [block, tile] = block_and_tile(stage, problem, configuration);
            for (const auto& shape : segment_cases(LayoutKind::offsets, block, tile, true)) {
                const auto workload = make_workload(op, shape.segments.copy(), 11);
                const auto comparison = Judge(workload).compare(run(workload, emitted));
                ASSERT_TRUE(comparison.agrees()) << stage.name << " " << element << ", " << shape.name << ": "
                                                 << segfold::print(comparison);
            }
        }
    }
}

TEST_F(StagesOnGpu, DefaultConfigurationsAgreeWithTheReference)
{
    for (const auto& stage : plans())
        for (const auto& op : kMatrixOperators)
            for (const auto kind : kLayoutKinds)
                if (takes_directly(stage, kind) && kind != LayoutKind::lengths)
                    run_matrix(stage, op, kind, 32, false);
}

TEST_F(StagesOnGpu, NumbersAtLaunchInSmallTilesAgreeWithTheReference)
{
    for (const auto& stage : plans())
        for (const auto& op : kMatrixOperators)
            for (const auto kind : kLayoutKinds)
                if (takes_directly(stage, kind) && kind != LayoutKind::lengths)
                    run_matrix(stage, op, kind, 32, true, Numbers::at_launch);
}

TEST_F(StagesOnGpu, NumbersAtLaunchOfDefaultConfigurationsAgreeWithTheReference)
{
    for (const auto& stage : plans())
        for (const auto& op : kMatrixOperators)
            for (const auto kind : kLayoutKinds)
                if (takes_directly(stage, kind) && kind != LayoutKind::lengths)
                    run_matrix(stage, op, kind, 32, false, Numbers::at_launch);
}

/// Plans of one program find their own kernels in it.
TEST_F(StagesOnGpu, PlansOfABatchAgreeWithTheReference)
{
    const std::string op = "affine_u32";
    const auto workload =
        make_workload(op, segments_in_form(SegmentForm::offsets, {1, 31, 0, 33, 1000, 7, 50000, 3, 2049}), 5);
    const Problem problem(standard_operator(op), SegmentForm::offsets, workload.segments.index_bits());
    std::vector<std::pair<std::string, Emitted>> list;
    std::vector<cuda::Variant> variants;
    for (const auto& stage : plans())
        if (!Catalogue::standard().unmet(stage, problem))
            for (const auto& configuration : some_configurations(stage, problem, 2)) {
                list.emplace_back(stage.name, emit(problem, stage, configuration));
                variants.push_back(cuda::variant_of(context_->info(), list.back().second));
            }
    // Not the one of the fixture: no plan may be there yet.
    cuda::CompileCache cache;
    cache.prepare(variants);
    const Judge judge(workload);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& [stage, emitted] = list[i];
        const auto program = cache.get(variants[i].request);
        EXPECT_TRUE(program->is_from_disk || !program->kernel_prefix.empty()) << stage;
        cuda::ResidentWorkload resident(*context_, workload);
        cuda::Program plan(*context_, resident, emitted, &cache);
        cuda::Stream stream(*context_);
        plan.launch(stream.handle());
        stream.synchronize();
        const auto comparison = judge.compare(resident.results());
        EXPECT_TRUE(comparison.agrees()) << stage << ": " << segfold::print(comparison);
        for (const auto& kernel : plan.kernels())
            EXPECT_GT(kernel.registers, 0) << stage << " " << kernel.kernel;
    }
    EXPECT_EQ(cache.counts().misses, variants.size());
}

TEST_F(StagesOnGpu, WideIndicesAgreeWithTheReference)
{
    for (const auto& stage : plans())
        for (const auto& op : kMatrixOperators)
            for (const auto kind : kLayoutKinds)
                if (takes_directly(stage, kind) && kind != LayoutKind::lengths)
                    run_matrix(stage, op, kind, 64, true);
}

TEST_F(StagesOnGpu, MillionsOfElementsAgreeWithReferenceAndThrust)
{
    for (const std::string layout :
         {"whole", "uniform=64", "geometric:mean=32", "zipf:exponent=1.9", "giant:half", "half_empty:mean=32",
          "lognormal:mean=3,sigma=1.2", "poisson:mean=32"})
        for (const auto& op : kMatrixOperators) {
            const bool empties = standard_operator(op).allows_empty();
            auto resolved = resolve(parse_layout(layout), 1 << 22);
            const auto workload = make_workload(op, std::move(resolved.segments), 17);
            bool has_empty = false;
            for (std::int64_t s = 0; s < workload.segments.num_segments && !has_empty; ++s)
                has_empty = workload.segments.length(s) == 0;
            if (has_empty && !empties)
                continue;
            const Judge judge(workload);
            if (thrust_available(ThrustSystem::cuda)) {
                const auto comparison = judge.compare(reduce_by_key(workload, ThrustSystem::cuda));
                ASSERT_TRUE(comparison.agrees())
                    << "thrust " << op << " " << layout << ": " << segfold::print(comparison);
            }
            for (const auto& stage : plans()) {
                const Problem problem(workload.op, workload.segments.form);
                if (Catalogue::standard().unmet(stage, problem))
                    continue;
                const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
                const auto comparison = judge.compare(run(workload, emitted));
                ASSERT_TRUE(comparison.agrees())
                    << stage.name << " " << op << " " << layout << ": " << segfold::print(comparison);
            }
        }
}

TEST_F(StagesOnGpu, RungsAgreeWithTheReference)
{
    for (const auto& rung : rungs())
        for (const std::string op : {"sum_i32", "trace_u64", "sum_f32", "mean_variance_f32"})
            for (const auto form : rung.forms) {
                const Problem problem(standard_operator(op), form);
                if (Catalogue::standard().unmet(rung, problem))
                    continue;
                auto list = some_configurations(rung, problem, 2);
                list.push_back(smallest_configuration(rung, problem));
                for (const auto& configuration : list)
                    for (const auto& shape : rung_shapes(form, block_and_tile(configuration).second)) {
                        const auto workload = make_workload(op, shape.segments.copy(), 11);
                        const auto comparison =
                            Judge(workload).compare(run(workload, emit(problem, rung, configuration)));
                        ASSERT_TRUE(comparison.agrees())
                            << rung.name << " " << op << " " << name(form) << ", " << shape.name << ", "
                            << segfold::print(configuration) << ": " << segfold::print(comparison);
                    }
            }
}

TEST_F(StagesOnGpu, RungsAgreeOverMillionsOfElements)
{
    for (const std::string op : {"sum_i32", "trace_u64", "sum_f32"}) {
        const auto workload = make_workload(op, whole_segments((1 << 22) + 5), 17);
        const Judge judge(workload);
        const Problem problem(workload.op, SegmentForm::whole);
        for (const auto& rung : rungs()) {
            if (Catalogue::standard().unmet(rung, problem))
                continue;
            for (const auto& configuration : some_configurations(rung, problem, 6)) {
                const auto comparison = judge.compare(run(workload, emit(problem, rung, configuration)));
                ASSERT_TRUE(comparison.agrees())
                    << rung.name << " " << op << " " << segfold::print(configuration) << ": "
                    << segfold::print(comparison);
            }
        }
    }
}

/// Flags and keys of millions of elements: found by kernels, the same bits every time, and by Thrust.
TEST_F(StagesOnGpu, MillionsOfFoundSegmentsAgreeWithReferenceAndThrust)
{
    for (const std::string layout : {"uniform=1", "uniform=2", "uniform=64", "zipf:exponent=1.9",
                                     "giant:half", "bimodal:short=3,long=700", "uniform=4194304"})
        for (const auto& op : {"sum_f32", "trace_u64", "mean_variance_f32", "keep_first_i32"})
            for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
                const auto resolved = resolve(parse_layout(layout), 1 << 22);
                const auto workload = make_workload(op, given_as(form, resolved.segments), 17);
                const Judge judge(workload);
                for (const auto& name : kRunStages) {
                    SCOPED_TRACE(name + " of " + op + ", " + layout);
                    expect_the_same_bits(workload, judge, Catalogue::standard().stage(name));
                }
                if (thrust_available(ThrustSystem::cuda)) {
                    const auto other = judge.compare(reduce_by_key(workload, ThrustSystem::cuda));
                    ASSERT_TRUE(other.agrees())
                        << "thrust, " << op << " " << layout << ": " << segfold::print(other);
                }
            }
}

/// More elements than 32-bit indices can count. The hash over bytes changes with any element lost or moved.
TEST_F(StagesOnGpu, BeyondTwoBillionElements)
{
    if (context_->memory().free_bytes < (std::size_t{100} << 30))
        GTEST_SKIP() << "this GPU has less than 100 GiB of free memory";
    const std::int64_t n = (std::int64_t{1} << 31) + (std::int64_t{1} << 24);
    for (const std::string layout : {"uniform=4096", "lognormal:mean=8,sigma=2", "giant:half"}) {
        auto resolved = resolve(parse_layout(layout), n);
        ASSERT_EQ(resolved.segments.index_bits(), 64);
        const auto workload = make_workload("trace_u8", std::move(resolved.segments), 23);
        const Judge judge(workload);
        if (thrust_available(ThrustSystem::cuda)) {
            const auto comparison = judge.compare(reduce_by_key(workload, ThrustSystem::cuda));
            ASSERT_TRUE(comparison.agrees()) << "thrust " << layout << ": " << segfold::print(comparison);
        }
        for (const auto& stage : plans()) {
            const Problem problem(workload.op, workload.segments.form, 64);
            // A thread for a segment of a billion elements would take minutes.
            const bool too_slow =
                layout == "giant:half" && stage.name != "tile_scan" && stage.name != "block_per_segment";
            if (too_slow || Catalogue::standard().unmet(stage, problem))
                continue;
            const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
            const auto comparison = judge.compare(run(workload, emitted));
            ASSERT_TRUE(comparison.agrees())
                << stage.name << " " << layout << ": " << segfold::print(comparison);
        }
    }
}

TEST_F(StagesOnGpu, FoundSegmentsBeyondTwoBillionElements)
{
    if (context_->memory().free_bytes < (std::size_t{100} << 30))
        GTEST_SKIP() << "this GPU has less than 100 GiB of free memory";
    const std::int64_t n = (std::int64_t{1} << 31) + (std::int64_t{1} << 24);
    const auto resolved = resolve(parse_layout("giant:half"), n);
    const auto workload = make_workload("trace_u8", given_as(SegmentForm::flags, resolved.segments), 23);
    ASSERT_EQ(workload.segments.index_bits(), 64);
    const Judge judge(workload);
    for (const auto& name : kRunStages) {
        const auto& stage = Catalogue::standard().stage(name);
        const Problem problem(workload.op, SegmentForm::flags, 64);
        const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
        const auto comparison = judge.compare(run(workload, emitted));
        ASSERT_TRUE(comparison.agrees()) << name << ": " << segfold::print(comparison);
    }
}

/// As many elements and segments as 32-bit indices are used for: nothing may overflow on the way.
TEST_F(StagesOnGpu, TheMostThatNarrowIndicesCount)
{
    if (context_->memory().free_bytes < (std::size_t{10} << 30))
        GTEST_SKIP() << "this GPU has less than 10 GiB of free memory";
    for (auto* make : {+[] { return whole_segments(kMaxNarrowIndex); },
                       +[] { return uniform_segments(kMaxNarrowIndex, 1); }}) {
        const auto workload = make_workload("sum_u8", make(), 31);
        ASSERT_EQ(workload.segments.index_bits(), 32);
        const Judge judge(workload);
        for (const auto& stage : plans()) {
            const Problem problem(workload.op, workload.segments.form, 32);
            const bool too_slow =
                workload.segments.form == SegmentForm::whole && stage.name == "thread_per_segment";
            if (too_slow || Catalogue::standard().unmet(stage, problem))
                continue;
            const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
            const auto comparison = judge.compare(run(workload, emitted));
            ASSERT_TRUE(comparison.agrees()) << stage.name << ": " << segfold::print(comparison);
        }
    }
}

TEST_F(StagesOnGpu, TheWholeOfTwoBillionElements)
{
    if (context_->memory().free_bytes < (std::size_t{20} << 30))
        GTEST_SKIP() << "this GPU has less than 20 GiB of free memory";
    const std::int64_t n = (std::int64_t{1} << 31) + 12345;
    const auto workload = make_workload("trace_u8", whole_segments(n), 29);
    const Judge judge(workload);
    for (const std::string name : {"grid_reduce", "tile_scan"}) {
        const auto& stage = Catalogue::standard().stage(name);
        const Problem problem(workload.op, SegmentForm::whole, 64);
        const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
        const auto comparison = judge.compare(run(workload, emitted));
        ASSERT_TRUE(comparison.agrees()) << name << ": " << segfold::print(comparison);
    }
}

/// A hash tells the order of elements however many a segment has; states of 2 and of 16 bytes.
TEST_F(StagesOnGpu, TheOrderOfManyElementsIsKept)
{
    std::vector<std::int64_t> lengths = {0, 1'000'003, 1, 0, 77, 300'000};
    for (std::int64_t i = 0; i < 40'000; ++i)
        lengths.push_back(i % 2000 == 0 ? 20'011 : i * 7 % 31);
    for (const std::string op : {"hash_u8", "hash_u64"}) {
        const auto workload = make_workload(op, segments_in_form(SegmentForm::offsets, lengths), 5);
        const Judge judge(workload);
        for (const auto& stage : plans()) {
            const Problem problem(workload.op, SegmentForm::offsets, workload.segments.index_bits());
            if (Catalogue::standard().unmet(stage, problem))
                continue;
            for (const auto& configuration : {smallest_configuration(stage, problem),
                                              default_configuration(stage, plan_facts(problem))}) {
                const auto comparison = judge.compare(run(workload, emit(problem, stage, configuration)));
                EXPECT_TRUE(comparison.agrees())
                    << stage.name << " " << op << ", " << segfold::print(configuration) << ": "
                    << segfold::print(comparison);
            }
        }
    }
}

/// Every stage notes a read outside of a checked table, in the last of many elements, and no other.
TEST_F(StagesOnGpu, ReadsOutsideOfTablesAreRefused)
{
    constexpr std::int64_t kElements = 100'000;
    const auto op = parse_operator("gather", R"(
        operator gather(j: i32, t: table f32) -> f32 {
            state s: f32 = 0
            lift t[j - 1]
            combine(a, b) a + b
        })");
    for (const auto& stage : Catalogue::standard().stages())
        for (const auto form : {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets}) {
            Problem problem(op, form);
            problem.checked_tables = {"t"};
            if (Catalogue::standard().unmet(stage, problem) || served_form(stage, form) != form)
                continue;
            const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
            Workload workload;
            workload.op = op;
            workload.segments = form == SegmentForm::whole ? whole_segments(kElements)
                                : form == SegmentForm::uniform
                                    ? uniform_segments(kElements, 10)
                                    : segments_in_form(form, std::vector<std::int64_t>(kElements / 10, 10));
            workload.arrays.push_back(Array(Type::i32, kElements));
            std::ranges::fill(workload.arrays[0].as<std::int32_t>(), 20);
            workload.arrays.push_back(Array(Type::f32, 20));
            std::ranges::fill(workload.arrays[1].as<float>(), 1.0F);
            const auto total = form == SegmentForm::whole ? static_cast<float>(kElements) : 10.0F;
            EXPECT_EQ(run(workload, emitted)[0].array.as<float>()[0], total) << stage.name;
            workload.arrays[0].as<std::int32_t>()[kElements - 1] = 21;
            EXPECT_EQ(refusal([&] { (void)run(workload, emitted); }),
                      "table 't' has 20 entries; element 99999 reads t[20], and indices run from 0 to 19")
                << stage.name;
        }
}

}  // namespace
}  // namespace segfold::test::stages_gpu_test
