#include "runtime/session/shipped/shipped_plans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "dsl/error.h"
#include "dsl/message/visible.h"
#include "dsl/stopped.h"
#include "runtime/backends/cuda/compile/kernel_archive.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/data/segments.h"
#include "runtime/session/device_plan.h"
#include "runtime/session/shipped/shipped_texts.h"
#include "runtime/support/files/cache_settings.h"
#include "runtime/support/files/file.h"

namespace segfold {
namespace {

/// Throws InputError for a request that no plan can serve. Called before anything is compiled or written.
void require_possible(std::span<const Operator> operators, const ExportOptions& options)
{
    if (options.architectures.empty())
        throw InputError("no architecture is named to compile for; name some, such as sm_80 and sm_90");
    if (operators.empty())
        throw InputError("no operator is named to compile plans of; name one or more");
    if (options.layouts.empty())
        throw InputError("no layout is named to compile plans for; name some, such as offsets and uniform=4");
    if (options.index_bits != 32 && options.index_bits != 64)
        throw InputError(fmt::format("index_bits is {}; it must be 32 or 64", options.index_bits));
    constexpr std::array<int, 4> kKeyBytes = {1, 2, 4, 8};
    if (std::ranges::find(kKeyBytes, options.key_bytes) == kKeyBytes.end())
        throw InputError(fmt::format("key_bytes is {}; it must be 1, 2, 4 or 8", options.key_bytes));
    if (!options.num_elements)
        return;
    const auto elements = *options.num_elements;
    if (elements < 1 || elements > kMostShippedElements)
        throw InputError(
            fmt::format("num_elements is {}; it must be from 1 to {}", elements, kMostShippedElements));
    if (options.index_bits < index_bits_for({elements}))
        throw InputError(fmt::format(
            "--elements (num_elements) is {}, and folds with 32-bit indices have {} elements at most; "
            "take 64-bit indices: --index-bits 64 (index_bits=64)",
            elements, kMaxNarrowIndex));
}

/// Returns 90 for "sm_90" and for "compute_90". Throws InputError if NVRTC does not know the architecture.
int capability_of(const std::string& architecture, const std::vector<int>& known)
{
    for (const std::string_view kind : {"sm_", "compute_"})
        if (architecture.starts_with(kind)) {
            int capability = 0;
            const auto* end = architecture.data() + architecture.size();
            const auto read = std::from_chars(architecture.data() + kind.size(), end, capability);
            if (read.ec == std::errc() && read.ptr == end &&
                std::ranges::find(known, capability) != known.end())
                return capability;
        }
    throw InputError(fmt::format("NVRTC does not compile for '{}'; it knows sm_{}", visible(architecture),
                                 fmt::join(known, ", sm_")));
}

Shipped contents_of(const cuda::KernelArchive& archive)
{
    Shipped shipped{archive.compiler.version, {}};
    for (const auto& kernel : archive.kernels)
        shipped.kernels.push_back({kernel.name, kernel.architecture, kernel.compiled.cubin.size()});
    return shipped;
}

/// The texts to compile, each once.
class Requests {
public:
    void add(cuda::CompileRequest request)
    {
        if (known_
                .insert(request.architecture + fmt::format("{}\n", fmt::join(request.extra_options, " ")) +
                        request.source)
                .second)
            all_.push_back(std::move(request));
    }
    [[nodiscard]] const std::vector<cuda::CompileRequest>& all() const { return all_; }

private:
    std::set<std::string> known_;
    std::vector<cuda::CompileRequest> all_;
};

}  // namespace

Shipped export_plans(const std::string& path, std::span<const Operator> operators,
                     const ExportOptions& options)
{
    require_possible(operators, options);
    require_writable(path);
    const auto known = cuda::kernel_cache().architectures();
    std::set<int> capabilities;
    for (const auto& architecture : options.architectures)
        capabilities.insert(capability_of(architecture, known));
    Session session({.backend = "simt", .kernels = options.kernels, .assume = options.assume});
    Requests requests;
    for (const auto& architecture : options.architectures) {
        requests.add(item_offsets_request(architecture, options.index_bits));
        for (const auto& op : operators)
            for_each_shipped(op, capability_of(architecture, known), options, session,
                             [&](const Emitted& emitted) {
                                 throw_if_stopped();
                                 requests.add(cuda::variant_of(architecture, emitted).request);
                             });
    }
    auto compiled = cuda::compile_many(requests.all());
    cuda::KernelArchive archive;
    for (std::size_t i = 0; i < compiled.size(); ++i)
        archive.kernels.push_back(cuda::kernel_cache().entry(requests.all()[i], std::move(compiled[i])));
    archive.compiler = {archive.kernels.front().compiler,
                        {capabilities.begin(), capabilities.end()},
                        "",
                        std::string(cuda::kNoFile)};
    cuda::write_archive(path, archive);
    return contents_of(archive);
}

Shipped import_plans(const std::string& path)
{
    const auto settings = cache::settings_from_environment();
    const auto archive = cuda::read_archive(path, settings.most_bytes);
    cuda::import_archive(archive, settings);
    return contents_of(archive);
}

}  // namespace segfold
