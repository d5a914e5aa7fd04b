#include "runtime/backends/cpu/native_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>

#include "dsl/error.h"
#include "runtime/support/cache_folder.h"
#include "runtime/support/cache_settings.h"
#include "runtime/support/host_compiler.h"
#include "runtime/support/leftovers.h"
#include "runtime/support/process.h"
#include "runtime/support/sha256.h"

namespace segfold::cpu {
namespace {

// Part of every key: another number and no old file is found.
constexpr int kFormat = 1;
constexpr std::string_view kKind = "library";

/// Values are those that the text says: nothing is reassociated, products and sums are not contracted. That
/// operations raise no exceptions and set no errno lets loops with conditions become vectors.
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

/// A library as it is kept: its digest, then its bytes.
std::string seal(const std::string& library) { return cache::sha256_hex(library) + "\n" + library; }

std::optional<std::string> unseal(const std::string& bytes)
{
    constexpr std::size_t kDigits = 64;
    if (bytes.size() <= kDigits || bytes[kDigits] != '\n')
        return std::nullopt;
    auto library = bytes.substr(kDigits + 1);
    if (cache::sha256_hex(library) != std::string_view(bytes).substr(0, kDigits))
        return std::nullopt;
    return library;
}

/// The folder of libraries, beside the kernels; null where there is no cache.
cache::Folder* open_folder()
{
    static const std::unique_ptr<cache::Folder> folder = []() -> std::unique_ptr<cache::Folder> {
        const auto settings = cache::settings_from_environment();
        if (!settings.is_on || settings.folder.empty())
            return nullptr;
        try {
            // Its own folder: what lies among the kernels is taken for one.
            auto path = settings.folder;
            path += "-cpu";
            return std::make_unique<cache::Folder>(path, settings.most_bytes);
        } catch (const InputError&) {
            return nullptr;  // then every process compiles anew
        }
    }();
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
    // Flags that the caller's CXX has come last, so that "-O1" there is what counts.
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
    // "g++ (Debian 12.2.0-14) 12.2.0"; clang++ knows the type from another version on for each processor.
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
    static const std::string processor = processor_identity();
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
    const auto result = run_process(words);
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
    const auto name = cache::file_name(compiler.key(source), kKind);
    was_compiled = false;
    if (folder != nullptr)
        if (const auto bytes = folder->read(name))
            if (auto library = unseal(*bytes))
                return *library;
    was_compiled = true;
    auto library = compiler.compile(source);
    if (folder != nullptr)
        (void)folder->write(name, seal(library));  // a full disk costs the next process a compilation
    return library;
}

}  // namespace segfold::cpu
