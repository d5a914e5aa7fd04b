// Program::compile: from a text to a loaded module.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "dsl/embedded_file.h"
#include "runtime/simt/module.h"
#include "runtime/simt/process.h"

namespace segfold {
std::span<const EmbeddedFile> simt_shim_files();
}

namespace segfold::simt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCachedModules = 256;

/// A private folder for sources and libraries, removed at the end of the process unless a source must be
/// kept.
class Workspace {
public:
    Workspace()
    {
        std::string pattern = (fs::temp_directory_path() / "segfold-simt-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr)
            throw DeviceError("simt: cannot make a folder " + pattern + " for compiled texts; set TMPDIR");
        folder_ = pattern;
    }
    ~Workspace()
    {
        std::error_code ignored;
        if (!keep_)
            fs::remove_all(folder_, ignored);
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
    [[nodiscard]] std::string unique_stem() { return path("text" + std::to_string(++count_)); }
    void keep() { keep_ = true; }

private:
    std::string folder_;
    std::atomic<unsigned> count_ = 0;
    std::atomic<bool> keep_ = false;
};

void write_file(const std::string& path, std::string_view text)
{
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file)
        throw DeviceError("simt: cannot write " + path + "; set TMPDIR to a folder with room");
}

std::string_view shim_file(std::string_view path)
{
    for (const EmbeddedFile& file : simt_shim_files())
        if (file.path == path)
            return file.text;
    throw InternalError("simt: shim file " + std::string(path) + " is not embedded");
}

std::string shim_text(std::initializer_list<std::string_view> files)
{
    std::string text = "#pragma GCC system_header\n";
    for (const std::string_view file : files)
        text.append(shim_file(file)).append("\n");
    for (std::size_t place = 0; (place = text.find("#pragma once\n", place)) != std::string::npos;)
        text.erase(place, 13);
    return text;
}

std::string choose_compiler(const CompileOptions& options)
{
    std::vector<std::string> candidates;
    if (!options.compiler.empty()) {
        candidates = {options.compiler};
    } else {
        if (const char* environment = std::getenv("CXX"))
            candidates.emplace_back(environment);
        candidates.insert(candidates.end(), {"g++", "c++", "clang++"});
    }
    for (const std::string& candidate : candidates)
        if (const auto path = find_program(candidate))
            return *path;
    std::string tried;
    for (const std::string& candidate : candidates)
        tried += (tried.empty() ? "" : ", ") + candidate;
    throw DeviceError("simt: no C++ compiler: tried " + tried +
                      "; install g++ or set CXX to a compiler's path");
}

/// A compiler, with the parts of the shim that do not depend on the text compiled once.
struct Toolchain {
    std::string compiler;
    bool clang = false;
    std::string declarations;  ///< path of the header that goes ahead of every text
    std::string support;       ///< path of the object that goes with every text
};

[[noreturn]] void refuse(Workspace& workspace, const std::string& compiler, const std::string& source,
                         const ProcessResult& result)
{
    workspace.keep();
    throw DeviceError("simt: " + compiler + " ends with status " + std::to_string(result.status) +
                      "; the source is kept in " + source + "\n" + result.output);
}

Toolchain prepare_toolchain(Workspace& workspace, const std::string& compiler)
{
    Toolchain toolchain{compiler, false, {}, {}};
    toolchain.clang = run_process({compiler, "--version"}).output.find("clang") != std::string::npos;
    const std::string stem = workspace.unique_stem();
    toolchain.declarations = stem + "-shim.h";
    toolchain.support = stem + "-support.o";
    write_file(toolchain.declarations,
               shim_text({"protocol.h", "language.h", "math.h", "warp.h", "atomics.h", "call.h"}));
    const std::string source = stem + "-support.cpp";
    write_file(source, shim_text({"hooks.h", "accesses.h"}));
    const ProcessResult result = run_process({compiler, "-std=c++20", "-O2", "-fPIC", "-w", "-g0",
                                              "-fno-exceptions", "-fno-rtti", "-fno-builtin", "-include",
                                              toolchain.declarations, "-c", "-o", toolchain.support, source});
    if (result.status != 0)
        refuse(workspace, compiler, source, result);
    return toolchain;
}

std::vector<std::string> command(const Toolchain& toolchain, const CompileOptions& options)
{
    std::vector<std::string> words = {toolchain.compiler,
                                      "-std=c++20",
                                      "-O" + std::to_string(options.optimisation),
                                      "-g1",
                                      "-gdwarf-4",
                                      "-fPIC",
                                      "-shared",
                                      "-nostdlib",
                                      "-w",
                                      "-fvisibility=hidden",
                                      "-fno-strict-aliasing",
                                      "-fno-exceptions",
                                      "-fno-rtti",
                                      "-ffp-contract=off",
                                      "-include",
                                      toolchain.declarations};
    // Device code is compiled with wrapping integers in mind only where it says so: the sanitizer must see
    // overflow.
    if (!options.undefined_sanitizer)
        words.emplace_back("-fwrapv");
    else
        words.emplace_back(
            "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow");
    if (options.shadow_check) {
        words.emplace_back("-fsanitize=thread,alignment,bounds");
        // Clang links the sanitizers' libraries unless told otherwise; with -nostdlib GCC does not.
        if (toolchain.clang)
            words.insert(words.end(), {"-fno-sanitize-link-runtime", "-mllvm", "-tsan-distinguish-volatile=1",
                                       "-mllvm", "-tsan-instrument-func-entry-exit=0"});
        else
            words.insert(words.end(), {"--param", "tsan-distinguish-volatile=1", "--param",
                                       "tsan-instrument-func-entry-exit=0"});
    }
    return words;
}

/// Makes `extern __shared__ T name[];` a declaration that this compiler accepts, without moving any line.
/// Returns whether there was one.
bool declare_dynamic_shared(std::string& source)
{
    bool found = false;
    const auto skip_space = [&](std::size_t place) {
        return std::min(source.find_first_not_of(" \t\r\n", place), source.size());
    };
    for (std::size_t place = 0; (place = source.find("extern", place)) != std::string::npos; ++place) {
        const std::size_t qualifier = skip_space(place + 6);
        const std::size_t end = source.find(';', qualifier);
        if (source.compare(qualifier, 10, "__shared__") != 0 || end == std::string::npos)
            continue;
        const std::size_t last = source.find_last_not_of(" \t\r\n", end - 1);
        if (source[last] != ']')
            continue;
        source.insert(end, " __asm__(\"__segfold_dynamic_shared\")");
        source.replace(qualifier, 10, "__thread  ");
        found = true;
    }
    return found;
}

std::string wrapper_text(const std::string& text_path, std::span<const std::string> kernels,
                         bool dynamic_shared)
{
    std::string text = "#include \"" + text_path + "\"\n";
    for (const std::string& kernel : kernels)
        text += "__segfold_entry(" + kernel + ")\n";
    if (dynamic_shared)
        text += "extern \"C\" { alignas(128) __thread unsigned char __segfold_dynamic_shared[" +
                std::to_string(kMaxDynamicSharedBytes) + "]; }\n";
    return text;
}

/// The process's folder, compilers and modules.
class Compiler {
public:
    std::shared_ptr<const Module> compile(const std::string& source, std::span<const std::string> kernels,
                                          const CompileOptions& options);

private:
    std::shared_ptr<const Module> build(const std::string& compiler, std::string source,
                                        std::span<const std::string> kernels, const CompileOptions& options);
    const Toolchain& toolchain(const std::string& compiler);

