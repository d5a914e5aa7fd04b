#include "dsl/laws/elements.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "dsl/laws/constants.h"

namespace segfold {
namespace {

Slot<double> integer_slot(Type type, std::uint64_t bits)
{
    Slot<double> slot{};
    slot.bits = wrap(type, bits);
    return slot;
}

Slot<double> real_slot(Type type, double value)
{
    Slot<double> slot{};
    Machine<double>::set_real(slot, type, value);
    return slot;
}

/// Exponents of the least denormal number, the least normal number and the highest power of two.
struct Exponents {
    int denormal, normal, highest;
};

Exponents exponents(Type type)
{
    switch (type) {
        case Type::f16: return {-24, -14, 15};
        case Type::bf16: return {-133, -126, 127};
        case Type::f32: return {-149, -126, 127};
        default: return {-1074, -1022, 1023};
    }
}

/// Draws a number in [-1, 1) with 53 bits.
double draw_unit(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 10), -53) - 1; }

Slot<double> draw_real(Type type, std::mt19937_64& random)
{
    const auto small = static_cast<double>(random() % 17) - 8;
    const double unit = draw_unit(random);
    const auto [denormal, normal, highest] = exponents(type);
    const auto size = static_cast<int>(random() % static_cast<std::uint64_t>(highest - denormal + 1));
    switch (random() % 5) {
        case 0: return real_slot(type, small);
        case 1: return real_slot(type, small / 8);
        case 2: return real_slot(type, unit);
        case 3: return real_slot(type, std::ldexp(unit, size % 21 - 10));
        default: return real_slot(type, std::ldexp(unit, denormal + size));
    }
}

Slot<double> draw_integer(Type type, std::mt19937_64& random)
{
    const std::uint64_t small = random() % 9;
    const std::uint64_t any = random();
    switch (random() % 6) {
        case 0: return integer_slot(type, small);
        case 1: return integer_slot(type, is_signed_integer(type) ? 0 - small : small + 8);
        case 2: return integer_slot(type, highest_integer(type) - small);
        case 3: return integer_slot(type, lowest_integer(type) + small);
        case 4: return integer_slot(type, (std::uint64_t{1} << any % 64) + small % 3 - 1);
        default: return integer_slot(type, any);
    }
}

Slot<double> draw_small_integer(Type type, std::mt19937_64& random)
{
    const std::uint64_t size = random() % (kSmallInteger + 1);
    return integer_slot(type, is_signed_integer(type) && random() % 2 ? 0 - size : size);
}

std::vector<Slot<double>> real_edges(Type type)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double highest = highest_float(type);
    const auto [lowest_exponent, normal_exponent, highest_exponent] = exponents(type);
    const double denormal = std::ldexp(1.0, lowest_exponent);
    const double normal = std::ldexp(1.0, normal_exponent);
    const double large = std::ldexp(1.0, highest_exponent / 2);
    const double values[] = {0.0,          1.0,         -1.0,      2.0,      3.0,  0.5,      infinity,
                             std::nan(""), highest,     -infinity, -highest, -0.0, denormal, -denormal,
                             normal,       highest / 2, large,     1.0 / 3,  0.1,  1.5,      -2.0,
                             -0.5,         7.0,         100.0,     -3.0};
    std::vector<Slot<double>> edges;
    for (const double value : values)
        edges.push_back(real_slot(type, value));
    return edges;
}

/// Order of values: kFirstEdges edge values, kFirstConstants constants, the other edge values, the other
/// constants.
constexpr std::size_t kFirstEdges = 5;
constexpr std::size_t kFirstConstants = 5;

std::vector<Slot<double>> merged(const std::vector<Slot<double>>& edges,
                                 const std::vector<Slot<double>>& constants)
{
    const auto first_edges = static_cast<std::ptrdiff_t>(std::min(kFirstEdges, edges.size()));
    const auto first_constants = static_cast<std::ptrdiff_t>(std::min(kFirstConstants, constants.size()));
    std::vector<Slot<double>> all(edges.begin(), edges.begin() + first_edges);
    all.insert(all.end(), constants.begin(), constants.begin() + first_constants);
    all.insert(all.end(), edges.begin() + first_edges, edges.end());
    all.insert(all.end(), constants.begin() + first_constants, constants.end());
    return all;
}

}  // namespace

bool is_small_integer(Type type, std::uint64_t bits)
{
    return (is_signed_integer(type) && bits >> 63 != 0 ? 0 - bits : bits) <= kSmallInteger;
}

