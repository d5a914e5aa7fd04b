#include "runtime/backends/cuda/measuring_kernels.h"

#include <algorithm>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"

namespace segfold {

std::span<const EmbeddedFile> measuring_kernel_files();

namespace cuda {

std::string_view measuring_kernels(std::string_view file)
{
    const auto files = measuring_kernel_files();
    const auto found = std::ranges::find(files, file, &EmbeddedFile::path);
    if (found == files.end())
        throw InternalError("runtime/backends/cuda/kernels has no " + std::string(file));
    return found->text;
}

}  // namespace cuda
}  // namespace segfold
