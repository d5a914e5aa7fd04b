#pragma once
// Makes the data of a run: segments from a layout, and generated values.
#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/array.h"
#include "dsl/layout.h"
#include "runtime/data/segments.h"

namespace segfold {

/// Segments, and the columns from the same file.
struct ResolvedLayout {
    Segments segments;
    std::vector<NamedArray> columns;  ///< for layout rows: "value" and "column"
};

/// Reads the files of a layout, or generates its lengths, and checks the segments.
///
/// If `num_elements` is empty, the files determine the number of elements. The layouts `whole` and `uniform`
/// and generated layouts have no files and need `num_elements`. `value_type` is the type of the column
/// "value" of layout `rows`. Files may be .npy or .npz (see read_array()).
ResolvedLayout resolve(const Layout& layout, std::optional<std::int64_t> num_elements,
                       Type value_type = Type::f32);

/// Ranges of generated values.
enum class ValueRange : std::uint8_t {
    small_integers,  ///< -8 to 8, unsigned 0 to 15: sums are exact even in floating point
    units,           ///< -1, 0 and 1, unsigned 0 and 1: products do not grow
    uniform,         ///< floats in [-1, 1), integers over their whole range
    edge,            ///< uniform, but every fourth is a critical value: zero, limit, infinity or nan
    near_one,  ///< -1 and 1, unsigned 0 and 1. For floats, one pair of neighbours in 64 is +-2 and +-1/2:
               ///< products in any order are exact and stay near 1
};

/// Generates values that depend only on type, seed, range and index. In every range, a bool is true or false
/// with equal probability. `first` is the index of the first value.
Array generate_values(Type type, std::int64_t length, std::uint64_t seed, ValueRange range,
                      std::int64_t first = 0);
/// Fills an existing array with the values of generate_values().
void generate_values_into(Array& array, std::uint64_t seed, ValueRange range, std::int64_t first);

}  // namespace segfold
