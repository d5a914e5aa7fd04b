#include "runtime/backends/cuda/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "dsl/error.h"
#include "dsl/lasting.h"

namespace segfold::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDriverName = "libcuda.so.1";
constexpr std::array kNvrtcMajors = {13, 12};

// Guards the three variables below. The first use of NVRTC reads them.
std::mutex toolkit_mutex;
fs::path toolkit_directory;
std::vector<fs::path> package_places;
bool nvrtc_is_open = false;

// The option that advice_without_gpu() names. The program or the Python module sets it before any other call.
std::string& cpu_option()
{
    static auto& option = lasting([] { return std::string("SessionOptions::backend = \"cpu\""); });
    return option;
}

struct Attempt {
    std::optional<SharedLibrary> library;
    std::string failure;  // reason why an existing file cannot be loaded
};

// Returns the path where the loader found a library; `asked` if the loader does not report it.
std::string mapped_path(void* handle, const fs::path& asked)
{
    link_map* map = nullptr;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && *map->l_name ? map->l_name
                                                                                     : asked.string();
}

// Tries to open `file` in the folder `place`. If `place` is empty, the loader searches LD_LIBRARY_PATH and
// the system's folders.
Attempt try_open(const fs::path& place, const std::string& file)
{
    const fs::path path = place / file;
    std::error_code ignored;
    if (!place.empty() && !fs::exists(path, ignored))
        return {};
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
        return {SharedLibrary(handle, mapped_path(handle, path)), {}};
    const std::string reason = dlerror();
    const bool absent = reason.starts_with(path.string() + ": cannot open shared object file: No such file");
    return {std::nullopt, absent ? std::string() : reason};
}

std::string list_places(const std::vector<fs::path>& places)
{
    std::string text;
    for (const fs::path& place : places)
        text += fmt::format("{}{}", text.empty() ? "" : ", ",
                            place.empty() ? "the loader's path" : place.string());
    return text;
}

std::string list_failures(const std::vector<std::string>& failures)
{
    std::string text;
    for (const std::string& failure : failures)
        text += "\nfound, but the loader refused it: " + failure;
    return text;
}

// Loads libnvrtc-builtins before NVRTC does. NVRTC opens this library by its bare name, for which the loader
// then returns the loaded library.
void preload_builtins(const fs::path& directory, int major)
{
    const std::string prefix = fmt::format("libnvrtc-builtins.so.{}", major);
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored))
        if (entry.path().filename().string().starts_with(prefix))
            dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Returns the library folders of a toolkit, and the folders into which pip unpacks NVIDIA's wheels.
std::vector<fs::path> folders_of(const fs::path& place)
{
    if (place.empty())
        return {place};
    return {place, place / "lib", place / "lib64", place / "nvidia/cu13/lib",
            place / "nvidia/cuda_nvrtc/lib"};
}

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::vector<fs::path> driver_places() { return {fs::path(), "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"}; }

std::string describe(const Driver& driver, CUresult result)
{
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.cuGetErrorName(result, &name) != CUresult::success || !name)
        return fmt::format("error {}, unknown to this driver", static_cast<int>(result));
    if (driver.cuGetErrorString(result, &text) != CUresult::success || !text)
        return name;
    return fmt::format("{}: {}", name, text);
}

Driver open_initialised_driver()
{
    Driver opened = open_driver(driver_places());
    const CUresult result = opened.cuInit(0);
    if (result == CUresult::success)
        return opened;
    std::string message = fmt::format("the NVIDIA driver ({}) does not start: cuInit: {}",
                                      opened.library.path(), describe(opened, result));
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"))
        message += fmt::format("; CUDA_VISIBLE_DEVICES is '{}'", visible);
    throw DeviceError(message + "; " + advice_without_gpu());
}

// Returns nvrtc_places(). The caller must hold toolkit_mutex.
std::vector<fs::path> nvrtc_places_unlocked()
{
    std::vector<fs::path> places;
    if (const std::string folder = environment("SEGFOLD_TOOLKIT"); !folder.empty())
        places.emplace_back(folder);
    places.insert(places.end(), package_places.begin(), package_places.end());
    places.emplace_back();
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string folder = environment(variable); !folder.empty())
            places.push_back(fs::path(folder) / "lib64");
    places.emplace_back("/usr/local/cuda/lib64");
    return places;
}

// Returns the folder of set_toolkit_directory(), if any, then nvrtc_places(). The caller must hold
// toolkit_mutex.
std::vector<fs::path> all_nvrtc_places()
{
    std::vector<fs::path> places = nvrtc_places_unlocked();
    if (!toolkit_directory.empty())
        places.insert(places.begin(), toolkit_directory);
    return places;
}

// Returns the major versions of NVRTC in the order in which to try them. Versions whose cubins the driver
// loads come first.
std::vector<int> nvrtc_majors(int driver_major)
{
    std::vector<int> majors(kNvrtcMajors.begin(), kNvrtcMajors.end());
    if (driver_major != 0)
        std::stable_partition(majors.begin(), majors.end(), [&](int major) { return major <= driver_major; });
    return majors;
}

