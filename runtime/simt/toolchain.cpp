#include "runtime/simt/toolchain.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <sstream>

#include "codegen/weave/line_map.h"
#include "dsl/embedded_file.h"
#include "runtime/simt/support_object.h"
#include "runtime/support/processes/host_compiler.h"

namespace segfold {
std::span<const EmbeddedFile> simt_shim_files();
}

namespace segfold::simt {
namespace {

namespace fs = std::filesystem;

std::string_view shim_file(std::string_view path)
{
    for (const EmbeddedFile& file : simt_shim_files())
        if (file.path == path)
            return file.text;
    throw InternalError("simt: shim file " + std::string(path) + " is not embedded");
}

std::string shim_text(std::initializer_list<std::string_view> files)
{
    std::string text = "#pragma GCC system_header\n";
    for (const std::string_view file : files)
        text.append(shim_file(file)).append("\n");
    for (std::size_t place = 0; (place = text.find("#pragma once\n", place)) != std::string::npos;)
        text.erase(place, 13);
    return text;
}

/// Returns the compiler's log with the path of `source` shown as "emitted text".
std::string emitted_log(const std::string& output, const std::string& source, const LineMap& lines)
{
    std::istringstream stream(name_origins(output, source, lines));
    std::string log;
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("In file included from "))
            continue;
        for (auto at = line.find(source); at != line.npos; at = line.find(source))
            line.replace(at, source.size(), "emitted text");
        log += line + '\n';
    }
    return log;
}

}  // namespace

Workspace::~Workspace()
{
    if (kept_.empty())
        return;
    folder_.keep();
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path(), ignored))
        if (!kept_.contains(entry.path().string()))
            fs::remove(entry.path(), ignored);
}

std::string Workspace::unique_stem()
{
    return (folder_.path() / ("text" + std::to_string(++count_))).string();
}

void Workspace::keep(const std::string& path)
{
    const std::lock_guard lock(mutex_);
    kept_.insert(path);
}

void write_file(const std::string& path, std::string_view text)
{
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file)
        throw DeviceError("simt: cannot write " + path + "; set TMPDIR to a folder with room");
}

std::vector<std::string> choose_compiler(const CompileOptions& options)
{
    return find_host_compiler("simt", options.compiler);
}

void refuse(Workspace& workspace, const std::string& compiler, const std::string& source,
            const ProcessResult& result, const LineMap* lines)
{
    if (lines != nullptr) {
        fs::remove(source);
        throw DeviceError(fmt::format(
            "simt: {} does not compile the emitted text, which 'segfold emit' prints with the same flags\n{}",
            compiler, emitted_log(result.output, source, *lines)));
    }
    workspace.keep(source);
    throw DeviceError("simt: " + compiler + " ends with status " + std::to_string(result.status) +
                      "; the source is kept in " + source + "\n" + result.output);
}

Toolchain prepare_toolchain(Workspace& workspace, const std::vector<std::string>& compiler)
{
    Toolchain toolchain{compiler, false, {}, {}};
    auto version = compiler;
    version.emplace_back("--version");
    toolchain.clang = run_process(version).output.find("clang") != std::string::npos;
    const std::string stem = workspace.unique_stem();
    toolchain.declarations = stem + "-shim.h";
    toolchain.support = stem + "-support.o";
    write_file(toolchain.declarations,
               shim_text({"protocol.h", "language.h", "math.h", "warp.h", "atomics.h", "call.h"}));
    write_file(toolchain.support, support_object());
    return toolchain;
}

std::vector<std::string> compile_command(const Toolchain& toolchain, const CompileOptions& options,
                                         const std::string& source, const std::string& library)
{
    std::vector<std::string> words = toolchain.compiler;
    words.push_back("-O" + std::to_string(options.optimisation));
    const auto add = [&words](std::initializer_list<const char*> more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    add({"-std=c++20", "-fPIC", "-shared", "-nostdlib", "-w", "-fvisibility=hidden", "-fno-exceptions",
         "-fno-rtti"});
    // CUDA texts read bits through pointers of other types. Contraction would make results depend on the
    // compiler.
    add({"-fno-strict-aliasing", "-ffp-contract=off"});
    // A struct must be copied as a whole. A copy of its fields alone would leave the padding unwritten, and
    // later copies would read the padding.
    if (!toolchain.clang)
        add({"-fno-tree-sra"});
    // Messages name lines but no variables, and tracking variables takes GCC a tenth of its time.
    if (!toolchain.clang)
        add({"-fno-var-tracking"});
    // addr2line mixes up files in DWARF 5. A large stack frame must touch the guard page below the stack, not
    // step over it.
    add({"-g1", "-gdwarf-4", "-fstack-clash-protection"});
    if (options.undefined_sanitizer)
        add({"-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow"});
    else
        add({"-fwrapv"});
    if (options.shadow_check)
        add({"-fsanitize=thread,alignment,bounds"});
    // Clang would link the sanitizers' libraries; with -nostdlib GCC does not.
    if (toolchain.clang)
        add({"-fno-sanitize-link-runtime", "-mllvm", "-tsan-distinguish-volatile=1", "-mllvm",
             "-tsan-instrument-atomics=0", "-mllvm", "-tsan-instrument-func-entry-exit=0"});
    else
        add({"--param", "tsan-distinguish-volatile=1", "--param", "tsan-instrument-func-entry-exit=0"});
    words.insert(words.end(), {"-include", toolchain.declarations, "-o", library, source, "-x", "none",
                               toolchain.support, "-lm", "-lc", "-lgcc"});
    return words;
}

}  // namespace segfold::simt
