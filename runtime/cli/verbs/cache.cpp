// segfold cache: lists and removes the compiled programs and the proofs in the cache on disk.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/backends/cpu/native_compiler.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/verbs/cache_archive.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/laws/prove/verdict_cache.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/cache_settings.h"
#include "runtime/support/files/private_folder.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::size_t kShownDigits = 12;

/// A file of the cache. It holds a kernel, a library of the back end cpu, a record of a compiler, or verdicts
/// on laws, or it is damaged.
struct Stored {
    cache::FileInfo file;
    bool is_kernel = false, is_library = false, has_laws = false;
    bool is_imported = false;  ///< true for a kernel from another machine
    cuda::KernelEntry entry;
    cpu::StoredLibrary library;
    std::string compiler;            ///< description of the compiler, if the file records one
    prove::StoredVerdicts verdicts;  ///< set if `has_laws` is true
    std::string damage;              ///< description of a damaged file's fault; empty if the file is intact

    [[nodiscard]] std::string_view kind() const
    {
        return is_imported  ? cache::kImportedKind
               : is_kernel  ? "kernel"
               : is_library ? cpu::kLibraryKind
               : has_laws   ? prove::kVerdictKind
                            : "compiler";
    }

    [[nodiscard]] std::string key() const { return file.name.substr(0, file.name.find('.')); }
};

Stored look_at(const cache::Folder& folder, const cache::FileInfo& file)
{
    Stored stored;
    stored.file = file;
    stored.is_imported = file.name.ends_with(fmt::format(".{}", cache::kImportedKind));
    stored.is_kernel = stored.is_imported || file.name.ends_with(fmt::format(".{}", cuda::kKernelKind));
    stored.is_library = file.name.ends_with(fmt::format(".{}", cpu::kLibraryKind));
    stored.has_laws = file.name.ends_with(fmt::format(".{}", prove::kVerdictKind));
    const auto bytes = folder.peek(file.name);
    try {
        if (!bytes)
            throw InputError("is not readable, no regular file of this user alone, or beyond the bound");
        if (stored.has_laws)
            stored.verdicts = prove::decode_verdicts(*bytes);
        else if (stored.is_library)
            stored.library = cpu::unseal_library(*bytes);
        else if (!stored.is_kernel)
            stored.compiler = cuda::decode_identity(*bytes).version;
        else if (stored.entry = cuda::decode_entry(*bytes); stored.entry.key != stored.key())
            throw InputError(fmt::format("holds the kernel of the key {}", stored.entry.key));
    } catch (const InputError& error) {
        stored.damage = error.what();
    }
    return stored;
}

/// The cache's folder and the files in it. The folder is null if it does not exist.
struct Contents {
    cache::Settings settings;
    std::unique_ptr<cache::Folder> folder;
    std::vector<Stored> files;

    [[nodiscard]] std::string path() const { return settings.folder.string(); }
    [[nodiscard]] std::uint64_t bytes() const
    {
        std::uint64_t bytes = 0;
        for (const auto& stored : files)
            bytes += stored.file.bytes;
        return bytes;
    }
    [[nodiscard]] std::int64_t kernels() const
    {
        return std::ranges::count_if(files, [](const Stored& stored) { return stored.is_kernel; });
    }
    [[nodiscard]] std::int64_t imported() const
    {
        return std::ranges::count_if(files, [](const Stored& stored) { return stored.is_imported; });
    }
    [[nodiscard]] std::uint64_t imported_bytes() const
    {
        std::uint64_t bytes = 0;
        for (const auto& stored : files)
            bytes += stored.is_imported ? stored.file.bytes : 0;
        return bytes;
    }
    [[nodiscard]] std::int64_t libraries() const
    {
        return std::ranges::count_if(files, [](const Stored& stored) { return stored.is_library; });
    }
    [[nodiscard]] std::int64_t damaged() const
    {
        return std::ranges::count_if(files, [](const Stored& stored) { return !stored.damage.empty(); });
    }
};

cache::Settings settings_with_folder()
{
    auto settings = cache::settings_from_environment();
    if (settings.folder.empty())
        throw InputError("none of SEGFOLD_CACHE_DIR, XDG_CACHE_HOME and HOME names the folder of the cache");
    return settings;
}

