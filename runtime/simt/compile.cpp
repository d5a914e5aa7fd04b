// Implements Program::compile(), which compiles CUDA source (a text) into a loaded module.
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "codegen/weave/comment.h"
#include "dsl/error.h"
#include "dsl/lasting.h"
#include "runtime/simt/module.h"
#include "runtime/simt/ptx.h"
#include "runtime/simt/toolchain.h"

namespace segfold::simt {
namespace {

constexpr std::size_t kCachedModules = 256;

/// Turns `extern __shared__ T name[];` into a declaration that the host's compiler accepts. Line numbers do
/// not change. Returns true if the source has such a declaration.
bool declare_dynamic_shared(std::string& source)
{
    constexpr std::string_view kLabel = " __asm__(\"__segfold_dynamic_shared\")";
    const std::string code = without_comments(source);
    std::size_t inserted = 0;
    const auto skip_space = [&](std::size_t place) {
        return std::min(code.find_first_not_of(" \t\r\n", place), code.size());
    };
    for (std::size_t place = 0; (place = code.find("extern", place)) != std::string::npos; ++place) {
        const std::size_t qualifier = skip_space(place + 6);
        const std::size_t end = code.find(';', qualifier);
        if (code.compare(qualifier, 10, "__shared__") != 0 || end == std::string::npos)
            continue;
        const std::size_t last = code.find_last_not_of(" \t\r\n", end - 1);
        if (code[last] != ']')
            continue;
        source.insert(end + inserted, kLabel);
        source.replace(qualifier + inserted, 10, "__thread  ");
        inserted += kLabel.size();
    }
    return inserted > 0;
}

/// Returns the text between the parentheses of the kernel's `__cluster_dims__`; empty if the kernel has none.
/// `source` must have no comments, because comments may hold any text.
std::string_view cluster_dimensions(std::string_view source, const std::string& kernel)
{
    constexpr std::string_view kAttribute = "__cluster_dims__(";
    for (auto at = source.find(kernel + "("); at != std::string_view::npos;
         at = source.find(kernel + "(", at + 1)) {
        const auto global = source.rfind("__global__", at);
        if (global == std::string_view::npos)
            continue;
        const auto signature = source.substr(global, at - global);
        const auto attribute = signature.find(kAttribute);
        if (signature.find_first_of(";{}") != std::string_view::npos || attribute == std::string_view::npos)
            continue;
        const auto inside = signature.substr(attribute + kAttribute.size());
        return inside.substr(0, inside.find(')'));
    }
    return {};
}

std::string wrapper_text(const std::string& source, const std::string& text_path,
                         std::span<const std::string> kernels, bool dynamic_shared)
{
    std::string text = "#include \"" + text_path + "\"\n";
    const std::string code = without_comments(source);
    for (const std::string& kernel : kernels)
        text += "__segfold_entry(" + kernel + ")\n__segfold_cluster(" + kernel + ", " +
                std::string(cluster_dimensions(code, kernel)) + ")\n";
    if (dynamic_shared)
        text += "extern \"C\" { alignas(128) __thread unsigned char __segfold_dynamic_shared[" +
                std::to_string(kMaxDynamicSharedBytes) + "]; }\n";
    return text;
}

/// Compiles texts for the whole process. Owns the working folder, and caches compilers and modules.
class Compiler {
public:
    std::shared_ptr<const Module> compile(const std::string& source, std::span<const std::string> kernels,
                                          const CompileOptions& options);
    /// Removes the working folder. Compiled modules stay usable; later compilations throw DeviceError.
    void end()
    {
        const std::lock_guard lock(toolchain_mutex_);
        workspace_.reset();
    }

private:
    std::shared_ptr<const Module> build(const std::vector<std::string>& compiler, std::string source,
                                        std::span<const std::string> kernels, const CompileOptions& options);
    /// Throws DeviceError if end() was called.
    std::shared_ptr<Workspace> workspace();
    const Toolchain& toolchain(Workspace& workspace, const std::vector<std::string>& compiler);

    /// The folder of texts, shared with running compilations; null after end().
    std::shared_ptr<Workspace> workspace_ = std::make_shared<Workspace>();
    std::mutex mutex_;
    std::map<std::vector<std::string>, Toolchain> toolchains_;
    std::mutex toolchain_mutex_;
    std::map<std::string, std::shared_future<std::shared_ptr<const Module>>> modules_;
    std::deque<std::string> oldest_first_;
};

std::shared_ptr<Workspace> Compiler::workspace()
{
    const std::lock_guard lock(toolchain_mutex_);
    if (!workspace_)
        throw DeviceError(
            "simt: the process is ending, and its folder of texts is gone: what was compiled before can be "
            "run, and other texts by the back end cpu");
    return workspace_;
}

const Toolchain& Compiler::toolchain(Workspace& workspace, const std::vector<std::string>& compiler)
{
    const std::lock_guard lock(toolchain_mutex_);
    auto place = toolchains_.find(compiler);
    if (place == toolchains_.end())
        place = toolchains_.emplace(compiler, prepare_toolchain(workspace, compiler)).first;
    return place->second;
}

std::shared_ptr<const Module> Compiler::build(const std::vector<std::string>& compiler, std::string source,
                                              std::span<const std::string> kernels,
                                              const CompileOptions& options)
{
    const auto workspace = this->workspace();
    const Toolchain& tools = toolchain(*workspace, compiler);
    const std::string stem = workspace->unique_stem();
    const std::string text = stem + ".cu";
    const std::string wrapper = stem + ".cpp";
    const std::string library = stem + ".so";
    const bool dynamic_shared = declare_dynamic_shared(source);
    write_file(wrapper, wrapper_text(source, text, kernels, dynamic_shared));
    write_file(text, replace_ptx(std::move(source)));
    const ProcessResult result = run_stoppable(compile_command(tools, options, wrapper, library));
    if (result.status != 0) {
        unlink(wrapper.c_str());
        refuse(*workspace, compiler.front(), text, result, options.lines.get());
    }
    unlink(wrapper.c_str());
    auto module = std::make_shared<const Module>(library, text, kernels, options.shadow_check);
    unlink(text.c_str());
    return module;
}

std::shared_ptr<const Module> Compiler::compile(const std::string& source,
                                                std::span<const std::string> kernels,
                                                const CompileOptions& options)
{
    const std::vector<std::string> compiler = choose_compiler(options);
    std::string key;
    for (const std::string& word : compiler)
        key += word + ' ';
    key += '\n' + std::to_string(options.shadow_check) + std::to_string(options.undefined_sanitizer) +
           std::to_string(options.optimisation);
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
    static auto& compiler = lasting([] { return Compiler(); });
    struct AtEnd {
        ~AtEnd() { compiler.end(); }
    };
    static const AtEnd at_end;
    return compiler.compile(source, kernels, options);
}

}  // namespace segfold::simt
