#pragma once
// Predicts how long a compiler takes for an emitted text.
#include <string_view>

namespace segfold {

/// A compiler's expected time for a text: seconds to start, plus seconds for each character of code.
struct CompileModel {
    double start_seconds = 0;
    double character_seconds = 0;
};

/// Fitted to texts of all stages. compile_time.cpp describes the fit.
extern const CompileModel kNvrtcModel, kHostCompilerModel;

/// Returns the expected seconds to compile `source`. Comments do not count, and successive blanks count as
/// one.
[[nodiscard]] double expected_compile_seconds(std::string_view source, const CompileModel& model);

}  // namespace segfold
