// Compiles texts, passes arguments, and tests the values of CUDA's own functions.
#include <cmath>
#include <limits>
#include <numeric>
#include <regex>
#include <thread>

#include "runtime/support/processes/process.h"
#include "tests/common/message_of.h"
#include "tests/simt_kernels/run.h"

namespace segfold::simt::simt_program_test {
namespace {

const Program& functions()
{
    static const Program program = compile(
        kernel_text("functions.cu"), {"integers", "floats", "warps", "atomics", "structures", "overflow"});
    return program;
}

TEST(SimtProgram, CompileErrorShowsTheLine)
{
    const std::string text =
        "extern \"C\" __global__ void broken(int* values)\n{\n    values[0] = missing + 1;\n}\n";
    const std::string message = test::message_of([&] { compile(text, {"broken"}); });
    EXPECT_TRUE(std::regex_search(
        message, std::regex("^simt: \\S+ ends with status 1; the source is kept in (\\S+\\.cu)\n(.|\n)*"
                            "\\.cu:3:17: error: (.|\n)*values\\[0\\] = missing \\+ 1;")))
        << message;
    const std::string path =
        std::regex_replace(message, std::regex("^(.|\n)*kept in (\\S+)\n(.|\n)*$"), "$2");
    std::ifstream kept(path);
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>(kept), {}}), text) << path;
}

TEST(SimtProgram, MissingCompilerIsNamed)
{
    EXPECT_EQ(test::message_of([] { compile("", {}, {.compiler = "no-such-compiler"}); }),
              "simt: no C++ compiler: tried no-such-compiler; install g++ or set CXX to a compiler's path");
}

TEST(SimtProgram, ClangCompilesTextsToo)
{
    if (!find_program("clang++"))
        GTEST_SKIP() << "no clang++ on PATH";
    const std::string text = kernel_text("block_reduce.cu");
    std::vector<unsigned> values(6 * 3 * 256);
    std::iota(values.begin(), values.end(), 1u);
    const auto sums_of = [&](const std::string& source) {
        Buffer input = upload<unsigned>("values", values), sums("sums", 6 * 4);
        compile(source, {"block_reduce"}, {.compiler = "clang++"})
            .launch("block_reduce", {.grid_x = 6, .block_x = 256}, Arguments(input.data(), sums.data(), 3));
        return std::vector<unsigned>(sums.as<unsigned>().begin(), sums.as<unsigned>().end());
    };
    std::vector<unsigned> expected;
    for (auto block = values.begin(); block != values.end(); block += 3 * 256)
        expected.push_back(std::accumulate(block, block + 3 * 256, 0u));
    EXPECT_EQ(sums_of(text), expected);
    const std::string message =
        test::message_of([&] { sums_of(planted(text, "__syncthreads();  // this level is done", "")); });
    EXPECT_TRUE(std::regex_search(message, std::regex("line (11|14): (reads|writes) element \\d+ of shared")))
        << message;
}

TEST(SimtProgram, UnknownKernelIsNamed)
{
    EXPECT_EQ(test::message_of([] { functions().launch("integer", {}, {}); }),
              "simt: no kernel 'integer'; the program was compiled with atomics, floats, integers, overflow, "
              "structures, "
              "warps");
}

TEST(SimtProgram, ShapesAndArgumentsAreChecked)
{
    Buffer out("out", 4);
    const Arguments one(out.data());
    EXPECT_EQ(test::message_of([&] { functions().launch("warps", {.block_x = 1025}, one); }),
              "simt: kernel warps: a block of 1025 x 1 x 1 threads; from 1 to 1024 are possible");
    EXPECT_EQ(test::message_of([&] { functions().launch("warps", {.grid_x = 0}, one); }),
              "simt: kernel warps: a grid of 0 x 1 x 1 blocks; from 1 to 2147483647 are possible");
    EXPECT_EQ(test::message_of([&] { functions().launch("integers", {}, one); }),
              "simt: kernel integers: 1 arguments for 2 parameters");
    EXPECT_EQ(test::message_of([&] { functions().launch("warps", {.dynamic_shared_bytes = 300000}, one); }),
              "simt: kernel warps: 300000 bytes of dynamic shared memory; at most 232448 are possible");
    EXPECT_EQ(test::message_of([&] { functions().launch("warps", {}, one, {.resident_blocks = 0}); }),
              "simt: kernel warps: 0 resident blocks on 0 OS threads; at least one block is needed, and 0 OS "
              "threads means "
              "one for each core");
}

