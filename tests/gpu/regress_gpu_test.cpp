// Relations and ratios of times on a GPU; a kernel made slower is found, the same one is not.
#include <gtest/gtest.h>

#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/check/relations.h"
#include "runtime/data/resolve.h"
#include "runtime/measure/times/ratios.h"
#include "tests/common/kernel_folder.h"

namespace segfold::test::regress_gpu_test {
namespace {

std::vector<Array> make_arrays(const Operator& op, const Segments& segments, std::uint64_t seed)
{
    std::vector<Array> arrays;
    for (const auto& parameter : op.parameters)
        arrays.push_back(generate_values(parameter.type, segments.num_elements, seed++, ValueRange::uniform));
    return arrays;
}

class RegressOnGpu : public testing::Test {
protected:
    void SetUp() override
    {
        if (cuda::devices().empty())
            GTEST_SKIP() << cuda::no_device_reason();
    }

    static std::vector<regress::TimeCase> measure(const Catalogue& catalogue)
    {
        const auto op = standard_operator("sum_f32");
        const auto backend = make_backend("cuda");
        regress::TimeBench bench(*backend, request(op, catalogue));
        return bench.measure([](const std::string&) {});
    }

    static regress::TimeRequest request(const Operator& op, const Catalogue& catalogue)
    {
        regress::TimeRequest request{
            .ops = {}, .stages = {}, .catalogue = catalogue, .layouts = {}, .make_arrays = make_arrays};
        request.ops.push_back({"sum_f32", op, {true, true, false}});
        for (const auto* stage : {"warp_per_segment", "tree_shuffle", "run_stream"})
            request.stages.push_back(&catalogue.stage(stage));
        request.layouts = {parse_layout("uniform=1024"), parse_layout("constant:length=64")};
        request.num_elements = std::int64_t{1} << 25;
        return request;
    }

    TemporaryFolder folder_;
};

TEST_F(RegressOnGpu, RelationsHold)
{
    const cuda::Context context;
    const auto backend = cuda::make_backend(context);
    // One configuration for each operator: a text takes a tenth of a second to compile, and there are
    // hundreds.
    const std::vector<std::pair<const char*, regress::Tiles>> cases = {
        {"trace_i32", regress::Tiles::smallest}, {"mean_variance_f32", regress::Tiles::chosen}};
    for (const auto& [name, tiles] : cases) {
        const auto op = standard_operator(name);
        const regress::Setting setting{
            op, {true, op.laws.commutative, false}, Catalogue::standard(), *backend, 50000, 7, make_arrays};
        regress::Materials materials;
        for (const auto& stage : Catalogue::standard().stages())
            for (const auto& relation : regress::relations()) {
                const auto outcome = regress::attempt(relation, setting, stage, tiles, materials);
                EXPECT_FALSE(outcome.breach)
                    << name << " " << stage.name << " " << relation.name << ": " << outcome.breach->text;
            }
    }
}

TEST_F(RegressOnGpu, RatiosAreMeasuredAndASlowerKernelIsFound)
{
    const auto before = measure(Catalogue::standard());
    ASSERT_EQ(before.size(), 9u) << "three stages over the whole and two layouts";
    std::size_t measured = 0;
    for (const auto& one : before) {
        measured += !one.rounds.empty();
        EXPECT_EQ(one.rounds.empty(), !one.reason.empty()) << one.stage << " " << one.layout;
        for (const auto& round : one.rounds)
            for (const double ratio : round)
                EXPECT_GT(ratio, 0) << one.stage << " " << one.layout;
    }
    EXPECT_GE(measured, 5u);

    // Twice the work of a lane.
    const auto kernels = copy_kernels(folder_, "kernels");
    plant(
        kernels, "stages/warp_per_segment.cu", "    total = warp_reduce(total);\n",
        "    for (int k = 0; k < 40; ++k)\n        total = combine(total, shuffle(total, (lane + k) % 32));\n"
        "    total = warp_reduce(total);\n");
    const auto edited = Catalogue::from_directory(kernels);
    const auto now = measure(edited);
    const auto again = [&](const regress::TimeCase& one) {
        const auto op = standard_operator("sum_f32");
        const auto backend = make_backend("cuda");
        return regress::TimeBench(*backend, request(op, edited)).measure(one);
    };
    bool found = false;
    for (const auto& outcome : compare_times(now, before, again)) {
        const bool is_edited = outcome.now.stage == "warp_per_segment" && outcome.now.layout != "whole";
        found = found || (is_edited && outcome.verdict == regress::Verdict::worse);
        if (outcome.now.stage != "warp_per_segment") {
            EXPECT_NE(outcome.verdict, regress::Verdict::worse)
                << outcome.now.stage << " " << outcome.now.layout << " " << outcome.effect;
        }
    }
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace segfold::test::regress_gpu_test
