#include "codegen/embedded_kernels.h"

#include <algorithm>
#include <string>

#include "dsl/error.h"

namespace segfold {

std::string_view kernel_text(std::string_view path)
{
    const auto files = embedded_kernels();
    const auto found = std::ranges::find(files, path, &EmbeddedFile::path);
    if (found == files.end())
        throw InternalError("kernels/ has no " + std::string(path));
    return found->text;
}

}  // namespace segfold
