#include "runtime/backends/cpu/native_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "dsl/error.h"
#include "dsl/lasting.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/cache_settings.h"
#include "runtime/support/files/leftovers.h"
#include "runtime/support/files/sha256.h"
#include "runtime/support/processes/host_compiler.h"
#include "runtime/support/processes/process.h"

namespace segfold::cpu {
namespace {

// Version of the stored form. It is part of every key, so a change makes all stored files obsolete.
constexpr int kFormat = 2;

/// Flags under which results have the bits that the text defines. Nothing is reassociated, and products and
/// sums are not contracted. Operations raise no exceptions and set no errno, so that loops with conditions
/// can be vectorised.
constexpr const char* kFlags[] = {"-std=c++20",
                                  "-O3",
                                  "-march=native",
#if defined(__x86_64__)
                                  "-mprefer-vector-width=512",
#endif
                                  "-fopenmp-simd",
                                  "-ffp-contract=off",
                                  "-fno-trapping-math",
                                  "-fno-math-errno",
                                  "-fPIC",
                                  "-shared",
                                  "-fno-exceptions",
                                  "-fno-rtti",
                                  "-w"};

std::string read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

constexpr std::string_view kMagic = "segfold library 2\n";

/// Returns the stored form of a library: the digest of everything that follows, lines about the library, and
/// its bytes.
std::string seal(const StoredLibrary& stored)
{
    const auto contents =
        fmt::format("{}{}\n{}\n{}\n{}", kMagic, stored.name, stored.compiler, stored.seconds, stored.library);
    return cache::sha256_hex(contents) + "\n" + contents;
}

/// Returns the stage's file name, taken from the text's first line, such as "// lane_scan: Equal tiles ...".
std::string file_of_text(std::string_view source)
{
    constexpr std::string_view kMark = "// ";
    const auto line = source.substr(0, source.find('\n'));
    const auto end = line.find(':');
    const bool is_named = line.starts_with(kMark) && end != line.npos;
    return (is_named ? std::string(line.substr(kMark.size(), end - kMark.size())) : "text") + ".cpp";
}

/// Keeps the reason why libraries are not stored until take_library_note() returns it.
struct Note {
    std::mutex mutex;
    std::optional<std::string> text;
    bool was_noted = false;

