// Peers through nvcc, and the bench's own kernels through NVRTC; skipped where there is none.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>

#include "codegen/embedded_kernels.h"
#include "dsl/derived.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/measure/bench/peers/peer_library.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"

namespace segfold::bench::peer_compile_test {
namespace {

class PeerCompile : public testing::Test {
protected:
    void SetUp() override
    {
        setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
        if (!toolkit_.reason().empty())
            GTEST_SKIP() << toolkit_.reason();
    }

    TemporaryFolder folder_;
    PeerToolkit toolkit_;
};

/// Places in lift, segment and length in finish, no identity, 16-bit floats, users' names that C++ and the
/// peers' headers have taken.
constexpr const char* kDemanding =
    R"(# \
operator demanding(errno: f16, int: i64) -> (NULL: f32, stdin: i64, INT_MAX: bf16) {
  state   { _GNU_SOURCE: f32; linux: i64 }
  lift    { let M_PI = f32(errno); _GNU_SOURCE = M_PI * f32(int); linux = position + segment * 2 }
  combine(assert, CUB_MAX) { _GNU_SOURCE = assert._GNU_SOURCE + CUB_MAX._GNU_SOURCE;
                             linux = max(assert.linux, CUB_MAX.linux) }
  finish  { NULL = _GNU_SOURCE; stdin = linux + segment; INT_MAX = bf16(_GNU_SOURCE / f32(length)) }
  empty   { NULL = 0; stdin = -1; INT_MAX = nan }
})";

/// A scan that reads both states, a column that lift does not read, and places.
constexpr const char* kScanned =
    R"(operator streak(x: i32, errno: i64) -> (each INT_MAX: i64, each place: i64) {
  state   { linux: i64 = 0; best: i32 = 0 }
  lift    { linux = position; best = x }
  combine(a, b) { linux = a.linux + b.linux; best = max(a.best, b.best) }
  scan(before, through) { INT_MAX = i64(through.best - before.best) * errno; place = through.linux + segment }
})";

TEST_F(PeerCompile, OperatorsOfAllKinds)
{
    const struct {
        Operator op;
        const char* peer;
        SegmentForm form;
        int bits;
    } cases[] = {{standard_operator("sum_f32"), "cub_reduce", SegmentForm::whole, 32},
                 {standard_operator("mean_variance_f32"), "cub_segmented", SegmentForm::offsets, 32},
                 {standard_operator("affine_u32"), "cub_reduce_by_key", SegmentForm::uniform, 64},
                 {parse_operator("test.seg", kDemanding), "thrust_reduce_by_key", SegmentForm::offsets, 32}};
    test::Draw draw;
    for (const auto& [op, name, form, bits] : cases) {
        const auto& wanted = peer(name);
        ASSERT_EQ(toolkit_.missing(wanted), "");
        if (!draw.takes(name))
            continue;
        const auto source = emit_peer(Problem(op, form, bits), wanted).source;
        const auto library = toolkit_.compile(name, source, "sm_90");
        EXPECT_NE(library.fold, nullptr);
        EXPECT_FALSE(library.is_compiled_before);
        EXPECT_GT(library.compile_seconds, 0);
    }
}

TEST_F(PeerCompile, ScansOfAllKinds)
{
    const struct {
        Operator op;
        const char* peer;
        SegmentForm form;
        int bits;
    } cases[] = {
        {scanned(standard_operator("sum_f32"), {.exclusive = true}), "cub_scan", SegmentForm::whole, 32},
        {scanned(standard_operator("affine_u32"), {.reverse = true}), "cub_scan_by_key", SegmentForm::offsets,
         32},
        {parse_operator("test.seg", kScanned), "thrust_scan_by_key", SegmentForm::uniform, 64}};
    test::Draw draw;
    for (const auto& [op, name, form, bits] : cases) {
        if (!draw.takes(name))
            continue;
        const auto source = emit_peer(Problem(op, form, bits), peer(name)).source;
        EXPECT_NE(toolkit_.compile(name, source, "sm_90").fold, nullptr);
    }
}

