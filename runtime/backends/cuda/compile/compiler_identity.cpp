#include "runtime/backends/cuda/compile/compiler_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/support/files/sha256.h"
#include "runtime/support/json_value.h"

namespace segfold::cuda {
namespace {

constexpr std::size_t kDigestDigits = 64;

// Returns the text after `mark`, up to the end of the line.
std::string line_after(std::string_view text, std::string_view mark)
{
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = text.substr(at + mark.size());
    return std::string(rest.substr(0, rest.find('\n')));
}

// Returns NVRTC's version with its build. NVRTC's functions give only "13.0". Comments at the top of every
// PTX text give the build:
//   // Compiler Build ID: CL-36424714
//   // Cuda compilation tools, release 13.0, V13.0.88
std::string version_with_build(const std::string& architecture)
{
    const std::string text = ptx({"", "version.cu", architecture, {}});
    const std::string release = line_after(text, ", V");
    const std::string build = line_after(text, "Compiler Build ID: ");
    return fmt::format("{}, {}", release.empty() ? nvrtc().version() : release,
                       build.empty() ? "unknown build" : build);
}

}  // namespace

std::string file_identity(const std::string& path)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0)
        return std::string(kNoFile);
    return fmt::format("{}:{} {} {}.{:09}", status.st_dev, status.st_ino, status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

CompilerIdentity ask_compiler(bool with_build)
{
    const std::vector<std::string> names = supported_architectures();
    CompilerIdentity identity{.version = with_build ? version_with_build(names.front()) : nvrtc().version(),
                              .architectures = {},
                              .path = nvrtc().library.path(),
                              .file = file_identity(nvrtc().library.path())};
    for (const std::string& name : names)
        identity.architectures.push_back(std::atoi(name.c_str() + 3));
    return identity;
}

std::string compiler_search()
{
    std::string text = fmt::format("driver {}\n", driver_major());
    const auto add_file = [&](const std::string& path) {
        text += fmt::format("{} {}\n", path, file_identity(path));
    };
    for (const auto& file : nvrtc_files())
        if (file.has_parent_path()) {
            add_file(file.string());
        } else {
            const char* loader_path = std::getenv("LD_LIBRARY_PATH");
            text += fmt::format("the loader's {} with {}\n", file.string(), loader_path ? loader_path : "");
            add_file("/etc/ld.so.cache");
        }
    return text;
}

std::string encode(const CompilerIdentity& identity)
{
    const Json record = {{"version", identity.version},
                         {"architectures", identity.architectures},
                         {"path", identity.path},
                         {"file", identity.file}};
    const std::string text = record.dump(-1, ' ', false, Json::error_handler_t::replace);
    return cache::sha256_hex(text) + "\n" + text;
}

CompilerIdentity decode_identity(std::string_view bytes)
{
    if (bytes.size() <= kDigestDigits)
        throw InputError(fmt::format("{} bytes; a record of a compiler has more", bytes.size()));
    const std::string_view text = bytes.substr(kDigestDigits + 1);
    if (bytes.substr(0, kDigestDigits) != cache::sha256_hex(text) || bytes[kDigestDigits] != '\n')
        throw InputError("its SHA-256 does not hold");
    const auto read = [](const Json& document) {
        const JsonValue record("record", document);
        CompilerIdentity identity{.version = record.at("version").text(),
                                  .architectures = {},
                                  .path = record.at("path").text(),
                                  .file = record.at("file").text()};
        for (const auto& architecture : record.at("architectures").elements())
            identity.architectures.push_back(architecture.small());
        return identity;
    };
    CompilerIdentity identity;
    try {
        identity = read(read_json("record", text));
    } catch (const InputError& error) {
        throw InputError(fmt::format("it is not understood: {}", error.what()));
    }
    if (identity.architectures.empty() || !std::ranges::is_sorted(identity.architectures))
        throw InputError("its architectures are none or out of order");
    return identity;
}

}  // namespace segfold::cuda
