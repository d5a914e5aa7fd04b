#pragma once
// The kernels that measuring needs beside those that are measured, as text for NVRTC.
#include <string>
#include <string_view>

namespace segfold::cuda {

/// The text of a file of runtime/backends/cuda/kernels. Throws InternalError for another.
///
/// read.cu: read1, read4, read8(values, count, sink) read every float4 once, with so many loads in flight.
///
/// keys.cu: keys_of_offsets32, keys_of_offsets64(offsets, num_segments, num_elements, keys) and
/// keys_of_length(length, num_elements, keys) write the number of its segment for each element.
///
/// compare.cu, C++20: compare_TYPE(actual, expected, place, count, is_compacted, tolerance, difference) for
/// the floating-point types, and compare_raw1 to compare_raw8 for all others.
std::string_view measuring_kernels(std::string_view file);

}  // namespace segfold::cuda
