#include "runtime/backends/cuda/compile/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/backends/cuda/compile/compile_error.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/support/processes/work_stopper.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace segfold::cuda {
namespace {

constexpr unsigned kMaxThreads = 8;

class Program {
public:
    Program(const std::string& source, const std::string& name)
    {
        check(nvrtc().nvrtcCreateProgram(&handle_, source.c_str(), name.c_str(), 0, nullptr, nullptr),
              "nvrtcCreateProgram");
    }
    ~Program() { nvrtc().nvrtcDestroyProgram(&handle_); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    nvrtcResult compile(const std::vector<std::string>& options) const
    {
        std::vector<const char*> pointers;
        for (const std::string& option : options)
            pointers.push_back(option.c_str());
        return nvrtc().nvrtcCompileProgram(handle_, static_cast<int>(pointers.size()), pointers.data());
    }

    // Returns the log without the zero bytes that NVRTC writes after every part.
    std::string log() const
    {
        std::size_t bytes = 0;
        check(nvrtc().nvrtcGetProgramLogSize(handle_, &bytes), "nvrtcGetProgramLogSize");
        std::string text(bytes, '\0');
        check(nvrtc().nvrtcGetProgramLog(handle_, text.data()), "nvrtcGetProgramLog");
        std::erase(text, '\0');
        return text;
    }

    std::vector<char> cubin() const
    {
        std::size_t bytes = 0;
        check(nvrtc().nvrtcGetCUBINSize(handle_, &bytes), "nvrtcGetCUBINSize");
        std::vector<char> image(bytes);
        check(nvrtc().nvrtcGetCUBIN(handle_, image.data()), "nvrtcGetCUBIN");
        return image;
    }

    // Returns PTX with a final zero byte, which the driver requires.
    std::vector<char> ptx() const
    {
        std::size_t bytes = 0;
        check(nvrtc().nvrtcGetPTXSize(handle_, &bytes), "nvrtcGetPTXSize");
        std::vector<char> image(bytes);
        check(nvrtc().nvrtcGetPTX(handle_, image.data()), "nvrtcGetPTX");
        return image;
    }

private:
    nvrtcProgram handle_ = nullptr;
};

std::vector<int> supported_versions()
{
    int count = 0;
    check(nvrtc().nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
    std::vector<int> versions(static_cast<std::size_t>(count));
    check(nvrtc().nvrtcGetSupportedArchs(versions.data()), "nvrtcGetSupportedArchs");
    std::ranges::sort(versions);
    return versions;
}

std::string compiler_name()
{
    return fmt::format("NVRTC {} ({})", nvrtc().version(), nvrtc().library.path());
}

bool is_virtual(const std::string& architecture) { return architecture.starts_with("compute_"); }

// Throws DeviceError if NVRTC does not know the architecture. Accepts variants of known versions too, such as
// "sm_90a" and "sm_100f".
void check_architecture(const CompileRequest& request)
{
    std::string base = request.architecture;
    if (base.ends_with('a') || base.ends_with('f'))
        base.pop_back();
    const std::vector<std::string> known = supported_architectures();
    const std::string real = is_virtual(base) ? "sm_" + base.substr(8) : base;
    if (std::ranges::find(known, real) == known.end())
        throw DeviceError(fmt::format("{}: {} does not compile for '{}'; it knows {}", request.name,
                                      compiler_name(), request.architecture, fmt::join(known, ", ")));
}

bool names_dialect(const std::vector<std::string>& options)
{
    return std::ranges::any_of(options, [](const std::string& option) {
        return option.starts_with("--std") || option.starts_with("-std");
    });
}

// Returns the options that every compilation needs. nvcc compiles the same texts without a flag for the
// dialect, because C++17 is its default.
std::vector<std::string> required_options(const CompileRequest& request)
{
    std::vector<std::string> options = {"--gpu-architecture=" + request.architecture};
    if (!names_dialect(request.extra_options))
        options.emplace_back("--std=c++17");
    options.insert(options.end(), request.extra_options.begin(), request.extra_options.end());
    return options;
}

// If a source has one of these words outside of comments, it may need parts that --minimal leaves out.
constexpr std::string_view kUnknownToMinimal[] = {"include", "cuda", "texture", "surface", "<<<"};

// Returns the source without comments from // to the end of the line, the only comments in emitted texts.
// Keeps lines with a quote unchanged, because // may be part of a string.
std::string without_line_comments(std::string_view source)
{
    std::string code;
    for (std::size_t at = 0; at < source.size();) {
        const auto end = std::min(source.find('\n', at), source.size());
        auto line = source.substr(at, end - at);
        if (line.find('"') == line.npos)
            line = line.substr(0, line.find("//"));
        code.append(line).push_back('\n');
        at = end + 1;
    }
    return code;
}

bool takes_minimal(std::string_view source)
{
    const auto code = without_line_comments(source);
    return std::ranges::none_of(kUnknownToMinimal,
                                [&](std::string_view word) { return code.find(word) != code.npos; });
}

bool has_several_kernels(std::string_view source)
{
    constexpr std::string_view kMark = "__global__";
    const auto first = source.find(kMark);
    return first != std::string_view::npos && source.find(kMark, first + 1) != std::string_view::npos;
}

// True if NVRTC 13.0 makes longer code for the architecture when it compiles two kernels of a text at a time.
//
// Compiling two kernels at a time saves a sixth of the compile time of a text with three kernels. The code
// for these architectures then has a tenth more instructions; for older architectures only a few instructions
// differ.
bool makes_other_code(std::string_view architecture)
{
    const auto digits = architecture.substr(architecture.find('_') + 1);
    return digits.size() >= 3 && digits[2] >= '0' && digits[2] <= '9';  // 100 and later
}

// Returns options that change at most a few instructions of a kernel. If NVRTC refuses them, run() drops the
// last option and tries again. So options that old releases know come first.
std::vector<std::string> optional_options(const CompileRequest& request)
{
    // By default NVRTC changes the stack limit of the whole process while it compiles.
    std::vector<std::string> options = {"--modify-stack-limit=false"};
    // ptxas reports the resources of each kernel, which costs no time.
    if (!is_virtual(request.architecture))
        options.emplace_back("--ptxas-options=-v");
    // Leaves out textures, the CUDA runtime's types and launches from kernels, which segfold's texts do not
    // use. The code is the same, and is compiled 4 to 7 ms faster.
    if (takes_minimal(request.source))
        options.emplace_back("--minimal");
    if (!request.is_batch && has_several_kernels(request.source) && !makes_other_code(request.architecture))
        options.emplace_back("--split-compile=2");
    // Keeps NVRTC from using the driver's cache, which would make compile times meaningless.
    options.emplace_back("--no-cache");
    return options;
}

struct Output {
    nvrtcResult result = nvrtcResult::success;
    std::vector<char> image;  ///< empty unless `result` is success
    std::string log;
};

Output run(const CompileRequest& request, bool want_ptx)
{
    check_architecture(request);
    const Program program(request.source, request.name);
    std::vector<std::string> options = compile_options(request);
    const std::size_t num_optional = optional_options(request).size();
    nvrtcResult result = program.compile(options);
    for (std::size_t i = 0; i < num_optional && result == nvrtcResult::invalid_option; ++i) {
        options.pop_back();
        result = program.compile(options);
    }
    const bool is_compiled = result == nvrtcResult::success;
    return {result,
            !is_compiled ? std::vector<char>()
            : want_ptx   ? program.ptx()
                         : program.cubin(),
            program.log()};
}

[[noreturn]] void fail(const CompileRequest& request, const Output& output)
{
    const std::string said = split_resource_report(output.log).second;
    throw DeviceError(compile_failure(request.name, request.source,
                                      fmt::format("{} for {}", compiler_name(), request.architecture),
                                      said.empty() ? nvrtc().nvrtcGetErrorString(output.result) : said));
}

using Clock = std::chrono::steady_clock;

Compiled compiled_from(Output output, Clock::time_point start)
{
    Compiled compiled;
    compiled.cubin = std::move(output.image);
    std::tie(compiled.resources, compiled.log) = split_resource_report(output.log);
    compiled.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return compiled;
}

// Calls `work` with each of 0 to count - 1 on up to `threads` threads. 0 means one per core, at most 8.
// `work` must not throw.
template <class Work>
void for_each_on_threads(std::size_t count, unsigned threads, Work work)
{
    if (threads == 0)
        threads = std::min(std::max(std::thread::hardware_concurrency(), 1u), kMaxThreads);
    std::atomic<std::size_t> next = 0;
    const auto stopper = WorkStopper::here();
    const auto take = [&] {
        const WorkStopper::Here here(stopper);
        for (std::size_t i = next++; i < count; i = next++)
            work(i);
    };
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i)
        workers.emplace_back(take);
    take();
}

// Returns the key of a request: its architecture, options and source. The length of each option precedes it,
// so different requests have different keys.
std::string cache_key(const CompileRequest& request)
{
    std::string key = fmt::format("{} {}", request.architecture, request.extra_options.size());
    for (const std::string& option : request.extra_options)
        key += fmt::format(" {}:{}", option.size(), option);
    return key + "\n" + request.source;
}

}  // namespace

void keep_memory_for_compilations()
{
#ifdef __GLIBC__
    constexpr int kMegabyte = 1 << 20;
    mallopt(M_MMAP_THRESHOLD, 32 * kMegabyte);  // the largest allowed value
    mallopt(M_TRIM_THRESHOLD, 256 * kMegabyte);
    mallopt(M_TOP_PAD, 16 * kMegabyte);
#endif
}

std::vector<std::string> compile_options(const CompileRequest& request)
{
    std::vector<std::string> options = required_options(request);
    const std::vector<std::string> optional = optional_options(request);
    options.insert(options.end(), optional.begin(), optional.end());
    return options;
}

Compiled compile(const CompileRequest& request)
{
    const auto start = Clock::now();
    Output output = run(request, is_virtual(request.architecture));
    if (output.result != nvrtcResult::success)
        fail(request, output);
    return compiled_from(std::move(output), start);
}

std::optional<Compiled> try_compile(const CompileRequest& request)
{
    const auto start = Clock::now();
    Output output = run(request, is_virtual(request.architecture));
    if (output.result != nvrtcResult::success)
        return std::nullopt;
    return compiled_from(std::move(output), start);
}

std::vector<Compiled> compile_many(std::span<const CompileRequest> requests, unsigned threads)
{
    std::vector<Compiled> results(requests.size());
    std::vector<std::exception_ptr> failures(requests.size());
    for_each_on_threads(requests.size(), threads, [&](std::size_t i) {
        try {
            throw_if_stopped();
            results[i] = load_or_compile(requests[i]);
        } catch (...) {
            failures[i] = std::current_exception();
        }
    });
    for (const std::exception_ptr& failure : failures)
        if (failure)
            std::rethrow_exception(failure);
    return results;
}

std::string ptx(const CompileRequest& request)
{
    CompileRequest virtual_request = request;
    if (!is_virtual(request.architecture) && request.architecture.starts_with("sm_"))
        virtual_request.architecture = "compute_" + request.architecture.substr(3);
    const Output output = run(virtual_request, true);
    if (output.result != nvrtcResult::success)
        fail(virtual_request, output);
    return std::string(output.image.data());
}

std::vector<std::string> supported_architectures()
{
    std::vector<std::string> names;
    for (const int version : supported_versions())
        names.push_back(fmt::format("sm_{}", version));
    return names;
}

std::string architecture_for(int major, int minor)
{
    const int wanted = major * 10 + minor;
    const std::vector<int> versions = kernel_cache().architectures();
    const auto newer = std::ranges::upper_bound(versions, wanted);
    if (newer == versions.begin() && kernel_cache().only_loads())
        throw DeviceError(fmt::format(
            "this GPU has compute capability {}.{}, the compiled kernels of this machine are for sm_{}, and "
            "there is no NVRTC to compile others; 'segfold cache export FILE OPERATOR --for sm_{}' writes "
            "them on a machine that has one",
            major, minor, fmt::join(versions, ", sm_"), wanted));
    if (newer == versions.begin()) {
        const CompilerIdentity compiler = kernel_cache().compiler();
        throw DeviceError(
            fmt::format("NVRTC {} ({}) does not compile for compute capability {}.{}; the oldest it knows is "
                        "sm_{}; point SEGFOLD_TOOLKIT at an older CUDA toolkit",
                        compiler.version, compiler.path, major, minor, versions.front()));
    }
    const int closest = *(newer - 1);
    return fmt::format("{}{}", closest / 10 == major ? "sm_" : "compute_", closest);
}

std::shared_ptr<const Compiled> CompileCache::get(const CompileRequest& request)
{
    const std::string key = cache_key(request);
    std::promise<std::shared_ptr<const Compiled>> promise;
    {
        std::unique_lock lock(mutex_);
        const auto [place, is_new] = entries_.try_emplace(key);
        if (!is_new) {
            ++counts_.hits;
            const Entry entry = place->second;
            lock.unlock();
            return entry.get();
        }
        ++counts_.misses;
        place->second = promise.get_future().share();
    }
    try {
        auto compiled = std::make_shared<const Compiled>(load_or_compile(request));
        promise.set_value(compiled);
        return compiled;
    } catch (...) {
        promise.set_exception(std::current_exception());
        const std::lock_guard lock(mutex_);
        entries_.erase(key);
        throw;
    }
}

/// A program that this cache is compiling for all its callers.
struct CompileCache::Claim {
    const Variant* variant = nullptr;
    std::string key;
    std::promise<std::shared_ptr<const Compiled>> promise;
    bool is_settled = false;
};

void CompileCache::settle(Claim& claim, Compiled compiled)
{
    claim.promise.set_value(std::make_shared<const Compiled>(std::move(compiled)));
    claim.is_settled = true;
}

void CompileCache::settle(Claim& claim, std::exception_ptr failure)
{
    claim.promise.set_exception(std::move(failure));
    claim.is_settled = true;
    const std::lock_guard lock(mutex_);
    entries_.erase(claim.key);
}

void CompileCache::prepare(std::span<const Variant> variants)
{
    std::vector<Claim> claims;
    claims.reserve(variants.size());
    {
        const std::lock_guard lock(mutex_);
        for (const Variant& variant : variants) {
            std::string key = cache_key(variant.request);
            const auto [place, is_new] = entries_.try_emplace(key);
            if (!is_new)
                continue;
            ++counts_.misses;
            place->second = claims.emplace_back(&variant, std::move(key)).promise.get_future().share();
        }
    }
    try {
        std::vector<Variant> missing;
        std::vector<Claim*> owners;
        for (Claim& claim : claims)
            if (auto kept = load_kept(claim.variant->request)) {
                settle(claim, std::move(*kept));
            } else {
                missing.push_back(*claim.variant);
                owners.push_back(&claim);
            }
        compile_batch(missing, [&](std::size_t i, BatchOutcome outcome) {
            if (outcome.failure)
                settle(*owners[i], outcome.failure);
            else
                settle(*owners[i], std::move(outcome.compiled));
        });
    } catch (...) {
        for (Claim& claim : claims)
            if (!claim.is_settled)
                settle(claim, std::current_exception());
    }
}

void CompileCache::prepare_each(std::span<const CompileRequest> requests, unsigned threads)
{
    for_each_on_threads(requests.size(), threads, [&](std::size_t i) {
        try {
            (void)get(requests[i]);
        } catch (...) {
            // The caller that needs this program compiles it again and gets the error.
        }
    });
}

bool CompileCache::contains(const CompileRequest& request) const
{
    const std::lock_guard lock(mutex_);
    return entries_.contains(cache_key(request));
}

CompileCache::Counts CompileCache::counts() const
{
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace segfold::cuda