TEST(SimtProgram, SharedMemoryHasTheSizeOfAGpus)
{
    const auto text = [](const std::string& helpers, const std::string& most) {
        return "__device__ inline int helper(int i)\n{\n    __shared__ int helped[" + helpers +
               "];\n    helped[i] = i;\n    __syncthreads();\n    return helped[i ^ 1];\n}\n"
               "extern \"C\" __global__ void first(int* out)\n{\n    out[threadIdx.x] = "
               "helper(threadIdx.x);\n}\n"
               "extern \"C\" __global__ void second(int* out)\n{\n    __shared__ int room[" +
               most +
               "];\n    room[threadIdx.x] = 1;\n    __syncthreads();\n"
               "    out[threadIdx.x] = helper(threadIdx.x) + room[threadIdx.x ^ 1];\n}\n";
    };
    const auto fault = [&](const std::string& source, const std::vector<std::string>& kernels,
                           const std::string& kernel, unsigned dynamic_bytes = 0) {
        Buffer out("out", 8);
        Fault found{};
        const auto message =
            fault_of(compile(source, kernels), kernel, {.block_x = 2, .dynamic_shared_bytes = dynamic_bytes},
                     Arguments(out.data()), {}, &found);
        EXPECT_EQ(found == Fault::shared_memory, message != "no fault");
        return message;
    };
    // 48 KB hold 12288 integers. Each of the two arrays has half of these, or one more.
    const std::string too_much = " bytes of static shared memory, of which ";
    const std::string most =
        "; a block has at most 49152; more is dynamic, by 'shared = BYTES' of the launch line";
    EXPECT_EQ(fault(text("6144", "6144"), {"second"}, "second"), "no fault");
    EXPECT_EQ(fault(text("6144", "6145"), {"second"}, "second"),
              "kernel second: 49156" + too_much + "'room of second' has 24580" + most);
    EXPECT_EQ(fault(text("6144", "6145"), {"first", "second"}, "first"), "no fault");
    EXPECT_EQ(fault(text("2", "12289"), {"first", "second"}, "first"), "no fault");
    EXPECT_EQ(fault(text("2", "12289"), {"first", "second"}, "second"),
              "kernel second: 49156" + too_much + "'room of second' has 49156" + most);
    EXPECT_EQ(fault(text("12289", "2"), {"first", "second"}, "first"),
              "kernel first: 49156" + too_much + "'helped of helper' has 49156" + most);
    EXPECT_EQ(fault(text("6144", "6144"), {"second"}, "second", 232448 - 49152), "no fault");
    EXPECT_EQ(fault(text("6144", "6144"), {"second"}, "second", 232448 - 49151),
              "kernel second: 49152 bytes of static shared memory and 183297 of dynamic; a block has at most "
              "232448 of both");
}

