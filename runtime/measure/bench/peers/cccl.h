#pragma once
// Finds the CCCL headers for compiling peers, in a toolkit or in a folder that the user names.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::bench {

/// Returns the folders that may hold a CUDA toolkit, in this order: $SEGFOLD_TOOLKIT, the toolkit of the nvcc
/// on PATH, $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, and the toolkit of NVRTC.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_folders();

/// Returns the folder of CCCL's headers in `folder`; empty if there is none.
///
/// Searches the folder itself, then include/cccl and include as in toolkits, then the same below nvidia/ as
/// in unpacked wheels (nvidia/cu13).
[[nodiscard]] std::filesystem::path cccl_in(const std::filesystem::path& folder);

/// Returns the folder of CCCL's headers in `folder`, which the option `flag` (such as "--peers") names.
/// Throws InputError if it has no such headers.
[[nodiscard]] std::filesystem::path named_cccl(const std::filesystem::path& folder, std::string_view flag);

/// Returns the folder of headers in the folder $SEGFOLD_CCCL; empty if the variable is not set. Throws
/// InputError if that folder has no headers.
[[nodiscard]] std::filesystem::path cccl_of_environment();

/// Returns cccl_of_environment() if it is not empty, else the folder of headers in the first toolkit that has
/// some; empty if no toolkit has any.
[[nodiscard]] std::filesystem::path cccl_folder();

/// Returns the version, as in "CCCL 3.0.1".
[[nodiscard]] std::string cccl_description(const std::filesystem::path& folder);

/// Throws InputError if the headers require a newer nvcc.
void require_new_enough(const std::filesystem::path& nvcc, const std::filesystem::path& cccl);

}  // namespace segfold::bench
