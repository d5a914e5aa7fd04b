#include "runtime/measure/bench/peers/cccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "dsl/error.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/support/processes/process.h"

namespace segfold::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionHeader = "cuda/std/__cccl/version.h";
constexpr const char* kCompilerHeader = "cuda/std/__cccl/compiler.h";

std::string header_text(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the number after the first occurrence of `words` in a text; 0 if there is none.
int number_after(const std::string& text, std::string_view words)
{
    const auto at = text.find(words);
    int number = 0;
    if (at != std::string::npos)
        std::from_chars(text.data() + at + words.size(), text.data() + text.size(), number);
    return number;
}

bool has_headers(const fs::path& folder)
{
    std::error_code ignored;
    return fs::is_regular_file(folder / "cub/version.cuh", ignored);
}

/// Returns the folder of CCCL headers in a toolkit or an unpacked wheel; empty if there is none.
fs::path headers_below(const fs::path& folder)
{
    for (const auto* headers : {"include/cccl", "include"})
        if (has_headers(folder / headers))
            return folder / headers;
    return {};
}

}  // namespace

std::vector<fs::path> toolkit_folders()
{
    std::vector<fs::path> folders;
    const auto add = [&](const char* variable) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
            folders.emplace_back(value);
    };
    add("SEGFOLD_TOOLKIT");
    if (const auto found = find_program("nvcc")) {
        std::error_code ignored;
        folders.push_back(fs::canonical(*found, ignored).parent_path().parent_path());
    }
    add("CUDA_HOME");
    add("CUDA_PATH");
    folders.emplace_back("/usr/local/cuda");
    try {
        folders.push_back(fs::path(cuda::nvrtc().library.path()).parent_path().parent_path());
    } catch (const DeviceError&) {
        // Without NVRTC, there is no toolkit of NVRTC to search.
    }
    return folders;
}

fs::path cccl_in(const fs::path& folder)
{
    if (has_headers(folder))
        return folder;
    if (auto headers = headers_below(folder); !headers.empty())
        return headers;
    std::error_code ignored;
    std::vector<fs::path> homes;
    for (const auto& entry : fs::directory_iterator(folder / "nvidia", ignored))
        homes.push_back(entry.path());
    std::ranges::sort(homes, std::greater());
    for (const auto& home : homes)
        if (auto headers = headers_below(home); !headers.empty())
            return headers;
    return {};
}

fs::path named_cccl(const fs::path& folder, std::string_view flag)
{
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        throw InputError(fmt::format("{}: there is no folder {}; name one with the headers of CCCL", flag,
                                     folder.string()));
    const auto headers = cccl_in(folder);
    if (headers.empty())
        throw InputError(
            fmt::format("{}: {} has no headers of CCCL; cub/version.cuh must be in it, or in "
                        "include/cccl or include below",
                        flag, folder.string()));
    return fs::canonical(headers);
}

fs::path cccl_of_environment()
{
    const char* named = std::getenv("SEGFOLD_CCCL");
    return named == nullptr || *named == '\0' ? fs::path() : named_cccl(named, "SEGFOLD_CCCL");
}

fs::path cccl_folder()
{
    if (auto named = cccl_of_environment(); !named.empty())
        return named;
    for (const auto& folder : toolkit_folders())
        if (auto headers = headers_below(folder); !headers.empty())
            return headers;
    return {};
}

std::string cccl_description(const fs::path& folder)
{
    const int version = number_after(header_text(folder / kVersionHeader), "#define CCCL_VERSION ");
    if (version == 0)
        return "CCCL of unknown version";
    return fmt::format("CCCL {}.{}.{}", version / 1000000, version / 1000 % 1000, version % 1000);
}

void require_new_enough(const fs::path& nvcc, const fs::path& cccl)
{
    const int oldest = number_after(header_text(cccl / kCompilerHeader), "CUDA versions below ");
    if (oldest == 0)
        return;  // these headers do not state the oldest nvcc that they support
    const auto told = run_process({nvcc.string(), "--version"}).output;
    constexpr std::string_view kRelease = "release ";
    const int release = number_after(told, kRelease);
    if (release == 0 || release >= oldest)
        return;
    const auto at = told.find(kRelease) + kRelease.size();
    throw InputError(
        fmt::format("{} in {} needs CUDA {} or later, and {} is of CUDA {}; set SEGFOLD_TOOLKIT "
                    "to a newer toolkit, or take headers of an older CCCL",
                    cccl_description(cccl), cccl.string(), oldest, nvcc.string(),
                    told.substr(at, told.find_first_not_of("0123456789.", at) - at)));
}

}  // namespace segfold::bench
