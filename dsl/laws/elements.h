#pragma once
// Values for the search for counter-examples: the ends of the types, and random values.
#include <random>
#include <vector>

#include "dsl/evaluation/interpreter.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// An element: a value for every column.
using Element = std::vector<Slot<double>>;

/// The set from which elements are drawn.
enum class Draw : std::uint8_t { all, small_integers };

/// Small integers range from -kSmallInteger to kSmallInteger.
inline constexpr std::uint64_t kSmallInteger = 100;
bool is_small_integer(Type type, std::uint64_t bits);

/// The ends of a type, in the form that slots hold. For a bool they are 0 and 1.
std::uint64_t lowest_integer(Type type);
std::uint64_t highest_integer(Type type);
double highest_float(Type type);

/// Returns the values at which operators tend to break, simplest first: small numbers, the ends of the type,
/// infinities, NaN, denormals.
std::vector<Slot<double>> edge_values(Type type);

/// Number of edge values of a type that count as simple.
inline constexpr std::size_t kSimpleValues = 12;

/// Draws a value of a type: a small one, one near the ends, a power of two, or one of any size.
Slot<double> draw_value(Type type, std::mt19937_64& random);

/// Draws an integer from 0 to `length` - 1, often below 4.
Slot<double> draw_index(Type type, std::int64_t length, std::mt19937_64& random);

/// True if a column with this range may contain the value.
bool is_in(const ColumnRange& range, Type type, const Slot<double>& slot);

/// Draws elements column by column. Integers that decide where a table is read stay below `table_length`. If
/// `data` is given, all other values lie in its ranges.
class ElementDrawer {
public:
    /// `are_places` is true for each column whose values decide where tables are read.
    ElementDrawer(const Bytecode& bytecode, const std::vector<bool>& are_places, std::int64_t table_length,
                  Draw draw, std::mt19937_64& random, const DataRanges* data = nullptr);

    /// Returns an element of simple edge values. With one column, and for the first two elements, `number`
    /// selects the values. Otherwise they are drawn.
    Element simple(std::size_t number);

    /// Returns an element whose columns all hold the same kind of value: the lowest value, NaN, or a constant
    /// in the operator's text. Columns whose types lack the value hold another one.
    [[nodiscard]] Element alike(std::size_t number) const;

    /// Number of different elements of alike(). Greater numbers repeat them.
    [[nodiscard]] std::size_t num_alike() const;

    /// Draws an element of edge values or of any values.
    Element any();

    /// Changes one value of the element by 1 or by a constant in the operator's text.
    Element related(Element element);

    /// Raises every value of the element by one.
    Element next(Element element) const;

private:
    [[nodiscard]] bool is_index(std::size_t column) const;
    [[nodiscard]] bool is_allowed(std::size_t column, const Slot<double>& slot) const;
    [[nodiscard]] Slot<double> kept(std::size_t column, const Slot<double>& slot,
                                    const Slot<double>& other) const;
    Slot<double> between_ends(std::size_t column);
    Slot<double> edge(std::size_t column, std::size_t number) const;
    Slot<double> other(std::size_t column);
    Slot<double> shifted(std::size_t column, const Slot<double>& value);

    const Bytecode& bytecode_;
    const std::vector<bool>& are_places_;
    std::int64_t table_length_;
    bool small_;
    const DataRanges* data_;
    std::mt19937_64& random_;
    std::vector<std::vector<Slot<double>>> edges_;      ///< for each column: edge values and constants
    std::vector<std::vector<Slot<double>>> constants_;  ///< for each column: constants in the operator's text
    /// For each column: edge values, constants, then ends of the data. Columns of similar types share one
    /// order.
    std::vector<std::vector<Slot<double>>> alike_;
};

}  // namespace segfold
