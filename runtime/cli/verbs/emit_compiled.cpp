#include "runtime/cli/verbs/emit_compiled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "codegen/weave/line_map.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/compile/kernel_cache.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/driver/module.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/leftovers.h"
#include "runtime/support/processes/process.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kCompiledForms = {"cubin", "ptx", "sass", "resources"};

struct CompileTarget {
    std::string architecture;
    /// True if the first GPU has this architecture. Its driver can then compute the occupancy.
    bool is_here = false;
};

// Throws InputError if NVRTC does not know the architecture. A letter may follow the number, as in sm_90a.
void check_architecture(const std::string& asked)
{
    const auto known = cuda::kernel_cache().architectures();
    std::string base = asked;
    if (base.ends_with('a') || base.ends_with('f'))
        base.pop_back();
    const auto is_asked = [&](int version) {
        return base == fmt::format("sm_{}", version) || base == fmt::format("compute_{}", version);
    };
    if (!std::ranges::any_of(known, is_asked))
        throw InputError(fmt::format("--arch: NVRTC does not compile for '{}'; it knows sm_{}", asked,
                                     fmt::join(known, ", sm_")));
}

CompileTarget target(const Arguments& arguments)
{
    const auto gpus = cuda::devices();
    const auto own =
        gpus.empty() ? std::string() : cuda::architecture_for(gpus[0].compute_major, gpus[0].compute_minor);
    if (const auto asked = arguments.value("arch")) {
        check_architecture(*asked);
        return {*asked, *asked == own};
    }
    if (gpus.empty())
        throw InputError(
            fmt::format("--{}: there is no GPU here to compile for; say which, e.g. --arch sm_90",
                        *std::ranges::find_if(kCompiledForms,
                                              [&](std::string_view form) { return arguments.has(form); })));
    return {own, true};
}

void write_bytes(const std::string& path, std::span<const char> bytes)
{
    OutputFile file(path);
    file.write(std::as_bytes(bytes));
    file.commit();
}

/// Returns the path of nvdisasm. Searches PATH, then the places beside folders of NVRTC.
std::string find_disassembler()
{
    if (const auto found = find_program("nvdisasm"))
        return *found;
    for (const auto& place : cuda::nvrtc_places())
        for (const char* way : {"bin/nvdisasm", "../bin/nvdisasm"})
            if (std::error_code ignored; !place.empty() && fs::exists(place / way, ignored))
                return (place / way).string();
    throw DeviceError(
        "--sass: no nvdisasm on PATH or beside NVRTC; it comes with the CUDA toolkit (package "
        "cuda-nvdisasm)");
}

std::string disassemble(const cuda::Compiled& compiled)
{
    const auto program = find_disassembler();
    const ScratchFolder folder("segfold-sass");
    const auto path = (folder.path() / "kernels.cubin").string();
    write_bytes(path, compiled.cubin);
    const auto result = run_process({program, "--print-code", path});
    if (result.status != 0)
        throw DeviceError(fmt::format("{} ended with {}: {}", program, result.status, result.output));
    return result.output;
}

/// Returns, for each kernel, the number of blocks that fit on one multiprocessor of this GPU at once. Omits
/// kernels whose block size depends on the data.
std::map<std::string, int> resident_blocks(const cuda::Compiled& compiled, const Emitted& emitted,
                                           const std::string& name)
{
    const cuda::Context context;
    const cuda::Module module(context, compiled, name);
    const FormulaNames names(emitted.configuration.begin(), emitted.configuration.end());
    std::map<std::string, int> blocks;
    for (const auto& launch : emitted.launches)
        try {
            blocks[launch.kernel] = module.kernel(launch.kernel)
                                        .resident_blocks(static_cast<int>(launch.block.value(names)),
                                                         static_cast<std::size_t>(launch.shared_bytes));
        } catch (const SpecError&) {
            continue;
        }
    return blocks;
}

