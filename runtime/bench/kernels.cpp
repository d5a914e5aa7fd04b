#include "runtime/bench/kernels.h"

#include <algorithm>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"

namespace segfold {

std::span<const EmbeddedFile> bench_kernels();

namespace bench {

std::string_view kernels(std::string_view file)
{
    const auto files = bench_kernels();
    const auto found = std::ranges::find(files, file, &EmbeddedFile::path);
    if (found == files.end())
        throw InternalError("runtime/bench/kernels has no " + std::string(file));
    return found->text;
}

}  // namespace bench
}  // namespace segfold
