#include "runtime/backends/cuda/compile/kernel_cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <ranges>
#include <set>
#include <system_error>

#include "dsl/error.h"
#include "dsl/lasting.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/support/files/sha256.h"

namespace segfold::cuda {
namespace {

// Version of the key's form. It is part of every key, so a change makes all stored entries obsolete.
constexpr int kKeyFormat = 1;

// Options whose values are numbers, names or macros. A program with any other option is not stored, because
// the option may name a file.
constexpr std::array<std::string_view, 13> kPlainOptions = {
    "--define-macro=",  "--fmad=",      "--ftz=", "--generate-line-info", "--maxrregcount=",
    "--prec-div=",      "--prec-sqrt=", "--std=", "--undefine-macro=",    "--use_fast_math",
    "--Ofast-compile=", "-D",           "-std="};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Joins lines that end in a backslash, as the compiler does.
std::string join_lines(std::string_view source)
{
    std::string text;
    for (std::size_t i = 0; i < source.size(); ++i) {
        std::size_t end = i + 1;
        while (source[i] == '\\' && end < source.size() && (is_blank(source[end]) || source[end] == '\r'))
            ++end;
        if (source[i] == '\\' && end < source.size() && source[end] == '\n')
            i = end;
        else
            text += source[i];
    }
    return text;
}

// True if a source may read files, test whether files exist or use the time. If the answer is wrongly true,
// the source is only compiled more often.
bool asks_for_files_or_time(std::string_view source)
{
    const std::string text = join_lines(source);
    for (const char* word : {"__DATE__", "__TIME__", "__TIMESTAMP__", "__has_include", "_Pragma"})
        if (text.find(word) != std::string::npos)
            return true;
    for (std::size_t at = text.find("include"); at != std::string::npos; at = text.find("include", at + 1)) {
        const std::size_t begin = text.rfind('\n', at) + 1;
        const std::string_view line = std::string_view(text).substr(begin, at - begin);
        if (line.find('#') != line.npos || line.find("%:") != line.npos || line.find("*/") != line.npos)
            return true;
    }
    return false;
}

std::optional<CompilerIdentity> read_identity(const cache::Folder& folder, const std::string& name)
{
    const auto bytes = folder.read(name);
    if (!bytes)
        return std::nullopt;
    try {
        return decode_identity(*bytes);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

bool is_unchanged(const CompilerIdentity& identity)
{
    const auto file = file_identity(identity.path);
    return file == identity.file && file != kNoFile;
}

// Returns the compilers that were used on this machine or came with imported kernels. The newest record comes
// first.
//
// Marks all records as used, the oldest first. So their order stays, and no record is removed before its
// kernels.
std::vector<CompilerIdentity> recorded_compilers(const cache::Folder& folder)
{
    std::vector<CompilerIdentity> compilers;
    auto files = folder.list();
    std::erase_if(files, [](const cache::FileInfo& file) {
        return !file.name.ends_with(fmt::format(".{}", kCompilerKind));
    });
    for (const auto& file : std::views::reverse(files))
        if (auto identity = read_identity(folder, file.name))
            compilers.insert(compilers.begin(), std::move(*identity));
    return compilers;
}

// Returns the error for a program that is not on disk while no NVRTC can compile it.
std::string without_compiler(const CompileRequest& request, const cache::Folder& folder,
                             const std::vector<int>& architectures, const char* reason)
{
    return fmt::format(
        "{} for {} is not among the kernels in {}, which are for sm_{}, and nothing here can compile it; on "
        "a "
        "machine with NVRTC and this version of segfold, 'segfold cache export FILE OPERATOR --for {}' with "
        "the operator, its --type and its --layout writes such kernels, and 'segfold cache import FILE' adds "
        "them here\n{}",
        request.name, request.architecture, folder.path().string(), fmt::join(architectures, ", sm_"),
        request.architecture, reason);
}

// True once kernel_cache() exists. Before that there is no note.
std::atomic<bool> process_cache_exists = false;

}  // namespace

std::string kernel_key(const CompileRequest& request, std::string_view compiler_version)
{
    // The length of each part precedes it, so different requests never make the same text.
    std::string text = fmt::format("segfold kernel {}\n", kKeyFormat);
    const auto add = [&](std::string_view part) { text += fmt::format("{}:{}\n", part.size(), part); };
    add(compiler_version);
    add(request.architecture);
    const auto options = compile_options(request);
    text += fmt::format("{}\n", options.size());
    for (const std::string& option : options)
        add(option);
    add(request.source);
    return cache::sha256_hex(text);
}

std::vector<std::string> architectures_instead(const std::string& architecture, const std::vector<int>& known)
{
    constexpr std::string_view kBinary = "sm_", kText = "compute_";
    const bool is_binary = architecture.starts_with(kBinary);
    const int wanted = std::atoi(architecture.c_str() + (is_binary ? kBinary : kText).size());
    std::vector<std::string> instead;
    const auto add = [&](std::string_view kind, auto&& runs) {
        for (const int capability : std::views::reverse(known)) {
            auto name = fmt::format("{}{}", kind, capability);
            if (capability <= wanted && runs(capability) && name != architecture)
                instead.push_back(std::move(name));
        }
    };
    if (is_binary)
        add(kBinary, [&](int capability) { return capability / 10 == wanted / 10; });
    add(kText, [](int) { return true; });
    return instead;
}

bool is_self_contained(const CompileRequest& request)
{
    const auto is_plain = [](const std::string& option) {
        return std::ranges::any_of(kPlainOptions,
                                   [&](std::string_view plain) { return option.starts_with(plain); });
    };
    return std::ranges::all_of(request.extra_options, is_plain) && !asks_for_files_or_time(request.source);
}

KernelCache::KernelCache(const cache::Settings& settings)
{
    if (!settings.is_on)
        return;
    if (settings.folder.empty()) {
        note_ = fmt::format("compiled kernels are not kept: {}", cache::kNoFolder);
        return;
    }
    try {
        folder_ = std::make_unique<cache::Folder>(settings.folder, settings.most_bytes);
    } catch (const InputError& error) {
        note_ = fmt::format("compiled kernels are not kept: {}", error.what());
    }
    was_noted_ = note_.has_value();
}

CompilerIdentity KernelCache::compiler()
{
    const std::lock_guard lock(compiler_mutex_);
    identify();
    know_build();
    return compilers_.front();
}

// Finds the compilers if they are not yet known. The caller must hold compiler_mutex_.
//
// For an NVRTC without a record, the build stays unknown, because only compiled code tells it; see
// know_build().
void KernelCache::identify()
{
    if (!compilers_.empty())
        return;
    if (!folder_) {
        compilers_ = {ask_compiler(false)};
        return;
    }
    if (auto known = read_identity(*folder_, record_name()); known && is_unchanged(*known)) {
        compilers_ = {std::move(*known)};
        return;
    }
    try {
        compilers_ = {ask_compiler(false)};
        lacks_build_ = true;
    } catch (const DeviceError& error) {
        compilers_ = recorded_compilers(*folder_);
        only_loads_ = !compilers_.empty();
        if (!only_loads_)
            throw DeviceError(fmt::format(
                "{}\nKernels that were compiled elsewhere run without it: see 'segfold help cache'",
                error.what()));
    }
}

// Finds the build of the open NVRTC and stores its record, if it has not done so yet. The caller must hold
// compiler_mutex_.
void KernelCache::know_build()
{
    if (!lacks_build_)
        return;
    compilers_ = {asked_.valid() ? asked_.get() : ask_compiler(true)};
    lacks_build_ = false;
    was_asked_ = true;
    write(record_name(), encode(compilers_.front()));
}

// Starts to find the build of the open NVRTC on its own thread, while the first kernel is compiled.
void KernelCache::ask_beside()
{
    const std::lock_guard lock(compiler_mutex_);
    if (lacks_build_ && !asked_.valid())
        try {
            asked_ = std::async(std::launch::async, [] { return ask_compiler(true); }).share();
        } catch (const std::system_error&) {
            // No thread could be started. know_build() finds the build later.
        }
}

void KernelCache::wait_for_build()
{
    const std::lock_guard lock(compiler_mutex_);
    if (asked_.valid())
        asked_.wait();
}

bool KernelCache::has_kernels() const
{
    return std::ranges::any_of(folder_->list(), [](const cache::FileInfo& file) {
        return file.name.ends_with(fmt::format(".{}", kKernelKind)) ||
               file.name.ends_with(fmt::format(".{}", cache::kImportedKind));
    });
}

std::vector<int> KernelCache::architectures()
{
    const std::lock_guard lock(compiler_mutex_);
    identify();
    std::set<int> all;
    for (const auto& compiler : compilers_)
        all.insert(compiler.architectures.begin(), compiler.architectures.end());
    return {all.begin(), all.end()};
}

bool KernelCache::only_loads()
{
    const std::lock_guard lock(compiler_mutex_);
    identify();
    return only_loads_;
}

std::string KernelCache::record_name() const
{
    return cache::file_name(cache::sha256_hex(compiler_search()), kCompilerKind);
}

// Finds the identity of the open NVRTC and stores the record. The caller must hold compiler_mutex_.
void KernelCache::record_open_compiler()
{
    compilers_ = {ask_compiler(true)};
    was_asked_ = true;
    write(record_name(), encode(compilers_.front()));
}

bool KernelCache::is_kept(const CompileRequest& request) const
{
    return folder_ && is_self_contained(request);
}

std::optional<Compiled> KernelCache::load(const CompileRequest& request)
{
    if (!is_kept(request))
        return std::nullopt;
    std::vector<CompilerIdentity> compilers;
    {
        const std::lock_guard lock(compiler_mutex_);
        identify();
        if (lacks_build_ && !has_kernels())
            return std::nullopt;
        know_build();
        compilers = compilers_;
    }
    if (auto found = find(request, compilers); found || !only_loads())
        return found;
    // The architecture was chosen among those of all imports, and this program may be of another import.
    auto other = request;
    for (auto& architecture : architectures_instead(request.architecture, architectures())) {
        other.architecture = std::move(architecture);
        if (auto found = find(other, compilers))
            return found;
    }
    return std::nullopt;
}

Compiled KernelCache::get(const CompileRequest& request)
{
    if (auto loaded = load(request))
        return std::move(*loaded);
    if (is_kept(request) && only_loads())
        try {
            (void)nvrtc();
        } catch (const DeviceError& error) {
            throw DeviceError(without_compiler(request, *folder_, architectures(), error.what()));
        }
    if (is_kept(request))
        ask_beside();
    Compiled compiled;
    try {
        compiled = compile(request);
    } catch (const DeviceError&) {
        wait_for_build();  // a process must not end while a thread is in NVRTC
        throw;
    }
    {
        const std::lock_guard lock(mutex_);
        ++counts_.compiled;
    }
    if (is_kept(request))
        keep(request, compiled);
    return compiled;
}

KernelEntry KernelCache::entry(const CompileRequest& request, Compiled compiled)
{
    if (!is_self_contained(request))
        throw InputError(fmt::format("{}: its kernels depend on files or the time, and stay on this machine",
                                     request.name));
    std::string version;
    if (folder_) {
        version = compiler().version;
    } else {
        static const std::string& open = lasting([] { return ask_compiler(true).version; });
        version = open;
    }
    return {.key = kernel_key(request, version),
            .name = request.name,
            .architecture = request.architecture,
            .compiler = version,
            .compiled = std::move(compiled)};
}

// Finds the program among the files of this machine and those that were imported.
std::optional<Compiled> KernelCache::find(const CompileRequest& request,
                                          const std::vector<CompilerIdentity>& compilers)
{
    for (const auto& compiler : compilers) {
        const auto key = kernel_key(request, compiler.version);
        for (const auto kind : {kKernelKind, cache::kImportedKind})
            if (auto found = read(request, key, kind))
                return found;
    }
    return std::nullopt;
}

std::optional<Compiled> KernelCache::read(const CompileRequest& request, const std::string& key,
                                          std::string_view kind)
{
    const auto bytes = folder_->read(cache::file_name(key, kind));
    if (!bytes)
        return std::nullopt;
    std::optional<Compiled> compiled;
    try {
        KernelEntry entry = decode_entry(*bytes);
        if (entry.key == key && entry.architecture == request.architecture)
            compiled = std::move(entry.compiled);
    } catch (const InputError&) {
        // A damaged entry counts as missing, and the new program replaces it.
    }
    const std::lock_guard lock(mutex_);
    ++(compiled ? counts_.loaded : counts_.damaged);
    if (compiled)
        compiled->is_from_disk = true;
    return compiled;
}

void KernelCache::keep(const CompileRequest& request, const Compiled& compiled)
{
    std::string version;
    {
        const std::lock_guard lock(compiler_mutex_);
        // NVRTC is open now. The search may have found another library than the one in the record.
        know_build();
        const std::string& path = nvrtc().library.path();
        const CompilerIdentity& known = compilers_.front();
        if (!was_asked_ && (known.path != path || !is_unchanged(known)))
            record_open_compiler();
        was_asked_ = true;
        version = compilers_.front().version;
    }
    const std::string key = kernel_key(request, version);
    write(cache::file_name(key, kKernelKind), encode({.key = key,
                                                      .name = request.name,
                                                      .architecture = request.architecture,
                                                      .compiler = version,
                                                      .compiled = compiled}));
}

void KernelCache::write(const std::string& name, std::string_view bytes)
{
    const std::string reason = folder_->write(name, bytes);
    const std::lock_guard lock(mutex_);
    if (reason.empty() || was_noted_)
        return;
    was_noted_ = true;
    note_ = fmt::format("compiled kernels are not kept: {}: {}", folder_->path().string(), reason);
}

std::optional<std::string> KernelCache::take_note()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(note_, std::nullopt);
}

KernelCache::Counts KernelCache::counts() const
{
    const std::lock_guard lock(mutex_);
    return counts_;
}

KernelCache& kernel_cache()
{
    static auto& cache = lasting([] { return KernelCache(cache::settings_from_environment()); });
    process_cache_exists = true;
    return cache;
}

std::optional<std::string> take_cache_note()
{
    return process_cache_exists ? kernel_cache().take_note() : std::nullopt;
}

Compiled load_or_compile(const CompileRequest& request) { return kernel_cache().get(request); }

std::optional<Compiled> load_kept(const CompileRequest& request) { return kernel_cache().load(request); }

}  // namespace segfold::cuda
