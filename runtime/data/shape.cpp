#include "runtime/data/shape.h"

namespace segfold {

bool is_looked_at(std::int64_t num_segments)
{
    constexpr std::int64_t kFewSegments = std::int64_t{1} << 21;
    return num_segments <= kFewSegments;
}

Shape shape_of(const Segments& segments)
{
    // Ranges may overlap or leave gaps, so num_elements is not the number of elements folded.
    Shape shape{num_items(segments), segments.num_segments};
    const auto range = length_range(segments);
    shape.longest = range.longest;
    shape.padded = range.padded;
    return shape;
}

Shape shape_of(const Workload& workload)
{
    auto shape = shape_of(workload.segments);
    shape.num_features = workload.num_features;
    return shape;
}

}  // namespace segfold
