#include "runtime/backends/cuda/compile/compile_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>

#include "codegen/weave/comment.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"

namespace segfold::cuda {
namespace {

std::string space_of(std::size_t variant) { return fmt::format("variant_{}", variant); }

std::string prefix_of(std::size_t variant) { return space_of(variant) + "_"; }

// Returns the name as a string literal for a #line directive.
std::string literal_of(std::string_view name)
{
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\')
            text += '\\';
        text += c == '\n' || c == '\r' ? ' ' : c;
    }
    return text + '"';
}

bool has_own_directives(std::string_view source)
{
    constexpr std::string_view kHarmless = "#pragma unroll";
    if (source.find("%:") != std::string_view::npos)
        return true;
    for (std::size_t at = source.find('#'); at != std::string_view::npos; at = source.find('#', at + 1))
        if (!source.substr(at).starts_with(kHarmless))
            return true;
    return false;
}

bool is_part_of_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Returns the names of shared arrays whose size the launch sets. NVRTC treats such arrays of equal names in
// extern "C" kernels as one array, even in different namespaces.
std::vector<std::string> dynamic_arrays(std::string_view text)
{
    const std::string source = without_comments(text);
    constexpr std::string_view kDeclaration = "extern __shared__";
    std::vector<std::string> names;
    for (std::size_t at = source.find(kDeclaration); at != std::string::npos;
         at = source.find(kDeclaration, at + 1)) {
        std::size_t end = std::min(source.find('[', at), source.size());
        while (end > at && !is_part_of_name(source[end - 1]))
            --end;
        std::size_t begin = end;
        while (begin > at && is_part_of_name(source[begin - 1]))
            --begin;
        std::string name = source.substr(begin, end - begin);
        if (!name.empty() && std::ranges::find(names, name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

BatchOutcome compile_alone(const CompileRequest& request)
{
    try {
        return {compile(request), nullptr};
    } catch (...) {
        return {{}, std::current_exception()};
    }
}

// Returns one variant's part of a compiled batch: image, warnings, report and time.
Compiled share_of(const Compiled& batch, std::size_t variant, std::size_t num_variants)
{
    Compiled share;
    share.cubin = batch.cubin;
    share.log = batch.log;
    share.seconds = batch.seconds / static_cast<double>(num_variants);
    share.kernel_prefix = prefix_of(variant);
    for (KernelResources kernel : batch.resources)
        if (kernel.kernel.starts_with(share.kernel_prefix)) {
            kernel.kernel.erase(0, share.kernel_prefix.size());
            share.resources.push_back(std::move(kernel));
        }
    return share;
}

// Compiles the variants as one program. Returns nothing if NVRTC refuses the program or is missing. The
// caller then compiles each variant alone and gets the error.
std::optional<Compiled> compile_together(std::span<const Variant> variants)
{
    const CompileRequest& first = variants.front().request;
    try {
        return try_compile(
            {batch_source(variants), "batch.cu", first.architecture, first.extra_options, true});
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

}  // namespace

bool can_share_program(const CompileRequest& request)
{
    return is_self_contained(request) && !has_own_directives(request.source);
}

std::string batch_source(std::span<const Variant> variants)
{
    std::string text;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const auto& [request, kernels] = variants[i];
        // extern "C" names are the same in all namespaces, so each variant's names get a prefix.
        std::vector<std::string> names = kernels;
        std::ranges::move(dynamic_arrays(request.source), std::back_inserter(names));
        for (const std::string& name : names)
            text += fmt::format("#define {} {}{}\n", name, prefix_of(i), name);
        text += fmt::format("namespace {} {{\n#line 1 {}\n", space_of(i), literal_of(request.name));
        text += request.source;
        text += "\n}\n";
        for (const std::string& name : names)
            text += fmt::format("#undef {}\n", name);
    }
    return text;
}

void compile_batch(std::span<const Variant> variants,
                   const std::function<void(std::size_t variant, BatchOutcome outcome)>& done)
{
    struct Group {
        std::vector<std::string> dynamic_arrays;
        std::vector<Variant> variants;
        std::vector<std::size_t> places;
    };
    std::vector<Group> groups;
    std::vector<std::size_t> alone;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const CompileRequest& request = variants[i].request;
        if (!can_share_program(request)) {
            alone.push_back(i);
            continue;
        }
        // Only texts with the same dynamic arrays share a program. ptxas rounds the static shared memory of
        // all kernels in a program up to the alignment of the program's dynamic arrays.
        const auto dynamic = dynamic_arrays(request.source);
        auto group = std::ranges::find_if(groups, [&](const Group& known) {
            const CompileRequest& other = known.variants.front().request;
            return known.dynamic_arrays == dynamic && other.architecture == request.architecture &&
                   other.extra_options == request.extra_options;
        });
        if (group == groups.end())
            group = groups.insert(group, Group{dynamic, {}, {}});
        group->variants.push_back(variants[i]);
        group->places.push_back(i);
    }
    for (const Group& group : groups) {
        const std::size_t count = group.places.size();
        const auto program = count > 1 ? compile_together(group.variants) : std::nullopt;
        if (!program)
            alone.insert(alone.end(), group.places.begin(), group.places.end());
        for (std::size_t i = 0; i < count && program; ++i)
            done(group.places[i], {share_of(*program, i, count), nullptr});
    }
    for (const std::size_t i : alone)
        done(i, compile_alone(variants[i].request));
}

}  // namespace segfold::cuda