std::string nvrtc_name(int major) { return fmt::format("libnvrtc.so.{}", major); }

Nvrtc open_nvrtc_once()
{
    const std::lock_guard lock(toolkit_mutex);
    Nvrtc opened = open_nvrtc(all_nvrtc_places(), driver_major());
    nvrtc_is_open = true;
    return opened;
}

// Returns path and line of a position in the source. The path begins with "runtime/", so that messages do not
// depend on the build folder.
std::string place_in_source(const std::source_location& where)
{
    std::string_view file = where.file_name();
    if (const std::size_t start = file.rfind("runtime/"); start != std::string_view::npos)
        file.remove_prefix(start);
    return fmt::format("{}:{}", file, where.line());
}

}  // namespace

void* SharedLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

void* require_symbol(const SharedLibrary& library, const char* symbol)
{
    if (void* address = library.find(symbol))
        return address;
    throw DeviceError(
        fmt::format("{} has no function {}; CUDA 12.0 or later is needed", library.path(), symbol));
}

std::string Nvrtc::version() const
{
    int major = 0;
    int minor = 0;
    check(nvrtcVersion(&major, &minor), "nvrtcVersion");
    return fmt::format("{}.{}", major, minor);
}

void set_cpu_option(std::string option) { cpu_option() = std::move(option); }

std::string advice_without_gpu() { return fmt::format("use the back end cpu ({})", cpu_option()); }

Driver open_driver(const std::vector<fs::path>& places)
{
    std::vector<std::string> failures;
    for (const fs::path& place : places) {
        Attempt attempt = try_open(place, kDriverName);
        if (attempt.library)
            return Driver{*attempt.library};
        if (!attempt.failure.empty())
            failures.push_back(attempt.failure);
    }
    throw DeviceError(fmt::format("no NVIDIA driver on this machine: looked for {} in {}; {}{}", kDriverName,
                                  list_places(places), advice_without_gpu(), list_failures(failures)));
}

Nvrtc open_nvrtc(const std::vector<fs::path>& places, int driver_major)
{
    const std::vector<int> majors = nvrtc_majors(driver_major);
    std::vector<std::string> failures;
    for (const fs::path& place : places)
        for (const int major : majors)
            for (const fs::path& folder : folders_of(place)) {
                Attempt attempt = try_open(folder, nvrtc_name(major));
                if (attempt.library) {
                    preload_builtins(fs::path(attempt.library->path()).parent_path(), major);
                    return Nvrtc{*attempt.library};
                }
                if (!attempt.failure.empty())
                    failures.push_back(attempt.failure);
            }
    std::string names;
    for (const int major : majors)
        names += (names.empty() ? "" : " or ") + nvrtc_name(major);
    throw DeviceError(
        fmt::format("no CUDA compiler on this machine: looked for {} in {}; install the CUDA toolkit or "
                    "point SEGFOLD_TOOLKIT at its folder, or {}{}",
                    names, list_places(places), advice_without_gpu(), list_failures(failures)));
}

int driver_major()
{
    try {
        int version = 0;
        const Driver opened = open_driver(driver_places());
        return opened.cuDriverGetVersion(&version) == CUresult::success ? version / 1000 : 0;
    } catch (const DeviceError&) {
        return 0;
    }
}

const Driver& driver()
{
    static const Driver& opened = lasting(open_initialised_driver);
    return opened;
}

const Nvrtc& nvrtc()
{
    static const Nvrtc& opened = lasting(open_nvrtc_once);
    return opened;
}

void set_toolkit_directory(const fs::path& directory)
{
    const std::lock_guard lock(toolkit_mutex);
    if (nvrtc_is_open)
        throw InternalError(
            fmt::format("set_toolkit_directory({}) after NVRTC was opened", directory.string()));
    toolkit_directory = directory;
}

void set_package_places(std::vector<fs::path> places)
{
    const std::lock_guard lock(toolkit_mutex);
    package_places = std::move(places);
}

std::vector<fs::path> nvrtc_places()
{
    const std::lock_guard lock(toolkit_mutex);
    return nvrtc_places_unlocked();
}

std::vector<fs::path> nvrtc_files()
{
    const std::lock_guard lock(toolkit_mutex);
    const std::vector<int> majors = nvrtc_majors(driver_major());
    std::vector<fs::path> files;
    for (const fs::path& place : all_nvrtc_places())
        for (const int major : majors)
            for (const fs::path& folder : folders_of(place))
                files.push_back(folder / nvrtc_name(major));
    return files;
}

std::string describe(CUresult result) { return describe(driver(), result); }

void check(CUresult result, const char* call, const std::source_location& where)
{
    if (result != CUresult::success)
        throw DeviceError(fmt::format("{}: {} ({})", call, describe(result), place_in_source(where)));
}

void check(nvrtcResult result, const char* call, const std::source_location& where)
{
    if (result != nvrtcResult::success)
        throw DeviceError(
            fmt::format("{}: {} ({})", call, nvrtc().nvrtcGetErrorString(result), place_in_source(where)));
}

}  // namespace segfold::cuda
