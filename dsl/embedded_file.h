#pragma once
// Text files embedded in the program: stages, parts, standard operators, help pages.
#include <string_view>

namespace segfold {

/// One text file embedded at build time.
struct EmbeddedFile {
    std::string_view path;  ///< relative to the folder that was embedded, with forward slashes
    std::string_view text;
};

}  // namespace segfold
