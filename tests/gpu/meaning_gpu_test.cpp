// What the emitted text computes on a GPU, against the evaluator of the language: the cases of
// emitted_meaning_test, and more random ones.
//
// Results must agree bit for bit but where dsl/README.md lets a device round its own way. NaNs are equal
// whatever their bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <thread>

#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/program.h"
#include "runtime/backends/cuda/resident_workload.h"
#include "tests/common/meaning_cases.h"
#include "tests/common/random_associative.h"
#include "tests/gpu/plans_on_gpu.h"

namespace segfold::meaning_gpu_test {
namespace {

/// How many seeds the random tests try; $SEGFOLD_MEANING_SEEDS says another number.
unsigned num_seeds()
{
    const char* told = std::getenv("SEGFOLD_MEANING_SEEDS");
    return told ? static_cast<unsigned>(std::atoi(told)) : 12;
}

bool has_product(const Expression& expression, Type type)
{
    return (expression->kind == ExpressionKind::binary && expression->symbol == "*" &&
            *expression->type == type) ||
           std::ranges::any_of(expression->arguments, [&](const auto& e) { return has_product(e, type); });
}

/// True where NVRTC may fuse a product and a sum, which rounds once instead of twice.
bool may_fuse(const Expression& expression)
{
    const auto& node = *expression;
    const bool sum = node.kind == ExpressionKind::binary && (node.symbol == "+" || node.symbol == "-") &&
                     (*node.type == Type::f32 || *node.type == Type::f64);
    return (sum && has_product(expression, *node.type)) || std::ranges::any_of(node.arguments, may_fuse);
}

bool may_fuse(const Operator& op)
{
    const auto in = [](const Block& block) {
        bool sums = false;
        for (const auto& assignment : block.assignments)
            sums = sums || may_fuse(assignment.value);
        // A name may stand for a product.
        return sums || !block.lets.empty();
    };
    return in(op.lift) || in(op.combine) || (op.finish && in(*op.finish)) || (op.empty && in(*op.empty));
}

/// Where a float stands in the order of all of its type.
std::int64_t place_of(const Array& array, std::size_t i)
{
    const auto bits = bits_at(array, i);
    const unsigned width = static_cast<unsigned>(size_bytes(array.type())) * 8;
    const auto magnitude = static_cast<std::int64_t>(bits & ~(std::uint64_t{1} << (width - 1)));
    return (bits >> (width - 1)) != 0 ? -magnitude : magnitude;
}

class MeaningOnGpu : public testing::Test {
protected:
    void SetUp() override
    {
        if (cuda::devices().empty())
            GTEST_SKIP() << cuda::no_device_reason();
        if (!context_)
            context_ = std::make_unique<cuda::Context>();
    }
    static void TearDownTestSuite() { context_.reset(); }

    static Emitted emit_for(const Workload& workload, Numbers numbers)
    {
        const auto& stage = Catalogue::standard().stage("thread_per_segment");
        const Problem problem(workload.op, workload.segments.form, workload.segments.index_bits());
        return emit(problem, stage, configure(stage, {{"block_threads", 64}}), Catalogue::standard(),
                    numbers);
    }

    using Expect = std::function<void(const Workload&, const Results&)>;

    /// Compiles all texts at a time on every core, then runs each.
    static void run(const std::vector<Workload>& workloads, const Expect& expect,
                    Numbers numbers = Numbers::constant)
    {
        std::vector<Emitted> texts;
        std::vector<cuda::CompileRequest> requests;
        for (const auto& workload : workloads) {
            texts.push_back(emit_for(workload, numbers));
            requests.push_back(cuda::variant_of(context_->info(), texts.back()).request);
        }
        cuda::CompileCache cache;
        cache.prepare_each(requests, std::thread::hardware_concurrency());
        for (std::size_t i = 0; i < workloads.size(); ++i)
            expect(workloads[i], test::run_twice(*context_, cache, workloads[i], texts[i]));
    }

    /// To the bit, but for what the compiler may fuse.
    static void expect_meaning(const std::vector<Workload>& workloads, Numbers numbers = Numbers::constant)
    {
        const auto expect = [](const Workload& workload, const Results& results) {
            std::vector<bool> fused;
            for (const auto& assignment : workload.op.lift.assignments)
                fused.push_back(may_fuse(assignment.value));
            expect_equal(workload, results, reduce_sequentially(workload),
                         [&](std::size_t f, const Array& got, const Array& expected, std::size_t s) {
                             return fused[f] || equal(got, expected, s);
                         });
        };
        run(workloads, expect, numbers);
    }