TEST(SimtProgram, SeveralOsThreadsCompileAtOnce)
{
    std::vector<std::string> results(6);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results.size(); ++i)
        threads.emplace_back([&results, i] {
            // Half of the threads compile the same text.
            const std::string text =
                "extern \"C\" __global__ void fill(int* out)\n{\n    out[threadIdx.x] = " +
                std::to_string(i / 2 * 2) + ";\n}\n";
            results[i] = test::message_of([&] {
                             Buffer out("out", 32 * 4);
                             compile(text, {"fill"}).launch("fill", {.block_x = 32}, Arguments(out.data()));
                             results[i] = std::to_string(out.as<int>()[31]);
                         }) == "nothing was thrown"
                             ? results[i]
                             : "error";
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(results, (std::vector<std::string>{"0", "0", "2", "2", "4", "4"}));
}

TEST(SimtProgram, StructuresAndSeveralDimensions)
{
    struct {
        const void* values;
        int count;
    } arrays{};
    Buffer values("values", 2 * 3 * 2 * 24 * 4), out("out", 2 * 3 * 2 * 24 * 4 + 4);
    std::iota(values.as<int>().begin(), values.as<int>().end(), 5);
    arrays = {values.data(), 2 * 3 * 2 * 24};
    long long offset = 1;
    functions().launch("structures",
                       {.grid_x = 2, .grid_y = 3, .grid_z = 2, .block_x = 4, .block_y = 3, .block_z = 2},
                       Arguments(arrays, offset, out.data()));
    for (int i = 0; i < arrays.count; ++i)
        ASSERT_EQ(out.as<int>()[i + 1], i + 5);
}

TEST(SimtProgram, IntegerFunctions)
{
    const std::vector<int> in = {5, -7, 0x0ff0};
    Buffer input = upload<int>("in", in), out("out", 14 * 4);
    functions().launch("integers", {}, Arguments(input.data(), out.data()));
    const std::vector<int> expected = {8, 29, 32, 5, 0x0ff00000, -7, 5, 0, 7, 32, 63, 0x3f800000, 256, 32};
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(out.as<int>()[i], expected[i]) << i;
}

TEST(SimtProgram, FloatFunctions)
{
    const std::vector<float> in = {std::numeric_limits<float>::quiet_NaN(), 0.0f, -0.0f, 2.0f};
    Buffer input = upload<float>("in", in), out("out", 19 * 4);
    functions().launch("floats", {}, Arguments(input.data(), out.data()));
    const auto values = out.as<float>();
    const std::vector<float> expected = {
        2, 2, -0.0f, 0.0f, 0.5f, 2, 4, 6, 0.5f, -2, 3, 2, 2, 2, 2, 0.0999755859375f, 0.10009765625f, 8, 3};
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_FLOAT_EQ(values[i], expected[i]) << i;
    EXPECT_TRUE(std::signbit(values[2])) << "the lesser zero";
    EXPECT_FALSE(std::signbit(values[3])) << "the greater zero";
}

TEST(SimtProgram, WarpFunctions)
{
    for (const Options& options : many_options()) {
        Buffer out("out", 15 * 32 * 4);
        functions().launch("warps", {.block_x = 32}, Arguments(out.data()), options);
        const auto row = [&](int index, int lane) { return out.as<int>()[index * 32 + lane]; };
        for (int lane = 0; lane < 32; ++lane) {
            EXPECT_EQ(row(0, lane), lane / 2);
            EXPECT_EQ(row(1, lane), lane % 8 >= 3 ? lane - 3 : lane);
            EXPECT_EQ(row(2, lane), lane % 8 <= 4 ? lane + 3 : lane);
            EXPECT_EQ(row(3, lane), lane ^ 5);
            EXPECT_EQ(row(4, lane), 0x49249249);
            EXPECT_EQ(row(5, lane), 1);
            EXPECT_EQ(static_cast<unsigned>(row(6, lane)), 0xffu << lane / 8 * 8);
            EXPECT_EQ(row(7, lane), 31 * 16);
            EXPECT_EQ(row(8, lane), -9);
            EXPECT_EQ(row(9, lane), lane < 10 ? 5 : -1);
            EXPECT_EQ(row(10, lane), 1);
            EXPECT_EQ(row(11, lane), 0);
            EXPECT_EQ(row(12, lane), 1105);
            EXPECT_EQ(row(13, lane), 100);
            EXPECT_EQ(row(14, lane), 1);
        }
    }
}

TEST(SimtProgram, AtomicFunctions)
{
    Buffer out("out", 13 * 4), words("u", 2 * 4), wide("wide", 2 * 8), sum("sum", 4);
    out.as<int>()[10] = 1;
    words.as<unsigned>()[0] = 9;
    words.as<unsigned>()[1] = 0;
    wide.as<unsigned long long>()[0] = 1;
    wide.as<unsigned long long>()[1] = 3;
    sum.as<float>()[0] = 1;
    functions().launch("atomics", {}, Arguments(out.data(), words.data(), wide.data(), sum.data()));
    const std::vector<int> expected = {1, 6, 4, 9, 11, 11, -4, 9, 8, 11, 6, 0, 1};
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(out.as<int>()[i], expected[i]) << i;
    EXPECT_EQ(words.as<unsigned>()[0], 10u);
    EXPECT_EQ(words.as<unsigned>()[1], 0u);
    EXPECT_EQ(wide.as<unsigned long long>()[0], (1ull << 40) + 1);
    EXPECT_EQ(wide.as<unsigned long long>()[1], 7u);
    EXPECT_EQ(sum.as<float>()[0], 1.5f);
}

TEST(SimtProgram, SignedOverflowIsFoundWhereAskedFor)
{
    const std::vector<int> in = {std::numeric_limits<int>::max(), 1};
    Buffer input = upload<int>("values", in), out("out", 4);
    functions().launch("overflow", {}, Arguments(input.data(), out.data()));
    EXPECT_EQ(out.as<int>()[0], std::numeric_limits<int>::min()) << "wraps as on a GPU";
    for (const bool shadow_check : {false, true}) {
        const Program strict = compile(kernel_text("functions.cu"), {"overflow"},
                                       {.shadow_check = shadow_check, .undefined_sanitizer = true});
        EXPECT_EQ(
            fault_of(strict, "overflow", {}, Arguments(input.data(), out.data())),
            "kernel overflow, block 0, thread 0, line 106: undefined behaviour: signed addition overflows");
    }
}

TEST(SimtProgram, BuffersKeepTheirPlaceWhenMoved)
{
    Buffer first("first", 10);
    std::byte* const data = first.data();
    Buffer second = std::move(first);
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(second.name(), "first");
    EXPECT_EQ(first.bytes(), 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u) << "as cudaMalloc aligns";
    second = Buffer("second", 0);
    EXPECT_EQ(second.name(), "second");
}

}  // namespace
}  // namespace segfold::simt::simt_program_test