std::uint64_t lowest_integer(Type type)
{
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    return is_signed_integer(type) ? ~std::uint64_t{0} << (bits - 1) : 0;
}

std::uint64_t highest_integer(Type type)
{
    if (type == Type::boolean)
        return 1;
    const unsigned bits = static_cast<unsigned>(size_bytes(type)) * 8;
    return is_signed_integer(type) ? ~lowest_integer(type) : ~std::uint64_t{0} >> (64 - bits);
}

double highest_float(Type type)
{
    switch (type) {
        case Type::f16: return 65504.0;
        case Type::bf16: return 0x1.fep127;
        case Type::f32: return std::numeric_limits<float>::max();
        default: return std::numeric_limits<double>::max();
    }
}

std::vector<Slot<double>> edge_values(Type type)
{
    if (is_float(type))
        return real_edges(type);
    if (type == Type::boolean)
        return {integer_slot(type, 0), integer_slot(type, 1)};
    const std::uint64_t lowest = lowest_integer(type);
    const std::uint64_t highest = highest_integer(type);
    const std::uint64_t minus_one = ~std::uint64_t{0};
    const std::uint64_t values[] = {0,           1,          minus_one, 2,
                                    3,           highest,    lowest,    minus_one - 1,
                                    highest - 1, lowest + 1, 5,         highest / 2 + 1,
                                    highest / 2, lowest / 2, 4,         7,
                                    10,          100};
    std::vector<Slot<double>> edges;
    for (const std::uint64_t value : values) {
        const auto slot = integer_slot(type, value);
        const auto known = [&](const Slot<double>& other) { return other.bits == slot.bits; };
        if (std::ranges::none_of(edges, known))
            edges.push_back(slot);
    }
    return edges;
}

Slot<double> draw_value(Type type, std::mt19937_64& random)
{
    if (type == Type::boolean)
        return integer_slot(type, random() % 2);
    return is_float(type) ? draw_real(type, random) : draw_integer(type, random);
}

Slot<double> draw_index(Type type, std::int64_t length, std::mt19937_64& random)
{
    const std::uint64_t any = random();
    return integer_slot(type, any >> 63 != 0 ? any % 4 : any % static_cast<std::uint64_t>(length));
}

ElementDrawer::ElementDrawer(const Bytecode& bytecode, const std::vector<bool>& are_places,
                             std::int64_t table_length, Draw draw, std::mt19937_64& random,
                             const DataRanges* data)
    : bytecode_(bytecode),
      are_places_(are_places),
      table_length_(table_length),
      small_(draw == Draw::small_integers),
      data_(data),
      random_(random)
{
    for (std::size_t i = 0; i < bytecode.columns.size(); ++i) {
        const Type type = bytecode.columns[i];
        const auto is_refused = [&](const Slot<double>& slot) {
            return (small_ && !is_float(type) && !is_small_integer(type, slot.bits)) || !is_allowed(i, slot);
        };
        auto& constants = constants_.emplace_back(constant_values(bytecode, type));
        std::erase_if(constants, is_refused);
        auto& edges = edges_.emplace_back(merged(edge_values(type), constants));
        auto& alike = alike_.emplace_back(edge_values(type));
        alike.insert(alike.end(), constants.begin(), constants.end());
        if (data_ != nullptr && !is_index(i))
            for (const auto& end : {(*data_)[i].lowest, (*data_)[i].highest})
                if (end)
                    for (auto* values : {&edges, &alike})
                        values->push_back(is_float(type) ? real_slot(type, end->real)
                                                         : integer_slot(type, end->bits));
        std::erase_if(edges, is_refused);
        std::erase_if(alike, is_refused);
    }
}

bool ElementDrawer::is_allowed(std::size_t column, const Slot<double>& slot) const
{
    if (data_ == nullptr || is_index(column))
        return true;
    return is_in((*data_)[column], bytecode_.columns[column], slot);
}

bool is_in(const ColumnRange& range, Type type, const Slot<double>& slot)
{
    if (!is_float(type)) {
        const std::uint64_t flip = is_signed_integer(type) ? std::uint64_t{1} << 63 : 0;
        return range.lowest && (slot.bits ^ flip) >= (range.lowest->bits ^ flip) &&
               (slot.bits ^ flip) <= (range.highest->bits ^ flip);
    }
    const double value = Machine<double>::get_real(slot, type);
    if (std::isnan(value))
        return range.has_nan;
    if (std::isinf(value))
        return value > 0 ? range.has_positive_infinity : range.has_negative_infinity;
    return range.lowest && value >= range.lowest->real && value <= range.highest->real &&
           (value != 0 || !std::signbit(value) || range.has_negative_zero);
}

