// A text that would crash or hang the process is reported, and the process continues.
#include <algorithm>

#include "tests/simt_kernels/run.h"

namespace segfold::simt::simt_crashes_test {
namespace {

const std::vector<std::string> kKernels = {"wild_write", "divide", "endless", "recursion"};

TEST(SimtCrashes, BadAddressInAProgramWithoutChecks)
{
    const Program program = compile(kernel_text("crashes.cu"), kKernels, {.shadow_check = false});
    Fault fault{};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(
            fault_of(program, "wild_write", {}, Arguments(static_cast<std::byte*>(nullptr), 4ll), {}, &fault),
            "kernel wild_write, block 0, thread 0, line 4: accesses address 0x10, which is no memory");
        EXPECT_EQ(fault, Fault::out_of_bounds);
    }
    Buffer values("values", 32);
    EXPECT_EQ(fault_of(program, "wild_write", {}, Arguments(values.data(), 4ll)), "no fault");
    EXPECT_EQ(values.as<int>()[4], 1);
}

TEST(SimtCrashes, DivisionByZero)
{
    for (const bool shadow_check : {false, true}) {
        const Program program = compile(kernel_text("crashes.cu"), kKernels, {.shadow_check = shadow_check});
        const std::vector<int> divisors = {1, 2, 0, 4};
        Buffer values = upload<int>("values", divisors), result("result", 4 * 4);
        Fault fault{};
        EXPECT_EQ(
            fault_of(program, "divide", {.block_x = 4}, Arguments(values.data(), result.data()), {}, &fault),
            "kernel divide, block 0, thread 2, line 9: divides by zero, or the lowest integer by -1");
        EXPECT_EQ(fault, Fault::undefined_behaviour);
    }
}

TEST(SimtCrashes, ThreadThatNeverEnds)
{
    const Program program = compile(kernel_text("crashes.cu"), kKernels);
    Buffer flag("flag", 4), result("result", 4);
    flag.as<int>()[0] = 0;
    Options options;
    options.endless_seconds = 0.2;
    Fault fault{};
    const std::string message =
        fault_of(program, "endless", {}, Arguments(flag.data(), result.data()), options, &fault);
    EXPECT_EQ(message.substr(0, 47), "kernel endless, block 0, thread 0, line 15: com") << message;
    EXPECT_EQ(message.substr(message.find("computes")),
              "computes for 0.2 seconds without reading memory or waiting");
    EXPECT_EQ(fault, Fault::no_progress);
}

TEST(SimtCrashes, StackOverflow)
{
    const Program program = compile(kernel_text("crashes.cu"), kKernels);
    Buffer values("values", 32 * 4);
    std::ranges::fill(values.as<int>(), 1);
    Fault fault{};
    const std::string message = fault_of(program, "recursion", {}, Arguments(values.data()), {}, &fault);
    EXPECT_EQ(message.substr(message.rfind(": ")),
              ": needs more than 64 KiB of stack for its local variables")
        << message;
    EXPECT_EQ(fault, Fault::out_of_bounds);
}

}  // namespace
}  // namespace segfold::simt::simt_crashes_test