/// $SEGFOLD_CCCL says which headers; those of CUDA 13.0 have none of these overloads.
TEST_F(PeerCompile, OverloadsOfNewerReleases)
{
    const struct {
        const char* op;
        const char* peer;
        SegmentForm form;
        int bits;
    } cases[] = {{"sum_f32", "cub_fixed_size", SegmentForm::uniform, 32},
                 {"argmax_f32", "cub_fixed_size", SegmentForm::uniform, 64},
                 {"max_f32", "cub_segmented_hint", SegmentForm::uniform, 32},
                 {"mean_variance_f32", "cub_segmented_hint", SegmentForm::offsets, 64}};
    std::vector<std::future<PeerLibrary>> underway;
    for (const auto& [op, name, form, bits] : cases) {
        const auto& wanted = peer(name);
        if (!toolkit_.missing(wanted).empty())
            continue;
        const auto source = emit_peer(Problem(standard_operator(op), form, bits), wanted).source;
        underway.push_back(std::async(std::launch::async, [this, name = name, source] {
            return toolkit_.compile(name, source, "sm_90");
        }));
    }
    if (underway.empty())
        GTEST_SKIP() << toolkit_.description() << " has neither; set SEGFOLD_CCCL to newer headers";
    for (auto& library : underway)
        EXPECT_NE(library.get().fold, nullptr);
}

TEST_F(PeerCompile, WhatDoesNotCompileSaysWhere)
{
    try {
        (void)toolkit_.compile("broken", "int segfold_peer(\n", "sm_90");
        FAIL();
    } catch (const DeviceError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("broken: nvcc does not compile it: ")) << text;
        EXPECT_NE(text.find("\nthe source is kept in " + folder_.file("cache/segfold/peers/broken-")),
                  std::string::npos)
            << text;
    }
}

/// A library is taken only for the text that it was made of, even where names collide.
TEST_F(PeerCompile, CompiledPeersAreKept)
{
    const std::string source =
        "extern \"C\" __attribute__((visibility(\"default\"))) int segfold_peer(void*) { return 41; }\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) const char* segfold_peer_error(int) { return "
        "\"\"; }\n";
    const auto first = toolkit_.compile("small", source, "sm_90");
    EXPECT_FALSE(first.is_compiled_before);
    EXPECT_EQ(first.fold(nullptr), 41);
    const auto second = toolkit_.compile("small", source, "sm_90");
    EXPECT_TRUE(second.is_compiled_before);
    EXPECT_NEAR(second.compile_seconds, first.compile_seconds, 1e-3);
    for (const auto& entry : std::filesystem::directory_iterator(peer_directory()))
        if (entry.path().extension() == ".cu")
            std::ofstream(entry.path(), std::ios::app) << "// another text\n";
    EXPECT_FALSE(toolkit_.compile("small", source, "sm_90").is_compiled_before);
}

TEST(BenchKernels, CompileForEveryArchitecture)
{
    try {
        for (const auto& architecture : cuda::supported_architectures()) {
            const auto warnings = [&](std::string_view file, std::vector<std::string> options) {
                return cuda::compile(
                           {std::string(kernel_text(file)), "kernels.cu", architecture, std::move(options)})
                    .log;
            };
            EXPECT_EQ(warnings("measuring/read.cu", {}), "");
            EXPECT_EQ(warnings("measuring/keys.cu", {}), "");
            EXPECT_EQ(warnings("measuring/compare.cu", {"--std=c++20"}), "");
        }
    } catch (const DeviceError& error) {
        if (std::string(error.what()).find("NVRTC") == std::string::npos)
            throw;
        GTEST_SKIP() << error.what();
    }
}

}  // namespace
}  // namespace segfold::bench::peer_compile_test
