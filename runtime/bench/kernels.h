#pragma once
// The kernels that measuring needs beside those that are measured, as text for NVRTC.

namespace segfold::bench {

/// read1, read4, read8(values, count, sink): read every float4 once, with so many loads in flight.
extern const char* const kReadKernels;

/// keys_of_offsets32, keys_of_offsets64(offsets, num_segments, num_elements, keys) and keys_of_length(length,
/// num_elements, keys): the number of its segment for each element.
extern const char* const kKeyKernels;

/// compare_TYPE(actual, expected, place, count, is_compacted, tolerance, difference) for the floating-point
/// types, and compare_raw1 to compare_raw8 for all others; C++20.
extern const char* const kCompareKernels;

}  // namespace segfold::bench
