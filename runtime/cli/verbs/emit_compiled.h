#pragma once
// What NVRTC makes of an emitted text: --cubin, --ptx, --sass, --resources.
#include "codegen/emit.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/views/json.h"

namespace segfold::cli {

inline constexpr Flag kCompiledFlags[] = {
    {"arch", "ARCH"}, {"cubin", "FILE"}, {"ptx"}, {"sass"}, {"resources"}};

/// True where one of the flags asks for what is compiled. Refuses two of them, and --arch beside none.
[[nodiscard]] bool asks_for_compiled(const Arguments& arguments);

/// Compiles `emitted`, or takes it from the kernel cache, and writes what was asked for; under --json into
/// `document`, which is then written.
///
/// `name` is what messages call the text. Throws InputError without --arch where no GPU says which,
/// DeviceError without NVRTC or a disassembler.
void emit_compiled(const Arguments& arguments, const Emitted& emitted, const std::string& name,
                   Json document);

}  // namespace segfold::cli
