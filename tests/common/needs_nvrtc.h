#pragma once
// Fixtures of tests that compile with NVRTC.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "dsl/error.h"
#include "runtime/backends/cuda/library.h"

namespace segfold::test {

[[nodiscard]] inline bool has_nvrtc()
{
    try {
        cuda::nvrtc();
        return true;
    } catch (const DeviceError&) {
        return false;
    }
}

/// Skips the test, with the reason, if there is no NVRTC.
class NeedsNvrtc : public testing::Test {
protected:
    void SetUp() override
    {
        try {
            cuda::nvrtc();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }
};

/// NeedsNvrtc with an empty $XDG_CACHE_HOME, in which sources that do not compile are kept.
class NeedsNvrtcAndCache : public NeedsNvrtc {
protected:
    void SetUp() override
    {
        NeedsNvrtc::SetUp();
        if (IsSkipped())
            return;
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(testing::TempDir()) /
                  (std::string(test->test_suite_name()) + "_" + test->name());
        std::filesystem::remove_all(folder_);
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    }
    void TearDown() override
    {
        unsetenv("XDG_CACHE_HOME");
        if (!folder_.empty())
            std::filesystem::remove_all(folder_);
    }

    std::filesystem::path folder_;
};

}  // namespace segfold::test
