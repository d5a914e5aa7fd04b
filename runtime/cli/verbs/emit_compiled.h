#pragma once
// Prints compiled forms of an emitted source: --cubin, --ptx, --sass, --resources.
#include "codegen/emit.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

inline constexpr Flag kCompiledFlags[] = {
    {"arch", "ARCH"}, {"cubin", "FILE"}, {"ptx"}, {"sass"}, {"resources"}};

/// True if a flag requests compiled output. Throws InputError if several flags do, or if --arch is given
/// without one.
[[nodiscard]] bool asks_for_compiled(const Arguments& arguments);

/// Compiles `emitted`, or loads it from the kernel cache, and writes the requested output. With --json, adds
/// the output to `document` and writes that.
///
/// Messages call the source `name`. Throws InputError if there is neither --arch nor a GPU, and DeviceError
/// if NVRTC or the disassembler is missing.
void emit_compiled(const Arguments& arguments, const Emitted& emitted, const std::string& name,
                   Json document);

}  // namespace segfold::cli
