#pragma once
// The system's C++ compiler, and the folder where it works.
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/simt/program.h"
#include "runtime/support/files/leftovers.h"
#include "runtime/support/processes/process.h"

namespace segfold::simt {

/// A private folder for sources and libraries, removed at the end of the process but for the sources to be
/// kept.
class Workspace {
public:
    /// Throws InputError when the folder cannot be made.
    Workspace() = default;
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace();

    /// A path in the folder, without an ending, that was never given before.
    [[nodiscard]] std::string unique_stem();
    void keep(const std::string& path);

private:
    ScratchFolder folder_{"segfold-simt"};
    std::atomic<unsigned> count_ = 0;
    std::mutex mutex_;
    std::set<std::string> kept_;
};

/// A compiler, with the parts of the shim that do not depend on the text.
struct Toolchain {
    std::vector<std::string> compiler;  ///< its path, and the words that $CXX has behind it
    bool clang = false;
    std::string declarations;  ///< path of the header that goes ahead of every text
    std::string support;       ///< path of the object that goes with every text
};

/// The compiler's path and the words that follow it, as in CXX="ccache g++ -m64".
///
/// Flags of a text follow those words, and win over them. Throws DeviceError without one. The program that
/// $CXX names must be there.
std::vector<std::string> choose_compiler(const CompileOptions& options);

Toolchain prepare_toolchain(Workspace& workspace, const std::vector<std::string>& compiler);

/// The command that makes `library` from `source`.
std::vector<std::string> compile_command(const Toolchain& toolchain, const CompileOptions& options,
                                         const std::string& source, const std::string& library);

/// Throws DeviceError with the compiler's log. Where `lines` says whence the lines of `source` come, the log
/// names those places, and `segfold emit` prints the text; else `source` is kept.
[[noreturn]] void refuse(Workspace& workspace, const std::string& compiler, const std::string& source,
                         const ProcessResult& result, const LineMap* lines);

/// Throws DeviceError when the file cannot be written.
void write_file(const std::string& path, std::string_view text);

}  // namespace segfold::simt
