#pragma once
// The headers of CCCL that peers are compiled with: a toolkit's own, or those of a folder that somebody
// names.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::bench {

/// Where a CUDA toolkit may be: $SEGFOLD_TOOLKIT, around PATH's nvcc, $CUDA_HOME, $CUDA_PATH,
/// /usr/local/cuda, then beside NVRTC.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_folders();

/// The folder of CCCL's headers in `folder`: itself, or include/cccl or include below, as toolkits have them,
/// also in a folder of nvidia/, as unpacked wheels have them (nvidia/cu13); empty where there is none.
[[nodiscard]] std::filesystem::path cccl_in(const std::filesystem::path& folder);

/// The headers in a folder that somebody named by `flag`, "--peers". Throws InputError where none are there.
[[nodiscard]] std::filesystem::path named_cccl(const std::filesystem::path& folder, std::string_view flag);

/// The headers that $SEGFOLD_CCCL names; empty where it is not set. Throws InputError where none are there.
[[nodiscard]] std::filesystem::path cccl_of_environment();

/// The headers that $SEGFOLD_CCCL names, else the first of a toolkit; empty where there are none.
[[nodiscard]] std::filesystem::path cccl_folder();

/// "CCCL 3.0.1"
[[nodiscard]] std::string cccl_description(const std::filesystem::path& folder);

/// Throws InputError where the headers refuse this nvcc as too old.
void require_new_enough(const std::filesystem::path& nvcc, const std::filesystem::path& cccl);

}  // namespace segfold::bench
