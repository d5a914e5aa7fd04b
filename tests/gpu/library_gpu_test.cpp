// Every standard operator on a GPU: all stages that it may use, over all layouts, against the reference and
// Thrust. A program of a shard or a filter takes a part: --gtest_filter='*/LibraryOnGpu.*top*'; with
// SEGFOLD_STAGE one stage alone runs.
#include <cstdlib>
#include <filesystem>

#include "runtime/check/check_operator.h"
#include "tests/common/files.h"
#include "tests/common/library_cases.h"
#include "tests/gpu/session_on_gpu.h"

namespace segfold::test::library_gpu_test {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 18;

class LibraryOnGpu : public testing::TestWithParam<LibraryOperator> {
protected:
    void SetUp() override
    {
        if (cuda::devices().empty())
            GTEST_SKIP() << cuda::no_device_reason();
    }
};

TEST_P(LibraryOnGpu, AgreesWithReferenceAndThrust)
{
    if (GetParam().name == "group_norm")
        GTEST_SKIP() << "its tables are read at computed places, so that check makes no data for it";
    Session session({.backend = "cuda"});
    const auto op = GetParam().op();
    regress::CheckRequest request;
    request.workload.num_elements = kElements;
    request.workload.values =
        is_float(op.parameters[0].type) ? ValueRange::near_one : ValueRange::small_integers;
    request.layouts = regress::standard_layouts(op, kElements);
    const auto stages = plans();
    for (const auto& stage : stages)
        request.stages.push_back(&stage);
    const auto check = regress::check_operator(session, op, request);
    EXPECT_TRUE(check.has_stages);
    EXPECT_FALSE(check.laws.report.any_refuted()) << segfold::print(check.laws.report, op);
    std::size_t runs = 0;
    for (const auto& outcome : check.matrix.outcomes) {
        runs += outcome.unmet ? 0 : 1;
        for (const auto& comparison : outcome.comparisons)
            EXPECT_TRUE(comparison.agrees())
                << outcome.stage << ", " << outcome.layout << ": " << segfold::print(comparison);
    }
    if (std::getenv("SEGFOLD_STAGE") == nullptr) {
        EXPECT_GT(runs, op.scan ? 0 : request.layouts.size());  // one stage gives running results
    }
}

INSTANTIATE_TEST_SUITE_P(Library, LibraryOnGpu, testing::ValuesIn(library()),
                         [](const auto& info) { return print(info.param); });

class ScalarsOnGpu : public SessionOnGpu {};

/// Folds with three values of a scalar, and counts the kernels that NVRTC has compiled since.
void fold_with_three_values()
{
    const TemporaryFolder folder;
    setenv("SEGFOLD_CACHE_DIR", folder.file("kernels").c_str(), 1);
    setenv("SEGFOLD_CACHE", "on", 1);
    const auto compiled = [&] {
        std::ptrdiff_t count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.file("")))
            count += entry.is_regular_file() ? 1 : 0;
        return count;
    };
    std::vector<float> x(5000);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 100);
    std::ptrdiff_t first = 0;
    for (const float threshold : {49.5F, 89.5F, -1.0F}) {
        Session session({.backend = "cuda"});
        const auto folded =
            session.fold(standard_operator("count_above_f32"), {x, std::span(&threshold, 1)}, whole());
        EXPECT_EQ(folded.values<std::int64_t>()[0], threshold < 0 ? 5000 : threshold < 50 ? 2500 : 500);
        if (first == 0)
            first = compiled();
        EXPECT_EQ(compiled(), first) << threshold;
    }
    EXPECT_GT(first, 0);
}

/// In a process of its own: one that has compiled before keeps the folder that it found then.
TEST_F(ScalarsOnGpu, AnotherValueCompilesNothing)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            fold_with_three_values();
            std::exit(testing::Test::HasFailure() ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(ScalarsOnGpu, APlanTakesAnyValue)
{
    auto plan = session_->plan(standard_operator("count_above_i32"), uniform(100), 1000);
    std::vector<std::int32_t> x(1000);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<std::int32_t>(i % 100);
    Lent lent;
    lent.buffers.reserve(8);
    const auto column = lent.lend(*context_, Array::of<std::int32_t>(Type::i32, x));
    for (const std::int32_t threshold : {9, 59, 98}) {
        const auto scalar =
            lent.lend(*context_, Array::of<std::int32_t>(Type::i32, std::vector<std::int32_t>{threshold}));
        const auto results = lent.lend_mutable(*context_, Type::i64, 10);
        plan.run({column, scalar}, uniform(100), {results});
        const auto counts = read(results, 10);
        for (std::size_t s = 0; s < 10; ++s)
            EXPECT_EQ(counts.as<std::int64_t>()[s], 99 - threshold) << "segment " << s;
    }
}

}  // namespace
}  // namespace segfold::test::library_gpu_test
