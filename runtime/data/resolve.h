#pragma once
// The data of a run: segments as a layout states them, and generated values.
#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/array.h"
#include "dsl/layout.h"
#include "runtime/data/segments.h"

namespace segfold {

/// Segments, and the columns that came with them.
struct ResolvedLayout {
    Segments segments;
    std::vector<NamedArray> columns;  ///< layout rows: "value" and "column"
};

/// Reads the files a layout names, or generates its lengths, and checks the result.
///
/// Without `num_elements` the files say how many elements there are; `whole`, `uniform` and the generated
/// layouts cannot do without. `value_type` is the type of the column "value" of the layout rows. Files may be
/// .npy or .npz (see `read_array`).
ResolvedLayout resolve(const Layout& layout, std::optional<std::int64_t> num_elements,
                       Type value_type = Type::f32);

/// Which values are generated.
enum class ValueRange : std::uint8_t {
    small_integers,  ///< -8 .. 8, unsigned 0 .. 15: sums are exact in floating point too
    units,           ///< -1, 0 and 1, unsigned 0 and 1: products do not grow
    uniform,         ///< floats in [-1, 1), integers over their whole range
    edge,  ///< uniform, with every fourth a value where operators go wrong: zeros, limits, infinities, nan
    near_one,  ///< -1 and 1, unsigned 0 and 1; of floats one pair of neighbours in 64 is +-2 and +-1/2, so
               ///< that products in any order are exact and stay near 1
};

/// Values that depend on type, seed, range and place alone; bools are true or false with equal chance in
/// every range. `first` is the place of the first one.
Array generate_values(Type type, std::int64_t length, std::uint64_t seed, ValueRange range,
                      std::int64_t first = 0);
/// The same in memory that is there.
void generate_values_into(Array& array, std::uint64_t seed, ValueRange range, std::int64_t first);

}  // namespace segfold
