// NVRTC takes every probe in silence, and the memory that a probe is about is the one that it uses.
#include <gtest/gtest.h>

#include "codegen/catalogue.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/library.h"
#include "tests/common/needs_nvrtc.h"

namespace segfold::probe_compile_test {
namespace {

class ProbeCompile : public test::NeedsNvrtc {
protected:
    static cuda::Compiled compile(const Probe& probe, const std::map<std::string, int>& chosen)
    {
        const auto emitted = emit(probe, configure(probe, chosen),
                                  [](std::string_view path) { return Catalogue::standard().part(path); });
        auto compiled = cuda::compile({emitted.source, probe.name + ".cu", "sm_90", {}});
        EXPECT_EQ(compiled.log, "") << probe.name;
        EXPECT_EQ(compiled.resources.size(), 1U) << probe.name;
        EXPECT_EQ(compiled.resources.front().kernel, emitted.launch.kernel);
        return compiled;
    }
};

TEST_F(ProbeCompile, EveryTunableCompilesInSilence)
{
    for (const auto& probe : Catalogue::standard().probes())
        for (const auto& tunable : probe.tunables)
            for (const int value : {tunable.values.front(), tunable.values.back()})
                (void)compile(probe, {{tunable.name, value}});
}

/// Sums that are meant to be in local memory are there, and those of the registers are not.
TEST_F(ProbeCompile, AccumulatorsLieWhereTheyAreMeantTo)
{
    const auto& probe = Catalogue::standard().probe("accumulators");
    const auto resources = [&](int memory) { return compile(probe, {{"memory", memory}}).resources.front(); };
    constexpr int kSumBytes = 16 * 4;
    EXPECT_EQ(resources(0).stack_bytes, 0);
    EXPECT_GE(resources(0).registers, 16);
    EXPECT_EQ(resources(1).stack_bytes, 0);
    EXPECT_EQ(resources(1).static_shared_bytes, 256 * kSumBytes);
    EXPECT_GE(resources(2).stack_bytes, kSumBytes);
    EXPECT_EQ(resources(3).stack_bytes, 0);
    EXPECT_EQ(resources(3).static_shared_bytes, 0);
}

}  // namespace
}  // namespace segfold::probe_compile_test
