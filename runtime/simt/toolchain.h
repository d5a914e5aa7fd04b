#pragma once
// The system's C++ compiler, and the folder in which it works.
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

/// A private folder for sources and libraries. The destructor keeps only the files passed to keep().
class Workspace {
public:
    /// Throws InputError if the folder cannot be made.
    Workspace() = default;
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace();

    /// Returns a new path in the folder, without an ending; never the same path twice.
    [[nodiscard]] std::string unique_stem();
    void keep(const std::string& path);

private:
    ScratchFolder folder_{"segfold-simt"};
    std::atomic<unsigned> count_ = 0;
    std::mutex mutex_;
    std::set<std::string> kept_;
};

/// A compiler, and the parts of the shim that are the same for every text.
struct Toolchain {
    std::vector<std::string> compiler;  ///< path of the compiler, then the other words of $CXX
    bool clang = false;
    std::string declarations;  ///< path of the header with the declarations that stand before every text
    std::string support;       ///< path of the object that is linked with every text
};

/// Returns the compiler's path and the words that follow it in $CXX, as in CXX="ccache g++ -m64".
///
/// Options that a text needs come after these words and override them. Throws DeviceError if there is no
/// compiler, or if $CXX names a compiler that does not exist.
std::vector<std::string> choose_compiler(const CompileOptions& options);

Toolchain prepare_toolchain(Workspace& workspace, const std::vector<std::string>& compiler);

/// Returns the command that compiles `source` into `library`.
std::vector<std::string> compile_command(const Toolchain& toolchain, const CompileOptions& options,
                                         const std::string& source, const std::string& library);

/// Throws DeviceError with the compiler's log. If `lines` is not null, the log names the origin of each line,
/// and the file `source` is removed, because `segfold emit` prints the text. If `lines` is null, the file is
/// kept.
[[noreturn]] void refuse(Workspace& workspace, const std::string& compiler, const std::string& source,
                         const ProcessResult& result, const LineMap* lines);

/// Throws DeviceError if the file cannot be written.
void write_file(const std::string& path, std::string_view text);

}  // namespace segfold::simt
