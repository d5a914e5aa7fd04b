#include "runtime/session/nccl/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "dsl/error.h"
#include "dsl/lasting.h"

namespace segfold::nccl {
namespace {

constexpr const char* kName = "libnccl.so.2";
constexpr const char* kVariable = "SEGFOLD_NCCL";
constexpr int kMajor = 2;

/// NCCL's number of a version: 22803 from 2.9 on, 2708 before.
std::string version_text(int version)
{
    const int scale = version < 10000 ? 1000 : 10000;
    return fmt::format("{}.{}.{}", version / scale, version % scale / 100, version % 100);
}

std::unique_ptr<Library> open(const std::string& path, bool is_asked)
{
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const reason = dlerror();
        throw DeviceError(fmt::format(
            "border states are to go by NCCL, and {} cannot be opened{}: {}; {}", path,
            is_asked ? fmt::format(", which {} names", kVariable) : " where the system looks for libraries",
            reason != nullptr ? reason : "no reason is given",
            is_asked ? "name the path of a libnccl.so.2"
                     : fmt::format("give its path in {}: torch brings one as nvidia/nccl/lib/{} in its "
                                   "site-packages",
                                   kVariable, kName)));
    }
    auto opened = std::make_unique<Library>(Library{cuda::SharedLibrary(handle, path)});
    int version = 0;
    opened->check(opened->ncclGetVersion(&version), "ncclGetVersion");
    if (version_text(version).substr(0, 2) != fmt::format("{}.", kMajor))
        throw DeviceError(
            fmt::format("{} is NCCL {}; what is known here is NCCL {}", path, version_text(version), kMajor));
    return opened;
}

}  // namespace

void Library::check(Result result, const char* call) const
{
    if (result == Result::success)
        return;
    throw DeviceError(fmt::format("{} of {} failed: {} ({}); NCCL_DEBUG=INFO says more", call, library.path(),
                                  ncclGetErrorString(result), static_cast<int>(result)));
}

std::string Library::version() const
{
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    return version_text(version);
}

const Library& library()
{
    static std::mutex mutex;
    static auto& opened = lasting([] { return std::map<std::string, std::unique_ptr<Library>>(); });
    const char* const asked = std::getenv(kVariable);
    const bool is_asked = asked != nullptr && *asked != '\0';
    const std::string path = is_asked ? asked : kName;
    const std::lock_guard lock(mutex);
    auto& place = opened[path];
    if (!place)
        place = open(path, is_asked);
    return *place;
}

}  // namespace segfold::nccl