Contents open_contents()
{
    Contents contents{.settings = settings_with_folder(), .folder = nullptr, .files = {}};
    std::error_code ignored;
    // A dangling link counts as existing, so that Folder refuses it.
    if (!std::filesystem::exists(symlink_status(contents.settings.folder, ignored)))
        return contents;
    contents.folder = std::make_unique<cache::Folder>(contents.settings.folder, contents.settings.most_bytes);
    for (const auto& file : contents.folder->list())
        contents.files.push_back(look_at(*contents.folder, file));
    return contents;
}

std::string age_text(std::int64_t used_nanoseconds)
{
    using namespace std::chrono;
    const auto now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    const std::int64_t seconds = std::max<std::int64_t>(0, now - used_nanoseconds) / kNanoseconds;
    constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
    if (seconds < kMinute)
        return fmt::format("{} s ago", seconds);
    if (seconds < kHour)
        return fmt::format("{} min ago", seconds / kMinute);
    return seconds < kDay ? fmt::format("{} h ago", seconds / kHour)
                          : fmt::format("{} d ago", seconds / kDay);
}

Json cache_json(const Stored& stored)
{
    Json document = {{"file", stored.file.name},
                     {"kind", stored.kind()},
                     {"bytes", stored.file.bytes},
                     {"used_unix_seconds", stored.file.used_nanoseconds / kNanoseconds}};
    if (!stored.damage.empty()) {
        document["damage"] = stored.damage;
        return document;
    }
    if (stored.has_laws) {
        document["name"] = stored.verdicts.name;
        document["prover"] = stored.verdicts.prover;
        return document;
    }
    if (stored.is_library) {
        document["name"] = stored.library.name;
        document["compiler"] = stored.library.compiler;
        document["compile_seconds"] = stored.library.seconds;
        return document;
    }
    if (!stored.is_kernel) {
        document["compiler"] = stored.compiler;
        return document;
    }
    const auto& entry = stored.entry;
    document["name"] = entry.name;
    document["architecture"] = entry.architecture;
    document["compiler"] = entry.compiler;
    document["compile_seconds"] = entry.compiled.seconds;
    document["image_bytes"] = entry.compiled.cubin.size();
    document["kernels"] = Json::array();
    for (const auto& kernel : entry.compiled.resources)
        document["kernels"].push_back({{"kernel", kernel.kernel},
                                       {"registers", kernel.registers},
                                       {"spill_store_bytes", kernel.spill_store_bytes},
                                       {"spill_load_bytes", kernel.spill_load_bytes},
                                       {"static_shared_bytes", kernel.static_shared_bytes}});
    return document;
}

Json cache_json(const Contents& contents, bool only_damaged)
{
    Json files = Json::array();
    for (const auto& stored : contents.files)
        if (!only_damaged || !stored.damage.empty())
            files.push_back(cache_json(stored));
    return {{"folder", contents.path()},         {"kernels", contents.kernels()},
            {"libraries", contents.libraries()}, {"damaged", contents.damaged()},
            {"bytes", contents.bytes()},         {"files", std::move(files)}};
}

int list(bool json)
{
    const auto contents = open_contents();
    if (json) {
        write_json("cache_list", cache_json(contents, false));
        return 0;
    }
    TextTable table({{"program"},
                     {"architecture"},
                     {"compiler"},
                     {"bytes", TextTable::Align::right},
                     {"compiled in", TextTable::Align::right},
                     {"used", TextTable::Align::right},
                     {"key"}});
    for (const auto& stored : contents.files) {
        const auto age = age_text(stored.file.used_nanoseconds);
        const auto key = stored.key().substr(0, kShownDigits);
        const auto bytes = std::to_string(stored.file.bytes);
        if (!stored.damage.empty())
            table.add({"(damaged)", "", "", bytes, "", age, key});
        else if (stored.is_kernel)
            table.add(
                {stored.entry.name, stored.entry.architecture,
                 fmt::format("NVRTC {}{}", stored.entry.compiler, stored.is_imported ? " (imported)" : ""),
                 bytes, fmt::format("{:.1f} ms", stored.entry.compiled.seconds * 1e3), age, key});
        else if (stored.is_library)
            table.add({stored.library.name, "host", stored.library.compiler, bytes,
                       fmt::format("{:.1f} ms", stored.library.seconds * 1e3), age, key});
        else if (stored.has_laws)
            table.add({fmt::format("laws of {} ({})", stored.verdicts.name, stored.verdicts.prover), "", "",
                       bytes, "", age, key});
    }
    write_output(table.empty() ? fmt::format("nothing in {}\n", contents.path()) : table.print());
    return 0;
}