    /// Stores the reason, unless an earlier reason is stored.
    void set(std::string_view reason)
    {
        const std::lock_guard lock(mutex);
        if (!std::exchange(was_noted, true))
            text = fmt::format("compiled libraries are not kept: {}", reason);
    }
};

Note& note()
{
    static Note& kept = lasting([] { return Note(); });
    return kept;
}

/// Returns the cache's folder; null if there is none. Without a folder every process compiles every text
/// again.
cache::Folder* open_folder()
{
    static const auto& folder = lasting([]() -> std::unique_ptr<cache::Folder> {
        const auto settings = cache::settings_from_environment();
        if (!settings.is_on)
            return nullptr;
        if (settings.folder.empty()) {
            note().set(cache::kNoFolder);
            return nullptr;
        }
        try {
            return std::make_unique<cache::Folder>(settings.folder, settings.most_bytes);
        } catch (const InputError& error) {
            note().set(error.what());
            return nullptr;
        }
    });
    return folder.get();
}

}  // namespace

std::string processor_identity()
{
    std::ifstream file("/proc/cpuinfo");
    std::string identity;
    for (std::string line; std::getline(file, line) && !line.empty();)
        for (const std::string_view word : {"model", "flags", "Features", "CPU part", "isa", "cpu"})
            if (line.starts_with(word) && !line.starts_with("cpu MHz"))
                identity += line + "\n";
    return identity;
}

NativeCompiler::NativeCompiler()
{
    const auto compiler = find_host_compiler("cpu");
    // Flags in the caller's CXX come last, so that "-O1" there overrides -O3.
    const auto own_flags = std::find_if(compiler.begin() + 1, compiler.end(),
                                        [](const std::string& word) { return word.starts_with('-'); });
    command_.assign(compiler.begin(), own_flags);
    command_.insert(command_.end(), std::begin(kFlags), std::end(kFlags));
    command_.insert(command_.end(), own_flags, compiler.end());
    auto version = compiler;
    version.emplace_back("--version");
    const auto said = run_process(version).output;
    version_ = said.substr(0, said.find('\n'));
    identity_ = fmt::format("{}: {}", fmt::join(compiler, " "), version_);
}

bool NativeCompiler::has_f16_conversions() const
{
    // The version line reads "g++ (Debian 12.2.0-14) 12.2.0". clang++ counts as lacking _Float16, because the
    // first version with this type differs between processors.
    constexpr int kFirstMajor = 12;
    const auto number = version_.rfind(' ');
    if (version_.find("clang") != std::string::npos || number == std::string::npos ||
        std::atoi(version_.c_str() + number + 1) < kFirstMajor)
        return false;
    static const bool is_able = (processor_identity() + " ").find(" f16c ") != std::string::npos;
    return is_able;
}

std::string NativeCompiler::key(std::string_view source) const
{
    static const std::string& processor = lasting(processor_identity);
    std::string text = fmt::format("segfold native {}\n", kFormat);
    const auto add = [&](std::string_view part) { text += fmt::format("{}:{}\n", part.size(), part); };
    add(identity_);
    for (const auto& word : command_)
        add(word);
    add(processor);
    add(source);
    return cache::sha256_hex(text);
}

std::string NativeCompiler::compile(std::string_view source) const
{
    ScratchFolder folder("segfold-cpu");
    const auto text = (folder.path() / "text.cpp").string();
    const auto library = (folder.path() / "text.so").string();
    {
        std::ofstream file(text, std::ios::binary);
        file << source;
        file.close();
        if (!file)
            throw DeviceError("cpu: cannot write " + text + "; set TMPDIR to a folder with room");
    }
    auto words = command_;
    for (const auto* word : {"-o", library.c_str(), text.c_str(), "-lm"})
        words.emplace_back(word);
    const auto result = run_stoppable(words);
    if (result.status != 0) {
        folder.keep();
        throw DeviceError(fmt::format("cpu: {} ends with status {}; the source is kept in {}\n{}",
                                      command_[0], result.status, text, result.output));
    }
    return read_file(library);
}

std::string library_of(std::string_view source, const NativeCompiler& compiler, bool& was_compiled)
{
    auto* folder = open_folder();
    const auto name = cache::file_name(compiler.key(source), kLibraryKind);
    was_compiled = false;
    if (const auto bytes = folder != nullptr ? folder->read(name) : std::nullopt)
        try {
            return unseal_library(*bytes).library;
        } catch (const InputError&) {
            // The damaged library is compiled again and replaced below.
        }
    was_compiled = true;
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    StoredLibrary stored{
        .name = file_of_text(source), .compiler = compiler.version(), .library = compiler.compile(source)};
    stored.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (folder != nullptr)
        if (const auto reason = folder->write(name, seal(stored)); !reason.empty())
            note().set(fmt::format("{}: {}", folder->path().string(), reason));
    return std::move(stored.library);
}

bool is_kept(std::string_view source, const NativeCompiler& compiler)
{
    auto* folder = open_folder();
    return folder != nullptr &&
           folder->peek(cache::file_name(compiler.key(source), kLibraryKind)).has_value();
}

StoredLibrary unseal_library(std::string_view bytes)
{
    constexpr std::size_t kDigits = 64;
    if (bytes.size() <= kDigits || bytes[kDigits] != '\n')
        throw InputError("is no library of the back end cpu");
    auto contents = bytes.substr(kDigits + 1);
    if (cache::sha256_hex(contents) != bytes.substr(0, kDigits))
        throw InputError("its SHA-256 does not hold");
    if (!contents.starts_with(kMagic))
        return {.name = "(of another segfold)", .compiler = "", .library = std::string(contents)};
    contents.remove_prefix(kMagic.size());
    const auto line = [&] {
        const auto end = std::min(contents.find('\n'), contents.size());
        const std::string text(contents.substr(0, end));
        contents.remove_prefix(std::min(end + 1, contents.size()));
        return text;
    };
    StoredLibrary stored;
    stored.name = line();
    stored.compiler = line();
    stored.seconds = std::atof(line().c_str());
    stored.library = contents;
    return stored;
}

std::optional<std::string> take_library_note()
{
    const std::lock_guard lock(note().mutex);
    return std::exchange(note().text, std::nullopt);
}

}  // namespace segfold::cpu
