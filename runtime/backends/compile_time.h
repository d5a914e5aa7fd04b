#pragma once
// How long a compiler will take for an emitted text.
#include <string_view>

namespace segfold {

/// A compiler's time for a text: some seconds to start, and some for each character of code.
struct CompileModel {
    double start_seconds = 0;
    double character_seconds = 0;
};

/// Fitted to texts of all stages; compile_time.cpp says which, and how well they fit.
extern const CompileModel kNvrtcModel, kHostCompilerModel;

/// Returns the seconds that compiling `source` is expected to take. Comments and blanks count nothing.
[[nodiscard]] double expected_compile_seconds(std::string_view source, const CompileModel& model);

}  // namespace segfold
