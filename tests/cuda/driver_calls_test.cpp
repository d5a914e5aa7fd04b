// The calls that plans, folds and streams on a GPU make of the driver, as the log of driver_stand_in/ has
// them.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "runtime/backends/cuda/driver/device_buffer.h"
#include "segfold/segfold.h"
#include "tests/cli/cli_program.h"
#include "tests/common/needs_nvrtc.h"

namespace segfold::driver_calls_test {
namespace {

class DriverCalls : public test::NeedsNvrtc {
protected:
    static void SetUpTestSuite()
    {
        setenv("SEGFOLD_DRIVER_LOG", log_file().c_str(), 1);
        // By its name the loader finds it from now on.
        if (dlopen(SEGFOLD_DRIVER_STAND_IN, RTLD_NOW) == nullptr)
            throw InternalError(dlerror());
    }
    static void TearDownTestSuite() { std::filesystem::remove(log_file()); }
    static std::string log_file() { return testing::TempDir() + "driver_calls_" + std::to_string(getpid()); }

    void SetUp() override
    {
        test::NeedsNvrtc::SetUp();
        if (IsSkipped())
            return;
        context_.emplace();
        session_.emplace(SessionOptions{.backend = "cuda", .asks_records = false});
        (void)calls();
    }

    /// The calls since the last call of this function that match `wanted`. Allocations, streams and events
    /// are numbered anew, in the order in which the log names them; s0 is the default stream.
    static std::string calls(const std::string& wanted = "")
    {
        static std::streamoff begin = 0;
        std::ifstream file(log_file());
        file.seekg(begin);
        std::map<std::string, std::string> names = {{"s0", "s0"}};
        std::map<char, int> counts;
        std::string text, line;
        while (std::getline(file, line)) {
            begin += static_cast<std::streamoff>(line.size()) + 1;
            std::string renamed;
            for (std::smatch at; std::regex_search(line, at, std::regex("\\b[mse][0-9]+\\b"));
                 line = at.suffix().str()) {
                auto& name = names[at.str()];
                if (name.empty())
                    name = at.str()[0] + std::to_string(++counts[at.str()[0]]);
                renamed += at.prefix().str() + name;
            }
            renamed += line;
            if (std::regex_search(renamed, std::regex(wanted)))
                text += renamed + "\n";
        }
        return text;
    }

    template <class T>
    ArrayView on_device(const std::vector<T>& values)
    {
        buffers_.emplace_back(*context_, std::as_bytes(std::span(values)));
        return {type_of_element<T>(), reinterpret_cast<const void*>(buffers_.back().address()),
                std::ssize(values), Place::device};
    }
    MutableArrayView room(Type type, std::int64_t length)
    {
        buffers_.emplace_back(*context_, static_cast<std::size_t>(length) * size_bytes(type));
        return {type, reinterpret_cast<void*>(buffers_.back().address()), length, Place::device};
    }