Slot<double> ElementDrawer::kept(std::size_t column, const Slot<double>& slot,
                                 const Slot<double>& other) const
{
    return is_allowed(column, slot) ? slot : other;
}

/// Draws any value from the lowest to the highest value of a column in the data.
Slot<double> ElementDrawer::between_ends(std::size_t column)
{
    const Type type = bytecode_.columns[column];
    const auto& [lowest, highest] = std::tie((*data_)[column].lowest, (*data_)[column].highest);
    if (!lowest)  // the data hold only infinities and NaN
        return edges_[column][random_() % edges_[column].size()];
    if (is_float(type)) {
        const double share = std::ldexp(static_cast<double>(random_() >> 11), -53);
        return kept(column, real_slot(type, lowest->real * (1 - share) + highest->real * share),
                    real_slot(type, highest->real));
    }
    const std::uint64_t span = highest->bits - lowest->bits;
    return integer_slot(type,
                        lowest->bits + (span == ~std::uint64_t{0} ? random_() : random_() % (span + 1)));
}

Element ElementDrawer::simple(std::size_t number)
{
    Element element;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        const std::size_t count = edges_[i].size();
        const bool in_order = edges_.size() == 1 || number < 2;
        element.push_back(edge(i, in_order ? number % count : random_() % std::min(count, kSimpleValues)));
    }
    return element;
}

Element ElementDrawer::alike(std::size_t number) const
{
    Element element;
    for (std::size_t i = 0; i < edges_.size(); ++i)
        element.push_back(is_index(i) ? edge(i, number) : alike_[i][number % alike_[i].size()]);
    return element;
}

std::size_t ElementDrawer::num_alike() const
{
    std::size_t most = 0;
    for (const auto& values : alike_)
        most = std::max(most, values.size());
    return most;
}

Element ElementDrawer::any()
{
    Element element;
    const bool edges = random_() % 4 == 0;
    for (std::size_t i = 0; i < edges_.size(); ++i)
        element.push_back(edges ? edge(i, random_() % edges_[i].size()) : other(i));
    return element;
}

Element ElementDrawer::related(Element element)
{
    const std::size_t column = random_() % element.size();
    element[column] = shifted(column, element[column]);
    return element;
}

Element ElementDrawer::next(Element element) const
{
    for (std::size_t i = 0; i < element.size(); ++i) {
        const Type type = bytecode_.columns[i];
        if (is_float(type))
            element[i] =
                kept(i, real_slot(type, Machine<double>::get_real(element[i], type) + 1), element[i]);
        else if (!is_index(i))
            element[i] = kept(i, integer_slot(type, element[i].bits + 1), element[i]);
    }
    return element;
}

Slot<double> ElementDrawer::shifted(std::size_t column, const Slot<double>& value)
{
    const Type type = bytecode_.columns[column];
    const auto& constants = constants_[column];
    Slot<double> step{};
    if (constants.empty() || random_() % 4 == 0)
        step = is_float(type) ? real_slot(type, 1) : integer_slot(type, 1);
    else
        step = constants[random_() % constants.size()];
    const bool down = random_() % 2 != 0;
    if (is_index(column))
        return value;
    if (!is_float(type))
        return kept(column, integer_slot(type, down ? value.bits - step.bits : value.bits + step.bits),
                    value);
    const double real = Machine<double>::get_real(value, type);
    const double by = Machine<double>::get_real(step, type);
    return kept(column, real_slot(type, down ? real - by : real + by), value);
}

bool ElementDrawer::is_index(std::size_t column) const
{
    return are_places_[column] && is_integer(bytecode_.columns[column]);
}

Slot<double> ElementDrawer::edge(std::size_t column, std::size_t number) const
{
    return is_index(column) ? integer_slot(bytecode_.columns[column], number) : edges_[column][number];
}

Slot<double> ElementDrawer::other(std::size_t column)
{
    const Type type = bytecode_.columns[column];
    if (is_index(column))  // indices into drawn tables may leave the data's range
        return draw_index(type, table_length_, random_);
    if (const auto& constants = constants_[column]; !constants.empty() && random_() % 4 == 0)
        return constants[random_() % constants.size()];
    if (data_ != nullptr) {
        const auto any = draw_value(type, random_);
        return random_() % 2 != 0 && is_allowed(column, any) ? any : between_ends(column);
    }
    return small_ && is_integer(type) ? draw_small_integer(type, random_) : draw_value(type, random_);
}

}  // namespace segfold
