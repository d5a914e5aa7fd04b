#pragma once
// The functions that make the back ends of the table in backends.cpp.
#include <memory>
#include <string>

#include "runtime/backends/backend.h"

namespace segfold {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_simt_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_reference_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_thrust_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options);

/// Returns the number of the host's threads as text, such as "16 threads".
std::string host_threads_text();

}  // namespace segfold