    Workspace workspace_;
    std::mutex mutex_;
    std::map<std::string, Toolchain> toolchains_;
    std::mutex toolchain_mutex_;
    std::map<std::string, std::shared_future<std::shared_ptr<const Module>>> modules_;
    std::deque<std::string> oldest_first_;
};

const Toolchain& Compiler::toolchain(const std::string& compiler)
{
    const std::lock_guard lock(toolchain_mutex_);
    auto place = toolchains_.find(compiler);
    if (place == toolchains_.end())
        place = toolchains_.emplace(compiler, prepare_toolchain(workspace_, compiler)).first;
    return place->second;
}

std::shared_ptr<const Module> Compiler::build(const std::string& compiler, std::string source,
                                              std::span<const std::string> kernels,
                                              const CompileOptions& options)
{
    const Toolchain& tools = toolchain(compiler);
    const std::string stem = workspace_.unique_stem();
    const std::string text = stem + ".cu";
    const std::string wrapper = stem + ".cpp";
    const std::string library = stem + ".so";
    const bool dynamic_shared = declare_dynamic_shared(source);
    write_file(text, source);
    write_file(wrapper, wrapper_text(text, kernels, dynamic_shared));
    std::vector<std::string> words = command(tools, options);
    words.insert(words.end(), {"-o", library, wrapper, "-x", "none", tools.support, "-lm", "-lc"});
    const ProcessResult result = run_process(words);
    if (result.status != 0)
        refuse(workspace_, compiler, text, result);
    unlink(wrapper.c_str());
    auto module = std::make_shared<const Module>(library, text, kernels, options.shadow_check);
    unlink(text.c_str());
    return module;
}

std::shared_ptr<const Module> Compiler::compile(const std::string& source,
                                                std::span<const std::string> kernels,
                                                const CompileOptions& options)
{
    const std::string compiler = choose_compiler(options);
    std::string key = compiler + '\n' + std::to_string(options.shadow_check) +
                      std::to_string(options.undefined_sanitizer) + std::to_string(options.optimisation);
    for (const std::string& kernel : kernels)
        key += '\n' + kernel;
    key += '\n' + source;
    std::promise<std::shared_ptr<const Module>> promise;
    std::shared_future<std::shared_ptr<const Module>> future;
    {
        const std::lock_guard lock(mutex_);
        const auto place = modules_.find(key);
        if (place != modules_.end()) {
            future = place->second;
        } else {
            modules_.emplace(key, promise.get_future().share());
            oldest_first_.push_back(key);
        }
    }
    if (future.valid())
        return future.get();
    try {
        auto module = build(compiler, source, kernels, options);
        promise.set_value(module);
        const std::lock_guard lock(mutex_);
        if (oldest_first_.size() > kCachedModules) {
            modules_.erase(oldest_first_.front());
            oldest_first_.pop_front();
        }
        return module;
    } catch (...) {
        promise.set_exception(std::current_exception());
        const std::lock_guard lock(mutex_);
        modules_.erase(key);
        std::erase(oldest_first_, key);
        throw;
    }
}

}  // namespace

std::shared_ptr<const Module> compile_module(const std::string& source, std::span<const std::string> kernels,
                                             const CompileOptions& options)
{
    static Compiler compiler;
    return compiler.compile(source, kernels, options);
}

}  // namespace segfold::simt
