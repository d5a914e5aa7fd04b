// What is said when the driver or NVRTC is missing, damaged or too old.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/library.h"
#include "tests/common/message_of.h"

namespace segfold::cuda::cuda_library_test {
namespace {

namespace fs = std::filesystem;

class CudaLibrary : public testing::Test {
protected:
    void SetUp() override
    {
        folder_ =
            fs::path(testing::TempDir()) / (std::string("cuda_library_test_") +
                                            testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path folder_;
};

TEST_F(CudaLibrary, MissingDriverSaysWhereItWasLookedFor)
{
    EXPECT_EQ(test::message_of<DeviceError>([&] {
                  (void)open_driver({folder_, "/nowhere"});
              }),
              "no NVIDIA driver on this machine: looked for libcuda.so.1 in " + folder_.string() +
                  ", /nowhere; use the back end cpu (SessionOptions::backend = \"cpu\")");
}

TEST_F(CudaLibrary, MissingNvrtcSaysWhereItWasLookedFor)
{
    EXPECT_EQ(test::message_of<DeviceError>([&] { (void)open_nvrtc({folder_}); }),
              "no CUDA compiler on this machine: looked for libnvrtc.so.13 or libnvrtc.so.12 in " +
                  folder_.string() +
                  "; install the CUDA toolkit or point SEGFOLD_TOOLKIT at its folder, or use the back end "
                  "cpu (SessionOptions::backend = \"cpu\")");
}

TEST_F(CudaLibrary, TheAdviceIsInTheWordsOfTheProgram)
{
    const std::string before = advice_without_gpu();
    set_cpu_option("--backend cpu");
    EXPECT_EQ(advice_without_gpu(), "use the back end cpu (--backend cpu)");
    set_cpu_option("SessionOptions::backend = \"cpu\"");
    EXPECT_EQ(advice_without_gpu(), before);
}

TEST_F(CudaLibrary, AnOlderDriverPrefersItsOwnNvrtc)
{
    const std::string text = test::message_of<DeviceError>([&] { (void)open_nvrtc({folder_}, 12); });
    EXPECT_NE(text.find("looked for libnvrtc.so.12 or libnvrtc.so.13 in"), std::string::npos) << text;
}

TEST_F(CudaLibrary, DamagedLibraryIsReportedWithTheLoadersReason)
{
    const fs::path file = folder_ / "libcuda.so.1";
    std::ofstream(file) << "no shared object";
    const std::string text = test::message_of<DeviceError>([&] { (void)open_driver({folder_}); });
    EXPECT_EQ(
        text,
        "no NVIDIA driver on this machine: looked for libcuda.so.1 in " + folder_.string() +
            "; use the back end cpu (SessionOptions::backend = \"cpu\")\nfound, but the loader refused it: " +
            file.string() + ": file too short");
}

TEST_F(CudaLibrary, LibraryWithoutAnEntryPointIsNamed)
{
    const SharedLibrary program(nullptr, "PROGRAM");
    EXPECT_NE(require_symbol(program, "malloc"), nullptr);
    EXPECT_EQ(test::message_of<DeviceError>([&] { (void)require_symbol(program, "cuNoSuchFunction"); }),
              "PROGRAM has no function cuNoSuchFunction; CUDA 12.0 or later is needed");
    const EntryPoint<int()> absent(program, "cuNoSuchFunction", Presence::optional);
    EXPECT_FALSE(absent);
}

TEST_F(CudaLibrary, EnvironmentComesBeforeTheLoadersPath)
{
    setenv("SEGFOLD_TOOLKIT", folder_.c_str(), 1);
    const std::vector<fs::path> places = nvrtc_places();
    unsetenv("SEGFOLD_TOOLKIT");
    ASSERT_GE(places.size(), 3u);
    EXPECT_EQ(places[0], folder_);
    EXPECT_EQ(places[1], fs::path());
    EXPECT_EQ(places.back(), "/usr/local/cuda/lib64");
}

TEST_F(CudaLibrary, FindsNvrtcWherePipUnpacksIt)
{
    fs::path original;
    try {
        original = nvrtc().library.path();
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
    const fs::path wheel = folder_ / "nvidia/cu13/lib";
    fs::create_directories(wheel);
    fs::create_symlink(original, wheel / original.filename());
    EXPECT_EQ(open_nvrtc({"/nowhere", folder_}).version(), nvrtc().version());
}

TEST_F(CudaLibrary, ToolkitCannotChangeOnceOpen)
{
    try {
        (void)nvrtc();
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
    try {
        set_toolkit_directory(folder_);
        FAIL() << "accepted";
    } catch (const InternalError& error) {
        EXPECT_EQ(error.what(),
                  "internal error: set_toolkit_directory(" + folder_.string() + ") after NVRTC was opened");
    }
}

TEST_F(CudaLibrary, NoDeviceHasAReasonAndADeviceHasNone)
{
    EXPECT_EQ(devices().empty(), !no_device_reason().empty());
    if (!devices().empty())
        GTEST_SKIP() << "this machine has a GPU";
    EXPECT_NE(no_device_reason().find("use the back end cpu (SessionOptions::backend = \"cpu\")"),
              std::string::npos)
        << no_device_reason();
    EXPECT_EQ(test::message_of<DeviceError>([] { (void)device(0); }), no_device_reason());
}

}  // namespace
}  // namespace segfold::cuda::cuda_library_test
