#include "runtime/data/shape.h"

namespace segfold {

Shape shape_of(const Segments& segments)
{
    constexpr std::int64_t kFewSegments = std::int64_t{1} << 21;
    Shape shape{segments.num_elements, segments.num_segments};
    if (segments.num_segments > 0 && segments.num_segments <= kFewSegments)
        shape.longest = length_range(segments).longest;
    return shape;
}

}  // namespace segfold
