#pragma once
// Text files embedded in the program: stages, parts, standard operators, help pages.
#include <string_view>

namespace segfold {

/// One text file embedded at build time.
struct EmbeddedFile {
    std::string_view path;  ///< path in the embedded folder, with forward slashes
    std::string_view text;
};

}  // namespace segfold
