#include "runtime/backends/cpu/module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "dsl/error.h"
#include "dsl/lasting.h"
#include "runtime/backends/compile_time.h"
#include "runtime/backends/cpu/native_compiler.h"

namespace segfold::cpu {
namespace {

template <std::size_t>
using Address = void*;

template <std::size_t... places>
void call(void* entry, std::int64_t part, [[maybe_unused]] std::span<void* const> arguments,
          std::index_sequence<places...> /*places*/)
{
    reinterpret_cast<void (*)(long long, Address<places>...)>(entry)(part, arguments[places]...);
}

template <std::size_t... counts>
void call_with(void* entry, std::int64_t part, std::span<void* const> arguments,
               std::index_sequence<counts...> /*counts*/)
{
    (void)((arguments.size() == counts &&
            (call(entry, part, arguments, std::make_index_sequence<counts>()), true)) ||
           ...);
}

/// The compiler, or the reason why there is none. The search for it runs once.
struct Found {
    std::unique_ptr<const NativeCompiler> compiler;
    std::string reason;
};

const Found& found_compiler()
{
    static const Found& found = lasting([] {
        Found result;
        try {
            result.compiler = std::make_unique<const NativeCompiler>();
        } catch (const DeviceError& error) {
            result.reason = error.what();
        }
        return result;
    });
    return found;
}

/// The programs of this process by text.
struct Loaded {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const Module>, std::less<>> programs;
};

Loaded& loaded()
{
    static auto* all = new Loaded;  // never destroyed, because runs may continue while the process ends
    return *all;
}

/// Returns a path of an open file that was never returned before. The loader takes equal paths for the same
/// library, and the system reuses descriptors.
std::string path_of(int file)
{
    static std::atomic<unsigned> count = 0;
    std::string path = "/proc/self/fd/";
    for (unsigned number = ++count; number != 0; number /= 2)
        path += number % 2 == 1 ? "./" : "/";
    return path + std::to_string(file);
}

}  // namespace

const std::string& reason_without_compiler() { return found_compiler().reason; }

Target native_target()
{
    Target target;
    const auto& found = found_compiler();
    target.has_f16_conversions = found.compiler && found.compiler->has_f16_conversions();
#ifdef __x86_64__
    target.has_wide_vectors = __builtin_cpu_supports("avx512f") != 0;
#else
    target.has_wide_vectors = false;
#endif
    return target;
}

std::string compiler_version()
{
    const auto& found = found_compiler();
    return found.compiler ? found.compiler->version() : "none";
}

void Kernel::run(std::int64_t part, std::span<void* const> arguments) const
{
    call_with(entry_, part, arguments, std::make_index_sequence<kMostArguments + 1>());
}

double Module::seconds_to_compile(const Emitted& emitted)
{
    {
        auto& [mutex, programs] = loaded();
        const std::lock_guard lock(mutex);
        if (programs.contains(emitted.source))
            return 0;
    }
    const auto& found = found_compiler();
    return found.compiler && !is_kept(emitted.source, *found.compiler)
               ? expected_compile_seconds(emitted.source, kHostCompilerModel)
               : 0;
}

std::shared_ptr<const Module> Module::of(const Emitted& emitted)
{
    auto& [mutex, programs] = loaded();
    {
        const std::lock_guard lock(mutex);
        if (const auto known = programs.find(emitted.source); known != programs.end())
            return known->second;
    }
    const auto& found = found_compiler();
    if (!found.compiler)
        throw DeviceError(found.reason);
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    bool was_compiled = false;
    auto program = std::make_shared<Module>(library_of(emitted.source, *found.compiler, was_compiled));
    if (was_compiled)
        program->compile_seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
    constexpr std::size_t kMostPrograms = 256;
    const std::lock_guard lock(mutex);  // not held while the compiler runs, so texts compile in parallel
    if (programs.size() >= kMostPrograms)
        programs.clear();  // running programs stay alive through their shared_ptr
    return programs.emplace(emitted.source, program).first->second;
}

Module::Module(const std::string& library)
{
    // The file has no name, so no other process can change it between the check and the load.
    const int file = memfd_create("segfold-cpu", MFD_CLOEXEC);
    if (file < 0)
        throw DeviceError(fmt::format("cpu: no memory for a compiled text: {}", std::strerror(errno)));
    std::size_t written = 0;
    while (written < library.size()) {
        const auto count = write(file, library.data() + written, library.size() - written);
        if (count <= 0)
            break;
        written += static_cast<std::size_t>(count);
    }
    handle_ = written == library.size() ? dlopen(path_of(file).c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    const char* reason = handle_ == nullptr ? dlerror() : nullptr;
    close(file);
    if (handle_ == nullptr)
        throw DeviceError(
            fmt::format("cpu: cannot load a compiled text: {}", reason ? reason : std::strerror(errno)));
}

Module::~Module()
{
    if (handle_ != nullptr)
        dlclose(handle_);
}

Kernel Module::kernel(const std::string& name) const
{
    void* entry = dlsym(handle_, name.c_str());
    if (entry == nullptr)
        throw InternalError("cpu: the compiled text lacks " + name);
    return Kernel(entry);
}

}  // namespace segfold::cpu