    static inline std::unique_ptr<cuda::Context> context_;
};

TEST_F(MeaningOnGpu, OperationsMeanWhatTheLanguageSays)
{
    std::vector<Workload> workloads;
    for (const Type type : kTypes)
        workloads.push_back(operations_case(type));
    expect_meaning(workloads);
    expect_meaning(workloads, Numbers::at_launch);
}

TEST_F(MeaningOnGpu, ConversionsMeanWhatTheLanguageSays)
{
    std::vector<Workload> workloads;
    for (const Type type : kTypes)
        workloads.push_back(conversions_case(type));
    expect_meaning(workloads);
}

TEST_F(MeaningOnGpu, ResultsAreCutOffBeforeAnyUse)
{
    std::vector<Workload> workloads;
    for (const Type type : kTypes)
        for (int part = 0; part < kPartsOfUses && type != Type::boolean; ++part)
            workloads.push_back(uses_case(type, part));
    expect_meaning(workloads);
}

TEST_F(MeaningOnGpu, RulesOfTheReadmeAreTrue)
{
    if (readme_rules().empty())
        GTEST_SKIP() << "no dsl/README.md below the working folder";
    std::vector<Workload> workloads;
    workloads.push_back(rules_case());
    run(workloads, [](const Workload&, const Results& results) {
        EXPECT_EQ(results.size(), 22u);
        for (const auto& result : results)
            EXPECT_EQ(bits_at(result.array, 0), 1u) << result.name;
    });
}

// CUDA's own functions err by at most 4 places (pow of f32: 8), the reference's by one.
TEST_F(MeaningOnGpu, FunctionsAgreeWithinPlaces)
{
    std::vector<Workload> workloads;
    workloads.push_back(functions_case());
    const auto agrees = [&](std::size_t f, const Array& got, const Array& expected, std::size_t s) {
        if (equal(got, expected, s))
            return true;
        if (std::isnan(number_at(got, s)) || std::isnan(number_at(expected, s)))
            return false;
        const Type type = got.type();
        const bool power = workloads[0].op.lift.assignments[f].value->name == "pow";
        const int most = type == Type::f16 || type == Type::bf16 ? 1 : power && type == Type::f32 ? 9 : 5;
        return std::abs(place_of(got, s) - place_of(expected, s)) <= most;
    };
    run(workloads, [&](const Workload& workload, const Results& results) {
        expect_equal(workload, results, reduce_sequentially(workload), agrees);
    });
}

TEST_F(MeaningOnGpu, RandomExpressionsMeanWhatTheLanguageSays)
{
    std::vector<Workload> workloads;
    for (unsigned seed = 1; seed <= num_seeds(); ++seed)
        for (const bool literals : {false, true})
            workloads.push_back(random_expressions_case(seed, literals));
    expect_meaning(workloads);
}

TEST_F(MeaningOnGpu, RandomOperatorsMeanWhatTheLanguageSays)
{
    std::vector<Workload> workloads;
    for (unsigned seed = 1; seed <= num_seeds(); ++seed)
        for (const auto form : kFoldedForms)
            if (auto workload = random_operator_case(seed, form); !may_fuse(workload.op))
                workloads.push_back(std::move(workload));
    run(workloads, [](const Workload& workload, const Results& results) {
        expect_equal(workload, results, fold(workload));
    });
}

// Stages combine in their own order, which only an associative operator allows.
TEST_F(MeaningOnGpu, EveryStageCombinesRandomAssociativeOperators)
{
    cuda::CompileCache cache;
    for (unsigned seed = 1; seed <= num_seeds(); ++seed)
        for (const auto& stage : test::plans()) {
            const auto workload = test::random_associative_case(seed, stage.forms[seed % stage.forms.size()]);
            const Problem problem(workload.op, workload.segments.form, workload.segments.index_bits());
            if (Catalogue::standard().unmet(stage, problem))
                continue;
            const auto numbers = seed % 2 == 0 ? Numbers::constant : Numbers::at_launch;
            const auto emitted = emit(problem, stage, test::smallest_configuration(stage, problem),
                                      Catalogue::standard(), numbers);
            SCOPED_TRACE(stage.name);
            expect_equal(workload, test::run_twice(*context_, cache, workload, emitted),
                         reduce_sequentially(workload));
        }
}

}  // namespace
}  // namespace segfold::meaning_gpu_test
