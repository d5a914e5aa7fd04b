#pragma once
// Finds the CCCL headers with which peers are compiled.
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
/// Searches `folder` itself, then include/cccl and include (as in toolkits), then the same below nvidia/ (as
/// in unpacked wheels: nvidia/cu13).
[[nodiscard]] std::filesystem::path cccl_in(const std::filesystem::path& folder);

/// Returns the folder of CCCL's headers in `folder`. Throws InputError if there is none; the message names
/// `flag`, the option that gave the folder, such as "--peers".
[[nodiscard]] std::filesystem::path named_cccl(const std::filesystem::path& folder, std::string_view flag);

/// Returns the folder of CCCL's headers in $SEGFOLD_CCCL; empty if the variable is not set. Throws InputError
/// if that folder has none.
[[nodiscard]] std::filesystem::path cccl_of_environment();

/// Returns cccl_of_environment(). If it is empty, returns the headers of the first toolkit that has some;
/// empty if none has.
[[nodiscard]] std::filesystem::path cccl_folder();

/// Returns the version of the headers, such as "CCCL 3.0.1".
[[nodiscard]] std::string cccl_description(const std::filesystem::path& folder);

/// Throws InputError if the headers require a newer nvcc than `nvcc`.
void require_new_enough(const std::filesystem::path& nvcc, const std::filesystem::path& cccl);

}  // namespace segfold::bench
