#pragma once
// NVRTC's outputs of an emitted text: --cubin, --ptx, --sass, --resources.
#include "codegen/emit.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

inline constexpr Flag kCompiledFlags[] = {
    {"arch", "ARCH"}, {"cubin", "FILE"}, {"ptx"}, {"sass"}, {"resources"}};

/// True if a flag requests compiled output. Throws if two do, and if --arch is given without one.
[[nodiscard]] bool asks_for_compiled(const Arguments& arguments);

/// Compiles `emitted`, or loads it from the kernel cache, and writes the requested output; with --json, into
/// `document`, which is then written.
///
/// Messages call the text `name`. Throws InputError if --arch is missing and no GPU determines it,
/// DeviceError if there is no NVRTC or disassembler.
void emit_compiled(const Arguments& arguments, const Emitted& emitted, const std::string& name,
                   Json document);

}  // namespace segfold::cli
