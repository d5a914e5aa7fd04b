// Memory, launches, timing and failures on a GPU; skipped without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include "dsl/error.h"
#include "runtime/backends/cuda/driver/module.h"
#include "tests/common/message_of.h"

namespace segfold::cuda::cuda_device_test {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void add(const float* a, const float* b, float* c, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void mark(unsigned char* marks)
{
    marks[((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = 1;
}

extern "C" __global__ void reverse(const int* in, int* out)
{
    extern __shared__ int tile[];
    const int n = 16384;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        tile[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = tile[n - 1 - i];
}

extern "C" __global__ void write_nowhere(int* p)
{
    p[1ll << 40] = 1;
}

extern "C" __global__ void do_nothing() {}
)";

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values)
{
    return std::as_bytes(std::span(values));
}

class CudaDevice : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string reason = no_device_reason(); !reason.empty())
            GTEST_SKIP() << reason;
        try {
            nvrtc();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }

    static Module load(const Context& context)
    {
        const DeviceInfo& info = context.info();
        const std::string architecture = architecture_for(info.compute_major, info.compute_minor);
        return Module(context, compile({kSource, "kernels.cu", architecture, {}}), "kernels.cu");
    }
};

using CudaDeviceDeathTest = CudaDevice;

TEST_F(CudaDevice, DescribesItself)
{
    const DeviceInfo info = device(0);
    EXPECT_FALSE(info.name.empty());
    EXPECT_EQ(info.architecture(),
              "sm_" + std::to_string(info.compute_major) + std::to_string(info.compute_minor));
    EXPECT_GT(info.multiprocessors, 0);
    EXPECT_GT(info.memory_bytes, std::size_t(1) << 28);
    EXPECT_GE(info.shared_per_block_optin, info.shared_per_block);
    EXPECT_GE(info.shared_per_multiprocessor, info.shared_per_block_optin);
    EXPECT_GE(info.registers_per_multiprocessor, 32768);
    EXPECT_EQ(info.max_threads_per_block, 1024);
    EXPECT_GE(info.driver_version, 12000);
    EXPECT_EQ(info.uuid.size(), 40u);
    const std::size_t count = devices().size();
    EXPECT_EQ(test::message_of([&] { (void)device(static_cast<int>(count)); }),
              "there is no GPU " + std::to_string(count) + "; this machine has " +
                  (count == 1 ? "GPU 0 only" : "GPUs 0 to " + std::to_string(count - 1)));
}

TEST_F(CudaDevice, AddsVectors)
{
    const Context context;
    const Kernel add = load(context).kernel("add");
    std::vector<float> a(100'003);
    std::iota(a.begin(), a.end(), 0.0f);
    const DeviceBuffer device_a(context, bytes_of(a));
    const DeviceBuffer device_b(context, bytes_of(a));
    const DeviceBuffer device_c(context, a.size() * sizeof(float));
    Stream stream(context);
    Arguments arguments;
    arguments.add(device_a).add(device_b).add(device_c).add(static_cast<long long>(a.size()));
    add.launch(stream, {.grid = {(a.size() + 255) / 256}, .block = {256}}, arguments);
    stream.synchronize();
    const std::vector<float> c = device_c.to_host<float>();
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(c[i], 2 * a[i]) << i;
}

TEST_F(CudaDevice, MemoryRoundTrips)
{
    const Context context;
    std::vector<std::uint32_t> values(1 << 20);
    std::iota(values.begin(), values.end(), 7u);
    DeviceBuffer buffer(context, bytes_of(values));
    EXPECT_EQ(buffer.to_host<std::uint32_t>(), values);
    const std::vector<std::uint32_t> part = {1, 2, 3};
    buffer.copy_in(bytes_of(part), 40);
    std::copy(part.begin(), part.end(), values.begin() + 10);
    EXPECT_EQ(buffer.to_host<std::uint32_t>(), values);
    Stream stream(context);
    DeviceBuffer copy(context, buffer.bytes());
    copy.copy_from(buffer, stream);
    buffer.zero(stream.handle());
    stream.synchronize();
    EXPECT_EQ(copy.to_host<std::uint32_t>(), values);
    EXPECT_EQ(buffer.to_host<std::uint32_t>(), std::vector<std::uint32_t>(values.size()));
    EXPECT_EQ(test::message_of([&] { buffer.copy_in(bytes_of(part), buffer.bytes() - 8); }),
              "internal error: DeviceBuffer::copy_in: bytes 4194296 to 4194308 of a buffer of 4194304 bytes");
}

TEST_F(CudaDevice, FillsWithPatternsOfEverySize)
{
    const Context context;
    DeviceBuffer buffer(context, 1200);
    buffer.fill_with(std::uint8_t{7});
    EXPECT_EQ(buffer.to_host<std::uint8_t>(), std::vector<std::uint8_t>(1200, 7));
    buffer.fill_with(std::uint16_t{0x1234});
    EXPECT_EQ(buffer.to_host<std::uint16_t>(), std::vector<std::uint16_t>(600, 0x1234));
    buffer.fill_with(1.5f);
    EXPECT_EQ(buffer.to_host<float>(), std::vector<float>(300, 1.5f));
    buffer.fill_with(0.1);
    EXPECT_EQ(buffer.to_host<double>(), std::vector<double>(150, 0.1));
    buffer.fill_with(std::array<std::int32_t, 3>{1, 2, 3});
    const std::vector<std::array<std::int32_t, 3>> triples(100, {1, 2, 3});
    EXPECT_EQ((buffer.to_host<std::array<std::int32_t, 3>>()), triples);
    EXPECT_EQ(test::message_of([&] { buffer.fill_with(std::array<std::int32_t, 7>{}); }),
              "internal error: DeviceBuffer::fill: a pattern of 28 bytes in a buffer of 1200");
}

TEST_F(CudaDevice, EmptyBufferIsABuffer)
{
    const Context context;
    DeviceBuffer buffer(context, std::size_t(0));
    EXPECT_EQ(buffer.address(), 0u);
    buffer.zero();
    buffer.copy_in({});
    EXPECT_TRUE(buffer.to_host<int>().empty());
}

TEST_F(CudaDevice, ReachesPastFourGibibytes)
{
    const Context context;
    const std::size_t bytes = (std::size_t(4) << 30) + (std::size_t(1) << 20);
    if (context.memory().free_bytes < bytes + (std::size_t(1) << 30))
        GTEST_SKIP() << "fewer than 5 GiB are free on " << context.info().name;
    DeviceBuffer buffer(context, bytes);
    buffer.fill_with(std::uint64_t{0x0123456789abcdef});
    const std::vector<std::uint64_t> last = {42};
    buffer.copy_in(bytes_of(last), bytes - 8);
    std::vector<std::uint64_t> tail(3);
    buffer.copy_out(std::as_writable_bytes(std::span(tail)), bytes - 24);
    EXPECT_EQ(tail, (std::vector<std::uint64_t>{0x0123456789abcdef, 0x0123456789abcdef, 42}));
    buffer.copy_out(std::as_writable_bytes(std::span(tail)), (std::size_t(4) << 30) - 8);
    EXPECT_EQ(tail, std::vector<std::uint64_t>(3, 0x0123456789abcdef));
}

TEST_F(CudaDevice, TooLargeABufferSaysWhatIsFree)
{
    const Context context;
    const std::string text = test::message_of([&] { DeviceBuffer buffer(context, std::size_t(1) << 50); });
    EXPECT_EQ(text.substr(0, text.find(", where")), "1048576.00 GiB do not fit on " + context.info().name);
}

TEST_F(CudaDevice, LaunchesGridsOfEveryShape)
{
    const Context context;
    const Kernel mark = load(context).kernel("mark");
    Stream stream(context);
    for (const Extent grid :
         {Extent{70'000, 3, 2}, Extent{1, 65'535, 1}, Extent{3, 1, 65'535}, Extent{10'000'000}}) {
        DeviceBuffer marks(context, grid.x * grid.y * grid.z);
        marks.zero();
        Arguments arguments;
        arguments.add(marks);
        mark.launch(stream, {.grid = grid, .block = {1}}, arguments);
        stream.synchronize();
        EXPECT_EQ(marks.to_host<std::uint8_t>(), std::vector<std::uint8_t>(marks.bytes(), 1));
    }
    Arguments arguments;
    arguments.add(CUdeviceptr{0});
    mark.launch(stream, {.grid = {0}, .block = {1}}, arguments);
    stream.synchronize();
}

TEST_F(CudaDevice, RefusesWhatCannotBeLaunched)
{
    const Context context;
    const Module module = load(context);
    const Kernel mark = module.kernel("mark");
    Stream stream(context);
    Arguments arguments;
    arguments.add(CUdeviceptr{0});
    const auto launch = [&](const LaunchShape& shape) {
        return test::message_of([&] { mark.launch(stream, shape, arguments); });
    };
    EXPECT_EQ(
        launch({.grid = {3'000'000'000}, .block = {1}}),
        "kernel mark: a grid of 3000000000 x 1 x 1 blocks; at most 2147483647 x 65535 x 65535 are possible");
    EXPECT_EQ(launch({.grid = {1}, .block = {2048}}),
              "kernel mark: a block of 2048 x 1 x 1 threads; 1 to 1024 are possible for this kernel");
    EXPECT_EQ(launch({.grid = {1}, .block = {1}, .dynamic_shared_bytes = 1 << 20}),
              "kernel mark: 1048576 bytes of dynamic and 0 of static shared memory a block; " +
                  context.info().name + " has " + std::to_string(context.info().shared_per_block_optin));
    EXPECT_EQ(test::message_of([&] { (void)module.kernel("marks"); }),
              "kernels.cu has no kernel marks; it has add, do_nothing, mark, reverse, write_nowhere");
    if (context.info().compute_major == 7)
        GTEST_SKIP() << "every architecture at hand runs on " << context.info().name;
    const Compiled foreign = compile({kSource, "kernels.cu", "sm_75", {}});
    EXPECT_NE(test::message_of([&] { (void)Module(context, foreign, "foreign").kernel("mark"); }),
              "nothing was thrown");
}

TEST_F(CudaDevice, ChecksArgumentsWhereTheDriverKnowsThem)
{
    if (!driver().cuFuncGetParamInfo)
        GTEST_SKIP() << "the driver has no cuFuncGetParamInfo";
    const Context context;
    const Kernel add = load(context).kernel("add");
    Stream stream(context);
    Arguments arguments;
    arguments.add(CUdeviceptr{0}).add(CUdeviceptr{0}).add(CUdeviceptr{0});
    EXPECT_EQ(test::message_of([&] { add.launch(stream, {}, arguments); }),
              "internal error: kernel add: 3 arguments; it takes 4");
    arguments.add(5);
    EXPECT_EQ(test::message_of([&] { add.launch(stream, {}, arguments); }),
              "internal error: kernel add: argument 3 has 4 bytes; the parameter has 8");
}

TEST_F(CudaDevice, GivesAKernelMoreSharedMemoryThanTheDefault)
{
    const Context context;
    if (context.info().shared_per_block_optin < 65536)
        GTEST_SKIP() << context.info().name << " has less than 64 KiB of shared memory a block";
    const Kernel reverse = load(context).kernel("reverse");
    std::vector<int> values(16384);
    std::iota(values.begin(), values.end(), 0);
    const DeviceBuffer in(context, bytes_of(values));
    const DeviceBuffer out(context, in.bytes());
    Stream stream(context);
    Arguments arguments;
    arguments.add(in).add(out);
    reverse.launch(stream, {.grid = {1}, .block = {1024}, .dynamic_shared_bytes = 65536}, arguments);
    stream.synchronize();
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(out.to_host<int>(), values);
    EXPECT_GE(reverse.resident_blocks(1024, 65536), 1);
}

TEST_F(CudaDevice, DriverAndCompilerAgreeOnResources)
{
    const Context context;
    const DeviceInfo& info = context.info();
    const Compiled compiled =
        compile({kSource, "kernels.cu", architecture_for(info.compute_major, info.compute_minor), {}});
    const Module module(context, compiled, "kernels.cu");
    for (const KernelResources& resources : compiled.resources) {
        const KernelResources loaded = module.kernel(resources.kernel).resources();
        EXPECT_EQ(loaded.registers, resources.registers) << resources.kernel;
        EXPECT_EQ(loaded.stack_bytes, resources.stack_bytes) << resources.kernel;
        EXPECT_EQ(loaded.static_shared_bytes, resources.static_shared_bytes) << resources.kernel;
    }
}

TEST_F(CudaDevice, TimesLaunches)
{
    const Context context;
    const Kernel nothing = load(context).kernel("do_nothing");
    Stream stream(context);
    int runs = 0;
    int preparations = 0;
    const std::vector<double> times = time_launches(
        stream, 2, 10,
        [&] {
            Arguments none;
            nothing.launch(stream, {}, none);
            ++runs;
        },
        [&] { ++preparations; });
    ASSERT_EQ(times.size(), 10u);
    for (const double milliseconds : times) {
        EXPECT_GT(milliseconds, 0);
        EXPECT_LT(milliseconds, 100);
    }
    EXPECT_EQ(runs, 12);
    EXPECT_EQ(preparations, 12);
}

// In a process of its own, because the failure ends the context for good.
TEST_F(CudaDeviceDeathTest, AFailingKernelIsNamed)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [] {
        const Context context;
        const Module module = load(context);
        Stream stream(context);
        Arguments none;
        Arguments address;
        address.add(CUdeviceptr{0});
        module.kernel("do_nothing").launch(stream, {}, none);
        stream.synchronize();
        module.kernel("write_nowhere").launch(stream, {}, address);
        std::cerr << test::message_of([&] { stream.synchronize(); });
        std::exit(0);
    };
    EXPECT_EXIT(
        run(), testing::ExitedWithCode(0),
        "kernel write_nowhere failed: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered; "
        "the GPU takes no more work from this process; compute-sanitizer shows where it failed");
}

}  // namespace
}  // namespace segfold::cuda::cuda_device_test
