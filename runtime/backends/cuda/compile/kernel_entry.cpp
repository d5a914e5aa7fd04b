#include "runtime/backends/cuda/compile/kernel_entry.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "runtime/support/files/sha256.h"
#include "runtime/support/json_value.h"

namespace segfold::cuda {
namespace {

constexpr std::string_view kEntryMagic = "segfold kernel\n\x1a";
constexpr std::uint32_t kEntryFormat = 1;
constexpr std::size_t kDigestBytes = std::tuple_size_v<cache::Digest>;

struct EntryLengths {
    std::uint32_t format = kEntryFormat;
    std::uint32_t header_bytes = 0;
    std::uint64_t image_bytes = 0;
};

std::string_view view(const cache::Digest& digest)
{
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string_view view(const EntryLengths& lengths)
{
    return {reinterpret_cast<const char*>(&lengths), sizeof(EntryLengths)};
}

Json resources_json(const KernelResources& kernel)
{
    return {{"kernel", kernel.kernel},
            {"registers", kernel.registers},
            {"spill_store_bytes", kernel.spill_store_bytes},
            {"spill_load_bytes", kernel.spill_load_bytes},
            {"stack_bytes", kernel.stack_bytes},
            {"static_shared_bytes", kernel.static_shared_bytes}};
}

KernelResources resources_of(const JsonValue& kernel)
{
    return {.kernel = kernel.at("kernel").text(),
            .registers = kernel.at("registers").small(),
            .spill_store_bytes = kernel.at("spill_store_bytes").small(),
            .spill_load_bytes = kernel.at("spill_load_bytes").small(),
            .stack_bytes = kernel.at("stack_bytes").small(),
            .static_shared_bytes = kernel.at("static_shared_bytes").small()};
}

Json header_of(const KernelEntry& entry)
{
    Json header = {{"key", entry.key},
                   {"name", entry.name},
                   {"architecture", entry.architecture},
                   {"compiler", entry.compiler},
                   {"seconds", entry.compiled.seconds},
                   {"log", entry.compiled.log},
                   {"resources", Json::array()}};
    for (const KernelResources& kernel : entry.compiled.resources)
        header["resources"].push_back(resources_json(kernel));
    return header;
}

KernelEntry entry_of(const JsonValue& header)
{
    KernelEntry entry{.key = header.at("key").text(),
                      .name = header.at("name").text(),
                      .architecture = header.at("architecture").text(),
                      .compiler = header.at("compiler").text(),
                      .compiled = {}};
    entry.compiled.seconds = header.at("seconds").number();
    entry.compiled.log = header.at("log").text();
    for (const auto& kernel : header.at("resources").elements())
        entry.compiled.resources.push_back(resources_of(kernel));
    return entry;
}

}  // namespace

std::string encode(const KernelEntry& entry)
{
    // A name may have any bytes. Bytes that are not UTF-8 are replaced.
    const std::string header = header_of(entry).dump(-1, ' ', false, Json::error_handler_t::replace);
    const EntryLengths lengths{.header_bytes = static_cast<std::uint32_t>(header.size()),
                               .image_bytes = entry.compiled.cubin.size()};
    std::string bytes(kEntryMagic);
    bytes += view(lengths);
    bytes += header;
    bytes.append(entry.compiled.cubin.data(), entry.compiled.cubin.size());
    const cache::Digest digest = cache::sha256(bytes);
    return bytes.append(view(digest));
}

KernelEntry decode_entry(std::string_view bytes)
{
    const std::size_t frame_bytes = kEntryMagic.size() + sizeof(EntryLengths) + kDigestBytes;
    if (bytes.size() < frame_bytes)
        throw InputError(
            fmt::format("{} bytes; a kernel has {} beside its contents", bytes.size(), frame_bytes));
    if (!bytes.starts_with(kEntryMagic))
        throw InputError("does not begin as a kernel does");
    EntryLengths lengths;
    std::memcpy(&lengths, bytes.data() + kEntryMagic.size(), sizeof(EntryLengths));
    if (lengths.format != kEntryFormat)
        throw InputError(
            fmt::format("has format {}; this program reads format {}", lengths.format, kEntryFormat));
    const std::uint64_t content_bytes = bytes.size() - frame_bytes;
    if (lengths.header_bytes > content_bytes || lengths.image_bytes != content_bytes - lengths.header_bytes)
        throw InputError(fmt::format("{} bytes of contents; its lengths speak of {} and {}", content_bytes,
                                     lengths.header_bytes, lengths.image_bytes));
    const std::string_view digest = bytes.substr(bytes.size() - kDigestBytes);
    if (view(cache::sha256(bytes.substr(0, bytes.size() - kDigestBytes))) != digest)
        throw InputError("its SHA-256 does not hold");
    const std::string_view contents = bytes.substr(kEntryMagic.size() + sizeof(EntryLengths), content_bytes);
    try {
        const Json header = read_json("header", contents.substr(0, lengths.header_bytes));
        KernelEntry entry = entry_of(JsonValue("header", header));
        entry.compiled.cubin = std::vector<char>(contents.begin() + lengths.header_bytes, contents.end());
        return entry;
    } catch (const InputError& error) {
        throw InputError(fmt::format("its header is not understood: {}", error.what()));
    }
}

}  // namespace segfold::cuda
