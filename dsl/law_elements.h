#pragma once
// Values for the search for counter-examples: the ends of the types, and what is drawn between them.
#include <random>
#include <vector>

#include "dsl/interpreter.h"

namespace segfold {

/// A value for every column.
using Element = std::vector<Slot<double>>;

/// What elements are drawn from.
enum class Draw : std::uint8_t { all, small_integers };

/// Small integers lie between this and its negative.
inline constexpr std::uint64_t kSmallInteger = 100;
bool is_small_integer(Type type, std::uint64_t bits);

/// The ends of a type, as a slot holds them; a bool's are 0 and 1.
std::uint64_t lowest_integer(Type type);
std::uint64_t highest_integer(Type type);
double highest_float(Type type);

/// The values where operators break, simplest first: small numbers, the ends of the type, infinities, NaN,
/// denormals.
std::vector<Slot<double>> edge_values(Type type);

/// How many edge values of a type count as simple.
inline constexpr std::size_t kSimpleValues = 12;

/// Any value of a type: small ones, ones close to the ends, powers of two, and ones of all sizes.
Slot<double> draw_value(Type type, std::mt19937_64& random);

/// An integer below `length`, often below 4.
Slot<double> draw_index(Type type, std::int64_t length, std::mt19937_64& random);

/// Draws elements, column by column. Where the operator has tables, integers are kept below `table_length`.
class ElementDrawer {
public:
    ElementDrawer(const Bytecode& bytecode, std::int64_t table_length, Draw draw, std::mt19937_64& random);

    /// An element of simple edge values: in their order where there is one column, else drawn among them.
    Element simple(std::size_t number);

    /// An element of edge values or of others.
    Element any();

private:
    [[nodiscard]] bool is_index(std::size_t column) const;
    Slot<double> edge(std::size_t column, std::size_t number) const;
    Slot<double> other(std::size_t column);

    const Bytecode& bytecode_;
    std::int64_t table_length_;
    bool small_;
    std::mt19937_64& random_;
    std::vector<std::vector<Slot<double>>> edges_;  ///< of every column
};

}  // namespace segfold
