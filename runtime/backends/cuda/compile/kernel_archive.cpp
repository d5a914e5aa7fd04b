#include "runtime/backends/cuda/compile/kernel_archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "dsl/error.h"
#include "dsl/message/visible.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/data/formats/zip.h"
#include "runtime/support/files/cache_folder.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/refuse.h"
#include "runtime/support/files/sha256.h"

namespace segfold::cuda {
namespace {

// More bytes than any compiled program has. A member that claims more is refused before its bytes are read.
constexpr std::uint64_t kMostMemberBytes = std::uint64_t{64} << 20;

// Returns the name of the record of a compiler in an archive.
std::string record_name(const CompilerIdentity& compiler)
{
    return cache::file_name(cache::sha256_hex("imported " + compiler.version), kCompilerKind);
}

// Returns the file name of the record of a compiler whose kernels were imported.
std::string imported_record_name(const CompilerIdentity& compiler)
{
    return cache::file_name(cache::sha256_hex("imported " + compiler.version),
                            fmt::format("{}.{}", cache::kImportedKind, kCompilerKind));
}

std::string kernel_name(const KernelEntry& kernel) { return cache::file_name(kernel.key, kKernelKind); }

std::string imported_name(const KernelEntry& kernel)
{
    return cache::file_name(kernel.key, cache::kImportedKind);
}

// Refuses an import if the cache has no room for it beside earlier ones. Imported kernels are not removed to
// keep the bound, so they must leave room for others.
void require_room_beside(const cache::Folder& folder, const std::map<std::string, std::string>& files,
                         std::uint64_t most_bytes)
{
    std::uint64_t before = 0, added = 0;
    for (const auto& file : folder.list())
        if (file.name.ends_with(cache::kImportedKind) && !files.contains(file.name))
            before += file.bytes;
    for (const auto& [name, bytes] : files)
        added += bytes.size();
    if (before + added > most_bytes / 2)
        throw InputError(fmt::format(
            "{} has {} bytes of imported kernels, these have {}, and imports get half of the {} that the "
            "cache may hold; set SEGFOLD_CACHE_BYTES to {} or more, here and for the programs that use them",
            folder.path().string(), before, added, most_bytes, 2 * (before + added)));
}

// True if a kernel cache gives such a name: a digest and the ending `kind`. Such a name cannot lead to
// another folder.
bool is_name(std::string_view name, std::string_view kind)
{
    constexpr std::size_t kDigits = 64;
    return name.size() == kDigits + 1 + kind.size() && name.ends_with(kind) && name[kDigits] == '.' &&
           name.find_first_not_of("0123456789abcdef") == kDigits;
}

// Returns the beginning of error messages about a member.
std::string place_of(const std::string& path, const ZipMember& member)
{
    return fmt::format("{}:{}", path,
                       is_name(member.name, kKernelKind) ? member.name.substr(0, 12) : "record");
}

// Refuses an archive by the sizes in its directory, before any member is inflated. An import may take half of
// the cache's `most_bytes`, so that it does not displace everything else.
void require_room(const std::string& path, const std::vector<ZipMember>& members, std::uint64_t most_bytes)
{
    std::uint64_t bytes = 0;
    for (const auto& member : members) {
        if (member.bytes > kMostMemberBytes)
            refuse(place_of(path, member), fmt::format("claims {} bytes; no compiled kernel has more than {}",
                                                       member.bytes, kMostMemberBytes));
        bytes += member.bytes;
    }
    if (bytes > most_bytes / 2)
        refuse(path, fmt::format("the kernels have {} bytes, and the cache may hold {}; set "
                                 "SEGFOLD_CACHE_BYTES to {} or more, here and for the programs that use them",
                                 bytes, most_bytes, 2 * bytes));
}

bool is_among(const std::string& architecture, const std::vector<int>& known)
{
    return std::ranges::any_of(known, [&](int capability) {
        return architecture == fmt::format("sm_{}", capability) ||
               architecture == fmt::format("compute_{}", capability);
    });
}

std::string read_member_bytes(const InputFile& file, const ZipMember& member, const std::string& where)
{
    std::string bytes(static_cast<std::size_t>(member.bytes), '\0');
    read_zip_member(file, member, where,
                    [&](const ZipSource& source) { source(std::as_writable_bytes(std::span(bytes))); });
    return bytes;
}

}  // namespace

void write_archive(const std::string& path, const KernelArchive& archive)
{
    OutputFile file(path);
    ZipWriter writer(file, true, false);
    const auto add = [&](const std::string& name, const std::string& bytes) {
        writer.add(name, {}, std::as_bytes(std::span(bytes)));
    };
    add(record_name(archive.compiler), encode(archive.compiler));
    for (const auto& kernel : archive.kernels)
        add(kernel_name(kernel), encode(kernel));
    writer.finish();
    file.commit();
}

KernelArchive read_archive(const std::string& path, std::uint64_t most_bytes)
{
    const InputFile file(path);
    const auto members = read_zip_directory(file);
    require_room(path, members, most_bytes);
    KernelArchive archive;
    std::optional<std::string> record;
    std::set<std::string> names;
    for (const auto& member : members) {
        const bool is_kernel = is_name(member.name, kKernelKind);
        const auto where = place_of(path, member);
        if ((!is_kernel && !is_name(member.name, kCompilerKind)) || !names.insert(member.name).second)
            refuse(path,
                   fmt::format("has a member '{}', which no archive of compiled kernels has{}; take one "
                               "that 'segfold cache export' has written",
                               visible(member.name), names.contains(member.name) ? " twice" : ""));
        const auto bytes = read_member_bytes(file, member, where);
        try {
            if (is_kernel) {
                auto kernel = decode_entry(bytes);
                if (kernel_name(kernel) != member.name)
                    throw InputError(fmt::format("holds the kernel of the key {}", kernel.key));
                archive.kernels.push_back(std::move(kernel));
            } else if (record) {
                throw InputError("is a second record of a compiler; an archive has one");
            } else {
                archive.compiler = decode_identity(bytes);
                record = member.name;
            }
        } catch (const InputError& error) {
            refuse(where, error.what());
        }
    }
    if (!record || archive.kernels.empty())
        refuse(path, fmt::format("holds no {}; take an archive that 'segfold cache export' has written",
                                 !record ? "record of the compiler" : "kernels"));
    for (const auto& kernel : archive.kernels) {
        if (kernel.compiler != archive.compiler.version)
            refuse(path, fmt::format("holds a kernel of NVRTC {} beside a record of NVRTC {}",
                                     visible(kernel.compiler), visible(archive.compiler.version)));
        if (!is_among(kernel.architecture, archive.compiler.architectures))
            refuse(path, fmt::format("holds a kernel for '{}' beside a record of sm_{}",
                                     visible(kernel.architecture),
                                     fmt::join(archive.compiler.architectures, ", sm_")));
    }
    return archive;
}

void import_archive(const KernelArchive& archive, const cache::Settings& settings)
{
    if (!settings.is_on)
        throw InputError("SEGFOLD_CACHE is off, so nothing that is imported would be found; unset it");
    if (settings.folder.empty())
        throw InputError("none of SEGFOLD_CACHE_DIR, XDG_CACHE_HOME and HOME names the folder of the cache");
    cache::Folder folder(settings.folder, settings.most_bytes);
    std::map<std::string, std::string> files;
    for (const auto& kernel : archive.kernels)
        files.emplace(imported_name(kernel), encode(kernel));
    require_room_beside(folder, files, settings.most_bytes);
    auto compiler = archive.compiler;
    if (const auto known = folder.read(imported_record_name(compiler)))
        try {
            const auto before = decode_identity(*known);
            std::set<int> all(compiler.architectures.begin(), compiler.architectures.end());
            all.insert(before.architectures.begin(), before.architectures.end());
            compiler.architectures.assign(all.begin(), all.end());
        } catch (const InputError&) {
            // The damaged record is replaced below.
        }
    compiler.path.clear();  // no library may be opened at a path from an archive
    compiler.file = kNoFile;
    const auto write = [&](const std::string& name, const std::string& contents) {
        if (const auto reason = folder.write(name, contents); !reason.empty())
            throw InputError(fmt::format("{}: {}", folder.path().string(), reason));
    };
    for (const auto& [name, bytes] : files)
        write(name, bytes);
    write(imported_record_name(compiler), encode(compiler));
}

}  // namespace segfold::cuda