/// Compiles the source or loads the compiled program from the cache. Compiler messages name the line of the
/// stage or part.
cuda::Compiled compile(const cuda::CompileRequest& request, const Emitted& emitted)
{
    try {
        return cuda::load_or_compile(request);
    } catch (const DeviceError& error) {
        throw DeviceError(name_origins(error.what(), request.name, *emitted.lines));
    }
}

void write_resources(const Arguments& arguments, const cuda::Compiled& compiled,
                     const std::map<std::string, int>& blocks, Json& document)
{
    using Align = TextTable::Align;
    TextTable table({{"kernel"},
                     {"registers", Align::right},
                     {"spill stores", Align::right},
                     {"spill loads", Align::right},
                     {"stack", Align::right},
                     {"static shared", Align::right},
                     {"blocks an SM", Align::right}});
    document["resources"] = Json::array();
    for (const auto& kernel : compiled.resources) {
        const auto found = blocks.find(kernel.kernel);
        const bool is_known = found != blocks.end();
        table.add({kernel.kernel, std::to_string(kernel.registers), std::to_string(kernel.spill_store_bytes),
                   std::to_string(kernel.spill_load_bytes), std::to_string(kernel.stack_bytes),
                   std::to_string(kernel.static_shared_bytes),
                   is_known ? std::to_string(found->second) : "-"});
        document["resources"].push_back(
            {{"kernel", kernel.kernel},
             {"registers", kernel.registers},
             {"spill_store_bytes", kernel.spill_store_bytes},
             {"spill_load_bytes", kernel.spill_load_bytes},
             {"stack_bytes", kernel.stack_bytes},
             {"static_shared_bytes", kernel.static_shared_bytes},
             {"resident_blocks", is_known ? Json(found->second) : Json(nullptr)}});
    }
    if (!arguments.json())
        write_output(table.print());
}

}  // namespace

bool asks_for_compiled(const Arguments& arguments)
{
    std::string first;
    for (const auto form : kCompiledForms) {
        if (!arguments.has(form))
            continue;
        if (!first.empty())
            arguments.refuse(form, fmt::format("asks for another form than --{}; give one", first));
        first = form;
    }
    if (first.empty())
        arguments.refuse("arch",
                         "says for what to compile; give --cubin FILE, --ptx, --sass or --resources too");
    else
        arguments.refuse("all", fmt::format("writes CUDA; leave out --{}", first));
    return !first.empty();
}

void emit_compiled(const Arguments& arguments, const Emitted& emitted, const std::string& name, Json document)
{
    const auto [architecture, is_here] = target(arguments);
    cuda::CompileRequest request{emitted.source, name + ".cu", architecture, {}};
    document["architecture"] = architecture;
    if (arguments.has("ptx")) {
        if (architecture.starts_with("sm_"))
            request.architecture = "compute_" + architecture.substr(3);
        const auto compiled = compile(request, emitted);
        document["ptx"] = std::string(compiled.cubin.data());
        if (!arguments.json())
            write_document(compiled.cubin.data());
    } else {
        if (architecture.starts_with("compute_"))
            throw InputError(fmt::format("--arch {}: gives PTX alone; take sm_{}, or --ptx", architecture,
                                         architecture.substr(8)));
        const auto compiled = compile(request, emitted);
        document["compile_seconds"] = compiled.seconds;
        document["is_from_disk"] = compiled.is_from_disk;
        if (const auto path = arguments.value("cubin")) {
            write_bytes(*path, compiled.cubin);
            document["cubin"] = *path;
        } else if (arguments.has("sass")) {
            document["sass"] = disassemble(compiled);
            if (!arguments.json())
                write_document(document["sass"].get<std::string>());
        } else {
            write_resources(arguments, compiled,
                            is_here ? resident_blocks(compiled, emitted, name) : std::map<std::string, int>(),
                            document);
        }
    }
    if (arguments.json())
        write_json("emit", std::move(document));
}

}  // namespace segfold::cli