/// Implements `cache stat`. Prints "on", "off", or the reason why the folder cannot be used. For such a
/// folder, all other actions fail.
int stat(bool json)
{
    const auto settings = settings_with_folder();
    Contents contents{.settings = settings, .folder = nullptr, .files = {}};
    std::string state = settings.is_on ? "on" : "off (SEGFOLD_CACHE)";
    try {
        contents = open_contents();
        if (!contents.folder && settings.is_on)
            cache::require_makeable(settings.folder);
    } catch (const InputError& error) {
        state = fmt::format("unusable: {}", error.what());
    }
    if (json) {
        auto document = cache_json(contents, true);
        document.erase("files");
        document["imported"] = contents.imported();
        document["imported_bytes"] = contents.imported_bytes();
        document["most_bytes"] = settings.most_bytes;
        document["state"] = state;
        write_json("cache_stat", std::move(document));
        return 0;
    }
    write_output(
        print_facts({{"cache", state},
                     {"folder", contents.path()},
                     {"kernels", std::to_string(contents.kernels())},
                     {"imported", contents.imported() == 0
                                      ? "0"
                                      : fmt::format("{} of the kernels, {} bytes, until the cache is cleared",
                                                    contents.imported(), contents.imported_bytes())},
                     {"libraries", std::to_string(contents.libraries())},
                     {"damaged", std::to_string(contents.damaged())},
                     {"bytes", fmt::format("{} of at most {}", contents.bytes(), settings.most_bytes)}}));
    return 0;
}

int clear(bool json)
{
    const auto contents = open_contents();
    std::int64_t removed = 0;
    if (contents.folder) {
        for (const auto& stored : contents.files) {
            if (!contents.folder->remove(stored.file.name))
                throw InputError(fmt::format("{}/{} cannot be removed", contents.path(), stored.file.name));
            ++removed;
        }
        contents.folder->remove_unfinished(true);
    }
    if (json)
        write_json("cache_clear",
                   {{"folder", contents.path()}, {"removed", removed}, {"bytes", contents.bytes()}});
    else
        write_output(fmt::format("removed {} of {} bytes from {}\n", count_text(removed, "file"),
                                 contents.bytes(), contents.path()));
    return 0;
}

int verify(bool json)
{
    constexpr int kDamaged = 1;
    const auto contents = open_contents();
    const int exit_code = contents.damaged() == 0 ? 0 : kDamaged;
    if (json) {
        write_json("cache_verify", cache_json(contents, true));
        return exit_code;
    }
    std::string text;
    for (const auto& stored : contents.files)
        if (!stored.damage.empty())
            text += fmt::format("{}/{}: {}\n", contents.path(), stored.file.name, stored.damage);
    text += fmt::format("{} in {}, {} damaged{}\n", count_text(std::ssize(contents.files), "file"),
                        contents.path(), contents.damaged(),
                        exit_code == 0 ? "" : "; what is damaged is made anew when it is needed");
    write_output(text);
    return exit_code;
}

struct Action {
    std::string_view name;
    int (*run)(bool json);
};

constexpr std::array kActions = {Action{"list", list}, Action{"stat", stat}, Action{"clear", clear},
                                 Action{"verify", verify}};

}  // namespace

int verb_cache(const Words& words)
{
    if (!words.empty() && words.front() == "export")
        return export_kernels({words.begin() + 1, words.end()});
    if (!words.empty() && words.front() == "import")
        return import_kernels({words.begin() + 1, words.end()});
    const Arguments arguments("cache", words, cache_flags(), 1, "action");
    if (arguments.operands().empty())
        throw InputError("cache needs to be told what to do: list, stat, clear, verify, export or import");
    for (const auto& flag : cache_flags())
        arguments.refuse(flag.name, "belongs to 'segfold cache export FILE OPERATOR'");
    const auto& word = arguments.operands()[0];
    const auto action = std::ranges::find(kActions, std::string_view(word), &Action::name);
    if (action == kActions.end())
        throw InputError(
            fmt::format("cache cannot '{}'; it can list, stat, clear, verify, export and import", word));
    return action->run(arguments.json());
}

}  // namespace segfold::cli
