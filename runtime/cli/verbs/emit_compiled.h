#pragma once
// NVRTC's outputs of an emitted text: --cubin, --ptx, --sass, --resources.
#include "codegen/emit.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

inline constexpr Flag kCompiledFlags[] = {
    {"arch", "ARCH"}, {"cubin", "FILE"}, {"ptx"}, {"sass"}, {"resources"}};

/// True if a flag asks for compiled output. Refuses two such flags, and --arch without any.
[[nodiscard]] bool asks_for_compiled(const Arguments& arguments);

/// Compiles `emitted`, or takes it from the kernel cache, and writes the wanted output; under --json into
/// `document`, which it then writes.
///
/// Messages call the text `name`. Throws InputError without --arch and a GPU, DeviceError without NVRTC or a
/// disassembler.
void emit_compiled(const Arguments& arguments, const Emitted& emitted, const std::string& name,
                   Json document);

}  // namespace segfold::cli
