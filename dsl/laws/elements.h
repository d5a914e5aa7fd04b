#pragma once
// Values for the search for counter-examples: the ends of the types, and random values between them.
#include <random>
#include <vector>

#include "dsl/evaluation/interpreter.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// A value for every column.
using Element = std::vector<Slot<double>>;

/// The source of drawn elements.
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

/// True if a column of that range may have the value.
bool is_in(const ColumnRange& range, Type type, const Slot<double>& slot);

/// Draws elements, column by column. Integers that say where a table is read are kept below `table_length`.
/// Where `data` is given, all values but those lie in its ranges.
class ElementDrawer {
public:
    /// `are_places` says of each column whether it tells where tables are read.
    ElementDrawer(const Bytecode& bytecode, const std::vector<bool>& are_places, std::int64_t table_length,
                  Draw draw, std::mt19937_64& random, const DataRanges* data = nullptr);

    /// An element of simple edge values: in their order for one column, else drawn among them.
    Element simple(std::size_t number);

    /// An element of an edge value, or of a constant of the operator's text, that is the same in all columns,
    /// as far as their types have it: the lowest one, or NaN.
    [[nodiscard]] Element alike(std::size_t number) const;

    /// Numbers from which on alike() gives the same elements once more.
    [[nodiscard]] std::size_t num_alike() const;

    /// An element of edge values or of others.
    Element any();

    /// The element with one value changed by a constant of the operator's text, or by 1.
    Element related(Element element);

    /// The element with every value one higher.
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
    std::vector<std::vector<Slot<double>>> edges_;      ///< of every column, constants among them
    std::vector<std::vector<Slot<double>>> constants_;  ///< of every column
    /// Of every column, in an order that columns of one kind of type share: edges, constants, ends of the
    /// data.
    std::vector<std::vector<Slot<double>>> alike_;
};

}  // namespace segfold