    std::optional<cuda::Context> context_;
    std::optional<Session> session_;
    std::vector<cuda::DeviceBuffer> buffers_;
};

PlanOptions by_stage(const char* stage)
{
    PlanOptions options;
    options.request.stage = stage;
    return options;
}

TEST_F(DriverCalls, AFoldOfTheHostsArrays)
{
    const std::vector<int> values = {3, 1, 4, 1, 5, 9, 2}, ends = {0, 3, 3, 7};
    FoldOptions options;
    options.plan.stage = "thread_per_segment";
    (void)session_->fold(standard_operator("sum_i32"), {values}, offsets(ends), options);
    EXPECT_EQ(calls(), R"(new m1: 28 bytes
copy host -> m1: 28 bytes
new m2: 4 bytes
fill m2: 4 x 1 bytes 0x0 on s0
new m3: 12 bytes
fill m3: 12 x 1 bytes 0xcd
new m4: 16 bytes
copy host -> m4: 16 bytes
record e1 on s1
launch reduce <<<1, 256, 0>>> [m1] [m4 7 3] [m3] on s1
record e2 on s1
wait on s1
copy m2 -> host: 4 bytes
copy m3 -> host: 12 bytes
free m2
free m3
free m4
free m1
)");
}

TEST_F(DriverCalls, APlanMakesOffsetsOfLengthsFirst)
{
    const auto values = on_device<int>({3, 1, 4, 1, 5, 9, 2});
    const auto lengths_of = lengths(on_device<int>({3, 0, 4}));
    const auto sums = room(Type::i32, 3);
    (void)calls();
    auto plan = session_->plan(standard_operator("sum_i32"), lengths_of, 7, by_stage("thread_per_segment"));
    EXPECT_EQ(calls(), R"(new m1: 16 bytes
fill m1: 16 x 1 bytes 0x0 on s0
new m2: 24 bytes
fill m2: 24 x 1 bytes 0x0 on s0
)");
    plan.run({values}, lengths_of, {sums});
    EXPECT_EQ(calls(), R"(in graph: make_offsets <<<1, 256, 0>>> [m1] [m2] [m3+8] [m3] [3 0] on s0
in graph: reduce <<<1, 256, 0>>> [m4] [m2 7 3] [m5] on s0
)");
}

TEST_F(DriverCalls, AScalarOfTheHostIsWrittenInTheStreamsOrder)
{
    const auto values = on_device<float>({3, 1, 4});
    const auto counts = room(Type::i64, 1);
    const float threshold = 2;
    auto plan = session_->plan(standard_operator("count_above_f32"), whole(), 3, by_stage("grid_reduce"));
    cuda::Stream stream(*context_);
    (void)calls();
    plan.run({values, ArrayView{Type::f32, &threshold, 1}}, whole(), {counts},
             reinterpret_cast<CUstream_st*>(stream.handle()));
    EXPECT_EQ(calls(), R"(fill m1+8: 1 x 4 bytes 0x40000000 on s1
launch reduce <<<1, 256, 0>>> [m2 m1+8] [3 1] [m3] [m4] [m5] on s1
)");
}

/// Scratch memory that must be zero is so once, and each plan has its own.
TEST_F(DriverCalls, ACopyOfAPlanHasScratchMemoryOfItsOwn)
{
    const auto values = on_device<int>({3, 1, 4, 1, 5, 9, 2});
    const auto ends = offsets(on_device<int>({0, 3, 3, 7}));
    const auto sums = room(Type::i32, 3);
    const auto plan = session_->plan(standard_operator("sum_i32"), ends, 7, by_stage("tile_scan"));
    (void)calls();
    auto copy = plan.copy();
    copy.run({values}, ends, {sums});
    EXPECT_EQ(calls(), R"(new m1: 4 bytes
new m2: 4 bytes
new m3: 4 bytes
new m4: 1 bytes
new m5: 4 bytes
new m6: 1 bytes
in graph: scan_tiles <<<1, 256, 0>>> [m7] [m8 7 3] [m9] [m1] [m2] [m3] [m4] on s0
in graph: reduce_groups <<<1, 256, 0>>> [m8 7 3] [m3] [m4] [m5] [m6] on s0
in graph: fix_up <<<1, 256, 0>>> [m8 7 3] [m9] [m1] [m2] [m3] [m4] [m5] [m6] on s0
in graph: store_empty <<<1, 256, 0>>> [m8 7 3] [m9] on s0
)");
}

TEST_F(DriverCalls, ACapturedRunHasMemoryOfTheGraph)
{
    const auto values = on_device<int>({3, 1, 4, 1, 5, 9, 2});
    const auto ends = offsets(on_device<int>({0, 3, 3, 7}));
    const auto sums = room(Type::i32, 3);
    auto plan = session_->plan(standard_operator("sum_i32"), ends, 7, by_stage("tile_scan"));
    const cuda::Stream stream(*context_);
    const auto begin = reinterpret_cast<int (*)(cuda::CUstream, int)>(
        cuda::driver().library.find("cuStreamBeginCapture_v2"));
    ASSERT_EQ(begin(stream.handle(), 0), 0);
    (void)calls();
    plan.run({values}, ends, {sums}, reinterpret_cast<CUstream_st*>(stream.handle()));
    EXPECT_EQ(calls(), R"(new m1: 4 bytes on s1
new m2: 4 bytes on s1
new m3: 4 bytes on s1
new m4: 1 bytes on s1
new m5: 4 bytes on s1
new m6: 1 bytes on s1
launch scan_tiles <<<1, 256, 0>>> [m7] [m8 7 3] [m9] [m1] [m2] [m3] [m4] on s1
launch reduce_groups <<<1, 256, 0>>> [m8 7 3] [m3] [m4] [m5] [m6] on s1
launch fix_up <<<1, 256, 0>>> [m8 7 3] [m9] [m1] [m2] [m3] [m4] [m5] [m6] on s1
launch store_empty <<<1, 256, 0>>> [m8 7 3] [m9] on s1
free m1 on s1
free m2 on s1
free m3 on s1
free m4 on s1
free m5 on s1
free m6 on s1
)");
}

TEST_F(DriverCalls, ScratchMemoryOfTheCaller)
{
    const auto values = on_device<int>({3, 1, 4, 1, 5, 9, 2});
    const auto sums = room(Type::i32, 1), lent = room(Type::u8, 4096);
    (void)calls();
    int num_taken = 0, num_released = 0;
    auto options = by_stage("grid_reduce");
    options.scratch = {[&](std::size_t) { return static_cast<std::byte*>(lent.data) + 256 * num_taken++; },
                       [&](void*) { ++num_released; }};
    {
        auto plan = session_->plan(standard_operator("sum_i32"), whole(), 7, options);
        plan.run({values}, whole(), {sums});
    }
    EXPECT_EQ(calls(), R"(fill m1+256: 4 x 1 bytes 0x0 on s0
launch reduce <<<1, 256, 0>>> [m2] [7 1] [m3] [m1] [m1+256] on s0
)");
    EXPECT_EQ(num_taken, 2);
    EXPECT_EQ(num_released, 2);
}

/// Slices share scratch memory. Kernels need zeros there, which each slice gets.
TEST_F(DriverCalls, SlicesOfAStream)
{
    const test::ProgramFolder folder;
    setenv("LD_LIBRARY_PATH", std::filesystem::path(SEGFOLD_DRIVER_STAND_IN).parent_path().c_str(), 1);
    const auto run = folder.run({"run", "sum_i32", "--elements", "9000", "--memory", "64K", "--stage",
                                 "grid_reduce", "--backend", "cuda", "--no-tune", "--output", "sums.npy"});
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    EXPECT_EQ(calls("^(fill|launch|copy).* s2$"), R"(fill m3: 4 x 1 bytes 0x0 on s2
fill m16: 4 x 1 bytes 0x0 on s2
launch reduce <<<1, 256, 0>>> [m1] [3840 1] [m3+256] [m15] [m16] on s2
copy m3 -> host: 512 bytes on s2
fill m6: 4 x 1 bytes 0x0 on s2
fill m16: 4 x 1 bytes 0x0 on s2
launch reduce <<<1, 256, 0>>> [m4] [3840 1] [m6+256] [m15] [m16] on s2
copy m6 -> host: 512 bytes on s2
fill m9: 4 x 1 bytes 0x0 on s2
fill m16: 4 x 1 bytes 0x0 on s2
launch reduce <<<1, 256, 0>>> [m7] [1320 1] [m9+256] [m15] [m16] on s2
copy m9 -> host: 512 bytes on s2
)");
}

}  // namespace
}  // namespace segfold::driver_calls_test
