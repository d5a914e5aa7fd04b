#pragma once
// Copies kernels/ and changes a text, to plant bugs for programs that read such a folder.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/common/files.h"

namespace segfold::test {

/// Copies kernels/ into `folder` under `name`; returns the path.
inline std::string copy_kernels(const TemporaryFolder& folder, const std::string& name)
{
    const auto place = folder.file(name);
    std::filesystem::copy(SEGFOLD_SOURCE_DIR "/kernels", place, std::filesystem::copy_options::recursive);
    return place;
}

/// Replaces the first `from` in a file below `kernels` by `to`. The test fails if there is none.
inline void plant(const std::string& kernels, const std::string& file, const std::string& from,
                  const std::string& to)
{
    const auto path = kernels + "/" + file;
    auto text = read_text(path);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file << " has changed: '" << from << "' is not in it";
    text.replace(at, from.size(), to);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace segfold::test
